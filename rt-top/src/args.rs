//! What `rt-top` is called with.

use std::ffi::OsString;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::client::Client;

pub(crate) const USAGE: &str = "usage: rt-top [ps] [--token TOKEN] ADDRESS (see rt-top --help)";

const HELP: &str = "\
Shows what a running program on the rt async runtime is doing.

usage: rt-top [--token TOKEN] ADDRESS      live, refreshed each second
       rt-top ps [--token TOKEN] ADDRESS   its tasks as text, once

The program must have been started with RT_INSPECT=ADDRESS, or have called
Builder::inspect. It is asked by HTTP, and answers also when all its workers
are stuck.

ADDRESS is HOST:PORT, a PORT of this machine, or the address that the program
wrote to stderr when it began, http://HOST:PORT/?token=TOKEN.

options:
  --token TOKEN    what the program wants to be shown, if it listens beyond
                   this machine. Others can see it in the list of processes:
                   better set RT_INSPECT_TOKEN, for the program and for rt-top.
                   It is sent as it is, without encryption.
  -h, --help       this text
  -V, --version    the version

ps prints a line a task. Columns are separated by two spaces or more, and none
has two spaces in it; '-' is nothing. Times are in seconds.

  RUNTIME TASK     numbers, of the process
  STATE            running, queued (for a worker), or waiting
  FOR              how long it has been in that state
  POLLS WAKES SPURIOUS
                   how often; spurious polls were for nothing
  BUSY LONGEST     how long all its polls took, and the longest
  SPAWNED          where in the program it was spawned
  NAME             if it was given one
  WAITS FOR        what it waits for

keys of the live view:
  q                end
  up down PgUp PgDn Home End
                   go through the table
  tab              tasks, or reports of tasks that blocked their worker
  s S              sort by the next column; the other way round
  /                filter: lines with all these words, whatever their case
  g                one line for each place where tasks were spawned, or for
                   each task
  enter            from a place to its tasks
  esc              no filter
  r                the next runtime of the process
  space            stop, and go on; the program does not stop

exit status: 0, or 1 if nobody answers there, the token is wrong, or the
answer is not one of a program on rt, or 2 if rt-top is called wrongly.
";

