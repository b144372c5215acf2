//! Whose program it is, what all workers did together, and how long polls and waits for them took.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::state::{Rates, State, percentile};
use crate::text::{clean, count, time};

/// Lines of the first part.
pub(super) const HEIGHT: u16 = 3;
/// Lines of the second.
pub(super) const LATENCIES_HEIGHT: u16 = 3;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let mut lines = vec![title(state)];
    if let Some((_, runtime, rates)) = state.shown() {
        let workers = &runtime.workers;
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), count);
        lines.push(Line::from(format!(
            "{} tasks   {} polls/s   {} spawned/s   {} ended/s   {} stolen/s   {} spurious/s",
            count(runtime.num_tasks as f64),
            rate(rates.polls),
            rate(rates.spawns),
            rate(rates.completions),
            rate(rates.steals),
            rate(rates.spurious_polls)
        )));
        let blocked = format!("{} blocked", workers.blocked);
        lines.push(Line::from(vec![
            Span::raw(format!("{} in the global queue   ", workers.global_queue_depth)),
            if workers.blocked > 0 { Span::raw(blocked).red() } else { Span::raw(blocked) },
            Span::raw(format!(
                "   {} spare threads   {} of {} blocking threads idle, {} jobs wait",
                workers.spare_threads,
                workers.idle_blocking_threads,
                workers.blocking_threads,
                workers.blocking_queue_depth
            )),
            Span::raw(match workers.dropped_reports {
                0 => String::new(),
                dropped => format!("   {dropped} reports dropped"),
            }),
        ]));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn title(state: &State) -> Line<'static> {
    let mut spans = vec![Span::raw(format!("rt-top {}", state.place)).bold()];
    if let Some(sample) = state.sample() {
        spans.push(Span::raw(format!("  process {}", sample.pid)));
    }
    match state.shown() {
        Some((index, runtime, _)) => {
            let all = state.sample().map_or(0, |sample| sample.runtimes.len());
            let place = if all > 1 { format!(" ({} of {all})", index + 1) } else { String::new() };
            let name = runtime.workers.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            spans.push(Span::raw(format!("  runtime {}{name}{place}", runtime.id())));
        }
        None => spans.push(Span::raw("  no runtime")),
    }
    if state.is_paused {
        spans.push(Span::raw("  stopped").yellow());
    }
    if let Some(problem) = &state.problem {
        spans.push(Span::raw(format!("  {}", clean(problem))).red());
    }
    Line::from(spans)
}

/// Percentiles.
pub(super) fn draw_latencies(frame: &mut Frame<'_>, area: Rect, rates: &Rates) {
    let titles = "                  p50      p90      p99    p99.9      max   (less than)";
    let line = |name: &str, buckets: &[u64]| {
        let times = [0.5, 0.9, 0.99, 0.999, 1.0].map(|share| percentile(buckets, share));
        let times = times.map(|nanos| format!("{:>9}", nanos.map_or_else(|| "-".to_owned(), time)));
        Line::from(format!("{name:12}{}", times.concat()))
    };
    let lines = vec![
        Line::from(titles).dim(),
        line("polls", &rates.poll_times),
        line("wake to poll", &rates.wake_to_poll_times),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}
