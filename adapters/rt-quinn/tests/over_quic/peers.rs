//! Two endpoints that trust each other, and a runtime that watches what they send.

use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{
    AsyncTimer, AsyncUdpSocket, ClientConfig, Connection, Endpoint, EndpointConfig, Runtime, ServerConfig,
    TransportConfig, UdpPoller,
};
use rt_quinn::RtRuntime;
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// A server and a client.
pub(crate) struct Peers {
    pub(crate) server: Endpoint,
    pub(crate) client: Endpoint,
}

impl Peers {
    /// Endpoints on the loopback interface.
    pub(crate) fn new(transport: TransportConfig) -> Self {
        Self::on(Arc::new(RtRuntime::new()), transport)
    }

    /// Endpoints on a runtime that wraps rt's.
    pub(crate) fn on(runtime: Arc<dyn Runtime>, transport: TransportConfig) -> Self {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let mut roots = RootCertStore::empty();
        roots.add(certified.cert.der().clone()).unwrap();
        let transport = Arc::new(transport);
        let mut server = ServerConfig::with_single_cert(vec![certified.cert.into()], key.into()).unwrap();
        server.transport_config(transport.clone());
        let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
        client.transport_config(transport);

        let endpoint = |server| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            Endpoint::new(EndpointConfig::default(), server, socket, runtime.clone()).unwrap()
        };
        let mut peers = Self { server: endpoint(Some(server)), client: endpoint(None) };
        peers.client.set_default_client_config(client);
        peers
    }

    /// Both ends of a new connection: the server's and the client's.
    pub(crate) async fn connect(&self) -> (Connection, Connection) {
        let connecting = self.client.connect(self.server.local_addr().unwrap(), "localhost").unwrap();
        let server = self.server.clone();
        let accepting = rt::spawn(async move { server.accept().await.unwrap().await.unwrap() });
        let client = connecting.await.unwrap();
        (accepting.await.unwrap(), client)
    }
}

/// rt's runtime, with sockets that count, and that are full now and then if they are told to.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) seen: Arc<Seen>,
    /// One in this many attempts to send finds the socket full.
    pub(crate) full_every: Option<usize>,
}

/// What has been sent.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) attempts: AtomicUsize,
    /// Calls with more than one datagram.
    pub(crate) segmented: AtomicUsize,
    /// How often there was a wait for room.
    pub(crate) waits: AtomicUsize,
}

impl Runtime for Watched {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        RtRuntime::new().new_timer(deadline)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        RtRuntime::new().spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let socket = RtRuntime::new().wrap_udp_socket(socket)?;
        Ok(Arc::new(WatchedSocket { socket, seen: self.seen.clone(), full_every: self.full_every }))
    }

    fn now(&self) -> Instant {
        RtRuntime::new().now()
    }
}

#[derive(Debug)]
struct WatchedSocket {
    socket: Arc<dyn AsyncUdpSocket>,
    seen: Arc<Seen>,
    full_every: Option<usize>,
}

impl AsyncUdpSocket for WatchedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(WatchedPoller { poller: self.socket.clone().create_io_poller(), seen: self.seen.clone() })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let attempt = self.seen.attempts.fetch_add(1, Relaxed);
        if self.full_every.is_some_and(|every| attempt.is_multiple_of(every)) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let is_segmented = transmit.segment_size.is_some_and(|size| transmit.contents.len() > size);
        self.seen.segmented.fetch_add(usize::from(is_segmented), Relaxed);
        self.socket.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_recv(cx, bufs, meta)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.socket.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.socket.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.socket.may_fragment()
    }
}

#[derive(Debug)]
struct WatchedPoller {
    poller: Pin<Box<dyn UdpPoller>>,
    seen: Arc<Seen>,
}

impl UdpPoller for WatchedPoller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.seen.waits.fetch_add(1, Relaxed);
        self.poller.as_mut().poll_writable(cx)
    }
}
