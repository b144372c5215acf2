//! The methods that public types have in common, word for word. Each of these types has an
//! [`Endpoint`](super::endpoint::Endpoint) in its field `io`.

/// `ready`.
macro_rules! ready_method {
    () => {
        /// Waits until it is ready for something of `interest`, and says for what.
        ///
        /// The answer can be wrong by the time the operation is tried: go by what the `try_` methods return.
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: readiness stays until an operation has used it up.
        pub async fn ready(&self, interest: crate::interest::Interest) -> std::io::Result<crate::ready::Ready> {
            self.io.ready(interest).await
        }
    };
}

/// `readable`, and its polling form under the given name.
macro_rules! readable_methods {
    ($poll:ident) => {
        /// Waits until there may be something to read. See [`ready`](Self::ready).
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: readiness stays until an operation has used it up.
        pub async fn readable(&self) -> std::io::Result<()> {
            self.io.ready(crate::interest::Interest::READABLE).await.map(drop)
        }

        /// As [`readable`](Self::readable), for hand-written futures. Only the last task to wait for reading is woken.
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub fn $poll(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
            self.io.registration().poll_ready(cx, crate::readiness::Direction::Read).map_ok(drop)
        }
    };
}

/// `writable`, and its polling form under the given name.
macro_rules! writable_methods {
    ($poll:ident) => {
        /// Waits until there may be room to write. See [`ready`](Self::ready).
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: readiness stays until an operation has used it up.
        pub async fn writable(&self) -> std::io::Result<()> {
            self.io.ready(crate::interest::Interest::WRITABLE).await.map(drop)
        }

        /// As [`writable`](Self::writable), for hand-written futures. Only the last task to wait for writing is woken.
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub fn $poll(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
            self.io.registration().poll_ready(cx, crate::readiness::Direction::Write).map_ok(drop)
        }
    };
}

/// `try_io` and `async_io`.
macro_rules! operation_methods {
    () => {
        /// Runs an operation of your own on the socket, if it is ready for it as far as is known.
        ///
        /// # Errors
        ///
        /// What the operation returns. If that is `WouldBlock`, the readiness is taken back; so the operation must
        /// return it only when the socket really would block. `WouldBlock` as well if it was not ready to begin with.
        pub fn try_io<R>(
            &self,
            interest: crate::interest::Interest,
            operation: impl FnOnce() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.io.try_io(interest, operation)
        }

        /// Runs an operation of your own on the socket, as often as it takes, waiting for `interest` in between.
        ///
        /// # Errors
        ///
        /// What the operation returns, save `WouldBlock`, which it must return only when the socket really would
        /// block.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe, as far as the operation is: it is not interrupted, only not tried again.
        pub async fn async_io<R>(
            &self,
            interest: crate::interest::Interest,
            operation: impl FnMut() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.io.async_io(interest, operation).await
        }
    };
}

/// `from_std` and `into_std`, for a type of the standard library that mio has a type for.
macro_rules! std_methods {
    ($std:ty, $source:ty, $interest:expr) => {
        /// Takes over a socket of the standard library.
        ///
        /// It must be in non-blocking mode: otherwise its operations block the thread.
        ///
        /// # Errors
        ///
        /// [`InvalidInput`](std::io::ErrorKind::InvalidInput) if it is in blocking mode, where the system tells; and
        /// if it cannot be registered with the driver.
        ///
        /// # Panics
        ///
        /// Outside of a runtime with I/O enabled.
        #[track_caller]
        pub fn from_std(socket: $std) -> std::io::Result<Self> {
            let driver = crate::registration::current_driver();
            crate::net::platform::require_nonblocking(&socket)?;
            let source = <$source>::from_std(socket);
            let io = crate::net::endpoint::Endpoint::register(&driver, source, $interest, crate::ready::Ready::EMPTY)?;
            // What has been done to it, and who else knows it, cannot be known.
            io.registration().be_wary();
            Ok(Self { io })
        }

        /// Gives the socket back, out of the driver. It is still in non-blocking mode.
        ///
        /// # Errors
        ///
        /// If the driver cannot let go of it; it is closed then.
        pub fn into_std(self) -> std::io::Result<$std> {
            self.io.into_source().map(<$std>::from)
        }

        /// The error that the socket has to report, if any; it is reported once.
        ///
        /// # Errors
        ///
        /// If the operating system cannot say.
        pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
            self.io.source().take_error()
        }
    };
}

