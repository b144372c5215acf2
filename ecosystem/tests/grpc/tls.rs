//! The same over TLS, and who trusts whom.

use ecosystem::Certificate;
use tonic::transport::{Certificate as Trusted, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};

use super::super::*;

fn identity(certificate: &Certificate) -> Identity {
    Identity::from_pem(certificate.pem(), certificate.key_pem())
}

async fn serve_tls(config: ServerTlsConfig) -> (SocketAddr, HealthReporter) {
    let (health, service) = tonic_health::server::health_reporter();
    health.set_service_status("a", ServingStatus::Serving).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut server = Server::builder().tls_config(config).unwrap();
    tokio::spawn(server.add_service(service).serve_with_incoming(TcpListenerStream::new(listener)));
    (address, health)
}

/// The way to the server, for a client that trusts this certificate alone.
fn endpoint(address: SocketAddr, config: ClientTlsConfig, trusted: &Certificate) -> Endpoint {
    let config = config.domain_name("localhost").ca_certificate(Trusted::from_pem(trusted.pem()));
    Endpoint::from_shared(format!("https://{address}")).unwrap().tls_config(config).unwrap()
}

/// Whether a call is answered. What is wrong with a certificate may show as late as in the first call.
async fn answers(endpoint: Endpoint) -> bool {
    let Ok(channel) = endpoint.connect().await else { return false };
    HealthClient::new(channel).check(named("a")).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_and_streams_over_tls() {
    let certificate = Certificate::new();
    let (address, health) = serve_tls(ServerTlsConfig::new().identity(identity(&certificate))).await;
    let channel = endpoint(address, ClientTlsConfig::new(), &certificate).connect().await.unwrap();
    let calls = (0..200).map(|_| {
        let mut client = HealthClient::new(channel.clone());
        tokio::spawn(async move { client.check(named("a")).await })
    });
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.unwrap().unwrap().into_inner().status, ServingStatus::Serving as i32);
    }

    let mut watch = HealthClient::new(channel).watch(named("a")).await.unwrap().into_inner();
    assert_eq!(watch.next().await.unwrap().unwrap().status, ServingStatus::Serving as i32);
    health.set_service_status("a", ServingStatus::NotServing).await;
    assert_eq!(watch.next().await.unwrap().unwrap().status, ServingStatus::NotServing as i32);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_trust_the_server_makes_no_call() {
    let certificate = Certificate::new();
    let (address, _health) = serve_tls(ServerTlsConfig::new().identity(identity(&certificate))).await;
    assert!(!answers(endpoint(address, ClientTlsConfig::new(), &Certificate::new())).await);
    assert!(!answers(Endpoint::from_shared(format!("http://{address}")).unwrap()).await);
    assert!(answers(endpoint(address, ClientTlsConfig::new(), &certificate)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_answers_the_clients_that_it_trusts_alone() {
    let (certificate, client) = (Certificate::new(), Certificate::new());
    let config =
        ServerTlsConfig::new().identity(identity(&certificate)).client_ca_root(Trusted::from_pem(client.pem()));
    let (address, _health) = serve_tls(config).await;
    assert!(!answers(endpoint(address, ClientTlsConfig::new(), &certificate)).await);
    let stranger = ClientTlsConfig::new().identity(identity(&Certificate::new()));
    assert!(!answers(endpoint(address, stranger, &certificate)).await);
    assert!(answers(endpoint(address, ClientTlsConfig::new().identity(identity(&client)), &certificate)).await);
}
