//! The runner that the tests drive.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// With this code, or by a signal that was not the runner's.
    Itself(Option<i32>),
    TimedOut,
    Cancelled,
    NotStarted,
}

#[derive(Clone)]
pub struct Runner {
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Runner {
    /// Runs as many jobs at a time as there are places, until it is told to stop.
    pub fn new(places: usize, stop: CancellationToken) -> Self {
        Runner { places: Arc::new(Semaphore::new(places)), stop }
    }

    /// Runs a script when there is a place, and sends what it prints, line by line. Returns when its process is reaped.
    /// When this future is dropped, the process is killed.
    pub async fn run(&self, script: &str, time: Duration, lines: mpsc::Sender<String>) -> Ended {
        let _place = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Ended::NotStarted,
            place = self.places.acquire() => place.unwrap(),
        };
        let mut process = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let work = async {
            while let Some(line) = output.next_line().await.unwrap() {
                if lines.send(line).await.is_err() {
                    break;
                }
            }
            process.wait().await.unwrap().code()
        };
        let ended = tokio::select! {
            code = work => return Ended::Itself(code),
            () = tokio::time::sleep(time) => Ended::TimedOut,
            () = self.stop.cancelled() => Ended::Cancelled,
        };
        // This waits for its end, too.
        process.kill().await.unwrap();
        ended
    }
}
