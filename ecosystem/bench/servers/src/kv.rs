//! A server that speaks Redis' protocol, by tokio-util's `Framed`: a map behind a lock, and a task for each connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::Framed;

use crate::resp::{Answer, Resp};

type Map = Arc<Mutex<HashMap<Bytes, Bytes>>>;

pub(crate) async fn serve(listener: TcpListener) {
    let map = Map::default();
    loop {
        // Too many open files, or a client that is gone: the next may do better.
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(talk(stream, map.clone()));
    }
}

async fn talk(stream: TcpStream, map: Map) {
    // A connection that is gone already will be seen to be so.
    let _ = stream.set_nodelay(true);
    let mut framed = Framed::new(stream, Resp);
    while let Some(Ok(command)) = framed.next().await {
        if framed.send(answer(&command, &map)).await.is_err() {
            return;
        }
    }
}

fn answer(command: &[Bytes], map: &Map) -> Answer {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    match command {
        [name] if name.eq_ignore_ascii_case(b"ping") => Answer::Simple("PONG"),
        [name, key] if name.eq_ignore_ascii_case(b"get") => map.get(key).cloned().map_or(Answer::Nil, Answer::Bulk),
        [name, key, value] if name.eq_ignore_ascii_case(b"set") => {
            map.insert(key.clone(), value.clone());
            Answer::Simple("OK")
        }
        _ => Answer::Error("ERR unknown command"),
    }
}
