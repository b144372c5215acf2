//! Where did the time go? A service whose requests are slow now and then, and the recording that shows why.
//!
//! ```text
//! cargo run --example flight_recorder
//! ```
//!
//! Ten tasks serve requests, each of which sleeps for a moment; one task in between computes for too long, and holds up
//! those that are queued behind it. The flight recorder runs all the time. When a request was slow, the program takes a
//! snapshot of it, says what it finds, and writes it to a file that <https://ui.perfetto.dev> opens: there the long
//! slice is seen at once, with the arrows of the wakes that had to wait for it.

use std::collections::HashMap;
use std::hint::black_box;
use std::io;
use std::time::Instant;

use rt::runtime::trace::{TraceConfig, TraceEventKind, TraceSnapshot};
use rt::runtime::{Builder, Handle};
use rt::task;
use rt::time::{Duration, sleep};

const SLOW: Duration = Duration::from_millis(50);

fn main() -> io::Result<()> {
    // Each thread keeps its last 16,384 events, in 256 KiB. Blocked tasks are seen in the recording here.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .rescue_blocked(false)
        .trace(TraceConfig::new().events(1 << 14))
        .build()?;
    let snapshot = runtime.block_on(async {
        let requests: Vec<_> =
            (0..10).map(|number| task::Builder::new().name("request").spawn(serve(number)).unwrap()).collect();
        let report = task::Builder::new().name("monthly report").spawn(compute_for_too_long()).unwrap();
        let mut snapshot = None;
        for request in requests {
            let slow = request.await?;
            snapshot = snapshot.or(slow);
        }
        report.await?;
        io::Result::Ok(snapshot)
    })?;
    let Some(snapshot) = snapshot else {
        println!("no request was slow this time");
        return Ok(());
    };
    explain(&snapshot);
    let path = std::env::temp_dir().join("flight_recorder.pftrace");
    snapshot.write_file(&path)?;
    println!("{} shows it at https://ui.perfetto.dev", path.display());
    Ok(())
}

/// Serves some requests. Returns what the recorder had when one of them was slow.
async fn serve(number: u64) -> Option<TraceSnapshot> {
    for _ in 0..20 {
        let before = Instant::now();
        sleep(Duration::from_millis(1 + number % 3)).await;
        if before.elapsed() > SLOW {
            return Some(Handle::current().trace().snapshot());
        }
    }
    None
}

/// The culprit.
async fn compute_for_too_long() {
    sleep(Duration::from_millis(10)).await;
    let before = Instant::now();
    let mut number = 1_u64;
    while before.elapsed() < 2 * SLOW {
        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005));
    }
}

/// Says which poll was the longest, and how long the tasks waited that were woken meanwhile.
fn explain(snapshot: &TraceSnapshot) {
    let mut longest = (Duration::ZERO, None);
    for lane in snapshot.lanes() {
        let mut begun = None;
        for event in lane.events() {
            match event.kind {
                TraceEventKind::Polled => begun = Some(event.at),
                TraceEventKind::Pending | TraceEventKind::Completed => {
                    if let Some(begun) = begun.take()
                        && event.at - begun > longest.0
                    {
                        longest = (event.at - begun, event.task);
                    }
                }
                _ => {}
            }
        }
    }
    if let (took, Some(task)) = longest {
        println!("the longest poll took {took:.1?}: that of {:?}", task.name.unwrap_or("a task without a name"));
    }
    let (mut woken, mut waits) = (HashMap::new(), Vec::new());
    for event in snapshot.lanes().flat_map(|lane| lane.events()) {
        match (event.kind, event.task) {
            (TraceEventKind::Woken, Some(task)) => _ = woken.insert(task.id, event.at),
            (TraceEventKind::Polled, Some(task)) => {
                waits.extend(woken.remove(&task.id).map(|woken| event.at.saturating_sub(woken)));
            }
            _ => {}
        }
    }
    waits.sort();
    if let (Some(median), Some(most)) = (waits.get(waits.len() / 2), waits.last()) {
        println!("after a wake, tasks waited {median:.1?} for their poll, and {most:.1?} at most");
    }
}
