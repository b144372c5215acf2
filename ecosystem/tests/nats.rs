//! async-nats, with a nats-server that `./install` gets: subjects, queues, requests, a restart, an orderly end.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, Message, RequestErrorKind};
use ecosystem::{Server, command, free_port};
use futures::StreamExt;
use futures::future::join_all;
use tokio::sync::mpsc;

struct Nats {
    server: Option<Server>,
    port: u16,
}

impl Nats {
    fn start() -> Self {
        let mut nats = Nats { server: None, port: free_port() };
        nats.run();
        nats
    }

    fn run(&mut self) {
        let mut command = command("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string()]);
        self.server = Some(Server::start(command, "Server is ready", "-TERM"));
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// As they are, but for a busy machine.
    fn options(&self) -> ConnectOptions {
        let long = Duration::from_secs(300);
        ConnectOptions::new().connection_timeout(long).request_timeout(Some(long))
    }

    async fn connect(&self) -> Client {
        self.options().connect(self.address()).await.unwrap()
    }
}

fn number(message: &Message) -> u32 {
    std::str::from_utf8(&message.payload).unwrap().parse().unwrap()
}

/// Returns when the server has read all that the client has written so far: it answers in order.
async fn round_trip(client: &Client) {
    let error = client.request("nobody.listens", "".into()).await.unwrap_err();
    assert_eq!(error.kind(), RequestErrorKind::NoResponders);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_subscribers_hear_what_one_of_a_queue_gets() {
    let server = Nats::start();
    let (mut all, mut queue) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let client = server.connect().await;
        let mut subscriber = client.subscribe("news.*").await.unwrap();
        let mut worker = client.queue_subscribe("news.today", "workers".into()).await.unwrap();
        let mut end = client.subscribe("news.end").await.unwrap();
        round_trip(&client).await;
        all.push(tokio::spawn(async move {
            for n in 0..1000 {
                assert_eq!(&*subscriber.next().await.unwrap().payload, n.to_string().as_bytes());
            }
        }));
        queue.push(tokio::spawn(async move {
            end.next().await.unwrap();
            // What came before the end is there, in the order of the connection.
            worker.unsubscribe().await.unwrap();
            worker.map(|message| number(&message)).collect::<Vec<u32>>().await
        }));
    }
    let publisher = server.connect().await;
    for n in 0..1000 {
        publisher.publish("news.today", n.to_string().into()).await.unwrap();
    }
    publisher.publish("news.end", "".into()).await.unwrap();
    for heard in join_all(all).await {
        heard.unwrap();
    }
    let mut worked: Vec<u32> = Vec::new();
    for part in join_all(queue).await {
        let part = part.unwrap();
        assert!(part.is_sorted());
        worked.extend(part);
    }
    worked.sort_unstable();
    assert!(worked.into_iter().eq(0..1000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_200_requests_gets_its_own_answer() {
    let server = Nats::start();
    let service = server.connect().await;
    let mut questions = service.subscribe("double").await.unwrap();
    round_trip(&service).await;
    let answering = tokio::spawn(async move {
        while let Some(question) = questions.next().await {
            let answer = (2 * number(&question)).to_string();
            service.publish(question.reply.unwrap(), answer.into()).await.unwrap();
        }
    });
    let client = server.connect().await;
    let tasks = (0..200_u32).map(|n| {
        let client = client.clone();
        tokio::spawn(async move { client.request("double", n.to_string().into()).await.unwrap().payload })
    });
    for (n, answer) in join_all(tasks).await.into_iter().enumerate() {
        assert_eq!(&*answer.unwrap(), (2 * n).to_string().as_bytes());
    }
    answering.abort();
    assert!(answering.await.unwrap_err().is_cancelled());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_outlives_a_restart_of_the_server() {
    let mut server = Nats::start();
    let (sender, mut events) = mpsc::unbounded_channel();
    let options = server.options().event_callback(move |event| {
        let sender = sender.clone();
        async move { sender.send(event).unwrap_or_default() }
    });
    let client = options.connect(server.address()).await.unwrap();
    let mut subscriber = client.subscribe("news").await.unwrap();
    assert!(matches!(events.recv().await, Some(Event::Connected)));

    server.server.take().unwrap().stop();
    while !matches!(events.recv().await.unwrap(), Event::Disconnected) {}
    server.run();
    while !matches!(events.recv().await.unwrap(), Event::Connected) {}

    client.publish("news", "after".into()).await.unwrap();
    assert_eq!(&*subscriber.next().await.unwrap().payload, b"after");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_drains_hears_all_and_then_the_end() {
    let server = Nats::start();
    let client = server.connect().await;
    let subscriber = client.subscribe("news").await.unwrap();
    round_trip(&client).await;
    let publisher = server.connect().await;
    for n in 0..100 {
        publisher.publish("news", n.to_string().into()).await.unwrap();
    }
    // The server has given them to the client's connection by now.
    round_trip(&publisher).await;
    client.drain().await.unwrap();
    let heard: Vec<_> = subscriber.map(|message| message.payload).collect().await;
    assert_eq!(heard.len(), 100);
    assert_eq!(heard[99], "99");
}
