//! Which tasks cannot go on, by what each waits for: a search in a graph, which knows nothing of tasks but numbers.
//!
//! A task that waits for one thing only has one arrow: to the task whose end it waits for, or that has the lock. So
//! from each task there is one way at most, which ends at a task that may go on, or at a *lost* one, or leads into a
//! ring. The tasks of a ring wait for each other; they, the lost ones, and all those from which the way leads there,
//! are *stuck*.
//!
//! Pure functions: a look at a runtime goes in, findings come out. Who looks is `look.rs`, who tells what was found
//! `findings.rs`.

use std::collections::HashMap;

/// What keeps a task from going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nothing, or something that may come, or something that is not known.
    Nothing,
    /// This task, and nothing else in the world: see `look.rs`.
    Task(u64),
    /// Nobody can wake it any more.
    Lost,
}

/// A task, as it was at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Its identifier.
    pub(super) id: u64,
    /// Its polls so far.
    pub(super) polls: u64,
    pub(super) keeps: Keeps,
}

/// What was found. Numbers are places in the list of tasks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Tasks that wait for each other, each for the next, and the last for the first. Begins with the one that is first
    /// in the list.
    pub(super) rings: Vec<Ring>,
    /// Tasks that nobody can wake any more.
    pub(super) lost: Vec<usize>,
    /// How many tasks are stuck: those of rings, the lost ones, and all that wait for one of these.
    pub(super) stuck: usize,
}

/// See [`Findings::rings`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ring {
    pub(super) tasks: Vec<usize>,
    /// How many other tasks wait for one of them, or for one that does, and so on.
    pub(super) behind: usize,
}

/// The tasks of the later of two looks, of which those count only that have stood still since the earlier: which were
/// there, kept by the same, and had no poll in between. A finding among these is no picture of a moment: a task whose
/// arrow is the same, without a poll in between, has waited all the time.
pub(super) fn steady(earlier: &[Node], later: &[Node]) -> Vec<Node> {
    let earlier: HashMap<u64, &Node> = earlier.iter().map(|node| (node.id, node)).collect();
    let steady = |node: &Node| {
        let stood_still = earlier.get(&node.id).is_some_and(|before| *before == node);
        if stood_still { *node } else { Node { keeps: Keeps::Nothing, ..*node } }
    };
    later.iter().map(steady).collect()
}

/// Where the way from a task ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Not known yet.
    Unknown,
    /// It is being gone.
    OnTheWay,
    MayGoOn,
    Lost,
    /// In the ring of this number.
    Ring(usize),
}

/// Searches. Takes a time that is proportional to the number of tasks.
pub(super) fn search(nodes: &[Node]) -> Findings {
    let places: HashMap<u64, usize> = nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    let mut findings = Findings::default();
    let mut ends = vec![End::Unknown; nodes.len()];
    for start in 0..nodes.len() {
        // The tasks on the way, none of which has been passed before.
        let mut way = Vec::new();
        let mut place = start;
        let end = loop {
            match ends[place] {
                End::Unknown => {}
                End::OnTheWay => break close_ring(&way, place, &mut findings),
                known => break known,
            }
            ends[place] = End::OnTheWay;
            way.push(place);
            match nodes[place].keeps {
                Keeps::Nothing => break End::MayGoOn,
                Keeps::Lost => {
                    findings.lost.push(place);
                    break End::Lost;
                }
                // A task that is not in the list may go on, or has ended since.
                Keeps::Task(id) => match places.get(&id) {
                    Some(next) => place = *next,
                    None => break End::MayGoOn,
                },
            }
        };
        let ring = if let End::Ring(ring) = end { Some(ring) } else { None };
        for passed in way {
            ends[passed] = end;
            findings.stuck += usize::from(end != End::MayGoOn);
            if let Some(ring) = ring {
                findings.rings[ring].behind += 1;
            }
        }
    }
    for ring in &mut findings.rings {
        ring.behind -= ring.tasks.len();
    }
    findings.lost.sort_unstable();
    findings
}

