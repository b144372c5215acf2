//! Ten thousand tasks that sleep for a second at the same time, and what that costs.
//!
//! ```text
//! cargo run --release --example timers
//! ```

use std::fs;

use rt::task::JoinError;
use rt::time::{Duration, Instant, sleep, sleep_until};

const TIMERS: u32 = 10_000;
const SECOND: Duration = Duration::from_secs(1);

#[rt::main]
async fn main() -> Result<(), JoinError> {
    let mut tasks = Vec::with_capacity(TIMERS as usize);
    let memory = resident_memory();

    let start = Instant::now();
    for _ in 0..TIMERS {
        tasks.push(rt::spawn(async {
            let deadline = Instant::now() + SECOND;
            sleep_until(deadline).await;
            deadline.elapsed()
        }));
    }
    let spawned = start.elapsed();

    // Half-way, all of them are asleep.
    sleep(SECOND / 2).await;
    let memory = memory.zip(resident_memory()).map(|(before, asleep)| asleep.saturating_sub(before));

    let mut lateness = Duration::ZERO;
    for task in tasks {
        lateness += task.await?;
    }
    println!("{TIMERS} timers of {SECOND:?}:");
    println!("    spawned in      {spawned:.1?}, {:.0?} each", spawned / TIMERS);
    println!("    done after      {:.1?}", start.elapsed());
    println!("    late by         {:.1?} on average", lateness / TIMERS);
    match memory {
        Some(bytes) => println!("    memory          {} KiB, {} bytes each", bytes / 1024, bytes / u64::from(TIMERS)),
        None => println!("    memory          not known on this system"),
    }
    Ok(())
}

/// The memory that the process occupies, in bytes, where the system tells.
fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
