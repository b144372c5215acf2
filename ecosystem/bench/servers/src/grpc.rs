//! gRPC by tonic: the services that its own packages bring, so that nothing has to be generated.
//!
//! Health has unary calls. Reflection has a stream both ways, for which it spawns a task, with a channel back.

use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

pub(crate) async fn serve(listener: TcpListener) {
    let (_reporter, health) = tonic_health::server::health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .expect("a description of services");
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = Server::builder().add_service(health).add_service(reflection);
    server.serve_with_incoming(incoming).await.expect("accepting never ends");
}
