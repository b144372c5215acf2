//! What the halves of TCP and Unix streams have in common, borrowed and owned ones: each method is that of the stream.

/// The methods of a reading half. `$stream` is the stream of `$this`, and `$doc` its type's name.
macro_rules! read_half_methods {
    ($doc:literal, $addr:ty, $this:ident => $stream:expr) => {
        #[doc = concat!("Waits until the stream is ready for something of `interest`. See [`", $doc, "::ready`].")]
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub async fn ready(&self, interest: crate::interest::Interest) -> std::io::Result<crate::ready::Ready> {
            let $this = self;
            $stream.ready(interest).await
        }

        #[doc = concat!("Waits until there may be something to read. See [`", $doc, "::readable`].")]
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub async fn readable(&self) -> std::io::Result<()> {
            let $this = self;
            $stream.readable().await
        }

        #[doc = concat!("Reads what is there, without waiting. See [`", $doc, "::try_read`].")]
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            let $this = self;
            $stream.try_read(buf)
        }

        #[doc = concat!("Reads what is there, without waiting. See [`", $doc, "::try_read_vectored`].")]
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
            let $this = self;
            $stream.try_read_vectored(bufs)
        }

        #[doc = concat!("Reads what is there, without waiting. See [`", $doc, "::try_read_buf`].")]
        ///
        /// # Errors
        ///
        /// The operating system's.
        #[cfg(feature = "io-util")]
        pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
            let $this = self;
            $stream.try_read_buf(buf)
        }

        crate::net::halves::address_methods!($addr, $this => $stream);
    };
}

/// The methods of a writing half. `$stream` is the stream of `$this`, and `$doc` its type's name.
macro_rules! write_half_methods {
    ($doc:literal, $addr:ty, $this:ident => $stream:expr) => {
        #[doc = concat!("Waits until the stream is ready for something of `interest`. See [`", $doc, "::ready`].")]
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub async fn ready(&self, interest: crate::interest::Interest) -> std::io::Result<crate::ready::Ready> {
            let $this = self;
            $stream.ready(interest).await
        }

        #[doc = concat!("Waits until there may be room to write. See [`", $doc, "::writable`].")]
        ///
        /// # Errors
        ///
        /// If the runtime has shut down.
        pub async fn writable(&self) -> std::io::Result<()> {
            let $this = self;
            $stream.writable().await
        }

        #[doc = concat!("Writes what there is room for, without waiting. See [`", $doc, "::try_write`].")]
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
            let $this = self;
            $stream.try_write(buf)
        }

        #[doc = concat!("Writes what there is room for, without waiting. See [`", $doc, "::try_write_vectored`].")]
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
            let $this = self;
            $stream.try_write_vectored(bufs)
        }

        crate::net::halves::address_methods!($addr, $this => $stream);
    };
}

/// The addresses of the stream that a half is of.
macro_rules! address_methods {
    ($addr:ty, $this:ident => $stream:expr) => {
        /// The address of this side.
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn local_addr(&self) -> std::io::Result<$addr> {
            let $this = self;
            $stream.local_addr()
        }

        /// The address of the other side.
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn peer_addr(&self) -> std::io::Result<$addr> {
            let $this = self;
            $stream.peer_addr()
        }
    };
}

/// Everything about owned halves but their definitions, documentation and addresses: making them, putting them together
/// again, `AsRef`, and the I/O traits.
macro_rules! owned_halves {
    ($stream:ident) => {
        pub(super) fn split(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = std::sync::Arc::new(stream);
            (OwnedReadHalf { stream: stream.clone() }, OwnedWriteHalf { stream, shut_down_on_drop: true })
        }

        fn reunite(reader: OwnedReadHalf, writer: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
            if !std::sync::Arc::ptr_eq(&reader.stream, &writer.stream) {
                return Err(ReuniteError(reader, writer));
            }
            writer.forget();
            Ok(std::sync::Arc::into_inner(reader.stream).expect("there is one reader and one writer of a stream"))
        }

        /// The two halves are not of the same stream. Both are in here.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the two halves are not of the same stream")
            }
        }

        impl std::error::Error for ReuniteError {}

        impl OwnedWriteHalf {
            /// Puts the stream together again.
            ///
            /// # Errors
            ///
            /// If the halves are not of the same stream: both come back.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                reunite(other, self)
            }

            /// Drops this half without ending what the other side can read; that ends when the reading half goes as
            /// well.
            pub fn forget(mut self) {
                self.shut_down_on_drop = false;
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shut_down_on_drop {
                    // Whatever it says, nobody is left to hear of it.
                    let _ = self.stream.shut_down_writing();
                }
            }
        }

        impl AsRef<$stream> for OwnedReadHalf {
            fn as_ref(&self) -> &$stream {
                &self.stream
            }
        }

        impl AsRef<$stream> for OwnedWriteHalf {
            fn as_ref(&self) -> &$stream {
                &self.stream
            }
        }

        crate::net::forward::forward_read!(OwnedReadHalf, this => &*this.stream);

        impl crate::io::AsyncWrite for OwnedWriteHalf {
            crate::net::forward::forward_write_methods!(this => &*this.stream);

            /// Ends what the other side can read.
            fn poll_shutdown(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let outcome = std::pin::Pin::new(&mut &*self.stream).poll_shutdown(cx);
                // Once is enough.
                self.shut_down_on_drop &= !matches!(outcome, std::task::Poll::Ready(Ok(())));
                outcome
            }
        }
    };
}

/// Everything about borrowed halves but their definitions, documentation and addresses: making them, `AsRef`, and the
/// I/O traits.
macro_rules! borrowed_halves {
    ($stream:ident) => {
        pub(super) fn split(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf(stream), WriteHalf(stream))
        }

        impl AsRef<$stream> for ReadHalf<'_> {
            fn as_ref(&self) -> &$stream {
                self.0
            }
        }

        impl AsRef<$stream> for WriteHalf<'_> {
            fn as_ref(&self) -> &$stream {
                self.0
            }
        }

        crate::net::forward::forward_read!(ReadHalf<'_>, this => &*this.0);
        crate::net::forward::forward_write!(WriteHalf<'_>, this => &*this.0);
    };
}

pub(super) use {address_methods, borrowed_halves, owned_halves, read_half_methods, write_half_methods};
