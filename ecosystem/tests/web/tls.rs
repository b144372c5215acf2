//! The same over TLS: tokio-rustls and hyper-util's server, reqwest with rustls.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use ecosystem::Certificate;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::client;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http1_and_http2_are_agreed_upon() {
    let certificate = Certificate::new();
    let acceptor = TlsAcceptor::from(Arc::new(certificate.server(&["h2", "http/1.1"])));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let application = Router::new().route("/", get(|| async { "x".repeat(1_000_000) }));
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let (acceptor, application) = (acceptor.clone(), application.clone());
            tokio::spawn(async move {
                // A client that does not trust us breaks this off.
                let Ok(stream) = acceptor.accept(socket).await else { return };
                let service = TowerToHyperService::new(application);
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });

    let root = reqwest::Certificate::from_der(certificate.der()).unwrap();
    let trusting = || client().tls_certs_only([root.clone()]).resolve("localhost", ([127, 0, 0, 1], port).into());
    let url = format!("https://localhost:{port}/");
    for (client, version) in
        [(trusting(), reqwest::Version::HTTP_2), (trusting().http1_only(), reqwest::Version::HTTP_11)]
    {
        let client = client.build().unwrap();
        // The bodies are read at once: of those that nobody reads, some would fill the window of the connection.
        let requests = (0..20).map(|_| async {
            let answer = client.get(&url).send().await.unwrap();
            (answer.version(), answer.bytes().await.unwrap().len())
        });
        for answer in futures::future::join_all(requests).await {
            assert_eq!(answer, (version, 1_000_000));
        }
    }

    let other = reqwest::Certificate::from_der(Certificate::new().der()).unwrap();
    let suspicious = client().tls_certs_only([other]).resolve("localhost", ([127, 0, 0, 1], port).into());
    assert!(suspicious.build().unwrap().get(&url).send().await.unwrap_err().is_connect());
}
