//! Servers as users write them, each in a process of its own, on rt or on Tokio.
//!
//! The workloads of [`crate::workloads`] have both ends of every connection on the runtime that is measured. A real
//! server shares the machine with others: with its clients, with neighbours, with other containers. A runtime that
//! takes a processor which it does not need looks fast in the one case and is slow in the other. So the report starts
//! these servers as processes, loads them from other processes (wrk, redis-benchmark), and asks what the server used.
//!
//! - [`Kind::Hello`]: HTTP/1.1 by hyper, a fixed answer. Nearly all of it is the kernel's.
//! - [`Kind::Work`]: the same with what handlers do: spawn, wait with a limit, ask another task, call blocking code.
//! - [`Kind::Bodies`]: the same with streamed bodies of 64 KiB.
//! - [`Kind::Lines`]: Redis' protocol, written by hand on the runtime's streams; redis-benchmark loads it, also
//!   pipelined.
//!
//! As in a user's `main`, the connections are accepted in `block_on`, and each is served by a task.
//!
//! The server is told what to be by its arguments, and talks to the report by its standard streams (`control.rs`).

mod control;
mod http;
mod hyper_io;
mod lines;

use std::io;

pub use self::control::{COMMAND, Mark};
pub use self::hyper_io::IntoHyper;
use crate::runtimes::{Recorded, Rt, RtWith, Tokio, Unmeasured};
use crate::{Handle, Listener, Runtime, allow_open_files};

/// What a server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HTTP: a fixed answer.
    Hello,
    /// HTTP: an answer for which tasks, a timer, a message and now and then a blocking call are needed.
    Work,
    /// HTTP: streamed bodies of 64 KiB.
    Bodies,
    /// Redis' protocol.
    Lines,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Hello, Self::Work, Self::Bodies, Self::Lines];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Work => "work",
            Self::Bodies => "bodies",
            Self::Lines => "lines",
        }
    }
}

/// Is the server that the arguments ask for, until its standard input ends. False if they do not ask for one.
///
/// # Panics
///
/// If they ask for one that there is none of, or if it cannot listen.
pub fn serve_if_told(arguments: &[String]) -> bool {
    let [COMMAND, runtime, kind, workers] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return false;
    };
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).expect("a kind of server");
    let workers = workers.parse().expect("a number of workers");
    // A descriptor for each connection, and some.
    allow_open_files(2048);
    match runtime {
        Rt::NAME => serve::<Rt>(kind, workers),
        Tokio::NAME => serve::<Tokio>(kind, workers),
        RtWith::<Unmeasured>::NAME => serve::<RtWith<Unmeasured>>(kind, workers),
        RtWith::<Recorded>::NAME => serve::<RtWith<Recorded>>(kind, workers),
        _ => panic!("no servers are built on {runtime:?}"),
    }
    .expect("a server on the loopback interface");
    true
}

/// Serves until the process is ended.
fn serve<R: Runtime>(kind: Kind, workers: usize) -> io::Result<()>
where
    <R::Handle as Handle>::Stream: IntoHyper,
{
    let runtime = R::start(workers);
    let handle = runtime.handle();
    runtime.block_on(async move {
        let listener = R::Handle::listen().await?;
        control::begin(listener.address()?)?;
        let service = http::Service::new(handle, kind);
        loop {
            let stream = listener.accept().await?;
            match kind {
                Kind::Lines => handle.spawn_detached(lines::serve(stream)),
                Kind::Hello | Kind::Work | Kind::Bodies => handle.spawn_detached(service.clone().serve(stream)),
            }
        }
    })
}
