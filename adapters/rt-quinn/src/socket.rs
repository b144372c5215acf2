//! [`Socket`]: datagrams by quinn's own system calls, and rt's readiness.
//!
//! A connection sends through the one socket of its endpoint, and there are many connections: each has a [`Writable`]
//! of its own to wait for room in. Only the endpoint receives.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use rt::io::Interest;
use rt::net::UdpSocket;

/// A socket of an endpoint.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    /// What the system offers for it, such as segmentation offload.
    state: UdpSocketState,
}

impl Socket {
    /// Registers a socket with the current runtime.
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        // This puts it into non-blocking mode, too.
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { io: UdpSocket::from_std(socket)?, state })
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        let wait = move || {
            let socket = self.clone();
            async move { socket.io.writable().await }
        };
        Box::pin(Writable { wait, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || self.state.send((&self.io).into(), transmit))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let received = self.io.try_io(Interest::READABLE, || self.state.recv((&self.io).into(), bufs, meta));
            // Another error is about a datagram of before, and has been reported by now: "refused", of a connected
            // socket. Anybody can forge the message that it is made of, so it must not end the endpoint.
            if let Ok(count) = received {
                return Poll::Ready(Ok(count));
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

pin_project! {
    /// Waits for room to send, again and again: each time by a new future, which lives in here.
    struct Writable<F, W> {
        wait: F,
        #[pin]
        waiting: Option<W>,
    }
}

impl<F, W> UdpPoller for Writable<F, W>
where
    F: Fn() -> W + Send + Sync + 'static,
    W: Future<Output = io::Result<()>> + Send + Sync + 'static,
{
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        if this.waiting.is_none() {
            this.waiting.set(Some((this.wait)()));
        }
        let waiting = this.waiting.as_mut().as_pin_mut().expect("it was set just now");
        let outcome = ready!(waiting.poll(cx));
        this.waiting.set(None);
        Poll::Ready(outcome)
    }
}

impl<F, W> fmt::Debug for Writable<F, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
