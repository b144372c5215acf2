//! Redis' protocol, as far as a server needs it: commands are arrays of strings.

use std::io::{self, ErrorKind};

use bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

/// More arguments, or a longer one, is no command that this server knows.
const MOST_ARGUMENTS: usize = 16;
const LONGEST: usize = 1 << 20;

/// What a command is answered with.
pub(crate) enum Answer {
    Simple(&'static str),
    Error(&'static str),
    Bulk(Bytes),
    Nil,
}

pub(crate) struct Resp;

impl Decoder for Resp {
    type Item = Vec<Bytes>;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Vec<Bytes>>> {
        // Where the parts lie is found first: nothing is taken until the command is whole.
        let Some((count, mut at)) = number(buffer, 0, b'*', MOST_ARGUMENTS)? else { return Ok(None) };
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            let Some((length, begin)) = number(buffer, at, b'$', LONGEST)? else { return Ok(None) };
            at = begin + length + 2;
            if buffer.len() < at {
                return Ok(None);
            }
            places.push(begin..begin + length);
        }
        let command = buffer.split_to(at).freeze();
        Ok(Some(places.into_iter().map(|place| command.slice(place)).collect()))
    }
}

/// The number of a line that begins with the mark, and where the next line begins. `None` if the line is not whole.
fn number(buffer: &[u8], from: usize, mark: u8, most: usize) -> io::Result<Option<(usize, usize)>> {
    let line = &buffer[from..];
    let Some(end) = line.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
    let digits = line[..end].strip_prefix(&[mark]).and_then(|digits| str::from_utf8(digits).ok());
    match digits.and_then(|digits| digits.parse().ok()) {
        Some(number) if number <= most => Ok(Some((number, from + end + 2))),
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

impl Encoder<Answer> for Resp {
    type Error = io::Error;

    fn encode(&mut self, answer: Answer, buffer: &mut BytesMut) -> io::Result<()> {
        match answer {
            Answer::Simple(text) => buffer.extend_from_slice(format!("+{text}\r\n").as_bytes()),
            Answer::Error(text) => buffer.extend_from_slice(format!("-{text}\r\n").as_bytes()),
            Answer::Nil => buffer.extend_from_slice(b"$-1\r\n"),
            Answer::Bulk(bytes) => {
                buffer.extend_from_slice(format!("${}\r\n", bytes.remaining()).as_bytes());
                buffer.extend_from_slice(&bytes);
                buffer.extend_from_slice(b"\r\n");
            }
        }
        Ok(())
    }
}
