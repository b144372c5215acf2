//! [`ReadBuf`]: memory to read into, which need not be initialised first.
//!
//! Two marks divide the buffer:
//!
//! ```text
//! [ filled | initialised, not filled | uninitialised ]
//! 0       filled                initialized        capacity
//! ```
//!
//! `filled <= initialized <= capacity` holds always. Everything `unsafe` about it is in this file: the two marks are
//! private, and `initialized` grows only over bytes that have been written.
#![allow(unsafe_code, reason = "the one place that tells initialised memory from uninitialised")]

use std::fmt;
use std::mem::MaybeUninit;

/// A buffer that is filled from its front, and whose memory need not be initialised before.
///
/// [`AsyncRead::poll_read`](super::AsyncRead::poll_read) reads into it. A reader of bytes that come from elsewhere
/// calls [`put_slice`](Self::put_slice); one that has to hand out a `&mut [u8]`, to a function that writes into it,
/// takes [`initialize_unfilled`](Self::initialize_unfilled) and then [`advance`](Self::advance).
///
/// # Example
///
/// ```
/// use std::mem::MaybeUninit;
///
/// let mut memory = [MaybeUninit::uninit(); 8];
/// let mut buf = rt::io::ReadBuf::uninit(&mut memory);
/// buf.put_slice(b"abc");
/// assert_eq!((buf.filled(), buf.remaining()), (&b"abc"[..], 5));
/// ```
pub struct ReadBuf<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    filled: usize,
    initialized: usize,
}

impl<'a> ReadBuf<'a> {
    /// An empty buffer over memory that is initialised.
    #[inline]
    pub fn new(memory: &'a mut [u8]) -> Self {
        let initialized = memory.len();
        let memory: *mut [u8] = memory;
        // SAFETY: the layouts are the same, and the borrow is passed on. Nobody puts uninitialised bytes into it: safe
        // methods write initialised ones only, and the unsafe ones demand the same of their callers.
        let memory = unsafe { &mut *(memory as *mut [MaybeUninit<u8>]) };
        Self { memory, filled: 0, initialized }
    }

    /// An empty buffer over memory that may be uninitialised.
    #[inline]
    pub fn uninit(memory: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { memory, filled: 0, initialized: 0 }
    }

