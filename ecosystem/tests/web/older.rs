//! A client of the generation before (reqwest 0.11 on hyper 0.14): it makes its sockets by itself, and hands them over
//! as descriptors.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use futures::StreamExt;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_client_of_the_generation_before_binds_connects_and_streams() {
    const PARTS: u64 = 100;
    let body = || {
        let parts = futures::stream::iter(0..PARTS).map(|part| Ok::<_, std::io::Error>(vec![part as u8; 10_000]));
        axum::body::Body::from_stream(parts)
    };
    let application = Router::new()
        .route("/from", get(async |ConnectInfo(from): ConnectInfo<SocketAddr>| from.ip().to_string()))
        .route("/body", get(move || async move { body() }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = application.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, service).into_future());

    let own = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    let client = reqwest_0_11::Client::builder().no_proxy().local_address(own).build().unwrap();
    for _ in 0..3 {
        let from = client.get(format!("http://{address}/from")).send().await.unwrap().text().await.unwrap();
        assert_eq!(from, own.to_string());
        let mut body = client.get(format!("http://{address}/body")).send().await.unwrap().bytes_stream();
        let mut bytes = Vec::new();
        while let Some(part) = body.next().await {
            bytes.extend_from_slice(&part.unwrap());
        }
        assert!(bytes.iter().enumerate().all(|(at, &byte)| usize::from(byte) == at / 10_000));
        assert_eq!(bytes.len() as u64, PARTS * 10_000);
    }
}
