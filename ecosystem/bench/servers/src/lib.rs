//! Servers as users write them, on whatever `tokio` is: the registry's, or the stand-in.
//!
//! Each runs in a process of its own, with the workers that a runtime takes by itself. `main` of `../on-rt` and of
//! `../on-tokio` is [`main`] here; which of the two it is, nothing here can know. The program that loads them
//! (`../report`) says by the arguments which server it wants, reads the port from standard output, and ends the server
//! by closing its standard input. What a server has used is read from `/proc` by the one that loads it.

mod control;
mod grpc;
mod http;
mod kv;
mod resp;
mod sockets;

use std::env;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

/// Is the server that the arguments ask for, until standard input ends.
///
/// # Panics
///
/// If they ask for one that there is none of, or if it cannot listen.
pub fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let kind = arguments.first().expect("the name of a server").clone();
    Builder::new_multi_thread().enable_all().build().expect("a runtime").block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        control::begin(listener.local_addr().expect("a port")).expect("a pipe to the one that started this");
        match kind.as_str() {
            "hello" => http::hello(listener).await,
            "layers" => http::layers(listener).await,
            "redis" => http::redis(listener, arguments.get(1).expect("the URL of a Redis server")).await,
            "kv" => kv::serve(listener).await,
            "grpc" => grpc::serve(listener).await,
            "sockets" => sockets::serve(listener).await,
            _ => panic!("there is no server {kind:?}"),
        }
    });
}
