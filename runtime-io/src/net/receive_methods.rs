//! The methods by which the sockets of datagrams receive, UDP's and Unix sockets', word for word. Each of these types
//! has an [`Endpoint`](super::endpoint::Endpoint) in its field `io`, and the methods `receive` and `receive_from`,
//! which try once.

/// From the address that the socket is connected to: `recv`, `recv_buf`, and their other forms. From anybody:
/// `recv_from`, `recv_buf_from`, and theirs, with the sender's address.
macro_rules! receive_methods {
    ($address:ty) => {
        /// Waits for a datagram, and returns its length, as far as there was room for it.
        ///
        /// Of a socket that is not [connected](Self::connect) it can be from anybody.
        ///
        /// # Errors
        ///
        /// The operating system's: nobody was there for an earlier datagram (`ConnectionRefused`), for example.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: if it is dropped before it is done, no datagram was received.
        pub async fn recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            let mut buf = crate::io::ReadBuf::new(buf);
            self.io.async_io(crate::interest::Interest::READABLE, || self.receive(&mut buf)).await
        }

        /// As [`recv`](Self::recv), for hand-written futures, into memory that need not be initialised. Only the last
        /// task to wait for receiving is woken.
        ///
        /// # Errors
        ///
        /// See [`recv`](Self::recv).
        pub fn poll_recv(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut crate::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.io.poll_io(cx, crate::readiness::Direction::Read, || self.receive(buf)).map_ok(drop)
        }

        /// As [`recv`](Self::recv), without waiting.
        ///
        /// # Errors
        ///
        /// See [`recv`](Self::recv); `WouldBlock` if nothing is there, or none is known to be until
        /// [`readable`](Self::readable) has returned.
        pub fn try_recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.io.try_io(crate::interest::Interest::READABLE, || self.receive(&mut crate::io::ReadBuf::new(buf)))
        }

        /// As [`recv`](Self::recv), into what `buf` has to offer, which need not be initialised.
        ///
        /// # Errors
        ///
        /// See [`recv`](Self::recv).
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: if it is dropped before it is done, no datagram was received.
        #[cfg(feature = "io-util")]
        pub async fn recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
            let (count, _) = self
                .io
                .async_io(crate::interest::Interest::READABLE, || {
                    crate::net::receive::fill(buf, |part| self.receive(part))
                })
                .await?;
            Ok(count)
        }

        /// As [`recv_buf`](Self::recv_buf), without waiting.
        ///
        /// # Errors
        ///
        /// See [`try_recv`](Self::try_recv).
        #[cfg(feature = "io-util")]
        pub fn try_recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
            self.io
                .try_io(crate::interest::Interest::READABLE, || {
                    crate::net::receive::fill(buf, |part| self.receive(part))
                })
                .map(|(count, _)| count)
        }

        /// Waits for a datagram, and returns its length, as far as there was room for it, and who sent it.
        ///
        /// # Errors
        ///
        /// The operating system's.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: if it is dropped before it is done, no datagram was received.
        pub async fn recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
            let mut buf = crate::io::ReadBuf::new(buf);
            let sender = self.io.async_io(crate::interest::Interest::READABLE, || self.receive_from(&mut buf)).await?;
            Ok((buf.filled().len(), sender))
        }

        /// As [`recv_from`](Self::recv_from), for hand-written futures, into memory that need not be initialised. Only
        /// the last task to wait for receiving is woken.
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn poll_recv_from(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut crate::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<$address>> {
            self.io.poll_io(cx, crate::readiness::Direction::Read, || self.receive_from(buf))
        }

        /// As [`recv_from`](Self::recv_from), without waiting.
        ///
        /// # Errors
        ///
        /// See [`try_recv`](Self::try_recv).
        pub fn try_recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
            let mut buf = crate::io::ReadBuf::new(buf);
            let sender = self.io.try_io(crate::interest::Interest::READABLE, || self.receive_from(&mut buf))?;
            Ok((buf.filled().len(), sender))
        }

        /// As [`recv_from`](Self::recv_from), into what `buf` has to offer, which need not be initialised.
        ///
        /// # Errors
        ///
        /// The operating system's.
        ///
        /// # Cancel safety
        ///
        /// Cancel safe: if it is dropped before it is done, no datagram was received.
        #[cfg(feature = "io-util")]
        pub async fn recv_buf_from<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<(usize, $address)> {
            self.io
                .async_io(crate::interest::Interest::READABLE, || {
                    crate::net::receive::fill(buf, |part| self.receive_from(part))
                })
                .await
        }

        /// As [`recv_buf_from`](Self::recv_buf_from), without waiting.
        ///
        /// # Errors
        ///
        /// See [`try_recv`](Self::try_recv).
        #[cfg(feature = "io-util")]
        pub fn try_recv_buf_from<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<(usize, $address)> {
            self.io.try_io(crate::interest::Interest::READABLE, || {
                crate::net::receive::fill(buf, |part| self.receive_from(part))
            })
        }
    };
}

pub(super) use receive_methods;
