//! The I/O traits for what only has a stream in it: the halves of a stream, and the stream itself, which does what a
//! reference to it does.

/// `AsyncRead` for a type whose bytes come from `$reader`, an expression of `$this`.
macro_rules! forward_read {
    ($type:ty, $this:ident => $reader:expr) => {
        impl crate::io::AsyncRead for $type {
            #[inline]
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = self;
                std::pin::Pin::new(&mut $reader).poll_read(cx, buf)
            }
        }
    };
}
pub(super) use forward_read;

/// The methods of `AsyncWrite`, but for `poll_shutdown`, for a type whose bytes go to `$writer`, an expression of
/// `$this`.
macro_rules! forward_write_methods {
    ($this:ident => $writer:expr) => {
        #[inline]
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            buf: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            let $this = self;
            std::pin::Pin::new(&mut $writer).poll_write(cx, buf)
        }

        #[inline]
        fn poll_write_vectored(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            bufs: &[std::io::IoSlice<'_>],
        ) -> std::task::Poll<std::io::Result<usize>> {
            let $this = self;
            std::pin::Pin::new(&mut $writer).poll_write_vectored(cx, bufs)
        }

        /// As every socket does.
        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let $this = self;
            std::pin::Pin::new(&mut $writer).poll_flush(cx)
        }
    };
}
pub(super) use forward_write_methods;

/// `AsyncWrite` for a type whose bytes go to `$writer`, an expression of `$this`.
macro_rules! forward_write {
    ($type:ty, $this:ident => $writer:expr) => {
        impl crate::io::AsyncWrite for $type {
            crate::net::forward::forward_write_methods!($this => $writer);

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = self;
                std::pin::Pin::new(&mut $writer).poll_shutdown(cx)
            }
        }
    };
}
pub(super) use forward_write;
