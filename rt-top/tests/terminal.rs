//! The live view in a terminal: one that a test holds the other end of.

#![cfg(target_os = "linux")]

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::tcgetattr;
use nix::unistd::Pid;
use rt::runtime::Builder;
use rt_test_util::watchdog;

/// Reads until the text has come. Panics if it does not.
fn read_until(terminal: &mut impl Read, text: &str) {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    while !read.windows(text.len()).any(|window| window == text.as_bytes()) {
        match terminal.read(&mut buffer) {
            Ok(n) if n > 0 => read.extend(&buffer[..n]),
            end => panic!("{end:?} before {text:?}: {}", read.escape_ascii()),
        }
    }
}

#[test]
fn whoever_ends_it_gets_the_terminal_back() {
    let _watchdog = watchdog();
    let mut builder = Builder::new_current_thread();
    let runtime = builder.inspect(([127, 0, 40, 4], 0).into()).build().unwrap();
    let address = runtime.inspect_address().unwrap().to_string();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut terminal = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let inner = OpenOptions::new().read(true).write(true).open(ptsname_r(&terminal).unwrap()).unwrap();
        let end = |file: &File| Stdio::from(file.try_clone().unwrap());
        let flags = |file: &File| tcgetattr(file.as_fd()).unwrap().local_flags;
        let before = flags(&inner);
        let mut command = Command::new(env!("CARGO_BIN_EXE_rt-top"));
        command.arg(&address).stdin(end(&inner)).stdout(end(&inner)).stderr(end(&inner));
        let mut process = command.spawn().unwrap();
        // It has taken another screen.
        read_until(&mut terminal, "\x1b[?1049h");
        assert_ne!(flags(&inner), before);
        kill(Pid::from_raw(process.id().try_into().unwrap()), signal).unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(signal as i32));
        assert_eq!(flags(&inner), before, "{signal}");
        // What it has written is still to be read when nobody has the terminal any more.
        drop((inner, command));
        read_until(&mut terminal, "\x1b[?1049l");
    }
}
