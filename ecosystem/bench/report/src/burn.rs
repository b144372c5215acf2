//! A neighbour that takes a processor: this program again, with an argument.

use std::io::{self, Read};
use std::process::{self, Command, Stdio};
use std::{env, hint, thread};

use crate::process::Ended;

const BURN: &str = "--burn";

/// Burns a processor until the process is ended, or standard input is, if the arguments say so.
pub(crate) fn burn_if_told() {
    if env::args().nth(1).is_some_and(|argument| argument == BURN) {
        // It must not outlive the one that started it, however that ends.
        thread::spawn(|| {
            let _ = io::stdin().read(&mut [0]);
            process::exit(0);
        });
        loop {
            hint::black_box(());
        }
    }
}

/// Burns one in a process of its own, until that is dropped.
pub(crate) fn start() -> io::Result<Ended> {
    Command::new(env::current_exe()?).arg(BURN).stdin(Stdio::piped()).spawn().map(Ended)
}
