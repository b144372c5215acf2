//! Lines: latency from the median to the tail, and throughput by the number of threads.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{COLOURS, GRID, INK, PAPER};
use crate::results::Results;
use crate::row::{RUNTIMES, Row};

const PANEL: (u32, u32) = (500, 300);

/// What separates the title of a latency from its percentile.
const PERCENTILE: &str = ": p";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One set of axes.
struct Panel {
    title: String,
    unit: String,
    labels: Vec<String>,
    /// For each runtime, a figure for each label.
    lines: Vec<Vec<f64>>,
}

/// Draws a panel for each latency of a section: the rows whose titles differ in the percentile only.
pub(super) fn draw_percentiles(section: &Results, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut panels: Vec<Panel> = Vec::new();
    for row in &section.rows {
        let Some((title, rest)) = row.title.split_once(PERCENTILE) else {
            continue;
        };
        let (percentile, unit) = rest.split_once(", ").unwrap_or((rest, ""));
        if panels.last().is_none_or(|panel| panel.title != title) {
            panels.push(Panel::new(title, unit));
        }
        panels.last_mut().expect("there is one now").push(format!("p{percentile}"), row);
    }
    draw(&panels, path)
}

/// Draws all rows of a section as one panel; their titles hold a number of threads.
pub(super) fn draw_threads(section: &Results, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut panel = Panel::new("spawn and join from foreign threads, all threads together", "ns a task");
    for row in &section.rows {
        let number: String = row.title.chars().filter(char::is_ascii_digit).collect();
        let noun = if number == "1" { "thread" } else { "threads" };
        panel.push(format!("{number} {noun}"), row);
    }
    draw(&[panel], path)
}

impl Panel {
    fn new(title: &str, unit: &str) -> Self {
        Self {
            title: title.to_owned(),
            unit: unit.to_owned(),
            labels: Vec::new(),
            lines: vec![Vec::new(); RUNTIMES.len()],
        }
    }

    fn push(&mut self, label: String, row: &Row) {
        self.labels.push(label);
        for (line, runs) in self.lines.iter_mut().zip(&row.sides) {
            line.push(runs.median());
        }
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn Error>> {
        let figures = || self.lines.iter().flatten().copied();
        let low = figures().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
        let high = figures().fold(low, f64::max);
        let (bottom, top) = (low / 1.5, high * 1.5);
        let last = self.labels.len() as f64 - 1.0;
        let text = |size: i32| ("sans-serif", size).into_font().color(&INK);
        let mut chart = ChartBuilder::on(area)
            .margin(14)
            .caption(&self.title, text(18))
            .x_label_area_size(30)
            .y_label_area_size(76)
            .build_cartesian_2d(
                -0.2..last + 0.2,
                (bottom..top).log_scale().with_key_points(round_numbers(bottom, top)),
            )?;
        // There are marks between the labels, too.
        let label = |x: &f64| {
            let is_whole = (x - x.round()).abs() < 0.01;
            if is_whole { self.labels.get(x.round() as usize).cloned().unwrap_or_default() } else { String::new() }
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(text(15))
            .x_labels(2 * self.labels.len() + 1)
            .y_label_formatter(&|figure| figure.to_string())
            .x_label_formatter(&label)
            .y_desc(&self.unit)
            .draw()?;
        for (side, (line, colour)) in self.lines.iter().zip(COLOURS).enumerate() {
            let points = || line.iter().enumerate().map(|(index, figure)| (index as f64, figure.max(low)));
            chart
                .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
                .label(RUNTIMES[side])
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
            chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(text(15))
            .background_style(PAPER)
            .border_style(GRID)
            .draw()?;
        Ok(())
    }
}

/// One, two and five of every power of ten between two figures, or if these are too many, one.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let steps: &[f64] = if high / low < 1000.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    exponents
        .flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)))
        .filter(|figure| (low..=high).contains(figure))
        .collect()
}

/// Draws panels two in a row.
fn draw(panels: &[Panel], path: &Path) -> Result<(), Box<dyn Error>> {
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&PAPER)?;
    for (panel, area) in panels.iter().zip(area.split_evenly((rows, columns))) {
        panel.draw(&area)?;
    }
    area.present()?;
    Ok(())
}
