//! rumqttc, with a mosquitto that `./install` gets: delivery, a restart of the server, orderly ends.

use std::fs;
use std::time::Duration;

use ecosystem::{Directory, Server, command, free_port};
use futures::future::join_all;
use rumqttc::{AsyncClient, Event, EventLoop, LastWill, MqttOptions, Packet, Publish, QoS};

/// The server, which keeps on disk what clients that come back have missed.
struct Mosquitto {
    server: Option<Server>,
    directory: Directory,
    port: u16,
}

impl Mosquitto {
    fn start() -> Self {
        let (directory, port) = (Directory::new(), free_port());
        let place = directory.path().display();
        let config = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\nuser root\nmax_queued_messages 0\n\
             persistence true\npersistence_location {place}/\n"
        );
        fs::write(directory.path().join("config"), config).unwrap();
        let mut mosquitto = Mosquitto { server: None, directory, port };
        mosquitto.run();
        mosquitto
    }

    fn run(&mut self) {
        let mut command = command("mosquitto");
        command.arg("-c").arg(self.directory.path().join("config"));
        self.server = Some(Server::start(command, " running", "-TERM"));
    }

    /// How a client of this name comes in, to find what is there for it from the last time.
    fn options(&self, name: &str) -> MqttOptions {
        let mut options = MqttOptions::new(name, "127.0.0.1", self.port);
        // The server ends a client that has more under way than this.
        options.set_clean_session(false).set_keep_alive(Duration::from_secs(600)).set_inflight(20);
        options
    }

    fn client(&self, name: &str) -> (AsyncClient, EventLoop) {
        client(self.options(name))
    }
}

fn client(options: MqttOptions) -> (AsyncClient, EventLoop) {
    let (client, mut events) = AsyncClient::new(options, 100);
    // For a busy machine.
    events.network_options.set_connection_timeout(300);
    (client, events)
}

/// Polls until a packet comes that is wanted. Lost connections are made anew by the next poll.
async fn until<T>(events: &mut EventLoop, mut wanted: impl FnMut(Packet) -> Option<T>) -> T {
    loop {
        match events.poll().await {
            Ok(Event::Incoming(packet)) => {
                if let Some(found) = wanted(packet) {
                    return found;
                }
            }
            Ok(Event::Outgoing(_)) => {}
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn subscribe(client: &AsyncClient, events: &mut EventLoop, topic: &str, qos: QoS) {
    client.subscribe(topic, qos).await.unwrap();
    until(events, |packet| matches!(packet, Packet::SubAck(_)).then_some(())).await;
}

async fn published(events: &mut EventLoop) -> Publish {
    until(events, |packet| if let Packet::Publish(publish) = packet { Some(publish) } else { None }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_quality_of_service_delivers_in_order() {
    let server = Mosquitto::start();
    for (number, qos) in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce].into_iter().enumerate() {
        let topic = format!("news/{number}");
        let mut subscribers = Vec::new();
        for n in 0..5 {
            let (client, mut events) = server.client(&format!("subscriber {number} {n}"));
            subscribe(&client, &mut events, "news/+", qos).await;
            let topic = topic.clone();
            subscribers.push(tokio::spawn(async move {
                for n in 0..200 {
                    let publish = published(&mut events).await;
                    assert_eq!((&*publish.topic, &*publish.payload), (&*topic, n.to_string().as_bytes()));
                    assert_eq!(publish.qos, qos);
                }
                // It lives as long as its events are wanted.
                drop(client);
            }));
        }
        let (client, mut events) = server.client(&format!("publisher {number}"));
        let mut publisher = tokio::spawn(async move {
            loop {
                if let Err(error) = events.poll().await {
                    break error;
                }
            }
        });
        for n in 0..200 {
            client.publish(&*topic, qos, false, n.to_string()).await.unwrap();
        }
        tokio::select! {
            heard = join_all(subscribers) => heard.into_iter().for_each(Result::unwrap),
            error = &mut publisher => panic!("the publisher has lost its connection: {error:?}"),
        }
        // The server ends the connection when it has read that the client leaves.
        client.disconnect().await.unwrap();
        publisher.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_come_back_after_a_restart_and_miss_nothing() {
    let mut server = Mosquitto::start();
    let (subscriber, mut subscribed) = server.client("subscriber");
    subscribe(&subscriber, &mut subscribed, "news", QoS::AtLeastOnce).await;
    let (publisher, mut events) = server.client("publisher");
    let (sender, mut connected) = tokio::sync::mpsc::unbounded_channel();
    let publishing = tokio::spawn(async move {
        loop {
            let present = until(&mut events, |packet| match packet {
                Packet::ConnAck(ack) => Some(ack.session_present),
                _ => None,
            });
            sender.send(present.await).unwrap();
        }
    });
    assert_eq!(connected.recv().await, Some(false));
    publisher.publish("news", QoS::AtLeastOnce, false, "before").await.unwrap();
    assert_eq!(&*published(&mut subscribed).await.payload, b"before");

    server.server.take().unwrap().stop();
    server.run();
    // It comes back by itself, while the subscriber does nothing yet; the server knows both of them.
    assert_eq!(connected.recv().await, Some(true));
    publisher.publish("news", QoS::AtLeastOnce, false, "between").await.unwrap();
    let present = until(&mut subscribed, |packet| match packet {
        Packet::ConnAck(ack) => Some(ack.session_present),
        _ => None,
    });
    assert!(present.await);
    // That it has had the first may have been on its way when the server ended: then that comes once more.
    let mut publish = published(&mut subscribed).await;
    while &*publish.payload == b"before" {
        publish = published(&mut subscribed).await;
    }
    assert_eq!(&*publish.payload, b"between");
    publishing.abort();
    assert!(publishing.await.unwrap_err().is_cancelled());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_will_is_of_those_who_did_not_say_goodbye() {
    let server = Mosquitto::start();
    let (watcher, mut watched) = server.client("watcher");
    subscribe(&watcher, &mut watched, "will", QoS::AtLeastOnce).await;
    let with_will = |name: &str| {
        let mut options = server.options(name);
        options.set_last_will(LastWill::new("will", name, QoS::AtLeastOnce, false));
        client(options)
    };

    let (polite, mut events) = with_will("polite");
    subscribe(&polite, &mut events, "anything", QoS::AtMostOnce).await;
    polite.disconnect().await.unwrap();
    // The server has ended it: a will of this client would be published already.
    while events.poll().await.is_ok() {}

    let (rude, mut events) = with_will("rude");
    subscribe(&rude, &mut events, "anything", QoS::AtMostOnce).await;
    let task = tokio::spawn(async move { while events.poll().await.is_ok() {} });
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(&*published(&mut watched).await.payload, b"rude");
}
