//! WebSockets: axum's, with the client of tokio-tungstenite.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use futures::{SinkExt, StreamExt};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message as ClientMessage;

use crate::serve;

/// Tells everybody what anybody says.
async fn chat(mut socket: WebSocket, room: broadcast::Sender<String>) {
    let mut others = room.subscribe();
    if socket.send(Message::text("welcome")).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => drop(room.send(text.to_string())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            heard = others.recv() => {
                if socket.send(Message::text(heard.unwrap())).await.is_err() {
                    return;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_hears_everybody_in_one_order() {
    const CLIENTS: usize = 50;
    const MESSAGES: usize = 5;

    let (room, _) = broadcast::channel::<String>(CLIENTS * MESSAGES);
    let upgrade = |upgrade: WebSocketUpgrade, State(room): State<broadcast::Sender<String>>| async move {
        upgrade.on_upgrade(|socket| chat(socket, room))
    };
    let address = serve(Router::new().route("/", get(upgrade)).with_state(room.clone())).await;

    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/")).await.unwrap();
        // Only who is in the room is told what is said in it.
        assert_eq!(socket.next().await.unwrap().unwrap(), ClientMessage::text("welcome"));
        clients.push(socket);
    }
    let clients = clients.into_iter().enumerate().map(|(client, socket)| {
        tokio::spawn(async move {
            let (mut sink, stream) = socket.split();
            let say = async {
                for n in 0..MESSAGES {
                    sink.send(ClientMessage::text(format!("{client}: {n}"))).await.unwrap();
                }
            };
            let hear = stream.take(CLIENTS * MESSAGES).map(|said| said.unwrap().into_text().unwrap().to_string());
            let (heard, ()) = tokio::join!(hear.collect::<Vec<_>>(), say);
            sink.close().await.unwrap();
            heard
        })
    });
    let heard: Vec<_> = futures::future::join_all(clients).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(heard[0].len(), CLIENTS * MESSAGES);
    assert!(heard.iter().all(|others| *others == heard[0]));
    let mut of_seven = heard[0].iter().filter(|said| said.starts_with("7: "));
    assert!((0..MESSAGES).all(|n| *of_seven.next().unwrap() == format!("7: {n}")));
}
