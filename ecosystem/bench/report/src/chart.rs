//! A chart as SVG: for each row where rt stands beside Tokio, on a scale on which half is as far from level as twice.
//!
//! Opaque, so that it can be read on a light page and on a dark one.

use std::fmt::Write;

/// A row: the quartiles of its ratios.
pub(crate) struct Bar {
    pub(crate) title: String,
    pub(crate) quartiles: [f64; 3],
}

/// A file and what is in it.
pub(crate) struct Chart {
    pub(crate) file: &'static str,
    pub(crate) svg: String,
}

const WIDTH: f64 = 960.0;
/// Where the scale begins, after the titles, and how wide it is.
const LEFT: f64 = 430.0;
const SCALE: f64 = 510.0;
const TOP: f64 = 66.0;
const LINE: f64 = 22.0;
/// The ends of the scale: what is beyond is drawn at the end.
const LEAST: f64 = 0.25;
const MOST: f64 = 4.0;
const MARKS: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 1.33, 2.0, 4.0];
const AHEAD: &str = "#1f77b4";
const BEHIND: &str = "#e3773c";
const INK: &str = "#24292f";
const GRID: &str = "#dee2e6";

pub(crate) fn draw(file: &'static str, title: &str, more_is_better: bool, bars: &[Bar]) -> Chart {
    let bottom = TOP + LINE * bars.len() as f64;
    let height = bottom + 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"{INK}\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"26\" font-size=\"16\">{}</text>\n",
        escaped(title)
    );
    for mark in MARKS {
        let (x, width) = (place(mark), if mark == 1.0 { 2 } else { 1 });
        let colour = if mark == 1.0 { INK } else { GRID };
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{mark}</text>",
            TOP - 8.0
        );
    }
    for (number, Bar { title, quartiles }) in bars.iter().enumerate() {
        let y = TOP + LINE * (number as f64 + 0.5);
        let [low, middle, high] = quartiles.map(place);
        let is_ahead = (quartiles[1] >= 1.0) == more_is_better || quartiles[1] == 1.0;
        let colour = if is_ahead { AHEAD } else { BEHIND };
        let (from, length) = (middle.min(place(1.0)), (middle - place(1.0)).abs());
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"12\" fill=\"{colour}\"/>\
             <path d=\"M{low:.1} {y:.1}H{high:.1}\" stroke=\"{INK}\"/>",
            LEFT - 10.0,
            y + 4.5,
            escaped(title),
            y - 6.0
        );
    }
    svg.push_str("</svg>\n");
    Chart { file, svg }
}

fn place(ratio: f64) -> f64 {
    let part = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LEFT + SCALE * part
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
