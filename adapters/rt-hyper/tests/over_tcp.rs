//! hyper on rt's sockets, with both versions of HTTP, upgrades and timeouts.

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, UPGRADE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt_hyper::{RtExecutor, RtIo, RtTimer};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

async fn pair() -> std::io::Result<(RtIo<TcpStream>, RtIo<TcpStream>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let client = TcpStream::connect(listener.local_addr()?).await?;
    let (server, _) = listener.accept().await?;
    Ok((RtIo::new(client), RtIo::new(server)))
}

/// Gives back what it gets.
async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    Ok(Response::new(Full::new(request.into_body().collect().await?.to_bytes())))
}

/// Larger than what sockets take at once, and not the same everywhere.
fn large() -> Bytes {
    (0..3_000_000_u32).map(|n| (n / 7) as u8).collect()
}

#[rt::test]
async fn a_large_body_comes_back_whole_over_http1() -> Outcome {
    let (client, server) = pair().await?;
    rt::spawn(hyper::server::conn::http1::Builder::new().serve_connection(server, service_fn(echo)));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(client).await?;
    rt::spawn(connection);
    for _ in 0..3 {
        let response = sender.send_request(Request::new(Full::new(large()))).await?;
        assert_eq!(response.into_body().collect().await?.to_bytes(), large());
    }
    Ok(())
}

#[rt::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_come_back_whole_side_by_side_over_http2() -> Outcome {
    let (client, server) = pair().await?;
    let executor = RtExecutor::new();
    rt::spawn(hyper::server::conn::http2::Builder::new(executor).serve_connection(server, service_fn(echo)));
    let (sender, connection) = hyper::client::conn::http2::handshake(executor, client).await?;
    rt::spawn(connection);
    let requests: Vec<_> = (0..10)
        .map(|_| {
            let mut sender = sender.clone();
            rt::spawn(async move {
                let response = sender.send_request(Request::new(Full::new(large()))).await?;
                Ok::<_, hyper::Error>(response.into_body().collect().await?.to_bytes())
            })
        })
        .collect();
    for request in requests {
        assert_eq!(request.await??, large());
    }
    Ok(())
}

#[rt::test]
async fn an_upgraded_connection_is_a_stream_of_rt() -> Outcome {
    let (client, server) = pair().await?;
    let upgrade = service_fn(async |request: Request<Incoming>| {
        rt::spawn(async move {
            let mut stream = RtIo::new(hyper::upgrade::on(request).await.unwrap());
            let mut question = [0; 8];
            stream.read_exact(&mut question).await.unwrap();
            stream.write_all(&question).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let response = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS).header(UPGRADE, "echo");
        Ok::<_, Infallible>(response.header(CONNECTION, "upgrade").body(Empty::<Bytes>::new()).unwrap())
    });
    rt::spawn(hyper::server::conn::http1::Builder::new().serve_connection(server, upgrade).with_upgrades());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(client).await?;
    rt::spawn(connection.with_upgrades());
    let request = Request::builder().header(UPGRADE, "echo").header(CONNECTION, "upgrade");
    let response = sender.send_request(request.body(Empty::<Bytes>::new())?).await?;
    let mut stream = RtIo::new(hyper::upgrade::on(response).await?);
    stream.write_all(b"question").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert_eq!(answer, "question");
    Ok(())
}

#[rt::test(start_paused = true)]
async fn a_client_that_sends_no_headers_is_cut_off_when_its_time_is_over() -> Outcome {
    let (client, server) = pair().await?;
    let start = rt::time::Instant::now();
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(RtTimer::new()).header_read_timeout(Duration::from_secs(10));
    let serving = builder.serve_connection(server, service_fn(echo)).await;
    assert!(serving.is_err_and(|error| error.is_timeout()));
    assert!(start.elapsed() >= Duration::from_secs(10));
    drop(client);
    Ok(())
}

#[rt::test(start_paused = true)]
async fn a_timer_that_is_moved_stays_the_timer_that_it_is() {
    use hyper::rt::Timer;

    let timer = RtTimer::new();
    let mut sleep = timer.sleep(Duration::from_secs(1));
    let before: *const dyn hyper::rt::Sleep = &*sleep;
    timer.reset(&mut sleep, timer.now() + Duration::from_secs(5));
    let after: *const dyn hyper::rt::Sleep = &*sleep;
    assert!(std::ptr::addr_eq(before, after));
    let start = rt::time::Instant::now();
    sleep.await;
    assert!(start.elapsed() >= Duration::from_secs(5));
}
