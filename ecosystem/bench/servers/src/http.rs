//! HTTP/1.1 by axum: a fixed answer, one for which layers, a task and a channel work, and one that asks Redis.

use std::thread;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Router, serve};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower_http::timeout::TimeoutLayer;

/// Far more than a request takes: each timer is set and cancelled.
const LIMIT: Duration = Duration::from_secs(30);
/// More than there are connections, so that the limit is looked at and never waited for.
const AT_ONCE: usize = 10_000;
/// What the task of a request sends, one after the other, through a channel that has room for half of it.
const MESSAGES: u64 = 4;
/// How long the handler that does what no handler should holds its thread.
const BLOCKED: Duration = Duration::from_millis(500);

/// A fixed answer, and beside it a route that blocks the thread it runs on.
pub(crate) async fn hello(listener: TcpListener) {
    let routes = Router::new().route("/", get(|| async { "hello, world\n" })).route("/block", get(block));
    run(listener, routes).await;
}

async fn block() -> &'static str {
    thread::sleep(BLOCKED);
    "at last\n"
}

/// A limit of time for all and one for the route, a limit of concurrency, and [`work`].
pub(crate) async fn layers(listener: TcpListener) {
    let limit = || TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, LIMIT);
    let route = get(work).layer(limit());
    let routes = Router::new().route("/", route).layer(GlobalConcurrencyLimitLayer::new(AT_ONCE)).layer(limit());
    run(listener, routes).await;
}

/// A task that sends, a handler that adds up with a limit of time, and an answer from the task at its end.
async fn work() -> Result<String, StatusCode> {
    let (messages, mut inbox) = mpsc::channel(MESSAGES as usize / 2);
    let (done, end) = oneshot::channel();
    let task = tokio::spawn(async move {
        for number in 0..MESSAGES {
            if messages.send(number).await.is_err() {
                return;
            }
        }
        let _ = done.send(MESSAGES);
    });
    let received = timeout(LIMIT, async {
        let mut sum = 0;
        while let Some(number) = inbox.recv().await {
            sum += number;
        }
        sum
    });
    let sum = received.await.map_err(|_| StatusCode::GATEWAY_TIMEOUT)?;
    let sent = end.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    task.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(format!("{sum} of {sent}\n"))
}

/// One connection to Redis, for all requests at once.
pub(crate) async fn redis(listener: TcpListener, url: &str) {
    let client = redis::Client::open(url).expect("a URL");
    // Each command has a timer; on a busy machine its usual half second is not enough.
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(LIMIT));
    let connection = client.get_multiplexed_async_connection_with_config(&config).await.expect("a Redis server");
    run(listener, Router::new().route("/", get(count)).with_state(connection)).await;
}

async fn count(State(mut connection): State<MultiplexedConnection>) -> Result<String, StatusCode> {
    let number: Result<u64, _> = redis::cmd("INCR").arg("visits").query_async(&mut connection).await;
    number.map(|number| number.to_string()).map_err(|_| StatusCode::BAD_GATEWAY)
}

async fn run(listener: TcpListener, routes: Router) {
    let listener = listener.tap_io(|stream| {
        // A connection that is gone already will be seen to be so.
        let _ = stream.set_nodelay(true);
    });
    serve(listener, routes).await.expect("accepting never ends");
}