/// The options that routers on the way look at. `$this` is the socket, `$os` its options.
macro_rules! traffic_class_methods {
    ($this:ident => $os:expr) => {
        /// The type of service of IPv4 packets from this socket (`IP_TOS`).
        #[cfg(not(any(
            target_os = "fuchsia",
            target_os = "redox",
            target_os = "solaris",
            target_os = "illumos",
            target_os = "haiku",
            target_os = "wasi"
        )))]
        pub fn tos_v4(&self) -> std::io::Result<u32> {
            let $this = self;
            $os.tos_v4()
        }

        /// Sets [`tos_v4`](Self::tos_v4). On Windows it has no effect unless the system is told to heed it.
        #[cfg(not(any(
            target_os = "fuchsia",
            target_os = "redox",
            target_os = "solaris",
            target_os = "illumos",
            target_os = "haiku",
            target_os = "wasi"
        )))]
        pub fn set_tos_v4(&self, tos: u32) -> std::io::Result<()> {
            let $this = self;
            $os.set_tos_v4(tos)
        }

        /// The former name of [`tos_v4`](Self::tos_v4).
        #[doc(hidden)]
        #[deprecated(note = "use `tos_v4` instead")]
        #[cfg(not(any(
            target_os = "fuchsia",
            target_os = "redox",
            target_os = "solaris",
            target_os = "illumos",
            target_os = "haiku",
            target_os = "wasi"
        )))]
        pub fn tos(&self) -> std::io::Result<u32> {
            self.tos_v4()
        }

        /// The former name of [`set_tos_v4`](Self::set_tos_v4).
        #[doc(hidden)]
        #[deprecated(note = "use `set_tos_v4` instead")]
        #[cfg(not(any(
            target_os = "fuchsia",
            target_os = "redox",
            target_os = "solaris",
            target_os = "illumos",
            target_os = "haiku",
            target_os = "wasi"
        )))]
        pub fn set_tos(&self, tos: u32) -> std::io::Result<()> {
            self.set_tos_v4(tos)
        }

        /// The traffic class of IPv6 packets from this socket (`IPV6_TCLASS`).
        #[cfg(any(
            target_os = "android",
            target_os = "dragonfly",
            target_os = "freebsd",
            target_os = "fuchsia",
            target_os = "linux",
            target_os = "macos",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "cygwin"
        ))]
        pub fn tclass_v6(&self) -> std::io::Result<u32> {
            let $this = self;
            $os.tclass_v6()
        }

        /// Sets [`tclass_v6`](Self::tclass_v6).
        #[cfg(any(
            target_os = "android",
            target_os = "dragonfly",
            target_os = "freebsd",
            target_os = "fuchsia",
            target_os = "linux",
            target_os = "macos",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "cygwin"
        ))]
        pub fn set_tclass_v6(&self, tclass: u32) -> std::io::Result<()> {
            let $this = self;
            $os.set_tclass_v6(tclass)
        }
    };
}

/// `TryFrom` a type of the standard library.
macro_rules! try_from_std {
    ($std:ty => $socket:ident) => {
        impl TryFrom<$std> for $socket {
            type Error = std::io::Error;

            #[doc = concat!("See [`from_std`](", stringify!($socket), "::from_std), panics included.")]
            #[track_caller]
            fn try_from(socket: $std) -> std::io::Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}

pub(super) use operation_methods;
pub(super) use readable_methods;
pub(super) use ready_method;
pub(super) use std_methods;
pub(super) use traffic_class_methods;
pub(super) use try_from_std;
pub(super) use writable_methods;
