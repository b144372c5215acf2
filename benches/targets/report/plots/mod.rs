//! The charts, as SVG: opaque, so that they can be read on a light page and on a dark one.

mod bars;
mod lines;

use std::error::Error;
use std::path::Path;

use plotters::style::RGBColor;

use crate::results::Results;

/// Whose bar or line it is, in the order of what is compared.
const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(227, 119, 60),
    RGBColor(122, 122, 132),
    RGBColor(44, 140, 80),
    RGBColor(148, 103, 189),
    RGBColor(160, 120, 60),
];
const PAPER: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(36, 41, 47);
const GRID: RGBColor = RGBColor(222, 226, 230);

/// What is drawn of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All rows, as bars, relative to the best peer.
    Bars,
    /// Groups of three rows, as lines from the median to the tail.
    Percentiles,
    /// One line a runtime over all rows.
    Threads,
}

/// A chart of a section.
pub(crate) struct Chart {
    kind: Kind,
    pub(crate) file: String,
    pub(crate) alt: String,
}

/// The charts that a section has.
pub(crate) fn charts_of(section: &Results) -> Vec<Chart> {
    let kinds: &[Kind] = match section.slug {
        "latency" => &[Kind::Bars, Kind::Percentiles],
        "foreign-threads" => &[Kind::Bars, Kind::Threads],
        _ => &[Kind::Bars],
    };
    let chart = |&kind: &Kind| {
        let (suffix, what) = match kind {
            Kind::Bars => ("", "each relative to the best peer of rt"),
            Kind::Percentiles => ("-percentiles", "percentiles"),
            Kind::Threads => ("-scaling", "by number of threads"),
        };
        Chart { kind, file: format!("{}{suffix}.svg", section.slug), alt: format!("{}: {what}", section.title) }
    };
    kinds.iter().map(chart).collect()
}

/// Draws the charts of all sections into a directory.
pub(crate) fn draw(results: &[Results], directory: &Path) -> Result<(), Box<dyn Error>> {
    for section in results {
        for chart in charts_of(section) {
            let path = directory.join(&chart.file);
            match chart.kind {
                Kind::Bars => bars::draw(section, &path)?,
                Kind::Percentiles => lines::draw_percentiles(section, &path)?,
                Kind::Threads => lines::draw_threads(section, &path)?,
            }
        }
    }
    Ok(())
}
