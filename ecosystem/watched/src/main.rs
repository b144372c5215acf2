//! Tasks of each kind, told to tokio-console at the port of the first argument, until the process is ended.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::task;

fn main() {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("the argument is a port");
    // Before the runtime's first future, which is shown as well.
    console_subscriber::Builder::default().server_addr(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).init();
    run();
}

#[tokio::main]
async fn run() {
    task::Builder::new().name("a-ticker").spawn(tick()).unwrap();
    task::Builder::new().name("a-waiter").spawn(pending::<()>()).unwrap();
    task::Builder::new().name("a-waker-of-itself").spawn(wake_itself()).unwrap();
    task::Builder::new().name("a-large-one").spawn(wait_with([1; 100_000])).unwrap();
    task::Builder::new().name("a-blocker").spawn_blocking(std::thread::park).unwrap();
    let mut ended = task::JoinSet::new();
    ended.build_task().name("one-that-ended").spawn(async {}).unwrap();
    ended.join_all().await;
    pending().await
}

async fn tick() {
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
    }
}

/// tokio-console warns of tasks whose wakes are mostly their own.
async fn wake_itself() {
    loop {
        task::yield_now().await;
        task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// It warns of tasks that are too large for the stack, too.
async fn wait_with(data: [u8; 100_000]) -> u8 {
    pending::<()>().await;
    data[0]
}
