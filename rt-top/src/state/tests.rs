//! The state, with made-up answers of a server.

use std::time::{Duration, Instant};

use super::*;
use crate::fetch::{parse, put_together};

/// A sample as the server would give it.
pub(crate) fn sample(at: Instant, workers: &str, tasks: &str, blocked: &str) -> Sample {
    let answer = |what: &str| format!(r#"{{"pid":7,"runtimes":{what}}}"#).into_bytes();
    put_together(at, parse(&answer(workers)).unwrap(), parse(&answer(tasks)).unwrap(), parse(&answer(blocked)).unwrap())
}

fn two_runtimes() -> Sample {
    let tasks = r#"[{"id":"1","alive_tasks":3,"tasks":[
        {"id":"11","spawned_at":"a.rs:1:1","state":"waiting","polls":5,"longest_poll_nanos":7},
        {"id":"9","spawned_at":"b.rs:2:2","state":"running","polls":9,"longest_poll_nanos":1},
        {"id":"10","spawned_at":"a.rs:1:1","state":"queued","polls":1,"longest_poll_nanos":9}]}]"#;
    let blocked = r#"[{"id":"1","reports":[{"line":"one"},{"line":"two"},{"line":"three"}]}]"#;
    sample(Instant::now(), r#"[{"id":"1"},{"id":"2"}]"#, tasks, blocked)
}

fn state() -> State {
    let mut state = State::new("there".to_owned());
    state.learn(Ok(two_runtimes()));
    state
}

#[test]
fn what_was_known_stays_while_nobody_answers() {
    let mut state = state();
    state.learn(Err("gone".to_owned()));
    assert_eq!((state.problem.as_deref(), state.rows().len()), (Some("gone"), 3));
    state.learn(Ok(two_runtimes()));
    assert_eq!(state.problem, None);
}

#[test]
fn while_it_is_stopped_nothing_changes() {
    let mut state = state();
    state.act(Action::Pause);
    state.learn(Ok(sample(Instant::now(), "[]", "[]", "[]")));
    state.learn(Err("gone".to_owned()));
    assert_eq!((state.rows().len(), &state.problem), (3, &None));
    state.act(Action::Pause);
    state.learn(Ok(sample(Instant::now(), "[]", "[]", "[]")));
    assert_eq!(state.rows().len(), 0);
    assert!(state.shown().is_none());
    // With nothing there, every key is harmless.
    for action in [Action::Move(1), Action::Last, Action::NextRuntime, Action::Open, Action::NextPage, Action::First] {
        state.act(action);
    }
}

#[test]
fn runtimes_are_shown_one_after_the_other_and_the_first_if_one_has_gone() {
    let mut state = state();
    let shown = |state: &State| state.shown().unwrap().1.id().to_owned();
    assert_eq!(shown(&state), "1");
    state.act(Action::NextRuntime);
    assert_eq!((shown(&state), state.rows().len()), ("2".to_owned(), 0));
    state.learn(Ok(sample(Instant::now(), r#"[{"id":"3"},{"id":"2"}]"#, "[]", "[]")));
    assert_eq!(shown(&state), "2");
    state.learn(Ok(sample(Instant::now(), r#"[{"id":"3"}]"#, "[]", "[]")));
    assert_eq!(shown(&state), "3");
}

#[test]
fn the_selection_stays_with_its_task_however_the_lines_move() {
    let mut state = state();
    let selected = |state: &State| state.table.selected.clone();
    state.act(Action::Move(1));
    let first = selected(&state);
    assert!(first.is_some());
    state.act(Action::Move(1));
    let second = selected(&state);
    assert_ne!(first, second);
    state.act(Action::ReverseSort);
    assert_eq!(selected(&state), second);
    state.act(Action::Last);
    state.act(Action::Move(1));
    let last = state.rows().key(2).map(str::to_owned);
    assert_eq!(selected(&state), last);
    state.act(Action::Move(-100));
    let first = state.rows().key(0).map(str::to_owned);
    assert_eq!(selected(&state), first);
}

#[test]
fn from_a_place_to_its_tasks_and_back() {
    let mut state = state();
    state.act(Action::Group);
    assert_eq!(state.rows().len(), 2);
    state.act(Action::First);
    let site = state.rows().key(0).unwrap().to_owned();
    state.act(Action::Open);
    let Rows::Tasks(tasks) = state.rows() else { panic!("still grouped") };
    assert!(!tasks.is_empty() && tasks.iter().all(|row| row.task.spawned_at == site));
    drop(tasks);
    state.act(Action::Clear);
    assert_eq!(state.rows().len(), 3);
}

#[test]
fn reports_are_gone_through_to_the_last() {
    let mut state = state();
    state.act(Action::NextPage);
    for (action, first) in [(Action::Move(1), 1), (Action::Move(9), 2), (Action::First, 0), (Action::Last, 2)] {
        state.act(action);
        assert_eq!(state.first_report(), first);
    }
    state.learn(Ok(sample(Instant::now(), r#"[{"id":"1"}]"#, "[]", r#"[{"id":"1","reports":[{"line":"x"}]}]"#)));
    assert_eq!(state.first_report(), 0);
    assert_eq!(state.table.selected, None);
}

#[test]
fn rates_are_of_the_same_process_only() {
    let polls = |count: u64| format!(r#"[{{"id":"1","totals":{{"polls":{count}}}}}]"#);
    let mut state = State::new(String::new());
    let begin = Instant::now();
    state.learn(Ok(sample(begin, &polls(100), "[]", "[]")));
    state.learn(Ok(sample(begin + Duration::from_secs(2), &polls(300), "[]", "[]")));
    assert_eq!(state.shown().unwrap().2.polls, Some(100.0));
    let mut other = sample(begin + Duration::from_secs(3), &polls(900), "[]", "[]");
    other.pid = 8;
    state.learn(Ok(other));
    assert_eq!(state.shown().unwrap().2.polls, None);
}
