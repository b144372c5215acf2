//! [`Exit`]: a child of this process, and waiting for its end.
//!
//! On Linux the end of a process is an event like any other: the process has a descriptor (*pidfd*) that becomes
//! readable, and is registered with the driver. Elsewhere, and where the system refuses such a descriptor (an old
//! kernel, a sandbox, no descriptor left), it takes `SIGCHLD`, of which each waiting task is told, and then asks the
//! system about its own child. That takes the handler of this signal, and work for each pair of child and end.
//!
//! Whichever it is, only the system's answer about *this* child counts (`waitpid` with its number). Nobody here ever
//! asks about any child: those of other code are none of our business.
//!
//! The registration is with one driver. If that is gone when somebody waits, the child is registered with the driver of
//! the one who waits; the process is the same.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime_core::context;
use runtime_core::coop;

use crate::driver::Handle;
use crate::signal::{self, Listener};

/// A child that has not been waited for yet, and what tells of its end.
#[derive(Debug)]
pub(super) struct Exit {
    child: Child,
    watch: Watch,
}

/// What tells of a child's end.
#[derive(Debug)]
enum Watch {
    /// Nothing yet, or the last attempt has failed.
    Nothing,
    #[cfg(target_os = "linux")]
    Descriptor(descriptor::Process),
    Signal(Listener),
}

impl Watch {
    /// Watches a child by way of a driver.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "a signal is for all children"))]
    fn new(child: &Child, driver: &Arc<Handle>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(process) = descriptor::Process::open(child.id(), driver) {
            return Ok(Self::Descriptor(process));
        }
        signal::listen(driver, libc::SIGCHLD).map(Self::Signal)
    }
}

impl Exit {
    /// A child that was started just now.
    pub(super) fn new(child: Child) -> Self {
        Self { child, watch: Watch::Nothing }
    }

    /// Has the driver watch for the child's end.
    ///
    /// # Errors
    ///
    /// If there is no descriptor left, or no memory; if the driver is gone. The child is not watched then.
    pub(super) fn watch(&mut self, driver: &Arc<Handle>) -> io::Result<()> {
        // What there was before is released first, as descriptors may be scarce.
        self.watch = Watch::Nothing;
        self.watch = Watch::new(&self.child, driver)?;
        Ok(())
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the child's end. Of several callers, the last one will be woken. One unit of budget.
    ///
    /// # Errors
    ///
    /// If somebody else has waited for the child, or if there is no driver (any more) that could watch it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let coop = ready!(coop::poll_proceed(cx));
        loop {
            // The waker first: what happens after the look at the child, it is told of.
            let told = match &self.watch {
                Watch::Nothing => Poll::Ready(Err(crate::shut_down())),
                #[cfg(target_os = "linux")]
                Watch::Descriptor(process) => process.poll(cx),
                Watch::Signal(listener) => listener.poll(cx).map(Ok),
            };
            let needs_look = match &self.watch {
                Watch::Signal(_) => true,
                _ => told.is_ready(),
            };
            if needs_look && let Some(status) = self.child.try_wait()? {
                coop.made_progress();
                return Poll::Ready(Ok(status));
            }
            match told {
                Poll::Pending => return Poll::Pending,
                // A signal for another child; or the child has ended, but is being traced, and its tracer is to be told
                // first. There will be another event.
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(gone)) => {
                    let Ok(driver) = context::with_io(|driver: &Arc<Handle>| driver.clone()) else {
                        return Poll::Ready(Err(gone));
                    };
                    self.watch(&driver)?;
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod descriptor {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd, RawFd};
    use std::sync::Arc;
    use std::task::{Context, Poll, ready};

    use mio::event::Source;
    use mio::unix::SourceFd;
    use mio::{Registry, Token};
    use runtime_core::os;

    use crate::driver::Handle;
    use crate::interest::Interest;
    use crate::readiness::Direction;
    use crate::ready::Ready;
    use crate::registration::Evented;

    /// The descriptor of a process, registered.
    #[derive(Debug)]
    pub(super) struct Process(Evented<Descriptor>);

    #[derive(Debug)]
    struct Descriptor(OwnedFd);

    impl Process {
        pub(super) fn open(id: u32, driver: &Arc<Handle>) -> io::Result<Self> {
            let descriptor = Descriptor(os::open_process(id)?);
            Evented::new(driver, descriptor, Interest::READABLE, Ready::EMPTY).map(Self).map_err(|(_, error)| error)
        }

        /// Takes note that the process may have ended. An error if the driver is gone. Spends no budget.
        pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            let registration = self.0.registration();
            let event = ready!(registration.poll_event(cx, Direction::Read))?;
            // Each end is an event of its own, and so is that of a tracer.
            registration.clear_refused(event);
            Poll::Ready(Ok(()))
        }
    }

    impl AsRawFd for Descriptor {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }

    impl Source for Descriptor {
        fn register(&mut self, registry: &Registry, token: Token, interests: mio::Interest) -> io::Result<()> {
            SourceFd(&self.as_raw_fd()).register(registry, token, interests)
        }

        fn reregister(&mut self, registry: &Registry, token: Token, interests: mio::Interest) -> io::Result<()> {
            SourceFd(&self.as_raw_fd()).reregister(registry, token, interests)
        }

        fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
            SourceFd(&self.as_raw_fd()).deregister(registry)
        }
    }
}
