//! The reports of tasks that blocked their worker, the newest first.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Wrap};

use crate::fetch::Runtime;
use crate::text::time_of_day;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, first: usize, runtime: &Runtime) {
    let all = runtime.reports.len();
    let title = match all {
        0 => "no task has blocked its worker".to_owned(),
        _ => format!("report {} of {all}: tasks that blocked their worker, once for each place", first + 1),
    };
    let lines = runtime.reports.iter().rev().skip(first).flat_map(|report| {
        let at = format!("{} UTC", time_of_day(report.at_unix_seconds));
        [Line::from(at).bold(), Line::from(report.line.as_str())]
    });
    let text: Vec<Line<'_>> = lines.take(usize::from(area.height) * 2).collect();
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }).block(Block::new().title(title)), area);
}
