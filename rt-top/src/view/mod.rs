//! Draws the [`State`]. Reads it only, and knows no keys.
//!
//! From the top: whose program it is, sums, the workers, how long things took, the table, the keys.

mod header;
mod reports;
mod tasks;
mod workers;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

use crate::state::{Page, State};

/// The least lines that the table has before anything above it is left out.
const MIN_TABLE: u16 = 6;

pub(crate) fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    // Of what is above the table, what is least important goes first.
    let mut left = area.height.saturating_sub(1 + MIN_TABLE);
    let mut take = |wanted: u16| {
        let taken = wanted.min(left);
        left -= taken;
        taken
    };
    let workers = state.shown().map_or(0, |(_, runtime, _)| runtime.workers.workers.len());
    let header = take(header::HEIGHT);
    let few_workers = take(u16::try_from(workers + 1).unwrap_or(u16::MAX).min(area.height / 3));
    let latencies = if state.shown().is_some() { take(header::LATENCIES_HEIGHT) } else { 0 };
    let [header_area, workers_area, latencies_area, table_area, footer_area] = Layout::vertical([
        Constraint::Length(header),
        Constraint::Length(few_workers),
        Constraint::Length(latencies),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    header::draw(frame, header_area, state);
    if let Some((_, runtime, rates)) = state.shown() {
        workers::draw(frame, workers_area, runtime, rates);
        header::draw_latencies(frame, latencies_area, rates);
        match state.page {
            Page::Tasks => tasks::draw(frame, table_area, state),
            Page::Blocked => reports::draw(frame, table_area, state.first_report(), runtime),
        }
    }
    frame.render_widget(footer(state), footer_area);
}

/// The keys, or the filter while it is written.
fn footer(state: &State) -> Line<'static> {
    if state.is_editing {
        let filter = format!("filter: {}_", crate::text::clean(&state.table.filter));
        return Line::from(vec![Span::raw(filter), Span::raw("   enter: done").dim()]);
    }
    let keys: &[(&str, &str)] = match state.page {
        Page::Tasks => &[
            ("q", "quit"),
            ("tab", "reports"),
            ("s/S", "sort"),
            ("/", "filter"),
            ("g", "group"),
            ("enter", "open"),
            ("esc", "all"),
            ("r", "runtime"),
            ("space", "stop"),
        ],
        Page::Blocked => {
            &[("q", "quit"), ("tab", "tasks"), ("up/down", "go through"), ("r", "runtime"), ("space", "stop")]
        }
    };
    let spans = keys.iter().flat_map(|(key, meaning)| [Span::raw(*key).bold(), Span::raw(format!(" {meaning}  "))]);
    Line::from_iter(spans)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::state::Action;
    use crate::state::tests::sample;

    const TASKS: &str = r#"[{"id":"1","alive_tasks":12000,"tasks":[
        {"id":"11","name":"accept loop","spawned_at":"src/main.rs:10:5","state":"waiting","for_nanos":5000000000,
         "waits_for":"TCP socket 127.0.0.1:80","polls":5,"total_poll_nanos":1000,"longest_poll_nanos":700},
        {"id":"12","spawned_at":"src/main.rs:20:5","state":"running","polls":9,"total_poll_nanos":2000}]}]"#;

    fn workers(seconds: u64) -> String {
        let counts = |busy: u64| {
            let (polls, parked) = (seconds * 1000, seconds * 1_000_000_000 - busy);
            format!(r#"{{"polls":{polls},"busy_nanos":{busy},"parked_nanos":{parked}}}"#)
        };
        let task = r#""task":{"id":"12","name":null,"spawned_at":"src/main.rs:20:5"}"#;
        let worker = |number: u64, busy: u64| {
            let (what, counts) = if busy > 0 {
                (format!(r#""polling",{task}"#), counts(busy))
            } else {
                (r#""asleep""#.into(), counts(0))
            };
            format!(r#"{{"worker":{number},"activity":{what},"queue_depth":{number},"counts":{counts}}}"#)
        };
        let all: Vec<String> = (0..4).map(|n| worker(n, if n == 0 { seconds * 500_000_000 } else { 0 })).collect();
        format!(
            r#"[{{"id":"1","name":"ingest","alive_tasks":12000,"global_queue_depth":3,"blocked":2,
                "totals":{},"poll_times":[0,0,0,{},{}],"wake_to_poll_times":[],"workers":[{}]}}]"#,
            counts(seconds * 500_000_000),
            seconds * 90,
            seconds * 10,
            all.join(",")
        )
    }

    fn state() -> State {
        let mut state = State::new("127.0.0.1:9600".to_owned());
        let blocked = r#"[{"id":"1","reports":[{"at_unix_seconds":3661,"line":"task 5 blocked its worker"}]}]"#;
        for seconds in [1, 2] {
            let at = Instant::now() + Duration::from_secs(seconds);
            state.learn(Ok(sample(at, &workers(seconds), TASKS, blocked)));
        }
        state
    }

    /// What is on the screen, line by line.
    fn screen(state: &State, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, state)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let cells: Vec<&str> = buffer.content().iter().map(|cell| cell.symbol()).collect();
        cells.chunks(usize::from(width)).map(|line| line.concat().trim_end().to_owned()).collect()
    }

    #[track_caller]
    fn assert_has(lines: &[String], parts: &[&str]) {
        let found = lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(found, "no line with {parts:?} in\n{}", lines.join("\n"));
    }

    #[test]
    fn everything_is_on_the_screen() {
        let lines = screen(&state(), 160, 40);
        assert_has(&lines, &["127.0.0.1:9600", "process 7", "runtime 1", "ingest"]);
        assert_has(&lines, &["12.0k tasks", "1.00k polls/s"]);
        assert_has(&lines, &["3 in the global queue", "2 blocked"]);
        assert_has(&lines, &["50%", "polling task 12", "src/main.rs:20:5"]);
        assert_has(&lines, &["100%", "asleep"]);
        assert_has(&lines, &["polls", "16ns", "32ns"]);
        assert_has(&lines, &["11", "accept loop", "TCP socket 127.0.0.1:80", "5.00s", "src/main.rs:10:5"]);
        assert_has(&lines, &["2 of 12.0k tasks are listed"]);
        assert_has(&lines[39..], &["q", "quit", "sort", "filter"]);
    }

    #[test]
    fn groups_reports_and_problems_are_shown() {
        let mut state = state();
        state.act(Action::Group);
        assert_has(&screen(&state, 160, 40), &["src/main.rs:10:5", "TCP socket"]);
        state.act(Action::NextPage);
        let lines = screen(&state, 160, 40);
        assert_has(&lines, &["01:01:01"]);
        assert_has(&lines, &["task 5 blocked its worker"]);
        state.learn(Err("nobody answers".to_owned()));
        assert_has(&screen(&state, 160, 40), &["nobody answers"]);
        state.act(Action::Pause);
        assert_has(&screen(&state, 160, 40), &["stopped"]);
    }

    #[test]
    fn the_filter_is_seen_while_it_is_written_and_after() {
        let mut state = state();
        state.act(Action::EditFilter);
        "accept".chars().for_each(|character| state.act(Action::Type(character)));
        let lines = screen(&state, 160, 40);
        assert_has(&lines[39..], &["filter: accept_"]);
        assert!(!lines[12..].iter().any(|line| line.contains("main.rs:20:5")), "{}", lines.join("\n"));
        state.act(Action::EndEdit);
        assert_has(&screen(&state, 160, 40), &["filter: accept"]);
    }

    /// Any size, and anything selected, on it.
    #[test]
    fn nothing_is_too_small_to_be_drawn_on() {
        let mut state = state();
        for _ in 0..2 {
            for (width, height) in
                [1, 2, 7, 30, 79, 80, 300].into_iter().flat_map(|width| (1..30).map(move |height| (width, height)))
            {
                let _ = screen(&state, width, height);
            }
            state.act(Action::NextPage);
        }
        state.learn(Ok(sample(Instant::now(), "[]", "[]", "[]")));
        assert_has(&screen(&state, 80, 10), &["no runtime"]);
        let _ = screen(&State::new(String::new()), 80, 10);
    }

    #[test]
    fn on_a_small_screen_the_table_stays() {
        let lines = screen(&state(), 80, 12);
        assert_has(&lines, &["11", "accept", "TCP socket", "…", "rs:10:5"]);
        assert_has(&lines[11..], &["q", "quit"]);
    }
}
