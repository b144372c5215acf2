//! An axum application, and reqwest and hyper-util as its clients.

mod web {
    mod application;
    mod layers;
    mod older;
    mod shutdown;
    mod sockets;
    mod tls;
}

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;

/// Serves the application until the runtime ends, and says where.
async fn serve(application: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Else each connection has layers of its own, and limits that know of no other.
    let application = application.with_state::<()>(());
    tokio::spawn(axum::serve(listener, application).into_future());
    address
}

/// A client without a proxy, whatever the machine's environment says.
fn client() -> reqwest::ClientBuilder {
    // It wants a provider of cryptography also where there is no TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}