    /// The length of the whole buffer, in bytes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.memory.len()
    }

    /// The bytes of the range, which must lie below `initialized`.
    #[inline]
    fn bytes(&self, start: usize, end: usize) -> &[u8] {
        debug_assert!(end <= self.initialized);
        let bytes: *const [MaybeUninit<u8>] = &self.memory[start..end];
        // SAFETY: all bytes below `initialized` have been written.
        unsafe { &*(bytes as *const [u8]) }
    }

    /// As [`bytes`](Self::bytes), to be changed.
    #[inline]
    fn bytes_mut(&mut self, start: usize, end: usize) -> &mut [u8] {
        debug_assert!(end <= self.initialized);
        let bytes: *mut [MaybeUninit<u8>] = &mut self.memory[start..end];
        // SAFETY: all bytes below `initialized` have been written, and only bytes can be written through the result.
        unsafe { &mut *(bytes as *mut [u8]) }
    }

    /// What has been filled.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        self.bytes(0, self.filled)
    }

    /// As [`filled`](Self::filled), to be changed.
    #[inline]
    pub fn filled_mut(&mut self) -> &mut [u8] {
        self.bytes_mut(0, self.filled)
    }

    /// A buffer over the first `n` bytes of what is not filled, or over all of it if that is less.
    ///
    /// What is filled and initialised in it counts here only after [`assume_init`](Self::assume_init) and
    /// [`advance`](Self::advance).
    #[inline]
    pub fn take(&mut self, n: usize) -> ReadBuf<'_> {
        let length = self.remaining().min(n);
        let initialized = (self.initialized - self.filled).min(length);
        let memory = &mut self.memory[self.filled..self.filled + length];
        ReadBuf { memory, filled: 0, initialized }
    }

    /// What is initialised: what has been filled, and perhaps more.
    #[inline]
    pub fn initialized(&self) -> &[u8] {
        self.bytes(0, self.initialized)
    }

    /// As [`initialized`](Self::initialized), to be changed.
    #[inline]
    pub fn initialized_mut(&mut self) -> &mut [u8] {
        self.bytes_mut(0, self.initialized)
    }

    /// The whole buffer.
    ///
    /// # Safety
    ///
    /// The caller must not uninitialise what is initialised.
    #[inline]
    pub unsafe fn inner_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.memory
    }

    /// What is not filled, initialised or not.
    ///
    /// # Safety
    ///
    /// The caller must not uninitialise what is initialised.
    #[inline]
    pub unsafe fn unfilled_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.memory[self.filled..]
    }

    /// What is not filled, initialised with zeros where it was not. Tell how much of it has been filled by
    /// [`advance`](Self::advance).
    #[inline]
    pub fn initialize_unfilled(&mut self) -> &mut [u8] {
        self.initialize_unfilled_to(self.remaining())
    }

    /// As [`initialize_unfilled`](Self::initialize_unfilled), the first `n` bytes only.
    ///
    /// # Panics
    ///
    /// If fewer than `n` bytes remain.
    #[inline]
    #[track_caller]
    pub fn initialize_unfilled_to(&mut self, n: usize) -> &mut [u8] {
        assert!(self.remaining() >= n, "a buffer with {} bytes left cannot give {n}", self.remaining());
        let end = self.filled + n;
        if self.initialized < end {
            self.memory[self.initialized..end].fill(MaybeUninit::new(0));
            self.initialized = end;
        }
        self.bytes_mut(self.filled, end)
    }

    /// How many bytes are not filled.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.capacity() - self.filled
    }

    /// Makes the buffer empty again. What is initialised stays so.
    #[inline]
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// Counts the next `n` bytes as filled.
    ///
    /// # Panics
    ///
    /// If they are not all initialised.
    #[inline]
    #[track_caller]
    pub fn advance(&mut self, n: usize) {
        let filled = self.filled.checked_add(n).expect("the length filled exceeds the address space");
        self.set_filled(filled);
    }

    /// Sets how many bytes are filled, which may be fewer than before.
    ///
    /// # Panics
    ///
    /// If they are not all initialised.
    #[inline]
    #[track_caller]
    pub fn set_filled(&mut self, n: usize) {
        assert!(n <= self.initialized, "{n} bytes cannot be filled if {} are initialised", self.initialized);
        self.filled = n;
    }

    /// Counts the first `n` bytes of what is not filled as initialised. Does not fill them.
    ///
    /// # Safety
    ///
    /// They must be initialised.
    ///
    /// # Panics
    ///
    /// If fewer than `n` bytes remain.
    #[inline]
    #[track_caller]
    pub unsafe fn assume_init(&mut self, n: usize) {
        assert!(n <= self.remaining(), "a buffer with {} bytes left cannot have {n} more", self.remaining());
        self.initialized = self.initialized.max(self.filled + n);
    }

    /// Copies the bytes behind what is filled, and counts them as filled.
    ///
    /// # Panics
    ///
    /// If there is not room for all of them.
    #[inline]
    #[track_caller]
    pub fn put_slice(&mut self, bytes: &[u8]) {
        assert!(
            self.remaining() >= bytes.len(),
            "a buffer with {} bytes left cannot take {}",
            self.remaining(),
            bytes.len()
        );
        let end = self.filled + bytes.len();
        let source: *const [u8] = bytes;
        // SAFETY: the layouts are the same; initialised bytes may be seen as such that need not be.
        let source = unsafe { &*(source as *const [MaybeUninit<u8>]) };
        self.memory[self.filled..end].copy_from_slice(source);
        self.initialized = self.initialized.max(end);
        self.filled = end;
    }

    /// Lets `read` fill at most the next `limit` bytes, and returns what it returns, and how many bytes it filled.
    ///
    /// # Panics
    ///
    /// If `read` put another buffer in the place of the one it was given, which safe code can do.
    #[cfg(feature = "io-util")]
    pub(crate) fn with_limit<R>(&mut self, limit: usize, read: impl FnOnce(&mut ReadBuf<'_>) -> R) -> (R, usize) {
        let mut part = self.take(limit);
        let start = part.memory.as_ptr();
        let outcome = read(&mut part);
        assert!(std::ptr::eq(part.memory.as_ptr(), start), "the reader returned another buffer than it was given");
        let (filled, initialized) = (part.filled, part.initialized);
        assert!(initialized <= self.remaining().min(limit), "the reader returned a larger buffer than it was given");
        // It is the same memory, so its marks hold here as well.
        self.initialized = self.initialized.max(self.filled + initialized);
        self.filled += filled;
        (outcome, filled)
    }

    /// Lets `read` write into what is not filled, and counts as many bytes as it returns as initialised and filled.
    ///
    /// For this crate's own calls of the system, which say how many bytes they wrote.
    ///
    /// # Errors
    ///
    /// Those of `read`; nothing is filled then.
    ///
    /// # Safety
    ///
    /// `read` must have initialised as many bytes from the front as it returns, and must not uninitialise any.
    #[cfg(any(feature = "fs", feature = "net"))]
    #[inline]
    pub(crate) unsafe fn fill_with<E>(
        &mut self,
        read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let start = self.filled;
        let count = read(&mut self.memory[start..])?;
        // SAFETY: the caller's promise.
        unsafe { self.assume_init(count) };
        self.filled = start + count;
        Ok(count)
    }
}

/// So that what fills a `BufMut` can fill this.
#[cfg(feature = "io-util")]
// SAFETY: the unfilled part is what `chunk_mut` returns, and `advance_mut` counts in it, within bounds.
unsafe impl bytes::BufMut for ReadBuf<'_> {
    fn remaining_mut(&self) -> usize {
        self.remaining()
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        // SAFETY: that they are initialised is this method's own condition.
        unsafe { self.assume_init(count) };
        self.advance(count);
    }

    fn chunk_mut(&mut self) -> &mut bytes::buf::UninitSlice {
        bytes::buf::UninitSlice::uninit(&mut self.memory[self.filled..])
    }
}

impl fmt::Debug for ReadBuf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBuf")
            .field("filled", &self.filled)
            .field("initialized", &self.initialized)
            .field("capacity", &self.capacity())
            .finish()
    }
}
