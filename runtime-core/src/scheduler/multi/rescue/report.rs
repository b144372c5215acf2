//! Telling the user of blocked workers: once for each place where their tasks are spawned. The monitor says what there
//! is to tell; the telling itself, which may block, is the reporter's (`crate::reporter`).

use std::collections::BTreeSet;
use std::io::Write;
use std::panic::Location;

use super::sampler::{Event, Sampler};
use crate::blocked::{BlockedHook, BlockedTask, Stack};
use crate::runtime::Inner;
use crate::scheduler::multi::slot::UserCode;
use crate::spans;

/// Which spawn sites have been reported, and to whom.
pub(super) struct Reports {
    /// `None`: to stderr.
    hook: Option<BlockedHook>,
    /// By value, because the same place can have several `Location`s; `None` for what was no task.
    reported: BTreeSet<Option<Location<'static>>>,
    /// Likewise, places of which a stack was asked for.
    sampled: BTreeSet<Option<Location<'static>>>,
}

impl Reports {
    pub(super) fn new(hook: Option<BlockedHook>) -> Self {
        Self { hook, reported: BTreeSet::new(), sampled: BTreeSet::new() }
    }

    fn place(event: &Event) -> Option<Location<'static>> {
        match event.user_code {
            UserCode::Poll(polled) => Some(*polled.spawned_at),
            UserCode::External => None,
        }
    }

    /// Whether the stack is wanted: of the first event of each place. Taking it holds the monitor up.
    pub(super) fn wants_stack(&mut self, event: &Event) -> bool {
        Stack::CAN_BE_HAD && self.sampled.insert(Self::place(event))
    }

    /// Reports it, unless the place was reported before.
    pub(super) fn report(&mut self, runtime: &Inner, sampler: &Sampler, event: &Event, is_over: bool) {
        if event.is_reported || !self.reported.insert(Self::place(event)) {
            return;
        }
        let polled = match event.user_code {
            UserCode::Poll(polled) => Some(polled),
            UserCode::External => None,
        };
        let mut blocked = BlockedTask {
            id: polled.map(|polled| polled.task),
            name: polled.and_then(|polled| polled.name),
            spawned_at: polled.map(|polled| polled.spawned_at),
            duration: sampler.lasted(),
            is_over,
            activity: sampler.activity(),
            tasks_waiting: sampler.tasks_waiting(),
            drivers_waited: sampler.drivers_waited(),
            backtrace: None,
        };
        let (hook, stack) = (self.hook.clone(), event.stack.clone());
        runtime.events.note_blocked();
        runtime.reporter.report(move || {
            // To find out the names in a stack takes long, and locks that others may hold.
            blocked.backtrace = stack.map(|stack| stack.describe());
            spans::blocked(&blocked);
            match hook {
                Some(hook) => hook(&blocked),
                // Nobody is left to be told that stderr is gone.
                None => drop(writeln!(std::io::stderr(), "rt: {blocked}")),
            }
        });
    }
}
