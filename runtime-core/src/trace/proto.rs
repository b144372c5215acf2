//! [`Message`]: writes a protobuf message, field by field. As much of the format as the trace needs; nothing here knows
//! what the fields mean.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

/// A number in groups of seven bits, the lowest first; the highest bit of a byte says that another one follows.
fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Message {
    fn key(&mut self, field: u32, wire_type: u64) {
        put_varint(&mut self.0, u64::from(field) << 3 | wire_type);
    }

    /// A field of type `uint32`, `uint64`, `bool`, an enum, or an `int64` that is not negative.
    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        put_varint(&mut self.0, value);
    }

    /// A field of type `fixed64`.
    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED_64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A field of type `string`.
    pub(super) fn string(&mut self, field: u32, value: &str) {
        self.key(field, LENGTH_DELIMITED);
        put_varint(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value.as_bytes());
    }

    /// A field that is a message itself.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.key(field, LENGTH_DELIMITED);
        let start = self.0.len();
        write(self);
        // The length goes before what it is the length of.
        let end = self.0.len();
        put_varint(&mut self.0, (end - start) as u64);
        let length_len = self.0.len() - end;
        self.0[start..].rotate_right(length_len);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        // The examples of https://protobuf.dev/programming-guides/encoding.
        let mut message = Message::default();
        message.uint(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.string(2, "testing");
        assert_eq!(message.bytes(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        message.clear();
        message.message(3, |inner| inner.uint(1, 150));
        assert_eq!(message.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        message.clear();
        message.fixed64(1, 2);
        assert_eq!(message.bytes(), [0x09, 2, 0, 0, 0, 0, 0, 0, 0]);
        message.clear();
        message.uint(16, u64::MAX);
        assert_eq!(message.bytes(), [0x80, 0x01, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn a_message_of_more_than_127_bytes_has_a_length_of_two() {
        let mut message = Message::default();
        message.message(1, |inner| inner.string(1, &"x".repeat(200)));
        assert_eq!(message.bytes()[..6], [0x0a, 0xcb, 0x01, 0x0a, 0xc8, 0x01]);
        assert_eq!(message.bytes().len(), 206);
    }
}
