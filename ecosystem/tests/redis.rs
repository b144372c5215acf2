//! redis, with a server of its own that `./install` gets: multiplexed, pipelines, publish and subscribe, reconnecting.

use std::process::Stdio;
use std::time::Duration;

use futures::StreamExt;
use redis::AsyncTypedCommands;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

struct Server {
    client: redis::Client,
    port: u16,
    process: Child,
}

impl Server {
    async fn start() -> Self {
        // Nobody else gets the number at once, as the system goes through all of them first.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Self::process(port).await;
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
        Server { client, port, process }
    }

    async fn process(port: u16) -> Child {
        let mut process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("there must be a `redis-server`: ./install gets it");
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        while !output.next_line().await.unwrap().expect("it ends at once").contains("Ready to accept connections") {}
        // It has to be read on: the server would wait when the pipe is full.
        tokio::spawn(async move { while let Ok(Some(_)) = output.next_line().await {} });
        process
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_a_connection() {
    let server = Server::start().await;
    let connection = server.client.get_multiplexed_async_connection().await.unwrap();
    let tasks = (0..200).map(|n| {
        let mut connection = connection.clone();
        tokio::spawn(async move {
            connection.set(format!("key {n}"), n).await.unwrap();
            connection.incr("sum", n).await.unwrap();
            connection.get(format!("key {n}")).await.unwrap()
        })
    });
    for (n, value) in futures::future::join_all(tasks).await.into_iter().enumerate() {
        assert_eq!(value.unwrap(), Some(n.to_string()));
    }
    let mut connection = connection;
    assert_eq!(connection.get_int("sum").await.unwrap(), Some(199 * 200 / 2));

    let mut pipeline = redis::pipe();
    pipeline.atomic();
    for n in 0..1000 {
        pipeline.rpush("list", n).ignore();
    }
    let (length,): (usize,) = pipeline.llen("list").query_async(&mut connection).await.unwrap();
    assert_eq!(length, 1000);
    let list = connection.lrange("list", 0, -1).await.unwrap();
    assert!(list.iter().map(|item| item.parse::<usize>().unwrap()).eq(0..1000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_published_is_heard_in_order() {
    let server = Server::start().await;
    let mut subscribers = Vec::new();
    for _ in 0..10 {
        let mut subscriber = server.client.get_async_pubsub().await.unwrap();
        subscriber.subscribe("news").await.unwrap();
        subscribers.push(tokio::spawn(async move {
            let news = subscriber.into_on_message().take(100);
            news.map(|message| message.get_payload::<u32>().unwrap()).collect::<Vec<_>>().await
        }));
    }
    let mut publisher = server.client.get_multiplexed_async_connection().await.unwrap();
    for n in 0..100 {
        assert_eq!(publisher.publish("news", n).await.unwrap(), 10);
    }
    for subscriber in subscribers {
        assert!(subscriber.await.unwrap().into_iter().eq(0..100));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_command_waits_for_another_connection() {
    let server = Server::start().await;
    let mut waiting = server
        .client
        .get_multiplexed_async_connection_with_config(
            &redis::AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60))),
        )
        .await
        .unwrap();
    let waiter = tokio::spawn(async move { waiting.blpop("queue", 30.0).await });
    let mut pushing = server.client.get_multiplexed_async_connection().await.unwrap();
    pushing.rpush("queue", "job").await.unwrap();
    assert_eq!(waiter.await.unwrap().unwrap(), Some(["queue".to_owned(), "job".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_connects_again_when_the_server_is_back() {
    let mut server = Server::start().await;
    let mut manager = server.client.get_connection_manager().await.unwrap();
    manager.set("a", 1).await.unwrap();
    server.process.kill().await.unwrap();
    assert!(manager.get("a").await.is_err());
    server.process = Server::process(server.port).await;
    // It finds out at one of the next attempts.
    while manager.set("a", 2).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(manager.get("a").await.unwrap().as_deref(), Some("2"));
}
