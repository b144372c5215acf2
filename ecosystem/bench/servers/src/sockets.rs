//! WebSockets by axum: what one client sends goes to all, through a broadcast channel.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::serve::{self, ListenerExt};
use bytes::Bytes;
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Messages that a slow client may be behind.
const BACKLOG: usize = 64;

pub(crate) async fn serve(listener: TcpListener) {
    let (all, _) = broadcast::channel(BACKLOG);
    let routes = Router::new().route("/", get(upgrade)).with_state(all);
    let listener = listener.tap_io(|stream| {
        // A connection that is gone already will be seen to be so.
        let _ = stream.set_nodelay(true);
    });
    serve::serve(listener, routes).await.expect("accepting never ends");
}

async fn upgrade(State(all): State<Sender<Bytes>>, upgrade: WebSocketUpgrade) -> Response {
    // Before the answer, so that a client that has it misses nothing.
    let inbox = all.subscribe();
    upgrade.on_upgrade(move |socket| talk(socket, all, inbox))
}

async fn talk(mut socket: WebSocket, all: Sender<Bytes>, mut inbox: Receiver<Bytes>) {
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                // There is a receiver: this one.
                Some(Ok(Message::Binary(message))) => drop(all.send(message)),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => (),
            },
            message = inbox.recv() => match message {
                Ok(message) => {
                    if socket.send(Message::Binary(message)).await.is_err() {
                        return;
                    }
                }
                Err(RecvError::Lagged(_)) => (),
                Err(RecvError::Closed) => return,
            },
        }
    }
}
