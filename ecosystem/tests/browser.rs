//! A chat on tokio-tungstenite, driven by a page in a browser that `./install` gets. axum serves the page, and takes
//! what the page says of the chat.

use std::process::Stdio;

use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use ecosystem::Directory;
use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::{broadcast, mpsc};
use tokio_tungstenite::tungstenite::Message;

/// What the page says.
#[derive(Debug, Deserialize)]
struct Outcome {
    failed: Option<String>,
    first: Vec<String>,
    second: Vec<String>,
    echoed: usize,
    closed: Vec<(u16, bool)>,
}

/// Tells everybody the texts that anybody sends; bytes go back to their sender. Ends when the client closes.
async fn chat(socket: TcpStream, room: broadcast::Sender<Message>) {
    let mut socket = tokio_tungstenite::accept_async(socket).await.unwrap();
    let mut others = room.subscribe();
    loop {
        tokio::select! {
            said = socket.next() => match said {
                Some(Ok(text @ Message::Text(_))) => drop(room.send(text)),
                Some(Ok(bytes @ Message::Binary(_))) => socket.send(bytes).await.unwrap(),
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("{error}"),
                None => return,
            },
            heard = others.recv() => socket.send(heard.unwrap()).await.unwrap(),
        }
    }
}

/// Opens a page in a browser without a window.
fn browse(url: &str, profile: &Directory) -> Child {
    Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"])
        .args(["--no-first-run", "--disable-background-networking", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(url)
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("there must be a `chromium`: ./install gets it")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_chats_with_itself() {
    let rooms = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = rooms.local_addr().unwrap().port();
    let chats = tokio::spawn(async move {
        // More than are ever said.
        let (room, _) = broadcast::channel(1000);
        let mut chats = Vec::new();
        while chats.len() < 2 {
            let (socket, _) = rooms.accept().await.unwrap();
            chats.push(tokio::spawn(chat(socket, room.clone())));
        }
        for chat in chats {
            chat.await.unwrap();
        }
    });

    let (tell, mut told) = mpsc::channel(1);
    let page = include_str!("browser/chat.html").replace("PORT", &port.to_string());
    let application = Router::new()
        .route("/", get(|| async { Html(page) }))
        .route("/outcome", post(move |Json(outcome): Json<Outcome>| async move { tell.send(outcome).await.unwrap() }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, application).into_future());

    let profile = Directory::new();
    let mut browser = browse(&url, &profile);
    let mut errors = browser.stderr.take().unwrap();
    let mut complaints = String::new();
    let outcome = tokio::select! {
        outcome = told.recv() => outcome.unwrap(),
        // It ends when the browser does.
        _ = errors.read_to_string(&mut complaints) => panic!("the browser has ended: {complaints}"),
    };
    browser.kill().await.unwrap();

    assert_eq!(outcome.failed, None);
    assert_eq!(outcome.first.first().map(String::as_str), Some("first is here"));
    // Both have heard the same, in one order.
    assert_eq!(outcome.first[1..], outcome.second);
    for name in ["first", "second"] {
        let said = outcome.second.iter().filter(|text| text.starts_with(name) && !text.ends_with("here"));
        assert!(said.eq((0..50).map(|n| format!("{name} {n}")).collect::<Vec<_>>().iter()), "{:?}", outcome.second);
    }
    assert_eq!(outcome.echoed, 1 << 20);
    assert_eq!(outcome.closed, [(1000, true), (1000, true)]);
    chats.await.unwrap();
}
