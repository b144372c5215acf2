//! HTTP/1.1 by hyper: a fixed answer, one that takes some work, and streamed bodies.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use futures_channel::oneshot;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};

use super::{IntoHyper, Kind};
use crate::Handle;

/// What a request of [`Kind::Work`] spawns. Each of these yields once.
const SPAWNS: u64 = 4;
/// Far more than a request takes: the timer is set and cancelled.
const LIMIT: Duration = Duration::from_secs(5);
/// One request of this number calls blocking code.
const BLOCKING_EVERY: u64 = 100;
/// A body of [`Kind::Bodies`] is this number of pieces of [`PIECE`] bytes.
const PIECES: usize = 4;
const PIECE: usize = 16 * 1024;

static ZEROES: [u8; PIECE] = [0; PIECE];

/// A question, and where the answer goes.
type Question = (u64, oneshot::Sender<u64>);

/// What all connections share.
#[derive(Clone)]
pub(super) struct Service<H> {
    handle: H,
    kind: Kind,
    requests: Arc<AtomicU64>,
    /// To a task that answers.
    questions: Sender<Question>,
}

impl<H: Handle> Service<H> {
    /// Spawns the task that requests ask.
    pub(super) fn new(handle: H, kind: Kind) -> Self {
        let (questions, inbox) = async_channel::bounded(1024);
        handle.spawn_detached(answer(inbox));
        Self { handle, kind, requests: Arc::default(), questions }
    }

    /// Serves one connection until it ends, in whatever way.
    pub(super) async fn serve<S: IntoHyper>(self, stream: S) {
        let service = service_fn(|_: Request<Incoming>| self.respond());
        let _ = http1::Builder::new().serve_connection(stream.into_hyper(), service).await;
    }

    async fn respond(&self) -> Result<Response<Pieces>, Infallible> {
        let body = match self.kind {
            Kind::Work => H::timeout(LIMIT, self.work()).await.map_or(Pieces::none(), Pieces::one),
            Kind::Bodies => Pieces { left: PIECES, piece: Bytes::from_static(&ZEROES), length: None },
            Kind::Hello | Kind::Lines => Pieces::one(Bytes::from_static(b"hello, world\n")),
        };
        Ok(Response::new(body))
    }

    async fn work(&self) -> Bytes {
        let number = self.requests.fetch_add(1, Relaxed);
        let tasks: [H::Task<u64>; SPAWNS as usize] = std::array::from_fn(|part| {
            self.handle.spawn(async move {
                H::yield_now().await;
                number + part as u64
            })
        });
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        let (sender, receiver) = oneshot::channel();
        if self.questions.send((sum, sender)).await.is_ok() {
            sum += receiver.await.unwrap_or_default();
        }
        if number.is_multiple_of(BLOCKING_EVERY) {
            sum += self.handle.spawn_blocking(move || u64::from(number.count_ones())).await;
        }
        sum.to_string().into()
    }
}

async fn answer(questions: Receiver<Question>) {
    while let Ok((question, reply)) = questions.recv().await {
        let _ = reply.send(question.rotate_left(1));
    }
}

/// A body of equal pieces. It is sent with its length if that was told, and else in chunks.
struct Pieces {
    left: usize,
    piece: Bytes,
    length: Option<u64>,
}

impl Pieces {
    fn one(piece: Bytes) -> Self {
        Self { left: 1, length: Some(piece.len() as u64), piece }
    }

    fn none() -> Self {
        Self { left: 0, piece: Bytes::new(), length: Some(0) }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.length.map_or_else(hyper::body::SizeHint::new, hyper::body::SizeHint::with_exact)
    }
}
