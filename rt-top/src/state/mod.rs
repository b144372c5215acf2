//! [`State`]: what is shown. It is changed by samples and by actions, and read to be drawn; it draws nothing itself.

mod histogram;
mod rates;
mod table;
#[cfg(test)]
pub(crate) mod tests;

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
    /// This number of lines down, or up if it is negative.
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
            Some((_, runtime, rates)) => self.table.rows(&runtime.tasks, &runtime.sites, rates),
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
