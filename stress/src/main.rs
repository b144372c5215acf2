//! A stress program: random programs on rt, from a seed, and a ledger of what must add up.
//!
//! It runs rounds. Each makes a runtime, lets a random cast of *actors* loose on it (spawn trees, channels, locks,
//! sockets, timers, aborts, panics, blocked workers, foreign threads, runtimes inside of runtimes), ends it in one of
//! the ways in which a runtime can end, and checks that nothing was lost and nothing came twice. `README.md` tells how
//! to use it.
//!
//! | file        | what it is                                                                            |
//! |-------------|---------------------------------------------------------------------------------------|
//! | `plan`      | what a round will be like: a pure function of its seed                                |
//! | `round`     | runs one: builds, performs, ends, waits until all is quiet, audits                    |
//! | `host`      | the runtime of a round, of whatever kind, and its end                                 |
//! | `stage`     | what actors get to work with: spawning, exposing tasks to aborts                      |
//! | `actors/`   | the programs, one file a subject                                                      |
//! | `tracked`   | tasks that are watched: how each ended, and whether its handle agrees                 |
//! | `group`     | join sets of such tasks                                                               |
//! | `parcel`    | values that are sent through channels and kept behind locks, and counted              |
//! | `ledger`    | what is counted, what does not add up, and what the counts must satisfy               |
//! | `outsiders` | foreign threads that spawn, wait and abort                                            |
//! | `office`    | foreign threads that wake                                                             |
//! | `panics`    | panics that are planned, and the hook that tells them from others                     |
//! | `process`   | the threads and descriptors of the process                                            |
//! | `watchdog`  | notices a round that hangs, and says what is outstanding                              |
//!
//! The ledger must not hide what it looks for: it counts with relaxed atomics, so that it orders nothing that rt does
//! not order itself, and a missing release or acquire in rt stays visible to ThreadSanitizer.

mod actors;
mod args;
mod group;
mod host;
mod ledger;
mod office;
mod outsiders;
mod panics;
mod parcel;
mod plan;
mod process;
mod round;
mod stage;
mod tracked;
mod watchdog;

use std::process::ExitCode;
use std::time::Instant;

use args::Args;
use ledger::Totals;
use watchdog::Watchdog;

fn main() -> ExitCode {
    let args = match Args::from_env() {
        Ok(Some(args)) => args,
        Ok(None) => {
            println!("{}", args::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("rt-stress: {error}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    panics::install_hook();
    let start = Instant::now();
    let watchdog = Watchdog::start();
    let mut totals = Totals::new();
    for number in 0.. {
        if args.rounds.is_some_and(|rounds| number >= rounds) || args.time.is_some_and(|time| start.elapsed() >= time) {
            break;
        }
        let seed = args.round_seed.unwrap_or_else(|| plan::round_seed(args.seed, number));
        let problems = round::run(seed, args.workers, &watchdog, &mut totals);
        if !problems.is_empty() {
            eprintln!("FAILED: round {number}, to be run again with {}", args.again(seed));
            problems.iter().for_each(|problem| eprintln!("  {problem}"));
            return ExitCode::FAILURE;
        }
    }
    println!("seed {}, {:.1} s\n{totals}", args.seed, start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
