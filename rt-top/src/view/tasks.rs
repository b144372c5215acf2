//! The table of tasks, or of the places where they were spawned.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize};
use ratatui::widgets::{Block, Row, Table, TableState};

use crate::state::{GroupRow, Rows, SortBy, State, TaskRow};
use crate::text::{clean, count, percent, time};

/// A column of numbers: its title, what sorts by it, how wide it is, and whether it is there on a narrow screen.
type Column = (&'static str, Option<SortBy>, u16, bool);

const OF_TASKS: [Column; 8] = [
    ("TASK", Some(SortBy::Number), 9, true),
    ("STATE", Some(SortBy::State), 8, true),
    ("FOR", None, 7, true),
    ("BUSY", Some(SortBy::Busy), 5, true),
    ("POLLS/S", Some(SortBy::Polls), 8, true),
    ("TOTAL", Some(SortBy::Total), 7, false),
    ("LONGEST", Some(SortBy::Longest), 8, false),
    ("SPURIOUS", Some(SortBy::Spurious), 9, false),
];

const OF_GROUPS: [Column; 9] = [
    ("TASKS", Some(SortBy::Number), 7, true),
    ("RUN", None, 5, false),
    ("QUEUED", None, 7, true),
    ("FOR", Some(SortBy::State), 7, true),
    ("BUSY", Some(SortBy::Busy), 6, true),
    ("POLLS/S", Some(SortBy::Polls), 8, true),
    ("TOTAL", Some(SortBy::Total), 7, false),
    ("LONGEST", Some(SortBy::Longest), 8, false),
    ("SPURIOUS", Some(SortBy::Spurious), 9, false),
];

/// Columns of text, which share what is left of the width: the title, what sorts by it, and the part.
const TEXTS_OF_TASKS: [(&str, Option<SortBy>, u16); 3] =
    [("SPAWNED", Some(SortBy::Site), 3), ("NAME", None, 2), ("WAITS FOR", Some(SortBy::WaitsFor), 4)];
const TEXTS_OF_GROUPS: [(&str, Option<SortBy>, u16); 2] =
    [("SPAWNED", Some(SortBy::Site), 1), ("WAIT FOR, MOSTLY", Some(SortBy::WaitsFor), 1)];

/// Narrower screens have fewer columns.
const WIDE: u16 = 110;

/// The columns of a screen.
struct Columns {
    titles: Vec<String>,
    widths: Vec<u16>,
    /// Which of the numbers are there.
    is_there: Vec<bool>,
}

impl Columns {
    fn of(numbers: &[Column], texts: &[(&str, Option<SortBy>, u16)], width: u16, state: &State) -> Self {
        let is_there: Vec<bool> = numbers.iter().map(|(.., always)| *always || width >= WIDE).collect();
        let numbers = numbers.iter().zip(&is_there).filter(|(_, is_there)| **is_there).map(|(column, _)| column);
        let direction = if state.table.is_reversed { "^" } else { "v" };
        let title = |title: &str, sort: Option<SortBy>| {
            if sort == Some(state.table.sort) { format!("{title}{direction}") } else { title.to_owned() }
        };
        let (mut titles, mut widths): (Vec<_>, Vec<_>) =
            numbers.map(|(text, sort, width, _)| (title(text, *sort), *width)).unzip();
        let between = u16::try_from(widths.len() + texts.len()).unwrap_or(u16::MAX);
        let left = width.saturating_sub(widths.iter().sum::<u16>() + between);
        let parts: u16 = texts.iter().map(|(.., part)| part).sum();
        titles.extend(texts.iter().map(|(text, sort, _)| title(text, *sort)));
        widths.extend(texts.iter().map(|(.., part)| left * part / parts));
        Self { titles, widths, is_there }
    }

    /// A line: numbers, the place, and other texts.
    fn line(&self, numbers: impl IntoIterator<Item = String>, site: &str, texts: Vec<String>) -> Row<'static> {
        let numbers = numbers.into_iter().zip(&self.is_there).filter(|(_, is_there)| **is_there);
        let mut cells: Vec<String> = numbers.map(|(number, _)| number).collect();
        let width = self.widths.get(cells.len()).copied().unwrap_or(0);
        cells.push(end_of(site, width.into()));
        cells.extend(texts);
        Row::new(cells)
    }
}

