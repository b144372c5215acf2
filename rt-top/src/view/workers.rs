//! A line for each worker: how it spent its time, what waits for it, and in whose poll it is.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::fetch::Runtime;
use crate::state::{Rates, Shares};
use crate::text::{count, percent};
use crate::wire::Worker;

/// Columns of a bar.
const BAR: usize = 20;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, runtime: &Runtime, rates: &Rates) {
    let workers = &runtime.workers.workers;
    let title = format!("worker  {:BAR$}  busy search parked  queue  polls/s  now", "");
    let mut lines = vec![Line::from(title).dim()];
    let room = usize::from(area.height).saturating_sub(1);
    // The last line says how many are left out.
    let shown = if workers.len() > room { room.saturating_sub(1) } else { workers.len() };
    lines.extend(workers.iter().take(shown).map(|worker| line(worker, rates)));
    if shown < workers.len() && room > 0 {
        let left = workers.len() - shown;
        let mut line = vec![Span::raw(format!("and {left} more; all: "))];
        line.extend(bar(rates.all));
        lines.push(Line::from(line));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn line(worker: &Worker, rates: &Rates) -> Line<'static> {
    let rate = rates.of_worker(worker.worker);
    let polls = rate.polls.map_or_else(|| "-".to_owned(), count);
    let [busy, searching, parked] = [rate.shares.busy, rate.shares.searching, rate.shares.parked].map(percent);
    let mut spans = vec![Span::raw(format!("{:>6}  ", worker.worker))];
    spans.extend(bar(rate.shares));
    spans.push(Span::raw(format!(
        "  {busy:>4} {searching:>6} {parked:>6}  {:>5}  {polls:>7}  {}",
        worker.queue_depth, worker.activity
    )));
    if let Some(task) = &worker.task {
        let name = task.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        spans.push(Span::raw(format!(" task {}{name}, {}", task.id, task.spawned_at)));
    }
    Line::from(spans)
}

/// Busy, searching and parked, from the left.
fn bar(shares: Shares) -> [Span<'static>; 3] {
    let [busy, searching] = widths(shares);
    [
        Span::raw("█".repeat(busy)).green(),
        Span::raw("▒".repeat(searching)).yellow(),
        Span::raw("·".repeat(BAR - busy - searching)).dim(),
    ]
}

/// Columns of busy and of searching. What is there at all is seen.
fn widths(shares: Shares) -> [usize; 2] {
    let columns = |share: f64, room: usize| {
        let columns = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        columns.max(usize::from(share >= 0.005)).min(room)
    };
    let busy = columns(shares.busy, BAR);
    [busy, columns(shares.searching, BAR - busy)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_and_shows_little_things() {
        for (busy, searching, expected) in [
            (0.0, 0.0, [0, 0]),
            (1.0, 0.0, [20, 0]),
            (0.5, 0.25, [10, 5]),
            (0.01, 0.01, [1, 1]),
            (0.001, 0.0, [0, 0]),
            (0.99, 0.01, [20, 0]),
            (7.0, f64::NAN, [20, 0]),
        ] {
            assert_eq!(widths(Shares { busy, searching, parked: 0.0 }), expected, "{busy} {searching}");
        }
    }
}
