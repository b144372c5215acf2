//! A TCP echo service and its clients, who check what they get back.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rt::io::{self, AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt::time::{Duration, Instant};

use crate::distribution::Distribution;
use crate::failure::{Context, Failure, finished};
use crate::progress::Progress;
use crate::random::Random;

/// How many clients there are, all of them connected until they have sent all they have to send.
pub(crate) const CONNECTIONS: u64 = 1_000;

/// How many messages each client sends, one after the other, beside its greeting.
const MESSAGES: u64 = 200;

/// Messages are of 64 B, doubled up to this often, to 64 KiB: as many short ones as long ones.
const SHORTEST: u64 = 64;
const DOUBLINGS: u64 = 10;

/// How much is read at a time.
const CHUNK: usize = 16 * 1024;

/// What the clients found.
#[derive(Debug)]
pub(crate) struct Echoed {
    /// From the first message to the last echo.
    pub(crate) elapsed: Duration,
    /// How much went each way.
    pub(crate) bytes: u64,
    /// From the first byte sent to the last byte received, for each message.
    pub(crate) round_trips: Distribution,
}

/// Serves all clients, and is all clients.
pub(crate) async fn run(progress: Arc<Progress>) -> Result<Echoed, Failure> {
    progress.messages.expect(CONNECTIONS * MESSAGES);
    let listener = listen().context("opening a port to listen on")?;
    let address = listener.local_addr().context("finding out the port")?;
    let server = rt::spawn(serve(listener));
    let (served, echoed) = rt::try_join!(finished(server), run_clients(address, progress))?;
    if served != echoed.bytes {
        return Err(Failure::check(format!("the clients received {} bytes of {served} echoed", echoed.bytes)));
    }
    Ok(echoed)
}

/// Listens with room for all clients to knock at once: those who find no room try again only a second later.
fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(CONNECTIONS as u32)
}

/// Accepts every client, and adds up what was echoed.
async fn serve(listener: TcpListener) -> Result<u64, Failure> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let (stream, _) = listener.accept().await.context("accepting a connection")?;
        connections.push(rt::spawn(echo(stream)));
    }
    let mut served = 0;
    for connection in connections {
        served += connection.await.context("serving a connection")?.context("serving a connection")?;
    }
    Ok(served)
}

/// Sends back whatever comes, until the client has no more to say.
async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; CHUNK];
    let mut echoed = 0;
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(echoed);
        }
        stream.write_all(&buffer[..length]).await?;
        echoed += length as u64;
    }
}

async fn run_clients(address: SocketAddr, progress: Arc<Progress>) -> Result<Echoed, Failure> {
    let start = Instant::now();
    // Nobody goes on before everybody has been greeted, so all connections are being served at the same time.
    let connecting: Vec<_> = (0..CONNECTIONS).map(|number| rt::spawn(Client::connect(number, address))).collect();
    let mut clients = Vec::new();
    for client in connecting {
        clients.push(finished(client).await?);
    }

    let talking: Vec<_> = clients.into_iter().map(|client| rt::spawn(client.talk(Arc::clone(&progress)))).collect();
    let mut round_trips = Vec::new();
    let mut bytes = 0;
    for client in talking {
        let client = finished(client).await?;
        round_trips.extend(client.round_trips);
        bytes += client.bytes;
    }
    Ok(Echoed { elapsed: start.elapsed(), bytes, round_trips: Distribution::new(round_trips) })
}

/// One end of a connection, and what it has been through.
struct Client {
    number: u64,
    stream: TcpStream,
    /// The lengths of the messages, and where their contents begin.
    random: Random,
    bytes: u64,
    round_trips: Vec<Duration>,
}

impl Client {
    /// Connects, and waits until the server has answered a greeting.
    async fn connect(number: u64, address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await.context(format!("connecting client {number}"))?;
        stream.set_nodelay(true).context("setting an option of a socket")?;
        let mut client = Self { number, stream, random: Random::new(number), bytes: 0, round_trips: Vec::new() };
        client.exchange(b"hello").await?;
        Ok(client)
    }

    /// Sends all messages, and says good-bye.
    async fn talk(mut self, progress: Arc<Progress>) -> Result<Self, Failure> {
        for _ in 0..MESSAGES {
            let message = self.compose();
            let round_trip = self.exchange(&message).await?;
            self.round_trips.push(round_trip);
            progress.messages.advance();
        }
        let who = format!("closing client {}", self.number);
        self.stream.shutdown().await.context(&*who)?;
        match self.stream.read(&mut [0]).await.context(who)? {
            0 => Ok(self),
            _ => Err(Failure::check(format!("client {} received more than it sent", self.number))),
        }
    }

    /// A message that nobody else sends.
    fn compose(&mut self) -> Vec<u8> {
        let shortest = SHORTEST << self.random.between(0, DOUBLINGS - 1);
        let length = self.random.between(shortest, 2 * shortest);
        Random::new(self.random.next()).bytes(length as usize)
    }

    /// Sends a message, and compares what comes back meanwhile.
    async fn exchange(&mut self, message: &[u8]) -> Result<Duration, Failure> {
        let start = Instant::now();
        let number = self.number;
        // Were all of it sent before any of it is read, a message larger than the system's buffers would get stuck.
        let (mut reader, mut writer) = self.stream.split();
        let send = async { writer.write_all(message).await.context(format!("sending from client {number}")) };
        let receive = async {
            let mut buffer = vec![0; message.len().min(CHUNK)];
            let mut rest = message;
            while !rest.is_empty() {
                let most = rest.len().min(CHUNK);
                let length = reader.read(&mut buffer[..most]).await.context(format!("receiving at client {number}"))?;
                let (expected, beyond) = rest.split_at(length);
                if length == 0 || buffer[..length] != *expected {
                    let what = if length == 0 { "the end" } else { "a wrong byte" };
                    let at = message.len() - rest.len();
                    let whole = message.len();
                    return Err(Failure::check(format!("client {number} received {what} after {at} of {whole} bytes")));
                }
                rest = beyond;
            }
            Ok(())
        };
        rt::try_join!(send, receive)?;
        self.bytes += message.len() as u64;
        Ok(start.elapsed())
    }
}