/// The end of a text, in which a place in a program differs from others.
fn end_of(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = text.chars().skip(length - width.saturating_sub(1).min(length));
    std::iter::once('…').chain(kept).collect()
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let rows = state.rows();
    let columns = match &rows {
        Rows::Tasks(_) => Columns::of(&OF_TASKS, &TEXTS_OF_TASKS, area.width, state),
        Rows::Groups(_) => Columns::of(&OF_GROUPS, &TEXTS_OF_GROUPS, area.width, state),
    };
    let mut place = TableState::new().with_selected(rows.position(&state.table));
    // Only lines that can be seen are made: there may be ten thousand others.
    let room = usize::from(area.height).saturating_sub(2).max(1);
    let first = place.selected().map_or(0, |selected| (selected + 1).saturating_sub(room));
    place.select(place.selected().map(|selected| selected - first));
    let lines: Vec<Row<'_>> = match &rows {
        Rows::Tasks(rows) => rows.iter().skip(first).take(room).map(|row| of_task(&columns, row)).collect(),
        Rows::Groups(rows) => rows.iter().skip(first).take(room).map(|row| of_group(&columns, row)).collect(),
    };
    let table = Table::new(lines, columns.widths)
        .header(Row::new(columns.titles).style(Style::new().bold()))
        .row_highlight_style(Style::new().reversed())
        .column_spacing(1)
        .block(Block::new().title(title(state, rows.len())));
    frame.render_stateful_widget(table, area, &mut place);
}

fn title(state: &State, lines: usize) -> String {
    let mut title = match state.table.is_grouped {
        true => format!("{lines} places"),
        false => format!("{lines} tasks"),
    };
    if let Some((_, runtime, _)) = state.shown()
        && (runtime.tasks.len() as u64) < runtime.num_tasks
    {
        let all = count(runtime.num_tasks as f64);
        title.push_str(&format!("; {} of {all} tasks are listed", count(runtime.tasks.len() as f64)));
    }
    if let Some(site) = &state.table.site {
        title.push_str(&format!("; spawned at {site}"));
    }
    if !state.table.filter.is_empty() {
        title.push_str(&format!("; filter: {}", clean(&state.table.filter)));
    }
    title
}

fn of_task(columns: &Columns, row: &TaskRow<'_>) -> Row<'static> {
    let task = row.task;
    let numbers = [
        task.id.clone(),
        task.state.clone(),
        task.for_nanos.map(time).unwrap_or_default(),
        percent(row.rate.busy),
        count(row.rate.polls),
        time(task.total_poll_nanos),
        time(task.longest_poll_nanos),
        count(task.spurious_polls as f64),
    ];
    let texts = vec![task.name.clone().unwrap_or_default(), task.waits_for.clone().unwrap_or_default()];
    let line = columns.line(numbers, &task.spawned_at, texts);
    match &*task.state {
        "running" => line.green(),
        "queued" => line.yellow(),
        _ => line,
    }
}

fn of_group(columns: &Columns, row: &GroupRow<'_>) -> Row<'static> {
    let numbers = [
        count(row.tasks as f64),
        count(row.running as f64),
        count(row.queued as f64),
        row.for_nanos.map(time).unwrap_or_default(),
        percent(row.rate.busy),
        count(row.rate.polls),
        time(row.total_nanos),
        time(row.longest_nanos),
        count(row.spurious as f64),
    ];
    let waits_for = row.waits_for.map(|(text, tasks)| format!("{text} ({tasks})")).unwrap_or_default();
    columns.line(numbers, row.site, vec![waits_for])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_place_the_end_is_kept() {
        for (width, text) in [(0, "…"), (1, "…"), (5, "…10:5"), (12, "main.rs:10:5"), (99, "main.rs:10:5")] {
            assert_eq!(end_of("main.rs:10:5", width), text);
        }
        assert_eq!(end_of("größe", 4), "…öße");
    }
}
