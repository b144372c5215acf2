//! [`Table`]: which tasks are shown, in which order, each by itself or by the places where they were spawned.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::HashMap;

use super::rates::{OfTask, Rates};
use crate::wire::{Site, Task};

/// What the lines are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortBy {
    Busy,
    Polls,
    State,
    Total,
    Longest,
    Spurious,
    /// The number of a task, or how many tasks a place has.
    Number,
    Site,
    WaitsFor,
}

impl SortBy {
    pub(crate) const ALL: [Self; 9] = [
        Self::Busy,
        Self::Polls,
        Self::State,
        Self::Total,
        Self::Longest,
        Self::Spurious,
        Self::Number,
        Self::Site,
        Self::WaitsFor,
    ];
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) sort: SortBy,
    pub(crate) is_reversed: bool,
    pub(crate) filter: String,
    /// Only tasks that were spawned there.
    pub(crate) site: Option<String>,
    pub(crate) is_grouped: bool,
    /// The key of the line that is selected.
    pub(crate) selected: Option<String>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            sort: SortBy::Busy,
            is_reversed: false,
            filter: String::new(),
            site: None,
            is_grouped: false,
            selected: None,
        }
    }
}

/// A task.
#[derive(Debug)]
pub(crate) struct TaskRow<'a> {
    pub(crate) task: &'a Task,
    pub(crate) rate: OfTask,
}

/// A place in the program, and the tasks that were spawned there.
#[derive(Debug, Default)]
pub(crate) struct GroupRow<'a> {
    pub(crate) site: &'a str,
    pub(crate) tasks: u64,
    pub(crate) running: u64,
    pub(crate) queued: u64,
    pub(crate) rate: OfTask,
    pub(crate) polls: u64,
    pub(crate) total_nanos: u64,
    pub(crate) longest_nanos: u64,
    pub(crate) spurious: u64,
    /// The longest time that one of them has been in its state.
    pub(crate) for_nanos: Option<u64>,
    /// What most of them wait for, and how many do.
    pub(crate) waits_for: Option<(&'a str, u64)>,
}

/// The lines of the table.
#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Tasks(Vec<TaskRow<'a>>),
    Groups(Vec<GroupRow<'a>>),
}

impl Rows<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Tasks(rows) => rows.len(),
            Self::Groups(rows) => rows.len(),
        }
    }

    /// What names a line, however the lines move.
    pub(crate) fn key(&self, index: usize) -> Option<&str> {
        match self {
            Self::Tasks(rows) => rows.get(index).map(|row| &*row.task.id),
            Self::Groups(rows) => rows.get(index).map(|row| row.site),
        }
    }

    /// The place of the selected line.
    pub(crate) fn position(&self, table: &Table) -> Option<usize> {
        let selected = table.selected.as_deref()?;
        (0..self.len()).find(|index| self.key(*index) == Some(selected))
    }
}

impl Table {
    pub(crate) fn next_sort(&mut self) {
        let index = SortBy::ALL.iter().position(|sort| *sort == self.sort).unwrap_or(0);
        self.sort = SortBy::ALL[(index + 1) % SortBy::ALL.len()];
        self.is_reversed = false;
    }

    /// From a group to its tasks.
    pub(crate) fn open_selected(&mut self) {
        if self.is_grouped
            && let Some(site) = self.selected.take()
        {
            (self.is_grouped, self.site) = (false, Some(site));
        }
    }

    pub(crate) fn clear_filter(&mut self) {
        self.filter.clear();
        self.site = None;
    }

    /// The lines, of these tasks, and of these places: those of all tasks, of which there may be more.
    pub(crate) fn rows<'a>(&self, tasks: &'a [Task], sites: &'a [Site], rates: &Rates) -> Rows<'a> {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let tasks = tasks.iter().filter(|task| self.site.as_ref().is_none_or(|site| *site == task.spawned_at));
        let tasks = tasks.filter(|task| words.iter().all(|word| contains(task, word)));
        let mut tasks: Vec<_> = tasks.map(|task| TaskRow { task, rate: rates.of_task(&task.id) }).collect();
        if self.is_grouped {
            let mut groups = group(&tasks);
            if words.is_empty() && self.site.is_none() {
                add_unlisted(&mut groups, sites);
            }
            groups.sort_by(|a, b| self.in_direction(compare_groups(self.sort, a, b)).then_with(|| a.site.cmp(b.site)));
            Rows::Groups(groups)
        } else {
            // Ties are in the order of births.
            tasks.sort_by(|a, b| {
                self.in_direction(compare_tasks(self.sort, a, b)).then_with(|| number(a).cmp(&number(b)))
            });
            Rows::Tasks(tasks)
        }
    }

    fn in_direction(&self, ordering: Ordering) -> Ordering {
        if self.is_reversed { ordering.reverse() } else { ordering }
    }
}

/// Whether any text of the task has the word, which is in lower case.
fn contains(task: &Task, word: &str) -> bool {
    let texts =
        [Some(&task.id), Some(&task.spawned_at), Some(&task.state), task.name.as_ref(), task.waits_for.as_ref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(word))
}

