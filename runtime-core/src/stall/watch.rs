//! [`Watch`]: the thread that looks.
//!
//! It has a thread of its own because it must go on when all workers are stuck, and because the monitor sleeps while
//! the workers do, which is when there is something to find. It ends when the runtime closes, and the end of the
//! runtime waits for it: a look takes no lock that user code runs under, so it takes no longer than reading all tasks.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::findings::Told;
use super::graph::{Node, search, steady};
use super::look::Look;
use super::{Stall, StallHook};
use crate::clock::Clock;
use crate::inspect;
use crate::primitive::waiting::{Condvar, Mutex};
use crate::runtime::{Inner, Thread, join_threads};

/// The thread that looks, if the runtime has one.
#[derive(Default)]
pub(crate) struct Watch(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    closed: Condvar,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    thread: Option<Thread>,
}

impl Watch {
    /// Starts the thread: it looks each time that `every` has passed.
    pub(crate) fn start(&self, runtime: &Arc<Inner>, every: Duration, hook: Option<StallHook>) -> io::Result<()> {
        // What tasks hold is noted from now on.
        inspect::watch();
        let (shared, runtime) = (Arc::clone(&self.0), Arc::clone(runtime));
        let builder = thread::Builder::new().name("rt-stall".into());
        let thread = Thread::start(builder, move || look_again_and_again(&shared, &runtime, every, hook.as_ref()))?;
        self.0.state.lock().thread = Some(thread);
        Ok(())
    }

    /// The runtime closes.
    pub(crate) fn close(&self) {
        self.0.state.lock().is_closed = true;
        self.0.closed.notify_all();
    }

    /// Sees the thread off, after [`close`](Self::close).
    pub(crate) fn wait_closed(&self, limit: Option<Duration>) {
        let thread = self.0.state.lock().thread.take();
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        join_threads(thread, deadline);
    }
}

impl Shared {
    /// Waits. False if the runtime has closed.
    fn wait(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        let deadline = Clock::real().checked_add(time);
        while !state.is_closed {
            match deadline {
                None => self.closed.wait(&mut state),
                Some(deadline) => {
                    if self.closed.wait_until(&mut state, deadline).timed_out() {
                        break;
                    }
                }
            }
        }
        !state.is_closed
    }
}

fn look_again_and_again(shared: &Shared, runtime: &Inner, every: Duration, hook: Option<&StallHook>) {
    let mut seen = Seen::default();
    while shared.wait(every) {
        seen.look_again(runtime, hook);
    }
}

/// What the thread knows from looks before.
#[derive(Default)]
struct Seen {
    told: Told,
    before: Vec<Node>,
}

impl Seen {
    fn look_again(&mut self, runtime: &Inner, hook: Option<&StallHook>) {
        let look = Look::at(runtime);
        let nodes = steady(&self.before, &look.nodes);
        let tell = |stall| report(runtime, stall, hook.cloned());
        self.told.tell_news(&nodes, &search(&nodes), |place| look.task(place), tell);
        self.before = look.nodes;
    }
}

/// False if there is no room for it now.
fn report(runtime: &Inner, stall: Stall, hook: Option<StallHook>) -> bool {
    runtime.reporter.try_report(move || match hook {
        Some(hook) => hook(&stall),
        // Nobody is left to be told that stderr is gone.
        None => drop(writeln!(io::stderr(), "rt: {stall}")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::mpsc;

    use super::*;
    use crate::clock::Clock;
    use crate::context;
    use crate::driver::DriverStack;
    use crate::runtime::{Config, Flavor, control};
    use crate::task::JoinHandle;

    /// More than the reporter has room for while a hook does not return.
    #[test]
    fn what_there_is_no_room_for_is_reported_after_a_later_look() {
        const RINGS: usize = 150;
        let config = Config::new(Flavor::CurrentThread);
        let runtime = control::start(&config, Arc::new(Clock::new()), DriverStack::bare()).unwrap();
        let inner = {
            let _context = runtime.enter();
            context::current().unwrap()
        };
        inspect::watch();
        // Tasks that wait for themselves.
        let all: BTreeSet<u64> = (0..RINGS)
            .map(|_| {
                let own = Arc::new(Mutex::new(None::<JoinHandle<()>>));
                let handle = own.clone();
                let wait = async move {
                    let own = handle.lock().take().unwrap();
                    drop(handle);
                    own.await.unwrap();
                };
                let task = runtime.spawn(wait);
                let id = task.id().0;
                *own.lock() = Some(task);
                id
            })
            .collect();
        control::run_until_stalled(&runtime);

        let (report, reports) = mpsc::channel();
        let (go_on, held_up) = mpsc::channel::<()>();
        let held_up = Mutex::new(held_up);
        let hook: StallHook = Arc::new(move |stall| {
            // Until the sender is gone.
            _ = held_up.lock().recv();
            if let Stall::Ring { tasks, .. } = stall {
                report.send(tasks[0].id.0).unwrap();
            }
        });
        let mut seen = Seen::default();
        (0..4).for_each(|_| seen.look_again(&inner, Some(&hook)));
        drop(go_on);
        let mut told = Vec::new();
        let start = Clock::real();
        while told.len() < RINGS {
            seen.look_again(&inner, Some(&hook));
            told.extend(reports.try_iter());
            assert!(start.elapsed() < Duration::from_secs(60), "in vain: {} were reported", told.len());
            thread::yield_now();
        }
        // What is reported once more comes before the hook is gone.
        seen.look_again(&inner, Some(&hook));
        assert_eq!(inner.reporter.dropped(), 0);
        drop(hook);
        told.extend(reports);
        assert_eq!((told.len(), BTreeSet::from_iter(told)), (RINGS, all), "each, and once");
        control::close(&runtime);
        control::wait_closed(&runtime, None);
    }
}
