//! A call that nobody waits for any more is dropped at the server: past a deadline of the client's, past one of the
//! server's, and when the client gives it up.

use tokio::task::JoinHandle;
use tonic::transport::server::Router;
use tonic::{Request, Response, Status};
use tonic_health::pb::HealthCheckResponse;
use tonic_health::pb::health_server::{Health, HealthServer};

use super::super::*;

#[derive(Debug, PartialEq)]
enum Told {
    Begun,
    Dropped,
}

/// Answers calls for "quick", and no other ever.
struct Slow {
    tell: mpsc::UnboundedSender<Told>,
}

struct Call(mpsc::UnboundedSender<Told>);

impl Drop for Call {
    fn drop(&mut self) {
        let _ = self.0.send(Told::Dropped);
    }
}

#[tonic::async_trait]
impl Health for Slow {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        if request.get_ref().service == "quick" {
            return Ok(Response::new(HealthCheckResponse { status: ServingStatus::Serving as i32 }));
        }
        let _call = Call(self.tell.clone());
        self.tell.send(Told::Begun).unwrap();
        std::future::pending().await
    }

    type WatchStream = futures::stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(futures::stream::empty()))
    }
}

struct SlowServer {
    client: HealthClient<Channel>,
    told: mpsc::UnboundedReceiver<Told>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl SlowServer {
    async fn start(mut builder: Server) -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        // Else the server closes the connection when 20 calls or so are given up before it has come to them.
        builder = builder.http2_max_pending_accept_reset_streams(Some(1000));
        let router: Router = builder.add_service(HealthServer::new(Slow { tell }));
        let ended = tokio::spawn(router.serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
            drop(stopped.await);
        }));
        let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
        SlowServer { client: HealthClient::new(channel), told, stop, ended }
    }

    /// Ends it, and says how many calls have begun and how many were dropped in all.
    async fn end(mut self) -> (usize, usize) {
        // The connection is still there: it carries other calls.
        self.client.check(named("quick")).await.unwrap();
        self.stop.send(()).unwrap();
        drop(self.client);
        self.ended.await.unwrap().unwrap();
        let (mut begun, mut dropped) = (0, 0);
        while let Some(told) = self.told.recv().await {
            match told {
                Told::Begun => begun += 1,
                Told::Dropped => dropped += 1,
            }
        }
        (begun, dropped)
    }
}

/// tonic says `Cancelled` for what has timed out.
fn timed_out(answer: Result<Response<HealthCheckResponse>, Status>) {
    let status = answer.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
}

fn with_deadline(milliseconds: u64) -> Request<HealthCheckRequest> {
    let mut request = Request::new(named("slow"));
    request.set_timeout(Duration::from_millis(milliseconds));
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_past_the_clients_deadline_are_dropped() {
    let mut server = SlowServer::start(Server::builder()).await;
    let calls = (0..100).map(|n| {
        let mut client = server.client.clone();
        tokio::spawn(async move { client.check(with_deadline(n % 50)).await })
    });
    for answer in futures::future::join_all(calls).await {
        timed_out(answer.unwrap());
    }
    // A deadline may pass before the call has got to the server, but not for ever.
    let mut wait = 50;
    while server.told.is_empty() {
        wait *= 2;
        timed_out(server.client.check(with_deadline(wait)).await);
    }
    let (begun, dropped) = server.end().await;
    assert!(begun > 0);
    assert_eq!(begun, dropped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_of_the_server_needs_none_of_the_client() {
    let mut server = SlowServer::start(Server::builder().timeout(Duration::from_millis(50))).await;
    let calls = (0..50).map(|_| {
        let mut client = server.client.clone();
        tokio::spawn(async move { client.check(named("slow")).await })
    });
    for answer in futures::future::join_all(calls).await {
        timed_out(answer.unwrap());
    }
    // The time may be over before all of a request is there, and then its call is not begun, but not for ever.
    while server.told.is_empty() {
        timed_out(server.client.check(named("slow")).await);
    }
    let (begun, dropped) = server.end().await;
    assert!(begun > 0);
    assert_eq!(begun, dropped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_the_client_gives_up_is_dropped() {
    let mut server = SlowServer::start(Server::builder()).await;
    for _ in 0..20 {
        let mut client = server.client.clone();
        let call = tokio::spawn(async move { client.check(named("slow")).await });
        assert_eq!(server.told.recv().await, Some(Told::Begun));
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        // While the server goes on, and the connection is open.
        assert_eq!(server.told.recv().await, Some(Told::Dropped));
    }
    assert_eq!(server.end().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_within_its_deadline_is_answered() {
    let mut server = SlowServer::start(Server::builder().timeout(Duration::from_secs(600))).await;
    let mut request = Request::new(named("quick"));
    request.set_timeout(Duration::from_secs(600));
    let answer = server.client.check(request).await.unwrap().into_inner();
    assert_eq!(answer.status, ServingStatus::Serving as i32);
    assert_eq!(server.end().await, (0, 0));
}