/// Numbers: the greatest first. Texts: in the order of the alphabet, with nothing last.
fn compare_tasks(sort: SortBy, a: &TaskRow<'_>, b: &TaskRow<'_>) -> Ordering {
    match sort {
        SortBy::Busy => b.rate.busy.total_cmp(&a.rate.busy),
        SortBy::Polls => b.rate.polls.total_cmp(&a.rate.polls).then_with(|| b.task.polls.cmp(&a.task.polls)),
        SortBy::State => rank(a.task).cmp(&rank(b.task)).then_with(|| b.task.for_nanos.cmp(&a.task.for_nanos)),
        SortBy::Total => b.task.total_poll_nanos.cmp(&a.task.total_poll_nanos),
        SortBy::Longest => b.task.longest_poll_nanos.cmp(&a.task.longest_poll_nanos),
        SortBy::Spurious => b.task.spurious_polls.cmp(&a.task.spurious_polls),
        SortBy::Number => number(a).cmp(&number(b)),
        SortBy::Site => a.task.spawned_at.cmp(&b.task.spawned_at),
        SortBy::WaitsFor => texts(a.task.waits_for.as_deref(), b.task.waits_for.as_deref()),
    }
}

fn number(row: &TaskRow<'_>) -> u64 {
    row.task.id.parse().unwrap_or(u64::MAX)
}

fn compare_groups(sort: SortBy, a: &GroupRow<'_>, b: &GroupRow<'_>) -> Ordering {
    match sort {
        SortBy::Busy => b.rate.busy.total_cmp(&a.rate.busy),
        SortBy::Polls => b.rate.polls.total_cmp(&a.rate.polls).then_with(|| b.polls.cmp(&a.polls)),
        SortBy::State => b.for_nanos.cmp(&a.for_nanos),
        SortBy::Total => b.total_nanos.cmp(&a.total_nanos),
        SortBy::Longest => b.longest_nanos.cmp(&a.longest_nanos),
        SortBy::Spurious => b.spurious.cmp(&a.spurious),
        SortBy::Number => b.tasks.cmp(&a.tasks),
        SortBy::Site => a.site.cmp(b.site),
        SortBy::WaitsFor => texts(a.waits_for.map(|(text, _)| text), b.waits_for.map(|(text, _)| text)),
    }
}

fn texts(a: Option<&str>, b: Option<&str>) -> Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
}

/// What runs comes before what is queued, and that before what waits.
fn rank(task: &Task) -> u8 {
    match &*task.state {
        "running" => 0,
        "queued" => 1,
        _ => 2,
    }
}

fn group<'a>(tasks: &[TaskRow<'a>]) -> Vec<GroupRow<'a>> {
    let mut groups: HashMap<&'a str, (GroupRow<'a>, HashMap<&'a str, u64>)> = HashMap::new();
    for row in tasks {
        let task: &'a Task = row.task;
        let (group, waits) = groups.entry(&task.spawned_at).or_default();
        group.site = &task.spawned_at;
        group.tasks += 1;
        group.running += u64::from(rank(task) == 0);
        group.queued += u64::from(rank(task) == 1);
        group.rate.polls += row.rate.polls;
        group.rate.busy += row.rate.busy;
        group.polls = group.polls.saturating_add(task.polls);
        group.total_nanos = group.total_nanos.saturating_add(task.total_poll_nanos);
        group.longest_nanos = group.longest_nanos.max(task.longest_poll_nanos);
        group.spurious = group.spurious.saturating_add(task.spurious_polls);
        group.for_nanos = group.for_nanos.max(task.for_nanos);
        if let Some(waits_for) = &task.waits_for {
            *waits.entry(without_details(waits_for)).or_default() += 1;
        }
    }
    let finish = |(mut group, waits): (GroupRow<'a>, HashMap<&'a str, u64>)| {
        group.waits_for = waits.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)));
        group
    };
    groups.into_values().map(finish).collect()
}

/// The sums that the server has made, of all tasks of a place, are those of the tasks that it lists, or greater.
fn add_unlisted<'a>(groups: &mut Vec<GroupRow<'a>>, sites: &'a [Site]) {
    let places: HashMap<&str, usize> = groups.iter().enumerate().map(|(place, group)| (group.site, place)).collect();
    for site in sites {
        let place = places.get(&*site.spawned_at).copied().unwrap_or_else(|| {
            groups.push(GroupRow { site: &site.spawned_at, ..GroupRow::default() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.tasks = site.tasks;
        group.running = site.running;
        group.queued = site.queued;
        group.polls = site.polls;
        group.total_nanos = site.total_poll_nanos;
        group.longest_nanos = site.longest_poll_nanos;
    }
}

/// What a task waits for, without what differs from task to task: addresses, times, and the numbers of other tasks.
fn without_details(waits_for: &str) -> &str {
    let is_detail = |character: char| character.is_ascii_digit() || character == '[';
    let Some(end) = waits_for.find(is_detail) else { return waits_for };
    let kind = waits_for[..end].trim_end();
    let words = [", held by task", ", in", ", peer"];
    let kind = words.iter().find_map(|words| kind.strip_suffix(words)).unwrap_or(kind);
    if kind.is_empty() { waits_for } else { kind }
}
