//! [`Timeline`]: the events as both formats show them: slices on tracks, arrows between them, counters.
//!
//! A poll is a slice from its beginning to its end, and so is a sleep. If the snapshot has no end of the last slice of
//! a lane, that has not ended: a poll that blocks is seen this way. An end whose beginning was overwritten is left out.
//!
//! An *arrow* goes from the spawn or the wake of a task to the poll that comes of it. All lanes are gone through
//! together in the order of time to find out which that is. A wake without a poll (it is to come, or was overwritten),
//! and a poll without a wake (the task has yielded) have no arrow.

use std::borrow::Cow;
use std::collections::HashMap;

use super::record::{Kind, Record};
use super::sites::SpawnedAt;
use super::snapshot::TraceSnapshot;

/// The shown part of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Begin,
    End,
    Instant,
    Counter,
    Nothing,
}

/// What is to be shown of each lane's events.
pub(super) struct Timeline {
    /// Of each lane, for each event: how it is shown, and the number of the arrow that begins or ends at it, or zero.
    pub(super) lanes: Vec<Vec<(Shown, u64)>>,
}

impl Timeline {
    pub(super) fn new(snapshot: &TraceSnapshot) -> Self {
        let mut timeline = Self {
            lanes: snapshot.lanes.iter().map(|lane| slices(lane.events.iter().map(|event| event.record))).collect(),
        };
        timeline.draw_arrows(snapshot);
        timeline
    }

    fn draw_arrows(&mut self, snapshot: &TraceSnapshot) {
        let mut ends = Vec::new();
        for (lane, events) in snapshot.lanes.iter().enumerate() {
            for (at, event) in events.events.iter().enumerate() {
                if matches!(event.record.kind, Kind::Spawned | Kind::Woken | Kind::Polled) {
                    ends.push((event.nanos, event.record.kind == Kind::Polled, lane, at));
                }
            }
        }
        // At the same time, the wake comes first.
        ends.sort_unstable();
        let (mut waiting, mut next) = (HashMap::new(), 1);
        for (_, is_poll, lane, at) in ends {
            let task = snapshot.lanes[lane].events[at].record.task();
            if !is_poll {
                waiting.insert(task, (lane, at));
            } else if let Some((from_lane, from)) = waiting.remove(&task) {
                self.lanes[from_lane][from].1 = next;
                self.lanes[lane][at].1 = next;
                next += 1;
            }
        }
    }
}

/// How the events of a lane are shown, but for arrows.
fn slices(events: impl Iterator<Item = Record>) -> Vec<(Shown, u64)> {
    // What is open: the poll of a task, or a sleep (`None`).
    let mut open: Option<Option<u64>> = None;
    let show = |record: Record| match record.kind {
        Kind::Polled => {
            open = Some(Some(record.task()));
            Shown::Begin
        }
        Kind::Parked => {
            open = Some(None);
            Shown::Begin
        }
        Kind::Pending | Kind::Completed if open == Some(Some(record.task())) => {
            open = None;
            Shown::End
        }
        Kind::Unparked if open == Some(None) => {
            open = None;
            Shown::End
        }
        // In the hands of shutdown, or cancelled before its poll.
        Kind::Completed | Kind::Spawned | Kind::Woken | Kind::Panicked => Shown::Instant,
        Kind::QueueDepth | Kind::InjectorDepth => Shown::Counter,
        Kind::Pending | Kind::Unparked => Shown::Nothing,
    };
    events.map(show).map(|shown| (shown, 0)).collect()
}

/// What the slice of a poll is called.
pub(super) fn poll_name(site: Option<SpawnedAt>) -> Cow<'static, str> {
    match site {
        Some(SpawnedAt { name: Some(name), .. }) => name.into(),
        Some(SpawnedAt { location, name: None }) => format!("{}:{}", location.file(), location.line()).into(),
        None => "task".into(),
    }
}

/// What an instant or a sleep is called.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Spawned => "spawn",
        Kind::Woken => "wake",
        Kind::Completed => "cancel",
        Kind::Panicked => "panic",
        Kind::Parked | Kind::Unparked => "asleep",
        Kind::Polled | Kind::Pending => "poll",
        Kind::QueueDepth => "tasks on its queues",
        Kind::InjectorDepth => "tasks in the injector",
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ends_without_a_beginning_are_left_out_and_beginnings_without_an_end_stay() {
        let record = |kind, task| Record::of_task(kind, 0, task, 0);
        let events = [
            (Kind::Pending, 1, Shown::Nothing),
            (Kind::Unparked, 0, Shown::Nothing),
            (Kind::Polled, 1, Shown::Begin),
            (Kind::Woken, 2, Shown::Instant),
            (Kind::Pending, 1, Shown::End),
            (Kind::Completed, 3, Shown::Instant),
            (Kind::Parked, 0, Shown::Begin),
            (Kind::Unparked, 0, Shown::End),
            (Kind::QueueDepth, 0, Shown::Counter),
            (Kind::Polled, 2, Shown::Begin),
            (Kind::Panicked, 2, Shown::Instant),
        ];
        let shown = slices(events.iter().map(|&(kind, task, _)| record(kind, task)));
        assert!(shown.iter().map(|shown| shown.0).eq(events.iter().map(|event| event.2)));
    }
}
