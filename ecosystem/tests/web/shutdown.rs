//! `axum::serve` ends in good order on ctrl-c.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::Notify;

use crate::client;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_under_way_is_answered_and_no_other_is_taken() {
    let (entered, may_leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (entered, may_leave) = (entered.clone(), may_leave.clone());
        move || async move {
            entered.notify_one();
            may_leave.notified().await;
            "done"
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // From its first poll on the signal does not end the process.
    let mut ctrl_c = Box::pin(tokio::signal::ctrl_c());
    assert!(futures::poll!(&mut ctrl_c).is_pending());
    let application = Router::new().route("/", get(handler));
    let server =
        axum::serve(listener, application).with_graceful_shutdown(async move { ctrl_c.await.unwrap() }).into_future();
    let server = tokio::spawn(server);

    let request = client().build().unwrap().get(format!("http://{address}/")).send();
    let request = tokio::spawn(request);
    entered.notified().await;

    let kill = Command::new("kill").args(["-INT", &std::process::id().to_string()]).status().await.unwrap();
    assert!(kill.success());
    // The listener is closed soon.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!server.is_finished());
    may_leave.notify_one();
    assert_eq!(request.await.unwrap().unwrap().text().await.unwrap(), "done");
    server.await.unwrap().unwrap();
}
