//! [`Table`]: which tasks are shown, in which order, each by itself or by the places where they were spawned.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::rates::{OfTask, Rates};
use crate::wire::Task;

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

    pub(crate) fn rows<'a>(&self, tasks: &'a [Task], rates: &Rates) -> Rows<'a> {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let tasks = tasks.iter().filter(|task| self.site.as_ref().is_none_or(|site| *site == task.spawned_at));
        let tasks = tasks.filter(|task| words.iter().all(|word| contains(task, word)));
        let mut tasks: Vec<_> = tasks.map(|task| TaskRow { task, rate: rates.of_task(&task.id) }).collect();
        if self.is_grouped {
            let mut groups = group(&tasks);
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

/// What a task waits for, without what differs from task to task: addresses, times, and the numbers of other tasks.
fn without_details(waits_for: &str) -> &str {
    let is_detail = |character: char| character.is_ascii_digit() || character == '[';
    let Some(end) = waits_for.find(is_detail) else { return waits_for };
    let kind = waits_for[..end].trim_end();
    let words = [", held by task", ", in", ", peer"];
    let kind = words.iter().find_map(|words| kind.strip_suffix(words)).unwrap_or(kind);
    if kind.is_empty() { waits_for } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, site: &str, state: &str, waits_for: Option<&str>, numbers: u64) -> Task {
        Task {
            id: id.to_owned(),
            spawned_at: site.to_owned(),
            state: state.to_owned(),
            waits_for: waits_for.map(str::to_owned),
            for_nanos: Some(numbers),
            polls: numbers,
            total_poll_nanos: numbers * 2,
            longest_poll_nanos: numbers * 3,
            spurious_polls: numbers * 4,
            ..Task::default()
        }
    }

    fn tasks() -> Vec<Task> {
        vec![
            task("2", "b.rs:1", "waiting", Some("mutex, held by task 10"), 5),
            task("10", "a.rs:1", "running", None, 7),
            task("3", "b.rs:1", "waiting", Some("mutex, held by task 2"), 1),
            task("4", "b.rs:1", "queued", Some("timer, in 5s"), 9),
        ]
    }

    fn ids(table: &Table) -> Vec<String> {
        let tasks = tasks();
        let rows = table.rows(&tasks, &Rates::default());
        (0..rows.len()).map(|index| rows.key(index).unwrap().to_owned()).collect()
    }

    #[test]
    fn each_column_sorts_and_ties_are_in_the_order_of_births() {
        for (sort, order) in [
            (SortBy::Busy, ["2", "3", "4", "10"]),
            (SortBy::Polls, ["4", "10", "2", "3"]),
            (SortBy::State, ["10", "4", "2", "3"]),
            (SortBy::Total, ["4", "10", "2", "3"]),
            (SortBy::Longest, ["4", "10", "2", "3"]),
            (SortBy::Spurious, ["4", "10", "2", "3"]),
            (SortBy::Number, ["2", "3", "4", "10"]),
            (SortBy::Site, ["10", "2", "3", "4"]),
            (SortBy::WaitsFor, ["2", "3", "4", "10"]),
        ] {
            assert_eq!(ids(&Table { sort, ..Table::default() }), order, "{sort:?}");
        }
        let table = Table { sort: SortBy::Number, is_reversed: true, ..Table::default() };
        assert_eq!(ids(&table), ["10", "4", "3", "2"]);
    }

    #[test]
    fn going_on_through_the_columns_comes_back_to_the_first() {
        let mut table = Table::default();
        for sort in SortBy::ALL {
            assert_eq!(table.sort, sort);
            table.is_reversed = true;
            table.next_sort();
            assert!(!table.is_reversed);
        }
        assert_eq!(table.sort, SortBy::Busy);
    }

    #[test]
    fn a_line_must_have_all_words_of_the_filter() {
        for (filter, left) in [
            ("", &["2", "3", "4", "10"][..]),
            ("B.RS", &["2", "3", "4"]),
            ("mutex task 2", &["2", "3"]),
            ("a.rs running", &["10"]),
            ("a.rs waiting", &[]),
        ] {
            let table = Table { sort: SortBy::Number, filter: filter.to_owned(), ..Table::default() };
            assert_eq!(ids(&table), left, "{filter}");
        }
        let table = Table { site: Some("a.rs:1".to_owned()), ..Table::default() };
        assert_eq!(ids(&table), ["10"]);
    }

    #[test]
    fn a_group_is_the_sum_of_its_tasks() {
        let tasks = tasks();
        let table = Table { sort: SortBy::Number, is_grouped: true, ..Table::default() };
        let Rows::Groups(groups) = table.rows(&tasks, &Rates::default()) else { panic!() };
        let [first, second] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!((first.site, first.tasks, first.running, first.queued), ("b.rs:1", 3, 0, 1));
        assert_eq!((first.polls, first.total_nanos, first.longest_nanos, first.spurious), (15, 30, 27, 60));
        assert_eq!((first.for_nanos, first.waits_for), (Some(9), Some(("mutex", 2))));
        assert_eq!((second.site, second.tasks, second.running, second.waits_for), ("a.rs:1", 1, 1, None));
    }

    #[test]
    fn kinds_of_waits_have_no_details() {
        for (text, kind) in [
            ("mutex, held by task 7", "mutex"),
            ("mutex", "mutex"),
            ("timer, in 3.2s", "timer"),
            ("timer, for ever", "timer, for ever"),
            ("end of task 9", "end of task"),
            ("TCP socket 127.0.0.1:80, peer 10.0.0.1:5", "TCP socket"),
            ("TCP socket [::1]:80", "TCP socket"),
            ("mpsc channel, to receive", "mpsc channel, to receive"),
            ("7", "7"),
        ] {
            assert_eq!(without_details(text), kind);
        }
    }
}
