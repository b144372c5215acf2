//! What the handles of both kinds of channel have in common.

/// The methods of a receiver.
macro_rules! receiver {
    ($name:ident, $limit:ty) => {
        impl<T> $name<T> {
            /// Receives the next value, waiting for it. `None` if there is none and will be none: all senders are gone,
            /// or the receiver was [closed](Self::close).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: a value is taken out of the channel only when the future is ready.
            pub async fn recv(&mut self) -> Option<T> {
                std::future::poll_fn(|cx| self.poll_recv(cx)).await
            }

            /// Receives up to `limit` values at once into the buffer, waiting for the first. Returns how many: zero if
            /// there are none and will be none, or if `limit` is zero.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: values are taken out of the channel only when the future is ready.
            pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                std::future::poll_fn(|cx| self.poll_recv_many(cx, buffer, limit)).await
            }

            /// Receives the next value, if there is one.
            ///
            /// If another thread is in the middle of a send, this waits until it is through: what was sent behind it
            /// before this call would be missed otherwise.
            ///
            /// # Errors
            ///
            /// [`TryRecvError::Empty`] if there is no value now, [`TryRecvError::Disconnected`] if there will be none.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                // SAFETY: this is the receiver.
                unsafe { self.channel.try_recv() }
            }

            /// As [`recv`](Self::recv), for a plain thread, which waits.
            ///
            /// # Panics
            ///
            /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                block_on(self.recv())
            }

            /// As [`recv_many`](Self::recv_many), for a plain thread, which waits.
            ///
            /// # Panics
            ///
            /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                block_on(self.recv_many(buffer, limit))
            }

            /// As [`recv`](Self::recv), to be called from a `poll`. If there is no value now, the waker of the last
            /// call is woken when there may be one.
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let mut received = None;
                // SAFETY: this is the receiver.
                ready!(unsafe { self.channel.poll_take(cx, 1, |value| received = Some(value)) });
                Poll::Ready(received)
            }

            /// As [`recv_many`](Self::recv_many), to be called from a `poll`. If there is no value now, the waker of
            /// the last call is woken when there may be one.
            pub fn poll_recv_many(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
                // SAFETY: this is the receiver.
                unsafe { self.channel.poll_take(cx, limit, |value| buffer.push(value)) }
            }

            /// Lets nobody send from now on. What is in the channel, or has been promised a place, can still be
            /// received.
            pub fn close(&mut self) {
                // SAFETY: this is the receiver.
                unsafe { self.channel.close() }
            }

            /// Whether the receiver was closed, or all senders are gone. There may be values still.
            pub fn is_closed(&self) -> bool {
                // SAFETY: this is the receiver.
                unsafe { self.channel.is_over() }
            }

            /// Whether no value is in the channel.
            pub fn is_empty(&self) -> bool {
                // SAFETY: this is the receiver.
                unsafe { self.channel.is_empty() }
            }

            /// How many values are in the channel.
            pub fn len(&self) -> usize {
                // SAFETY: this is the receiver.
                unsafe { self.channel.len() }
            }

            /// How many senders there are.
            pub fn sender_strong_count(&self) -> usize {
                self.channel.senders.load(Acquire)
            }

            /// How many weak senders there are.
            pub fn sender_weak_count(&self) -> usize {
                self.channel.weak_senders.load(Acquire)
            }
        }

        impl<T> Unpin for $name<T> {}

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                // SAFETY: this is the receiver.
                unsafe { self.channel.end() }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use receiver;

/// The methods of a sender and a weak sender.
macro_rules! sender {
    ($name:ident, $weak:ident, $limit:ty) => {
        impl<T> $name<T> {
            /// Waits until the receiver is closed or dropped.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe.
            pub async fn closed(&self) {
                self.channel.closed().await;
            }

            /// Whether the receiver was closed or dropped.
            pub fn is_closed(&self) -> bool {
                self.channel.is_closed()
            }

            /// Whether both are senders of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }

            /// Makes a sender that does not keep the channel open.
            #[must_use = "it has no effect but to make a weak sender"]
            pub fn downgrade(&self) -> $weak<T> {
                $weak::new(self.channel.clone())
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.channel.senders.load(Acquire)
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                self.channel.weak_senders.load(Acquire)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                self.channel.add_sender();
                Self { channel: self.channel.clone() }
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                self.channel.remove_sender();
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T> $weak<T> {
            fn new(channel: Arc<Channel<T, $limit>>) -> Self {
                channel.weak_senders.fetch_add(1, Relaxed);
                Self { channel }
            }

            /// Makes a sender, unless all senders are gone.
            pub fn upgrade(&self) -> Option<$name<T>> {
                self.channel.try_add_sender().then(|| $name { channel: self.channel.clone() })
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.channel.senders.load(Acquire)
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                self.channel.weak_senders.load(Acquire)
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                Self::new(self.channel.clone())
            }
        }

        impl<T> Drop for $weak<T> {
            fn drop(&mut self) {
                self.channel.weak_senders.fetch_sub(1, AcqRel);
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use sender;
