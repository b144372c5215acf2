//! `rt-top`: shows in a terminal what a running program on the rt async runtime is doing.
//!
//! It asks the inspecting server of the program (crate `runtime-inspect`, `RT_INSPECT`) by HTTP, once a second, and
//! needs nothing of the program but that address: not its source, and none of its crates.
//!
//! Where to begin reading: `args.rs` (what it is called with), `client.rs` and `fetch.rs` (asking), `state/` (what is
//! shown), `view/` (how it is drawn), `top.rs` (the loop), `ps.rs` (the tasks as text, once).
//!
//! What it must never do: trust an answer. A program that is looked into may be stuck, or not be one on rt at all; so
//! each answer has a limit in time and in length, and what it says goes to the terminal without control characters.

mod args;
mod client;
mod fetch;
mod keys;
mod ps;
mod state;
mod text;
mod top;
mod view;
mod wire;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use self::args::Command;

fn main() -> ExitCode {
    // As the server reads it.
    let token = std::env::var_os("RT_INSPECT_TOKEN").map(|token| token.to_string_lossy().into_owned());
    let command = match args::parse(std::env::args_os().skip(1), token) {
        Ok(command) => command,
        Err(error) => {
            complain(&format!("{error}\n{}", args::USAGE));
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Print(text) => write_all(text),
        Command::Ps(client) => ps::run(&client).and_then(|listing| {
            for note in &listing.notes {
                complain(note);
            }
            write_all(&listing.text)
        }),
        Command::Top(_) if !io::stdout().is_terminal() => {
            Err("this needs a terminal; `rt-top ps ADDRESS` prints the tasks once".to_owned())
        }
        Command::Top(client) => top::run(client),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Writes to stdout. That nobody reads it to the end, as behind `| head`, is no error.
fn write_all(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write to stdout: {error}")),
        _ => Ok(()),
    }
}

fn complain(line: &str) {
    // Nobody is left to be told that stderr is gone.
    drop(writeln!(io::stderr(), "rt-top: {line}"));
}
