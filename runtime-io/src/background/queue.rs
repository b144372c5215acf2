//! [`Queue`]: writes that the device has not been given yet.

use std::io::IoSlice;

/// What one write takes beside its bytes.
const OVERHEAD: usize = size_of::<usize>();

/// Writes, in their order.
#[derive(Debug, Default)]
pub(super) struct Queue {
    bytes: Vec<u8>,
    /// Where each write ends.
    ends: Vec<usize>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How much memory it has in use.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.ends.len() * OVERHEAD
    }

    /// What a write would add to that.
    pub(super) fn cost_of(length: usize) -> usize {
        length.saturating_add(OVERHEAD)
    }

    /// Adds a write of the first `length` bytes.
    pub(super) fn push(&mut self, bufs: &[IoSlice<'_>], length: usize) {
        let end = self.bytes.len() + length;
        for buf in bufs {
            let missing = end - self.bytes.len();
            self.bytes.extend_from_slice(&buf[..buf.len().min(missing)]);
        }
        self.ends.push(self.bytes.len());
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    /// Forgets the writes. Keeps the memory for others.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Of two that are empty, keeps the larger memory.
    pub(super) fn keep_larger(&mut self, other: Self) {
        if other.bytes.capacity() > self.bytes.capacity() {
            *self = other;
        }
    }
}
