//! As much of Redis' protocol as redis-benchmark speaks: requests are arrays of strings, many may be under way at once,
//! and answers come in their order. `PING` and `GET` have fixed answers, all else is OK: what is measured is the way
//! there and back, not a table.

use std::str;

use crate::Stream;

/// The most bytes that a request may have. redis-benchmark's have some dozens.
const ROOM: usize = 16 * 1024;

/// Serves one connection until it ends, or says something else than Redis' clients do.
pub(super) async fn serve<S: Stream>(mut stream: S) {
    let mut buffer = vec![0; ROOM];
    let mut filled = 0;
    let mut answers = Vec::with_capacity(ROOM);
    loop {
        let Ok(read @ 1..) = stream.read(&mut buffer[filled..]).await else { return };
        filled += read;
        let mut begin = 0;
        loop {
            match request(&buffer[begin..filled]) {
                Parsed::Whole { length, command } => {
                    answers.extend_from_slice(answer_to(command));
                    begin += length;
                }
                Parsed::Part if begin == 0 && filled == ROOM => return,
                Parsed::Part => break,
                Parsed::Malformed => return,
            }
        }
        buffer.copy_within(begin..filled, 0);
        filled -= begin;
        // Whatever came together is answered together.
        if !answers.is_empty() {
            if stream.write_all(&answers).await.is_err() {
                return;
            }
            answers.clear();
        }
    }
}

fn answer_to(command: &[u8]) -> &'static [u8] {
    match command {
        b"PING" => b"+PONG\r\n",
        b"GET" => b"$3\r\nxxx\r\n",
        b"CONFIG" => b"*0\r\n",
        _ => b"+OK\r\n",
    }
}

enum Parsed<'a> {
    Whole { length: usize, command: &'a [u8] },
    Part,
    Malformed,
}

/// Reads one request: `*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n`.
fn request(bytes: &[u8]) -> Parsed<'_> {
    let mut rest = bytes;
    let strings = match number(&mut rest, b'*') {
        Ok(Some(strings)) => strings,
        Ok(None) => return Parsed::Part,
        Err(()) => return Parsed::Malformed,
    };
    let mut command: Option<&[u8]> = None;
    for _ in 0..strings {
        let length = match number(&mut rest, b'$') {
            Ok(Some(length)) => length,
            Ok(None) => return Parsed::Part,
            Err(()) => return Parsed::Malformed,
        };
        let Some(string) = rest.get(..length) else { return Parsed::Part };
        let Some(after) = rest.get(length + 2..) else { return Parsed::Part };
        command.get_or_insert(string);
        rest = after;
    }
    Parsed::Whole { length: bytes.len() - rest.len(), command: command.unwrap_or_default() }
}

/// Takes a line that has a sign and a number off the bytes: `None` if it is not all there.
fn number(bytes: &mut &[u8], sign: u8) -> Result<Option<usize>, ()> {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\r') else { return Ok(None) };
    let Some(after) = bytes.get(end + 2..) else { return Ok(None) };
    let (&first, digits) = bytes[..end].split_first().ok_or(())?;
    if first != sign {
        return Err(());
    }
    let number = str::from_utf8(digits).map_err(drop)?.parse().map_err(drop)?;
    *bytes = after;
    Ok(Some(number))
}
