//! A service with three faults, to be looked into while it runs. docs/guide/seeing-in.md says how each is found.
//!
//! ```text
//! cargo run --example seeing_in              # until it is ended; see http://127.0.0.1:9600/
//! cargo run --example seeing_in -- 5         # for five seconds
//! RT_INSPECT=9700 cargo run --example seeing_in
//! ```
//!
//! Clients in the same program send requests over TCP, and the service answers them. Its faults: now and then a report
//! is computed in a task, which blocks its worker; a lock is held while something slow is waited for, so that tasks
//! queue for it; and each order leaves a task behind that waits for an answer which nobody sends.

use std::env;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use rt::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Builder;
use rt::sync::{Mutex, oneshot};
use rt::task;
use rt::time::{Duration, sleep};

const CLIENTS: u64 = 48;

fn main() -> io::Result<()> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(4).enable_all().name("shop");
    if env::var_os("RT_INSPECT").is_none() {
        builder.inspect(([127, 0, 0, 1], 9600).into());
    }
    let runtime = builder.build()?;
    if let Some(address) = runtime.inspect_address() {
        println!("look at http://{address}/");
    }
    let limit = env::args().nth(1).and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let _service = task::Builder::new().name("listener").spawn(serve(listener)).unwrap();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| task::Builder::new().name("client").spawn(ask(address, number)).unwrap())
            .collect();
        match limit {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
        clients.iter().for_each(|client| client.abort());
        Ok(())
    })
}

/// What all requests share.
#[derive(Default)]
struct Shop {
    prices: Mutex<u64>,
    /// Those who wait for orders to be confirmed. Nobody ever does, which is the third fault.
    unconfirmed: Mutex<Vec<oneshot::Sender<()>>>,
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    let shop = Arc::new(Shop::default());
    loop {
        let (stream, _) = listener.accept().await?;
        task::Builder::new().name("connection").spawn(answer(stream, Arc::clone(&shop))).unwrap();
    }
}

async fn answer(stream: TcpStream, shop: Arc<Shop>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    while stream.read_line(&mut request).await? > 0 {
        let answer = match request.trim() {
            "price" => price(&shop).await,
            "order" => order(&shop).await,
            _ => report(),
        };
        stream.get_mut().write_all(format!("{answer}\n").as_bytes()).await?;
        request.clear();
    }
    Ok(())
}

/// The second fault: whoever else asks for a price waits until this one has been looked up.
async fn price(shop: &Shop) -> u64 {
    let mut price = shop.prices.lock().await;
    sleep(Duration::from_millis(8)).await;
    *price += 1;
    *price
}

/// The third fault.
async fn order(shop: &Shop) -> u64 {
    let (confirm, confirmed) = oneshot::channel();
    shop.unconfirmed.lock().await.push(confirm);
    task::Builder::new()
        .name("confirmation")
        .spawn(async move {
            let _ = confirmed.await;
        })
        .unwrap();
    1
}

/// The first fault: this belongs on the blocking pool.
fn report() -> u64 {
    let before = Instant::now();
    let mut number = 1_u64;
    while before.elapsed() < Duration::from_millis(150) {
        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005));
    }
    number
}

async fn ask(address: std::net::SocketAddr, number: u64) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let mut answer = String::new();
    for turn in number.. {
        let request = match turn % 160 {
            0 => "report\n",
            n if n % 8 == 3 => "order\n",
            n if n % 8 == 5 => "price\n",
            _ => {
                sleep(Duration::from_millis(5 + (turn * 7 + number * 13) % 40)).await;
                continue;
            }
        };
        stream.get_mut().write_all(request.as_bytes()).await?;
        answer.clear();
        stream.read_line(&mut answer).await?;
    }
    Ok(())
}
