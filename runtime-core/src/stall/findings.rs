//! [`Told`]: what was told already. Each finding is told once, until it changes. One that could not be told, since too
//! much waits to be told already, is told after a later look, if it is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

use super::graph::{Findings, Node};
use super::{Stall, StalledTask};

/// What was told of a runtime.
#[derive(Default)]
pub(super) struct Told {
    /// The identifiers of the tasks of each ring, which is still there.
    rings: BTreeSet<Vec<u64>>,
    /// How many tasks of a place were lost when that was told. By value, because the same place can have several
    /// `Location`s.
    lost: BTreeMap<Location<'static>, usize>,
    /// That all tasks are stuck, which they still are.
    all: bool,
}

impl Told {
    /// Tells what is new. `task` is the task at a place of the list of nodes; `tell` says whether it has taken what it
    /// was given.
    pub(super) fn tell_news(
        &mut self,
        nodes: &[Node],
        found: &Findings,
        task: impl Fn(usize) -> StalledTask,
        mut tell: impl FnMut(Stall) -> bool,
    ) {
        let mut rings = BTreeSet::new();
        for ring in &found.rings {
            let ids: Vec<u64> = ring.tasks.iter().map(|place| nodes[*place].id).collect();
            let tasks = || ring.tasks.iter().map(|place| task(*place)).collect();
            if self.rings.contains(&ids) || tell(Stall::Ring { tasks: tasks(), behind: ring.behind }) {
                rings.insert(ids);
            }
        }
        self.rings = rings;

        let mut lost: BTreeMap<Location<'static>, Vec<usize>> = BTreeMap::new();
        for place in &found.lost {
            lost.entry(*task(*place).spawned_at).or_default().push(*place);
        }
        for (site, places) in lost {
            let told = self.lost.entry(site).or_default();
            let is_new = *told == 0 || places.len() >= told.saturating_mul(2);
            if is_new && tell(Stall::Lost { task: task(places[0]), count: places.len() }) {
                *told = places.len();
            }
        }

        // Where all are lost, and nobody waits for one, that was told.
        let all = found.stuck == nodes.len() && found.stuck > found.lost.len();
        self.all = all && (self.all || tell(Stall::AllTasks { count: nodes.len() }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Keeps, search};
    use super::*;
    use crate::task::{Id, WaitsFor};

    /// What is told of tasks with the numbers 10, 11, and so on, all spawned here.
    fn news(told: &mut Told, keeps: &[Keeps]) -> Vec<String> {
        news_with_room(told, keeps, usize::MAX)
    }

    /// The same where so much is taken, and no more.
    fn news_with_room(told: &mut Told, keeps: &[Keeps], room: usize) -> Vec<String> {
        let nodes: Vec<Node> = (10..).zip(keeps).map(|(id, keeps)| Node { id, polls: 1, keeps: *keeps }).collect();
        let spawned_at = Location::caller();
        let task = |place: usize| {
            let (id, waits_for) = (Id(nodes[place].id), WaitsFor::Unknown);
            StalledTask { id, name: None, spawned_at, waits_for }
        };
        let short = |stall| match stall {
            Stall::Ring { tasks, behind } => format!("ring of {} with {behind}", tasks.len()),
            Stall::Lost { task, count } => format!("{count} lost, as {}", task.id),
            Stall::AllTasks { count } => format!("all {count}"),
        };
        let mut news = Vec::new();
        told.tell_news(&nodes, &search(&nodes), task, |stall| {
            let is_room = news.len() < room;
            if is_room {
                news.push(short(stall));
            }
            is_room
        });
        news
    }

    #[test]
    fn a_ring_is_told_once_while_it_is_there() {
        let told = &mut Told::default();
        let (one, other) = ([Keeps::Task(10), Keeps::Nothing], [Keeps::Nothing, Keeps::Task(11)]);
        assert_eq!(news(told, &one), ["ring of 1 with 0"]);
        assert!(news(told, &one).is_empty());
        assert_eq!(news(told, &other), ["ring of 1 with 0"]);
        assert_eq!(news(told, &one), ["ring of 1 with 0"], "another time");
    }

    #[test]
    fn lost_tasks_are_told_for_their_place_when_they_have_doubled() {
        let told = &mut Told::default();
        let lost = |count: usize| [vec![Keeps::Lost; count], vec![Keeps::Nothing]].concat();
        for (count, expected) in [(1, Some(1)), (1, None), (2, Some(2)), (3, None), (3, None), (9, Some(9)), (17, None)]
        {
            let expected = expected.map(|count| format!("{count} lost, as 10"));
            assert_eq!(news(told, &lost(count)), Vec::from_iter(expected), "{count}");
        }
    }

    #[test]
    fn that_none_can_go_on_is_told_if_it_says_more_than_what_is_lost() {
        let told = &mut Told::default();
        assert_eq!(news(told, &[Keeps::Lost]), ["1 lost, as 10"]);
        assert_eq!(news(told, &[Keeps::Lost, Keeps::Task(10)]), ["all 2"]);
        assert!(news(told, &[Keeps::Lost, Keeps::Task(10), Keeps::Task(10)]).is_empty());
        assert!(news(told, &[Keeps::Lost, Keeps::Nothing]).is_empty());
        assert_eq!(news(told, &[Keeps::Lost, Keeps::Task(10)]), ["all 2"], "another time");
        assert!(news(&mut Told::default(), &[]).is_empty(), "a runtime without tasks");
    }

    #[test]
    fn what_there_was_no_room_for_is_told_later() {
        let told = &mut Told::default();
        let keeps = [Keeps::Task(10), Keeps::Task(11), Keeps::Lost];
        for expected in ["ring of 1 with 0", "ring of 1 with 0", "1 lost, as 12", "all 3"] {
            assert!(news_with_room(told, &keeps, 0).is_empty());
            assert_eq!(news_with_room(told, &keeps, 1), [expected]);
        }
        assert!(news(told, &keeps).is_empty(), "each was told once");
        // What is over in the meantime is not told.
        let told = &mut Told::default();
        assert!(news_with_room(told, &[Keeps::Task(10), Keeps::Nothing], 0).is_empty());
        assert!(news(told, &[Keeps::Nothing, Keeps::Nothing]).is_empty());
        // As many more as there are of those that were told, not of those that were found.
        let lost = |count: usize| [vec![Keeps::Lost; count], vec![Keeps::Nothing]].concat();
        assert_eq!(news(told, &lost(2)), ["2 lost, as 10"]);
        assert!(news_with_room(told, &lost(4), 0).is_empty());
        assert_eq!(news(told, &lost(5)), ["5 lost, as 10"]);
    }
}
