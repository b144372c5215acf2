//! How long a wake from another thread takes to arrive.

use std::thread;
use std::time::{Duration, Instant};

use crate::{Measure, Percentiles, Runtime};

const WAKES: usize = 2000;
const WARM_UP: usize = 100;

/// By then every worker sleeps: none of the runtimes looks out for work for as long.
const PAUSE: Duration = Duration::from_micros(200);

/// A thread that is not part of the runtime sends a message to a task, 2000 times, with a pause before each in which
/// the workers go to sleep. The figure is the time from before the message was sent to the task's first line after it.
///
/// Most of it is the operating system's: waking a thread that sleeps, and a processor too if that sleeps as well. What
/// a runtime adds is how it chooses whom to wake, and how much the woken thread does before it polls.
#[derive(Clone, Debug)]
pub struct WakeLatency;

impl Measure for WakeLatency {
    fn titles(&self) -> Vec<String> {
        Percentiles::titles("foreign thread wakes a task, idle runtime")
    }

    /// Each run leaves out its own beginning.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let (sender, receiver) = async_channel::bounded::<Instant>(1);
        let task = runtime.spawn(async move {
            let mut latencies = Vec::with_capacity(WARM_UP + WAKES);
            while let Ok(sent) = receiver.recv().await {
                latencies.push(sent.elapsed());
            }
            latencies
        });
        for _ in 0..WARM_UP + WAKES {
            thread::sleep(PAUSE);
            // It may take longer than the pause.
            while !sender.is_empty() {
                thread::sleep(PAUSE);
            }
            sender.try_send(Instant::now()).expect("the task has taken the last one");
        }
        drop(sender);
        let latencies = futures_lite::future::block_on(task);
        Percentiles::new(latencies[WARM_UP..].to_vec()).micros()
    }
}
