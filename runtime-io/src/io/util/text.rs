//! [`Text`]: bytes on their way into a string.

use std::io;
use std::mem;

use super::buffer::Tail;

/// Collects bytes, and appends them to a string once they are known to be UTF-8. Until then the string stays as it is.
///
/// If the string is empty its memory is used for the bytes. It has it back in the end, whatever happens.
#[derive(Debug)]
pub(super) struct Text<'a> {
    output: &'a mut String,
    bytes: Tail<Vec<u8>>,
}

impl<'a> Text<'a> {
    pub(super) fn new(output: &'a mut String) -> Self {
        let memory = if output.is_empty() { mem::take(output).into_bytes() } else { Vec::new() };
        Self { output, bytes: Tail::owned(memory) }
    }

    /// Where the bytes go.
    pub(super) fn tail(&mut self) -> &mut Tail<Vec<u8>> {
        &mut self.bytes
    }

    /// Appends the bytes to the string.
    ///
    /// # Errors
    ///
    /// If they are not UTF-8: then they are dropped.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match String::from_utf8(mem::take(self.bytes.vec())) {
            Ok(text) if self.output.is_empty() => *self.output = text,
            Ok(text) => self.output.push_str(&text),
            Err(error) => {
                let mut cause = error.utf8_error();
                let bytes = error.into_bytes();
                if !self.output.is_empty() {
                    // The position that is reported is one in the whole string.
                    let whole = [self.output.as_bytes(), &bytes].concat();
                    cause = std::str::from_utf8(&whole).expect_err("a part of it is not UTF-8");
                }
                *self.bytes.vec() = bytes;
                return Err(io::Error::new(io::ErrorKind::InvalidData, cause));
            }
        }
        Ok(())
    }
}

impl Drop for Text<'_> {
    fn drop(&mut self) {
        // Of those that were not finished only the memory is of use.
        if self.output.capacity() == 0 {
            let mut memory = mem::take(self.bytes.vec());
            memory.clear();
            *self.output = String::from_utf8(memory).unwrap_or_default();
        }
    }
}
