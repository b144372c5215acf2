//! Telling the user of blocked workers: once for each place where their tasks are spawned.

use std::collections::HashSet;
use std::io::Write;
use std::panic::Location;
use std::thread;

use super::watch::{Event, Watch};
use crate::blocked::{BlockedHook, BlockedTask, Stack};
use crate::scheduler::multi::slot::Doing;
use crate::task::{contain, discard};

/// See the module.
pub(super) struct Reporter {
    /// `None`: to stderr.
    hook: Option<BlockedHook>,
    /// By value, because the same place can have several `Location`s; `None` for what was no task.
    reported: HashSet<Option<Location<'static>>>,
    /// Likewise, places of which a stack was asked for.
    sampled: HashSet<Option<Location<'static>>>,
    /// Threads that find out the names in a stack, which takes too long for the monitor.
    resolving: Vec<thread::JoinHandle<()>>,
}

impl Reporter {
    pub(super) fn new(hook: Option<BlockedHook>) -> Self {
        Self { hook, reported: HashSet::new(), sampled: HashSet::new(), resolving: Vec::new() }
    }

    fn place(event: &Event) -> Option<Location<'static>> {
        match event.doing {
            Doing::Poll(polled) => Some(*polled.spawned_at),
            Doing::Foreign => None,
        }
    }

    /// Whether the stack is wanted: of the first event of each place. Taking it holds the monitor up.
    pub(super) fn wants_stack(&mut self, event: &Event) -> bool {
        Stack::CAN_BE_HAD && self.sampled.insert(Self::place(event))
    }

    /// Reports it, unless the place was reported before.
    pub(super) fn report(&mut self, watch: &Watch, event: &Event, is_over: bool) {
        if event.is_reported || !self.reported.insert(Self::place(event)) {
            return;
        }
        let polled = match event.doing {
            Doing::Poll(polled) => Some(polled),
            Doing::Foreign => None,
        };
        let mut blocked = BlockedTask {
            id: polled.map(|polled| polled.task),
            name: polled.and_then(|polled| polled.name),
            spawned_at: polled.map(|polled| polled.spawned_at),
            duration: watch.lasted(),
            is_over,
            activity: watch.activity(),
            tasks_waiting: watch.tasks_waiting(),
            drivers_waited: watch.drivers_waited(),
            backtrace: None,
        };
        let Some(stack) = event.stack.clone() else { return tell(self.hook.as_ref(), &blocked) };
        let hook = self.hook.clone();
        let resolve = {
            let mut blocked = blocked.clone();
            move || {
                blocked.backtrace = Some(stack.describe());
                tell(hook.as_ref(), &blocked);
            }
        };
        match thread::Builder::new().name("rt-report".into()).spawn(resolve) {
            Ok(thread) => self.resolving.push(thread),
            Err(error) => {
                blocked.backtrace = Some(format!("(no thread to find it out: {error})"));
                tell(self.hook.as_ref(), &blocked);
            }
        }
    }

    /// Waits for reports that are under way.
    pub(super) fn end(&mut self) {
        for thread in self.resolving.drain(..) {
            // Should it have panicked it has said so on stderr.
            let _ = thread.join();
        }
    }
}

fn tell(hook: Option<&BlockedHook>, blocked: &BlockedTask) {
    match hook {
        Some(hook) => discard(contain(|| hook(blocked))),
        // Nobody is left to be told that stderr is gone.
        None => drop(writeln!(std::io::stderr(), "rt: {blocked}")),
    }
}
