//! Servers of other projects, each a process that ends with its test, also with one that panics.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::{env, fs, thread};

/// A port where nothing listens. Nobody else gets the number at once, as the system goes through all of them first.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The program of this name, also from where only root has it in its path, or from where Debian has PostgreSQL's.
pub fn command(name: &str) -> Command {
    let mut directories: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    directories.push("/usr/sbin".into());
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        directories.extend(versions.map(|version| version.unwrap().path().join("bin")));
    }
    let found = directories.into_iter().map(|directory| directory.join(name)).find(|program| program.is_file());
    Command::new(found.unwrap_or_else(|| panic!("there must be a `{name}`: ./install gets it")))
}

/// A server that runs.
pub struct Server {
    process: Child,
    signal: &'static str,
}

impl Server {
    /// Starts it, and waits until it has written `ready` to its standard error. `signal` is what ends it in good order.
    ///
    /// Waits by blocking the thread: this is no part of what is tested.
    pub fn start(mut command: Command, ready: &'static str, signal: &'static str) -> Self {
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stderr.take().unwrap());
        let server = Server { process, signal };
        let (sender, receiver) = mpsc::channel();
        // It reads on to the end: the server would wait when the pipe is full.
        thread::spawn(move || {
            let mut before = Vec::new();
            let mut sender = Some(sender);
            for line in output.lines() {
                let line = line.unwrap_or_default();
                if line.contains(ready) {
                    sender = None;
                } else if sender.is_some() {
                    before.push(line);
                }
            }
            if let Some(sender) = sender {
                let _ = sender.send(before.join("\n"));
            }
        });
        // The sender is gone without a word if all is well.
        if let Ok(output) = receiver.recv() {
            panic!("{command:?} has ended before it was ready:\n{output}");
        }
        server
    }

    /// Ends it in good order, and waits for its end.
    pub fn stop(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        let sent = Command::new("kill").arg(self.signal).arg(self.process.id().to_string()).status();
        if !sent.is_ok_and(|status| status.success()) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}
