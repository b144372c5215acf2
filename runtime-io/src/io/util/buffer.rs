//! Memory that readers fill: a [`Buffer`] of its own, the [`Tail`] of a vector, and [`poll_fill_mut`] for any `BufMut`.
//!
//! Everything that reads on behalf of somebody goes through here: `BufReader`, `copy`, `read_to_end`, `read_buf`. The
//! memory of others need not be initialised. A reader that insists on it initialises a vector's tail once, and not
//! again at each attempt: how much is initialised is remembered for as long as the memory is the same.
#![allow(unsafe_code, reason = "what a reader filled is initialised, as `ReadBuf` vouches for it")]

use std::fmt;
use std::io;
use std::task::{Poll, ready};

use crate::io::ReadBuf;

/// Lets `read` fill an empty `buf`, and returns how many bytes it filled.
///
/// # Panics
///
/// If `read` put another buffer in the place of the one it was given, which safe code can do.
fn fill(buf: &mut ReadBuf<'_>, read: impl FnOnce(&mut ReadBuf<'_>) -> Poll<io::Result<()>>) -> Poll<io::Result<usize>> {
    let start = buf.initialized().as_ptr();
    let outcome = read(buf);
    assert!(std::ptr::eq(buf.initialized().as_ptr(), start), "the reader returned another buffer than it was given");
    let filled = buf.filled().len();
    outcome.map_ok(|()| filled)
}

/// A buffer of fixed size: bytes are appended at the end, and consumed at the front.
///
/// The memory is zeroed when it is allocated, once: readers that insist on initialised memory have it.
///
/// ```text
/// [ consumed | bytes | room ]
/// 0        start    end   capacity
/// ```
pub(super) struct Buffer {
    memory: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(super) fn new(capacity: usize) -> Self {
        Self { memory: vec![0; capacity].into_boxed_slice(), start: 0, end: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.memory.len()
    }

    /// What has been filled and not been consumed.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether there is room behind the bytes.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.end < self.memory.len()
    }

    /// Takes bytes off the front, at most all. What is empty has all its room again.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
        if self.is_empty() {
            self.clear();
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Lets `read` fill the room behind the bytes, and returns how many were added.
    #[inline]
    pub(super) fn poll_fill(
        &mut self,
        read: impl FnOnce(&mut ReadBuf<'_>) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(&mut self.memory[self.end..]);
        let count = ready!(fill(&mut buf, read))?;
        self.end += count;
        Poll::Ready(Ok(count))
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.end - self.start, self.capacity())
    }
}

/// The room at the end of a vector, which grows as it is filled. The vector is borrowed or owned.
#[derive(Debug)]
pub(super) struct Tail<V> {
    vec: V,
    /// How much of the room is initialised.
    initialized: usize,
}

impl<'a> Tail<&'a mut Vec<u8>> {
    pub(super) fn borrowed(vec: &'a mut Vec<u8>) -> Self {
        Self { vec, initialized: 0 }
    }
}

impl Tail<Vec<u8>> {
    pub(super) fn owned(vec: Vec<u8>) -> Self {
        Self { vec, initialized: 0 }
    }
}

/// `V` is one of the two above, and so the vector always the same.
impl<V: AsMut<Vec<u8>>> Tail<V> {
    /// The vector, for whatever may be done to it. It is no longer known then how much of the room is initialised.
    pub(super) fn vec(&mut self) -> &mut Vec<u8> {
        self.initialized = 0;
        self.vec.as_mut()
    }

    /// How many bytes there are room for without growing.
    pub(super) fn room(&mut self) -> usize {
        let vec = self.vec.as_mut();
        vec.capacity() - vec.len()
    }

    /// Makes room for some more bytes, as `Vec` sees fit, so that time is linear in the length.
    pub(super) fn grow(&mut self) {
        self.vec().reserve(MIN_ROOM);
    }

    /// Lets `read` fill the room there is, and returns how many bytes were added.
    pub(super) fn poll_fill(
        &mut self,
        read: impl FnOnce(&mut ReadBuf<'_>) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<usize>> {
        let vec = self.vec.as_mut();
        let mut buf = ReadBuf::uninit(vec.spare_capacity_mut());
        // SAFETY: `initialized` counts only what was initialised in this memory.
        unsafe { buf.assume_init(self.initialized) };
        let outcome = fill(&mut buf, read);
        self.initialized = buf.initialized().len();
        if let Poll::Ready(Ok(count)) = outcome {
            // SAFETY: the bytes have been filled, and are initialised and within the capacity therefore.
            unsafe { vec.set_len(vec.len() + count) };
            self.initialized -= count;
        }
        outcome
    }
}

/// The least room that is worth a read.
pub(super) const MIN_ROOM: usize = 32;

/// Lets `read` fill the next chunk of `buf`, and returns how many bytes were added.
pub(crate) fn poll_fill_mut<B: bytes::BufMut + ?Sized>(
    buf: &mut B,
    read: impl FnOnce(&mut ReadBuf<'_>) -> Poll<io::Result<()>>,
) -> Poll<io::Result<usize>> {
    // SAFETY: what is initialised stays so, as `ReadBuf` gives access to.
    let memory = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let outcome = fill(&mut ReadBuf::uninit(memory), read);
    if let Poll::Ready(Ok(count)) = outcome {
        // SAFETY: as many bytes have been filled.
        unsafe { buf.advance_mut(count) };
    }
    outcome
}
