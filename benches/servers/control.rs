//! How a server and the report talk: lines on the server's standard streams.
//!
//! The server says where it listens. For each line that it gets it answers with a [`Mark`]: what it has used so far.
//! When its standard input ends, so does the process. A thread of its own does this; it sleeps while the server is
//! under load.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::num::ParseIntError;
use std::str::FromStr;
use std::time::Duration;
use std::{io, process, thread};

use crate::{Usage, usage_of_process};

/// The argument by which a program is told to be a server. Its runtime, its kind and its number of workers follow.
pub const COMMAND: &str = "--serve";

/// What a server has used up to some moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark(pub Usage);

impl FromStr for Mark {
    type Err = ParseIntError;

    fn from_str(line: &str) -> Result<Self, ParseIntError> {
        let (cpu, switches) = line.trim().split_once(' ').unwrap_or((line, ""));
        Ok(Self(Usage { cpu: Duration::from_micros(cpu.parse()?), switches: switches.parse()? }))
    }
}

/// Says where the server listens, and answers from then on.
pub(super) fn begin(address: SocketAddr) -> io::Result<()> {
    println!("{}", address.port());
    io::stdout().flush()?;
    thread::Builder::new().name("control".into()).spawn(answer).map(drop)
}

fn answer() {
    for line in io::stdin().lock().lines() {
        if line.is_err() {
            break;
        }
        let Usage { cpu, switches } = usage_of_process();
        println!("{} {switches}", cpu.as_micros());
        if io::stdout().flush().is_err() {
            break;
        }
    }
    process::exit(0);
}
