//! The table, with made-up tasks.

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
    let rows = table.rows(&tasks, &[], &Rates::default());
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
    let Rows::Groups(groups) = table.rows(&tasks, &[], &Rates::default()) else { panic!() };
    let [first, second] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!((first.site, first.tasks, first.running, first.queued), ("b.rs:1", 3, 0, 1));
    assert_eq!((first.polls, first.total_nanos, first.longest_nanos, first.spurious), (15, 30, 27, 60));
    assert_eq!((first.for_nanos, first.waits_for), (Some(9), Some(("mutex", 2))));
    assert_eq!((second.site, second.tasks, second.running, second.waits_for), ("a.rs:1", 1, 1, None));
}

#[test]
fn tasks_that_are_not_listed_count_with_their_place_unless_there_is_a_filter() {
    let tasks = tasks();
    let site = |spawned_at: &str, tasks| Site { spawned_at: spawned_at.to_owned(), tasks, ..Site::default() };
    let sites = [site("b.rs:1", 70), site("c.rs:1", 80), site("a.rs:1", 1)];
    let mut table = Table { sort: SortBy::Number, is_grouped: true, ..Table::default() };
    let counts = |table: &Table| match table.rows(&tasks, &sites, &Rates::default()) {
        Rows::Groups(groups) => groups.iter().map(|group| (group.site, group.tasks)).collect::<Vec<_>>(),
        Rows::Tasks(_) => panic!(),
    };
    assert_eq!(counts(&table), [("c.rs:1", 80), ("b.rs:1", 70), ("a.rs:1", 1)]);
    table.filter = "rs".to_owned();
    assert_eq!(counts(&table), [("b.rs:1", 3), ("a.rs:1", 1)]);
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
