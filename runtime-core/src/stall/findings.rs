//! [`Told`]: what was told already. Each finding is told once, until it changes.

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
    /// What is to be told now. `task` is the task at a place of the list of nodes.
    pub(super) fn news(&mut self, nodes: &[Node], found: &Findings, task: impl Fn(usize) -> StalledTask) -> Vec<Stall> {
        let mut news = Vec::new();
        let mut rings = BTreeSet::new();
        for ring in &found.rings {
            let ids: Vec<u64> = ring.tasks.iter().map(|place| nodes[*place].id).collect();
            if !self.rings.contains(&ids) {
                let tasks = ring.tasks.iter().map(|place| task(*place)).collect();
                news.push(Stall::Ring { tasks, behind: ring.behind });
            }
            rings.insert(ids);
        }
        self.rings = rings;

        let mut lost: BTreeMap<Location<'static>, Vec<usize>> = BTreeMap::new();
        for place in &found.lost {
            lost.entry(*task(*place).spawned_at).or_default().push(*place);
        }
        for (site, places) in lost {
            let told = self.lost.entry(site).or_default();
            if *told == 0 || places.len() >= told.saturating_mul(2) {
                *told = places.len();
                news.push(Stall::Lost { task: task(places[0]), count: places.len() });
            }
        }

        // Where all are lost, and nobody waits for one, that was told.
        let all = found.stuck == nodes.len() && found.stuck > found.lost.len();
        if all && !self.all {
            news.push(Stall::AllTasks { count: nodes.len() });
        }
        self.all = all;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Keeps, search};
    use super::*;
    use crate::task::{Id, WaitsFor};

    /// What is told of tasks with the numbers 10, 11, and so on, all spawned here.
    fn news(told: &mut Told, keeps: &[Keeps]) -> Vec<String> {
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
        told.news(&nodes, &search(&nodes), task).into_iter().map(short).collect()
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
}
