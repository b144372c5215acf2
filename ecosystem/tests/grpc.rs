//! tonic: unary calls, streams of the server, streams both ways, deadlines and cancellation.
//!
//! The services are those that tonic's own packages bring, which are generated already.

mod grpc {
    mod deadlines;
    mod tls;
}

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::Code;
use tonic::transport::{Channel, Server};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::HealthReporter;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

struct Served {
    channel: Channel,
    health: HealthReporter,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<Result<(), tonic::transport::Error>>,
}

async fn serve() -> Served {
    let (health, health_service) = tonic_health::server::health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::builder()
        .add_service(health_service)
        .add_service(reflection)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async { drop(stopped.await) });
    let ended = tokio::spawn(server);
    let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    Served { channel, health, stop, ended }
}

fn named(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unary_calls_many_at_once_over_one_connection() {
    let served = serve().await;
    served.health.set_service_status("a", ServingStatus::Serving).await;
    let calls = (0..500).map(|n| {
        let mut client = HealthClient::new(served.channel.clone());
        tokio::spawn(async move { client.check(named(if n % 5 == 0 { "nobody" } else { "a" })).await })
    });
    for (n, answer) in futures::future::join_all(calls).await.into_iter().enumerate() {
        match answer.unwrap() {
            Ok(answer) => assert_eq!(answer.into_inner().status, ServingStatus::Serving as i32),
            Err(status) => assert!(n % 5 == 0 && status.code() == Code::NotFound, "{n}: {status}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_the_server_and_its_cancellation() {
    let served = serve().await;
    served.health.set_service_status("a", ServingStatus::Serving).await;
    let mut client = HealthClient::new(served.channel.clone());
    let mut watch = client.watch(named("a")).await.unwrap().into_inner();
    for status in [ServingStatus::Serving, ServingStatus::NotServing, ServingStatus::Serving] {
        served.health.set_service_status("a", status).await;
        loop {
            // The first state may be told twice: as it was, and as it was set.
            let told = watch.next().await.unwrap().unwrap().status;
            if told == status as i32 {
                break;
            }
        }
    }
    drop(watch);

    // Nothing changes, so nothing more is said.
    let mut watch = client.watch(named("a")).await.unwrap().into_inner();
    assert_eq!(watch.next().await.unwrap().unwrap().status, ServingStatus::Serving as i32);
    assert!(tokio::time::timeout(Duration::from_millis(50), watch.next()).await.is_err());
    client.check(named("a")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_both_ways() {
    let served = serve().await;
    let mut client = ServerReflectionClient::new(served.channel.clone());
    let (ask, questions) = mpsc::channel(1);
    let mut answers = client.server_reflection_info(ReceiverStream::new(questions)).await.unwrap().into_inner();
    for n in 0..100 {
        let known = n % 2 == 0;
        let symbol = if known { "grpc.health.v1.Health" } else { "of.Nobody" };
        let message_request = Some(MessageRequest::FileContainingSymbol(symbol.to_owned()));
        ask.send(ServerReflectionRequest { host: n.to_string(), message_request }).await.unwrap();
        match answers.next().await {
            Some(Ok(answer)) => {
                assert!(known && answer.valid_host == n.to_string());
                let Some(MessageResponse::FileDescriptorResponse(file)) = answer.message_response else { panic!() };
                assert_eq!(file.file_descriptor_proto.len(), 1);
            }
            Some(Err(status)) => {
                assert!(!known && status.code() == Code::NotFound, "{status}");
                // An error ends the stream.
                let (again, questions) = mpsc::channel(1);
                drop(again);
                let ended = client.server_reflection_info(ReceiverStream::new(questions)).await.unwrap();
                assert!(ended.into_inner().next().await.is_none());
                return;
            }
            None => panic!("the server ended the stream"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_ends_when_it_is_told_to() {
    let served = serve().await;
    let mut client = HealthClient::new(served.channel.clone());
    client.check(named("")).await.unwrap();
    served.stop.send(()).unwrap();
    drop((client, served.channel));
    served.ended.await.unwrap().unwrap();
}
