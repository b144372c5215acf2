//! [`Watch`]: the thread that looks.
//!
//! It has a thread of its own because it must go on when all workers are stuck, and because the monitor sleeps while
//! the workers do, which is when there is something to find. It ends when the runtime closes, and the end of the
//! runtime waits for it: a look takes no lock that user code runs under, so it takes no longer than reading all tasks.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::findings::Told;
use super::graph::{search, steady};
use super::look::Look;
use super::{Stall, StallHook};
use crate::inspect;
use crate::runtime::{Inner, join_threads};

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
    thread: Option<thread::JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread: it looks each time that `every` has passed.
    pub(crate) fn start(&self, runtime: &Arc<Inner>, every: Duration, hook: Option<StallHook>) -> io::Result<()> {
        // What tasks hold is noted from now on.
        inspect::watch();
        let (shared, runtime) = (Arc::clone(&self.0), Arc::clone(runtime));
        let thread = thread::Builder::new().name("rt-stall".into());
        let thread = thread.spawn(move || look_again_and_again(&shared, &runtime, every, hook.as_ref()))?;
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
        join_threads(thread.into_iter().collect(), limit);
    }
}

impl Shared {
    /// Waits. False if the runtime has closed.
    fn wait(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        self.closed.wait_while_for(&mut state, |state| !state.is_closed, time);
        !state.is_closed
    }
}

fn look_again_and_again(shared: &Shared, runtime: &Inner, every: Duration, hook: Option<&StallHook>) {
    let (mut told, mut before) = (Told::default(), Vec::new());
    while shared.wait(every) {
        let look = Look::at(runtime);
        let nodes = steady(&before, &look.nodes);
        let news = told.news(&nodes, &search(&nodes), |place| look.task(place));
        news.into_iter().for_each(|stall| report(runtime, stall, hook.cloned()));
        before = look.nodes;
    }
}

fn report(runtime: &Inner, stall: Stall, hook: Option<StallHook>) {
    runtime.reporter.report(move || match hook {
        Some(hook) => hook(&stall),
        // Nobody is left to be told that stderr is gone.
        None => drop(writeln!(io::stderr(), "rt: {stall}")),
    });
}
