//! tower's layers, and those of tower-http, around handlers.

use std::sync::Arc;
use std::time::Duration;

use axum::error_handling::HandleErrorLayer;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{BoxError, Router};
use tokio::sync::{Notify, Semaphore};
use tower::ServiceBuilder;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::{client, serve};

async fn status_of(address: std::net::SocketAddr) -> u16 {
    client().build().unwrap().get(format!("http://{address}/")).send().await.unwrap().status().as_u16()
}

async fn overloaded(error: BoxError) -> StatusCode {
    if error.is::<tower::load_shed::error::Overloaded>() {
        StatusCode::SERVICE_UNAVAILABLE
    } else if error.is::<tower::timeout::error::Elapsed>() {
        StatusCode::GATEWAY_TIMEOUT
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    }
}

#[tokio::test]
async fn timeouts_of_both() {
    let never = || get(|| std::future::pending::<()>());
    let layer = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, Duration::from_millis(20));
    let address = serve(Router::new().route("/", never()).layer(TraceLayer::new_for_http()).layer(layer)).await;
    assert_eq!(status_of(address).await, 408);

    let layers = ServiceBuilder::new().layer(HandleErrorLayer::new(overloaded)).timeout(Duration::from_millis(20));
    let address = serve(Router::new().route("/", never()).layer(layers)).await;
    assert_eq!(status_of(address).await, 504);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_the_limit_is_shed() {
    let (entered, may_leave) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let handler = {
        let (entered, may_leave) = (entered.clone(), may_leave.clone());
        move || async move {
            entered.notify_one();
            may_leave.acquire().await.unwrap().forget();
        }
    };
    let layers = ServiceBuilder::new().layer(HandleErrorLayer::new(overloaded)).load_shed().concurrency_limit(1);
    let address = serve(Router::new().route("/", get(handler)).layer(layers)).await;
    for _ in 0..3 {
        let first = tokio::spawn(status_of(address));
        entered.notified().await;
        assert_eq!(status_of(address).await, 503);
        may_leave.add_permits(1);
        assert_eq!(first.await.unwrap(), 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_is_kept() {
    let layers = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(overloaded))
        .buffer(16)
        .load_shed()
        .rate_limit(2, Duration::from_secs(3600));
    let address = serve(Router::new().route("/", get(|| async {})).layer(layers)).await;
    assert_eq!([status_of(address).await, status_of(address).await, status_of(address).await], [200, 200, 503]);
}