/// The way has come back to a task that it has passed.
fn close_ring(way: &[usize], place: usize, findings: &mut Findings) -> End {
    let from = way.iter().position(|passed| *passed == place).unwrap_or(0);
    let mut tasks = way[from..].to_vec();
    let first = (0..tasks.len()).min_by_key(|index| tasks[*index]).unwrap_or(0);
    tasks.rotate_left(first);
    findings.rings.push(Ring { tasks, behind: 0 });
    End::Ring(findings.rings.len() - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tasks with the numbers 10, 11, and so on.
    fn nodes(keeps: &[Keeps]) -> Vec<Node> {
        (10..).zip(keeps).map(|(id, keeps)| Node { id, polls: 1, keeps: *keeps }).collect()
    }

    fn ring(tasks: &[usize], behind: usize) -> Ring {
        Ring { tasks: tasks.to_vec(), behind }
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_a_ring_and_others_wait_behind() {
        // 13 -> 12 -> 11 -> 10 -> 11, and 15 -> 14, which may go on.
        let task = Keeps::Task;
        let found = search(&nodes(&[task(11), task(10), task(11), task(12), Keeps::Nothing, task(14)]));
        assert_eq!(found, Findings { rings: vec![ring(&[0, 1], 2)], lost: vec![], stuck: 4 });
    }

    #[test]
    fn a_task_may_wait_for_itself() {
        let found = search(&nodes(&[Keeps::Nothing, Keeps::Task(11)]));
        assert_eq!(found, Findings { rings: vec![ring(&[1], 0)], lost: vec![], stuck: 1 });
    }

    #[test]
    fn a_ring_begins_with_the_first_of_its_tasks_and_keeps_its_order() {
        // 12 -> 10 -> 13 -> 12, met by way of 11.
        let task = Keeps::Task;
        let found = search(&nodes(&[task(13), task(12), task(10), task(12)]));
        assert_eq!(found.rings, [ring(&[0, 3, 2], 1)]);
    }

    #[test]
    fn what_waits_for_a_lost_task_is_stuck_and_what_waits_for_one_that_is_not_there_is_not() {
        let found = search(&nodes(&[Keeps::Task(11), Keeps::Lost, Keeps::Task(99), Keeps::Nothing]));
        assert_eq!(found, Findings { rings: vec![], lost: vec![1], stuck: 2 });
    }

    #[test]
    fn only_what_has_stood_still_counts() {
        let keeps = [Keeps::Task(11), Keeps::Task(10), Keeps::Lost];
        let (earlier, later) = (nodes(&keeps), nodes(&keeps));
        assert_eq!(steady(&earlier, &later), later);
        let with = |place: usize, node: Node| {
            let mut changed = earlier.clone();
            changed[place] = node;
            search(&steady(&changed, &later)).stuck
        };
        assert_eq!(search(&steady(&earlier, &later)).stuck, 3);
        assert_eq!(with(0, Node { polls: 2, ..earlier[0] }), 1, "a poll in between");
        assert_eq!(with(1, Node { keeps: Keeps::Nothing, ..earlier[1] }), 1, "kept by something else");
        assert_eq!(with(2, Node { id: 99, ..earlier[2] }), 2, "not there before");
        assert_eq!(search(&steady(&[], &later)).stuck, 0, "a first look finds nothing");
    }

    /// As the module says it, word for word: at most as many steps as there are tasks.
    fn naive(nodes: &[Node]) -> (Vec<usize>, Vec<usize>, usize) {
        let next = |place: usize| match nodes[place].keeps {
            Keeps::Task(id) => nodes.iter().position(|node| node.id == id),
            _ => None,
        };
        let way = |place: usize| std::iter::successors(next(place), |place| next(*place)).take(nodes.len());
        let is_lost = |place: usize| nodes[place].keeps == Keeps::Lost;
        let in_ring = |place: usize| way(place).any(|passed| passed == place);
        let all = 0..nodes.len();
        let is_stuck =
            |place: usize| is_lost(place) || in_ring(place) || way(place).any(|at| is_lost(at) || in_ring(at));
        (
            all.clone().filter(|place| in_ring(*place)).collect(),
            all.clone().filter(|place| is_lost(*place)).collect(),
            all.filter(|place| is_stuck(*place)).count(),
        )
    }

    fn any_keeps() -> impl Strategy<Value = Keeps> {
        // One more than there can be tasks: an arrow to one that is not there.
        prop_oneof![
            2 => Just(Keeps::Nothing),
            1 => Just(Keeps::Lost),
            9 => (10..31_u64).prop_map(Keeps::Task),
        ]
    }

    proptest! {
        #[test]
        fn it_finds_what_a_naive_search_finds(keeps in prop::collection::vec(any_keeps(), 0..20)) {
            let nodes = nodes(&keeps);
            let found = search(&nodes);
            let (in_rings, lost, stuck) = naive(&nodes);
            let mut members: Vec<usize> = found.rings.iter().flat_map(|ring| ring.tasks.clone()).collect();
            for ring in &found.rings {
                // Each waits for the next, and the last for the first.
                for (place, next) in ring.tasks.iter().zip(ring.tasks.iter().cycle().skip(1)) {
                    prop_assert_eq!(nodes[*place].keeps, Keeps::Task(nodes[*next].id));
                }
                prop_assert_eq!(ring.tasks.iter().min(), ring.tasks.first());
            }
            members.sort_unstable();
            prop_assert_eq!(members, in_rings);
            prop_assert_eq!(&found.lost, &lost);
            prop_assert_eq!(found.stuck, stuck);
            let of_rings: usize = found.rings.iter().map(|ring| ring.tasks.len() + ring.behind).sum();
            prop_assert!(of_rings + lost.len() <= stuck);
        }
    }
}
