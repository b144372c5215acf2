//! [`Unread`]: bytes that were read from the device, and that nobody has asked for yet.

use std::io::{self, SeekFrom};

use super::Device;
use crate::io::ReadBuf;

/// Bytes between the reader and the position of the device.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// All of it is initialised, so that it can be read into again.
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl Unread {
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Room for `length` bytes behind those that are there.
    fn room(&mut self, length: usize) -> &mut [u8] {
        let end = self.end + length;
        if self.memory.is_empty() {
            // The allocator has zeros, mostly.
            self.memory = vec![0; end];
        } else if self.memory.len() < end {
            self.memory.resize(end, 0);
        }
        &mut self.memory[self.end..end]
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.room(bytes.len()).copy_from_slice(bytes);
            self.end += bytes.len();
        }
    }

    /// Reads once, behind what is there. Returns how many bytes there were.
    pub(super) fn read_from(&mut self, device: &impl Device, limit: usize) -> io::Result<usize> {
        let room = self.room(limit);
        let count = super::job::uninterrupted(|| device.read(room))?;
        self.end += count;
        Ok(count)
    }

    /// Moves up to `limit` bytes.
    pub(super) fn move_to(&mut self, into: &mut ReadBuf<'_>, limit: usize) {
        let count = self.len().min(limit);
        into.put_slice(&self.memory[self.start..self.start + count]);
        self.start += count;
        if self.start == self.end {
            self.clear();
        }
    }

    /// Has the device read these bytes again. Keeps them if that fails.
    pub(super) fn seek_back(&mut self, device: &impl Device) -> io::Result<()> {
        if !self.is_empty() {
            device.seek(SeekFrom::Current(-self.signed_len()))?;
            self.clear();
        }
        Ok(())
    }

    /// Moves the position, seen from where the reader is. Keeps the bytes if that fails.
    pub(super) fn seek(&mut self, device: &impl Device, mut to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Current(distance) = &mut to {
            match distance.checked_sub(self.signed_len()) {
                Some(from_device) => *distance = from_device,
                None => self.seek_back(device)?,
            }
        }
        let position = device.seek(to)?;
        self.clear();
        Ok(position)
    }

    fn signed_len(&self) -> i64 {
        // No allocation has more bytes than `isize::MAX`.
        self.len() as i64
    }
}
