//! One round: builds a runtime, lets the actors perform, ends it, waits until all is quiet, and audits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use crate::actors;
use crate::host::Host;
use crate::ledger::{Ledger, Totals};
use crate::office::Office;
use crate::outsiders::Outsiders;
use crate::panics;
use crate::plan::{Ending, Plan};
use crate::process::Census;
use crate::stage::Stage;
use crate::watchdog::{Watch, Watchdog};

/// Runs the round of this seed. Returns what did not add up.
pub(crate) fn run(seed: u64, workers: Option<usize>, watchdog: &Watchdog, totals: &mut Totals) -> Vec<String> {
    let before = Census::take();
    let ledger = Arc::new(Ledger::new());
    let watch = watchdog.watch(seed, &ledger, before);
    let plan = Plan::new(seed, workers);
    let is_quiet = plan.ending.is_quiet();
    perform(plan, &ledger, &watch);
    watch.phase("waiting for threads and descriptors to be given back");
    until(|| {
        let now = Census::take();
        now.threads <= before.threads && now.descriptors <= before.descriptors
    });
    let mut problems = ledger.audit(is_quiet);
    match panics::take_others() {
        0 => {}
        others => problems.push(format!("panics that nobody planned: {others}")),
    }
    totals.add(&ledger, is_quiet);
    problems
}

fn perform(mut plan: Plan, ledger: &Arc<Ledger>, watch: &Watch<'_>) {
    let clerks = Office::open(&mut plan.office, ledger);
    let host = Host::build(&plan.options, ledger);
    let stage = Stage::new(host.handle().clone(), &plan.options, ledger, clerks.office(), plan.is_rough);
    watch.metrics(Some(host.handle().metrics()));
    watch.phase("performing");
    let outsiders = Outsiders::start(&stage, plan.outsiders);
    let play = actors::perform(&stage, plan.parts);
    if plan.ending.is_quiet() {
        host.block_on(async {
            play.await;
            watch.phase("waiting for the foreign threads");
            outsiders.finished().await;
            watch.phase("waiting for detached tasks");
            stage.settled().await;
        });
    } else {
        // Whether it was in time makes no difference.
        let _ = host.block_on(async { rt::time::timeout(plan.patience, play).await });
    }
    watch.phase("ending the runtime");
    host.end(plan.ending, &stage);
    watch.phase("joining the foreign threads");
    outsiders.join();
    let has_waited = matches!(plan.ending, Ending::Quiet | Ending::Dropped | Ending::DroppedElsewhere);
    if has_waited && stage.life().alive() != 0 {
        ledger.problem(format!("the runtime was dropped, and {} futures are alive", stage.life().alive()));
    }
    watch.phase("waiting until no future is alive");
    until(|| ledger.alive() <= 0);
    watch.phase("asking the handles that were kept");
    for task in stage.take_kept() {
        // The future goes first; if nobody waited for the runtime, its end may be about to be told.
        until(|| task.is_finished());
        // The handle is compared with the ledger here.
        if pin!(task.join()).poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            ledger.problem("a handle of a task that has finished is pending".into());
        }
    }
    watch.metrics(None);
    drop(stage);
    watch.phase("closing the office");
    clerks.close();
}

/// Waits for what other threads, or the kernel, are about to do, and tell nobody.
fn until(so: impl Fn() -> bool) {
    while !so() {
        thread::sleep(Duration::from_micros(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::round_seed;

    // The only test of the program: the census counts the threads of the whole process.
    #[test]
    fn a_few_rounds_add_up() {
        panics::install_hook();
        let (watchdog, mut totals) = (Watchdog::start(), Totals::new());
        for number in 0..20 {
            let seed = round_seed(1, number);
            assert_eq!(run(seed, None, &watchdog, &mut totals), Vec::<String>::new(), "round {number}, seed {seed}");
        }
    }
}
