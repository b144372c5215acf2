//! gRPC by tonic's own client: as many HTTP/2 connections as asked for, with one call or one message under way on each.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use crate::load::Seen;

type Latencies = Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>>;

/// Health is asked, again and again.
pub(crate) fn calls(connections: usize, port: u16, length: Duration) -> io::Result<Seen> {
    load(connections, port, length, |channel, until| async move {
        let mut client = HealthClient::new(channel);
        let mut latencies = Vec::new();
        loop {
            let begun = Instant::now();
            client.check(HealthCheckRequest::default()).await?;
            latencies.push(begun.elapsed().as_secs_f64() * 1e6);
            if Instant::now() >= until {
                return Ok(latencies);
            }
        }
    })
}

/// Reflection is asked for the list of services, again and again on one stream.
pub(crate) fn streams(connections: usize, port: u16, length: Duration) -> io::Result<Seen> {
    load(connections, port, length, |channel, until| async move {
        let (questions, inbox) = mpsc::channel(1);
        let questions_stream = tokio_stream::wrappers::ReceiverStream::new(inbox);
        let question = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        // The server answers the call at once, and the messages as they come.
        let mut client = ServerReflectionClient::new(channel);
        let mut answers = client.server_reflection_info(questions_stream).await?.into_inner();
        let mut latencies = Vec::new();
        loop {
            let begun = Instant::now();
            questions.send(question.clone()).await?;
            answers.next().await.ok_or("the stream has ended")??;
            latencies.push(begun.elapsed().as_secs_f64() * 1e6);
            if Instant::now() >= until {
                return Ok(latencies);
            }
        }
    })
}

/// Connects, and then lets a task of each connection ask, at least once. What is told is the time of asking alone.
fn load<F>(connections: usize, port: u16, length: Duration, ask: impl Fn(Channel, Instant) -> F) -> io::Result<Seen>
where
    F: Future<Output = Latencies> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).map_err(io::Error::other)?;
        let endpoint = endpoint.tcp_nodelay(true);
        let mut channels = Vec::new();
        for _ in 0..connections {
            channels.push(endpoint.connect().await.map_err(io::Error::other)?);
        }
        let begun = Instant::now();
        let until = begun + length;
        let tasks = channels.into_iter().map(|channel| tokio::spawn(ask(channel, until)));
        let latencies = try_join_all(tasks.collect::<Vec<_>>()).await?;
        let took = begun.elapsed();
        let latencies: Result<Vec<_>, _> = latencies.into_iter().collect();
        Seen::of(latencies.map_err(io::Error::other)?.into_iter().flatten(), took)
    })
}
