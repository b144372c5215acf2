//! [`State`]: what is shown. It is changed by samples and by actions, and read to be drawn; it draws nothing itself.

mod histogram;
mod rates;
mod table;

pub(crate) use self::histogram::percentile;
pub(crate) use self::rates::{Rates, Shares};
pub(crate) use self::table::{GroupRow, Rows, SortBy, Table, TaskRow};

use crate::fetch::{Runtime, Sample};

/// What the lower part shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Tasks,
    Blocked,
}

/// What the user wants. Keys are translated into it (`keys.rs`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    End,
    /// So many lines down, or up if it is negative.
    Move(isize),
    First,
    Last,
    NextPage,
    NextRuntime,
    NextSort,
    ReverseSort,
    Group,
    /// From a group to its tasks.
    Open,
    /// No filter.
    Clear,
    Pause,
    EditFilter,
    Type(char),
    Erase,
    EndEdit,
}

#[derive(Debug)]
pub(crate) struct State {
    /// The address, for the user.
    pub(crate) place: String,
    sample: Option<Sample>,
    /// For each runtime of the sample.
    rates: Vec<Rates>,
    /// Why there is no newer sample.
    pub(crate) problem: Option<String>,
    pub(crate) is_paused: bool,
    pub(crate) is_over: bool,
    /// Keys are text of the filter.
    pub(crate) is_editing: bool,
    pub(crate) page: Page,
    pub(crate) table: Table,
    /// The first report that is shown.
    first_report: usize,
    /// The number of the runtime that is shown.
    runtime: Option<String>,
}

impl State {
    pub(crate) fn new(place: String) -> Self {
        Self {
            place,
            sample: None,
            rates: Vec::new(),
            problem: None,
            is_paused: false,
            is_over: false,
            is_editing: false,
            page: Page::Tasks,
            table: Table::default(),
            first_report: 0,
            runtime: None,
        }
    }

    /// The server has answered, or not.
    pub(crate) fn learn(&mut self, sample: Result<Sample, String>) {
        if self.is_paused {
            return;
        }
        let sample = match sample {
            Ok(sample) => sample,
            Err(problem) => {
                self.problem = Some(problem);
                return;
            }
        };
        self.problem = None;
        let before = self.sample.take();
        self.rates = (sample.runtimes.iter())
            .map(|runtime| {
                Rates::between(before.as_ref().and_then(|before| before_of(runtime, before, &sample)), runtime)
            })
            .collect();
        self.sample = Some(sample);
    }

    pub(crate) fn act(&mut self, action: Action) {
        match action {
            Action::End => self.is_over = true,
            Action::Move(by) => self.move_by(by),
            Action::First => self.move_by(isize::MIN),
            Action::Last => self.move_by(isize::MAX),
            Action::NextPage => {
                self.page = if self.page == Page::Tasks { Page::Blocked } else { Page::Tasks };
            }
            Action::NextRuntime => self.show_next_runtime(),
            Action::NextSort => self.table.next_sort(),
            Action::ReverseSort => self.table.is_reversed ^= true,
            Action::Group => self.table.is_grouped ^= true,
            Action::Open => self.table.open_selected(),
            Action::Clear => self.table.clear_filter(),
            Action::Pause => self.is_paused ^= true,
            Action::EditFilter => (self.page, self.is_editing) = (Page::Tasks, true),
            Action::Type(character) => self.table.filter.push(character),
            Action::Erase => _ = self.table.filter.pop(),
            Action::EndEdit => self.is_editing = false,
        }
    }

    pub(crate) fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// The runtime that is shown, its place among all, and its rates.
    pub(crate) fn shown(&self) -> Option<(usize, &Runtime, &Rates)> {
        let runtimes = &self.sample.as_ref()?.runtimes;
        // One that is over is no longer there: then the first.
        let is_wanted = |runtime: &Runtime| Some(runtime.id()) == self.runtime.as_deref();
        let index = runtimes.iter().position(is_wanted).unwrap_or(0);
        Some((index, runtimes.get(index)?, self.rates.get(index)?))
    }

    /// The lines of the table.
    pub(crate) fn rows(&self) -> Rows<'_> {
        match self.shown() {
            Some((_, runtime, rates)) => self.table.rows(&runtime.tasks, rates),
            None => Rows::Tasks(Vec::new()),
        }
    }

    /// The first report to show.
    pub(crate) fn first_report(&self) -> usize {
        let reports = self.shown().map_or(0, |(_, runtime, _)| runtime.reports.len());
        self.first_report.min(reports.saturating_sub(1))
    }

    fn move_by(&mut self, by: isize) {
        if self.page == Page::Blocked {
            self.first_report = self.first_report().saturating_add_signed(by);
            self.first_report = self.first_report();
            return;
        }
        let rows = self.rows();
        let last = rows.len().saturating_sub(1);
        let next = match rows.position(&self.table) {
            Some(now) => now.saturating_add_signed(by).min(last),
            None if by == isize::MAX => last,
            None => 0,
        };
        let selected = rows.key(next).map(str::to_owned);
        self.table.selected = selected;
    }

    fn show_next_runtime(&mut self) {
        let next = self.shown().and_then(|(index, ..)| {
            let runtimes = &self.sample.as_ref()?.runtimes;
            Some(runtimes[(index + 1) % runtimes.len()].id().to_owned())
        });
        self.runtime = next;
    }
}

/// What a runtime was before, and how many seconds ago.
fn before_of<'a>(runtime: &Runtime, before: &'a Sample, now: &Sample) -> Option<(&'a Runtime, f64)> {
    let seconds = now.at.saturating_duration_since(before.at).as_secs_f64();
    // By then another process may have the address.
    let is_same = before.pid == now.pid && seconds > 0.0;
    let found = before.runtimes.iter().find(|before| is_same && before.id() == runtime.id())?;
    Some((found, seconds))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::fetch::{parse, put_together};

    /// A sample as the server would give it.
    pub(crate) fn sample(at: Instant, workers: &str, tasks: &str, blocked: &str) -> Sample {
        let answer = |what: &str| format!(r#"{{"pid":7,"runtimes":{what}}}"#).into_bytes();
        put_together(
            at,
            parse(&answer(workers)).unwrap(),
            parse(&answer(tasks)).unwrap(),
            parse(&answer(blocked)).unwrap(),
        )
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
        for action in
            [Action::Move(1), Action::Last, Action::NextRuntime, Action::Open, Action::NextPage, Action::First]
        {
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
}
