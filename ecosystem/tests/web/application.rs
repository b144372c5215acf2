//! Routing, JSON, bodies and events that are streamed.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt};
use http_body_util::{BodyExt, Empty, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use crate::{client, serve};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Job {
    id: u64,
    names: Vec<String>,
}

/// A task that owns a counter, and answers.
fn counter() -> mpsc::Sender<oneshot::Sender<u64>> {
    let (sender, mut receiver) = mpsc::channel::<oneshot::Sender<u64>>(16);
    tokio::spawn(async move {
        let mut count = 0;
        while let Some(answer) = receiver.recv().await {
            count += 1;
            let _ = answer.send(count);
        }
    });
    sender
}

fn application() -> Router {
    Router::new()
        .route("/hello/{name}", get(|Path(name): Path<String>| async move { format!("hello {name}") }))
        .route(
            "/jobs",
            post(|Json(job): Json<Job>| async move { (StatusCode::CREATED, Json(Job { id: job.id + 1, ..job })) }),
        )
        .route(
            "/count",
            get(|State(counter): State<mpsc::Sender<oneshot::Sender<u64>>>| async move {
                let (sender, receiver) = oneshot::channel();
                counter.send(sender).await.unwrap();
                receiver.await.unwrap().to_string()
            }),
        )
        .route("/echo", post(|body: Body| async move { Body::from_stream(body.into_data_stream()) }))
        .route("/never", get(|| std::future::pending::<()>()))
        .route("/events", get(events))
        .with_state(counter())
}

#[derive(Deserialize)]
struct Events {
    count: usize,
}

async fn events(Query(Events { count }): Query<Events>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        for n in 0..count {
            ticks.tick().await;
            if sender.send(Ok(Event::default().event("tick").data(n.to_string()))).await.is_err() {
                break;
            }
        }
    });
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn routes_and_json() {
    let address = serve(application()).await;
    let client = client().build().unwrap();
    let get = |path: &str| client.get(format!("http://{address}{path}")).send();

    let answer = get("/hello/world").await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), "hello world");
    assert_eq!(get("/nothing").await.unwrap().status(), 404);
    assert_eq!(get("/jobs").await.unwrap().status(), 405);

    let job = Job { id: 6, names: vec!["a".into(), "b".into()] };
    let answer = client.post(format!("http://{address}/jobs")).json(&job).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(answer.json::<Job>().await.unwrap(), Job { id: 7, ..job });
    let wrong = client.post(format!("http://{address}/jobs")).json("no job").send().await.unwrap();
    assert_eq!(wrong.status(), 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_at_once_from_one_pool() {
    let address = serve(application()).await;
    let client = client().pool_max_idle_per_host(8).build().unwrap();
    let requests = (0..400).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            let answer = client.get(format!("http://{address}/count")).send().await.unwrap();
            answer.text().await.unwrap().parse::<u64>().unwrap()
        })
    });
    let mut seen: Vec<u64> = futures::future::join_all(requests).await.into_iter().map(Result::unwrap).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=400).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_streamed_through() {
    let address = serve(application()).await;
    let chunks: Vec<Bytes> = (0..256u32).map(|n| Bytes::from(vec![n as u8; 32 * 1024])).collect();
    let sent = chunks.concat();
    let body = reqwest::Body::wrap_stream(futures::stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)));
    let answer = client().build().unwrap().post(format!("http://{address}/echo")).body(body).send().await.unwrap();
    let mut stream = answer.bytes_stream();
    let mut received = Vec::new();
    while let Some(chunk) = stream.next().await {
        received.extend_from_slice(&chunk.unwrap());
    }
    assert!(received == sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_come_in_order_and_end() {
    let address = serve(application()).await;
    let answer = client().build().unwrap().get(format!("http://{address}/events?count=20")).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let expected: String = (0..20).map(|n| format!("event: tick\ndata: {n}\n\n")).collect();
    assert_eq!(answer.text().await.unwrap(), expected);

    // A client that goes away in the middle takes nothing along.
    let mut answer =
        client().build().unwrap().get(format!("http://{address}/events?count=1000000")).send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some());
    drop(answer);
    assert_eq!(text_of(address, "/hello/again").await, "hello again");
}

#[tokio::test]
async fn a_request_that_takes_too_long_ends_in_time() {
    let address = serve(application()).await;
    let client = client().timeout(Duration::from_millis(50)).build().unwrap();
    let error = client.get(format!("http://{address}/never")).send().await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_without_tls() {
    let address = serve(application()).await;
    let client = client().http2_prior_knowledge().build().unwrap();
    let requests = (0..100).map(|n| client.get(format!("http://{address}/hello/{n}")).send());
    for (n, answer) in futures::future::join_all(requests).await.into_iter().enumerate() {
        let answer = answer.unwrap();
        assert_eq!(answer.version(), reqwest::Version::HTTP_2);
        assert_eq!(answer.text().await.unwrap(), format!("hello {n}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pooled_client_of_hyper_util() {
    let address = serve(application()).await;
    let client = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build_http::<Empty<Bytes>>();
    for n in 0..20 {
        let answer = client.get(format!("http://{address}/hello/{n}").parse().unwrap()).await.unwrap();
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), format!("hello {n}"));
    }
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Full<Bytes>>();
    let request = hyper::Request::post(format!("http://{address}/echo")).body(Full::from("over http2")).unwrap();
    let answer = client.request(request).await.unwrap();
    assert_eq!(answer.version(), hyper::Version::HTTP_2);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "over http2");
}

async fn text_of(address: std::net::SocketAddr, path: &str) -> String {
    client().build().unwrap().get(format!("http://{address}{path}")).send().await.unwrap().text().await.unwrap()
}