const VERSION: &str = concat!("rt-top ", env!("CARGO_PKG_VERSION"), "\n");

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Command {
    Top(Client),
    Ps(Client),
    Print(&'static str),
}

/// What is wrong with the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misuse(String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the arguments, without the name of the program. `token` is what the environment says.
pub(crate) fn parse(args: impl Iterator<Item = OsString>, token: Option<String>) -> Result<Command, Misuse> {
    let misuse = |text: &str| Err(Misuse(text.to_owned()));
    let (mut is_ps, mut address, mut own_token) = (false, None, None);
    let mut args = args.map(|arg| arg.into_string().map_err(|arg| Misuse(format!("not UTF-8: {}", arg.display()))));
    while let Some(arg) = args.next().transpose()? {
        match arg.as_str() {
            "-h" | "--help" => return Ok(Command::Print(HELP)),
            "-V" | "--version" => return Ok(Command::Print(VERSION)),
            "--token" => match args.next().transpose()? {
                Some(token) => own_token = Some(token),
                None => return misuse("--token wants a token"),
            },
            _ if arg.starts_with("--token=") => own_token = Some(arg["--token=".len()..].to_owned()),
            _ if arg.starts_with('-') && arg.len() > 1 => return Err(Misuse(format!("no such option: {arg}"))),
            "ps" if !is_ps && address.is_none() => is_ps = true,
            _ if address.is_some() => return misuse("more than one address"),
            _ => address = Some(arg),
        }
    }
    let Some(address) = address else { return misuse("which address?") };
    let (place, token_in_address) = split_address(&address)?;
    let token = own_token.or(token_in_address).or(token).map(|token| token.trim().to_owned());
    let token = token.filter(|token| !token.is_empty());
    if token.as_deref().is_some_and(|token| token.contains(|character: char| character.is_control())) {
        return misuse("a token has no control characters");
    }
    let client = Client::new(resolve(place)?, token);
    Ok(if is_ps { Command::Ps(client) } else { Command::Top(client) })
}

/// Host and port, and the token if it is an address as a program writes it.
fn split_address(address: &str) -> Result<(&str, Option<String>), Misuse> {
    if address.starts_with("https://") {
        return Err(Misuse("the server speaks no TLS: http://".to_owned()));
    }
    let rest = address.strip_prefix("http://").unwrap_or(address);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    if !path.is_empty() {
        return Err(Misuse(format!("an address ends behind the port: {address}")));
    }
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token=")).map(decode);
    Ok((place, token))
}

/// Decodes what is percent-encoded.
fn decode(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                decoded.extend(&piece.as_bytes()[2..]);
            }
            None => {
                decoded.push(b'%');
                decoded.extend(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn resolve(place: &str) -> Result<Vec<SocketAddr>, Misuse> {
    if let Ok(port) = place.parse::<u16>() {
        return Ok(vec![([127, 0, 0, 1], port).into()]);
    }
    match place.to_socket_addrs() {
        Ok(addresses) => {
            let addresses: Vec<_> = addresses.collect();
            if addresses.is_empty() { Err(Misuse(format!("{place} has no address"))) } else { Ok(addresses) }
        }
        Err(error) => Err(Misuse(format!("{place} is no address, such as 127.0.0.1:9600: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str], token: Option<&str>) -> Result<Command, Misuse> {
        parse(args.iter().map(Into::into), token.map(str::to_owned))
    }

    fn client(args: &[&str], token: Option<&str>) -> Client {
        match parsed(args, token).unwrap() {
            Command::Ps(client) | Command::Top(client) => client,
            Command::Print(text) => panic!("{text}"),
        }
    }

    #[test]
    fn an_address_is_a_port_a_pair_or_what_the_program_has_written() {
        for (text, address) in [
            ("9600", "127.0.0.1:9600"),
            ("127.0.0.2:1", "127.0.0.2:1"),
            ("[::1]:9600", "[::1]:9600"),
            ("http://127.0.0.1:9600", "127.0.0.1:9600"),
            ("http://127.0.0.1:9600/?token=x", "127.0.0.1:9600"),
        ] {
            assert_eq!(client(&[text], None), client(&[text], None));
            assert_eq!(client(&["ps", text], None).addresses(), [address.parse().unwrap()], "{text}");
        }
        for text in ["", "yes", "99999", "127.0.0.1", "https://127.0.0.1:1", "127.0.0.1:1/tasks"] {
            assert!(parsed(&["ps", text], None).is_err(), "{text}");
        }
    }

    #[test]
    fn the_nearest_token_counts() {
        for (args, environment, token) in [
            (&["1"][..], None, None),
            (&["1"], Some(""), None),
            (&["1"], Some(" b "), Some("b")),
            (&["http://127.0.0.1:1/?token=a%2Fb%"], Some("b"), Some("a/b%")),
            (&["--token", "c", "http://127.0.0.1:1/?token=a"], Some("b"), Some("c")),
            (&["1", "--token=c"], Some("b"), Some("c")),
        ] {
            assert_eq!(client(args, environment).token(), token, "{args:?} {environment:?}");
        }
        assert!(parsed(&["1", "--token", "a\r\nX: y"], None).is_err(), "a header of its own");
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for args in [&[][..], &["ps"], &["--token"], &["--tokens", "1"], &["1", "2"], &["ps", "1", "--fast"]] {
            assert!(parsed(args, None).is_err(), "{args:?}");
        }
        assert!(matches!(parsed(&["ps", "--help"], None), Ok(Command::Print(HELP))));
        assert!(matches!(parsed(&["-V"], None), Ok(Command::Print(VERSION))));
    }
}
