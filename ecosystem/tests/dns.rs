//! hickory-resolver against a hickory-server of its own: UDP, TCP when an answer does not fit, retries, timeouts, and
//! caching.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{StreamExt, stream};
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::{Time, TokioRuntimeProvider};
use hickory_resolver::net::xfer::Protocol;
use hickory_resolver::proto::op::{Header, HeaderCounts, Metadata, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, TXT};
use hickory_resolver::proto::rr::{Name, RData, Record};
use hickory_resolver::{Resolver, TokioResolver};
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

/// What was asked, and over what.
type Asked = Arc<Mutex<Vec<(String, Protocol)>>>;

/// Knows `<n>.many.test`, `large.test`, and `late.test`, where the first request gets no answer; says nothing on
/// `never.test`, and denies that there are others.
struct Names {
    asked: Asked,
}

impl Names {
    fn answers(&self, name: &str) -> Option<Vec<RData>> {
        if let Some(n) = name.strip_suffix(".many.test.") {
            return Some(vec![address(n.parse().unwrap())]);
        }
        match name {
            "late.test." => Some(vec![address(1)]),
            "large.test." => Some((0..100).map(|n| RData::TXT(TXT::new(vec![format!("{n:0200}")]))).collect()),
            _ => None,
        }
    }
}

fn address(n: u8) -> RData {
    RData::A(A(Ipv4Addr::new(127, 0, 0, n)))
}

#[async_trait::async_trait]
impl RequestHandler for Names {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, mut respond: R) -> ResponseInfo {
        let query = request.request_info().unwrap().query;
        let name = query.name().to_string();
        let times = {
            let mut asked = self.asked.lock().unwrap();
            asked.push((name.clone(), request.protocol()));
            asked.iter().filter(|(other, _)| *other == name).count()
        };
        let mut metadata = Metadata::response_from_request(&request.metadata);
        if name == "never.test." || name == "late.test." && times == 1 {
            return ResponseInfo::from(Header { metadata, counts: HeaderCounts::default() });
        }
        let answers = self.answers(&name);
        if answers.is_none() {
            metadata.response_code = ResponseCode::NXDomain;
        }
        let owner = Name::from(query.name());
        let records = answers.unwrap_or_default().into_iter().map(|data| Record::from_rdata(owner.clone(), 60, data));
        let records: Vec<Record> = records.collect();
        let builder = MessageResponseBuilder::from_message_request(request);
        respond.send_response(builder.build(metadata, &records, [], [], [])).await.unwrap()
    }
}

struct Server {
    server: hickory_server::Server<Names>,
    asked: Asked,
    port: u16,
}

impl Server {
    async fn start() -> Self {
        let asked = Asked::default();
        let mut server = hickory_server::Server::new(Names { asked: asked.clone() });
        let (tcp, udp) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
            // The same number may be taken there.
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
                break (tcp, udp);
            }
        };
        let port = tcp.local_addr().unwrap().port();
        server.register_socket(udp);
        server.register_listener(tcp, Duration::from_secs(60), 32);
        Server { server, asked, port }
    }

    /// A resolver that asks this server alone.
    fn resolver(&self, timeout: Duration, attempts: usize) -> TokioResolver {
        let mut name_server = NameServerConfig::udp_and_tcp(IpAddr::V4(Ipv4Addr::LOCALHOST));
        for connection in &mut name_server.connections {
            connection.port = self.port;
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        (options.timeout, options.attempts) = (timeout, attempts);
        options.use_hosts_file = ResolveHosts::Never;
        builder.build().unwrap()
    }

    fn asked(&self, name: &str) -> Vec<Protocol> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(other, _)| other == name).map(|(_, protocol)| *protocol).collect()
    }
}

const LONG: Duration = Duration::from_secs(60);

async fn resolves_to(resolver: &TokioResolver, name: &str, n: u8) {
    let found = resolver.ipv4_lookup(name).await.unwrap();
    assert_eq!(found.answers().iter().map(|record| record.data.clone()).collect::<Vec<_>>(), [address(n)], "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_names_over_udp_and_again_from_the_cache() {
    let mut server = Server::start().await;
    let resolver = server.resolver(LONG, 3);
    let lookup = |n: u8| {
        let resolver = resolver.clone();
        tokio::spawn(async move { resolves_to(&resolver, &format!("{n}.many.test."), n).await })
    };
    let mut lookups = stream::iter(0..200).map(lookup).buffer_unordered(16);
    while let Some(done) = lookups.next().await {
        done.unwrap();
    }
    for n in 0..200 {
        let asked = server.asked(&format!("{n}.many.test."));
        // It may be more than once: a datagram is sent again if its answer is late.
        assert!(!asked.is_empty() && asked.iter().all(|protocol| *protocol == Protocol::Udp), "{n}: {asked:?}");
    }

    server.server.shutdown_gracefully().await.unwrap();
    for n in 0..200 {
        resolves_to(&resolver, &format!("{n}.many.test."), n).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_too_large_for_a_datagram_comes_over_tcp() {
    let server = Server::start().await;
    let found = server.resolver(LONG, 3).txt_lookup("large.test.").await.unwrap();
    let mut texts: Vec<String> = found.answers().iter().map(|record| record.data.to_string()).collect();
    texts.sort();
    assert_eq!(texts, (0..100).map(|n| format!("{n:0200}")).collect::<Vec<_>>());
    let asked = server.asked("large.test.");
    assert_eq!((asked.first(), asked.last()), (Some(&Protocol::Udp), Some(&Protocol::Tcp)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_lost_is_sent_again() {
    let server = Server::start().await;
    resolves_to(&server.resolver(LONG, 3), "late.test.", 1).await;
    assert!(server.asked("late.test.").len() > 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_gets_no_answer_times_out_and_holds_up_no_other() {
    let server = Server::start().await;
    let resolver = server.resolver(Duration::from_millis(200), 1);
    let never = tokio::spawn(async move { resolver.ipv4_lookup("never.test.").await });
    let patient = server.resolver(LONG, 3);
    for n in 0..50 {
        resolves_to(&patient, &format!("{n}.many.test."), n).await;
    }
    assert!(matches!(never.await.unwrap().unwrap_err(), NetError::Timeout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_is_denied_is_no_timeout() {
    let server = Server::start().await;
    let error = server.resolver(LONG, 3).ipv4_lookup("nobody.test.").await.unwrap_err();
    assert!(error.is_nx_domain(), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lookups_that_are_given_up_leave_the_resolver_as_it_was() {
    let server = Server::start().await;
    let resolver = server.resolver(LONG, 3);
    for n in 0..20 {
        let given_up = resolver.clone();
        let lookup = tokio::spawn(async move { given_up.ipv4_lookup("never.test.").await });
        while server.asked("never.test.").len() <= n {
            tokio::task::yield_now().await;
        }
        lookup.abort();
        assert!(lookup.await.unwrap_err().is_cancelled());
        resolves_to(&resolver, &format!("{n}.many.test."), n as u8).await;
    }
}
