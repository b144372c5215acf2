//! [`RtRuntime`]: what quinn asks a runtime for.

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};

use crate::socket::Socket;
use crate::timer::Timer;

/// Gives quinn the sockets, timers and tasks of the runtime that it is used in.
///
/// Endpoints and connections belong to the runtime in which they were made. When it has shut down they do nothing any
/// more: `accept` returns `None`, but what waits for a connection, outside of this runtime, may wait for ever. They can
/// be dropped anywhere.
///
/// # Panics
///
/// quinn calls it where an endpoint or a connection is made. As [`rt::spawn`] that panics outside of a runtime of rt,
/// or in one without I/O or time.
///
/// # Example
///
/// See [the crate](crate).
#[derive(Clone, Copy, Debug, Default)]
pub struct RtRuntime {
    _private: (),
}

impl RtRuntime {
    /// Stands for whichever runtime it is used in.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Runtime for RtRuntime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer::new(deadline))
    }

    #[track_caller]
    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        // quinn does not wait for it.
        drop(rt::spawn(future));
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(Arc::new(Socket::new(socket)?))
    }

    fn now(&self) -> Instant {
        // In tests the clock of the runtime may be paused.
        rt::time::Instant::now().into()
    }
}
