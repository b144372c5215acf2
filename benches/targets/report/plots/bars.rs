//! A section's rows as bars that begin at the best peer: to the left is better, to the right is worse.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{COLOURS, GRID, INK, PAPER};
use crate::results::Results;
use crate::row::{Row, quotient};

/// Bars end here even if the figure does not; the number beside them tells. Powers of two.
const SPAN: f64 = 4.0;

const WIDTH: i32 = 1000;
const LEFT: i32 = 440;
const RIGHT: i32 = 950;
const TOP: i32 = 84;
const BAR: i32 = 12;
const GAP: i32 = 12;
const BOTTOM: i32 = 20;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws a section.
pub(super) fn draw(section: &Results, path: &Path) -> Result<(), Box<dyn Error>> {
    let names = section.rows[0].names;
    let row_height = names.len() as i32 * BAR + GAP;
    let foot = TOP + section.rows.len() as i32 * row_height;
    let area = SVGBackend::new(path, (WIDTH as u32, (foot + BOTTOM) as u32)).into_drawing_area();
    area.fill(&PAPER)?;
    write(&area, section.title, (20, 26), 24, HPos::Left)?;
    write(&area, "relative to the best peer of rt (1×), less is better", (20, 52), 16, HPos::Left)?;
    legend(&area, names)?;

    for exponent in -SPAN as i32..=SPAN as i32 {
        let x = position(f64::from(exponent).exp2());
        let colour = if exponent == 0 { INK } else { GRID };
        area.draw(&PathElement::new(vec![(x, TOP - 4), (x, foot)], colour))?;
        let label = if exponent < 0 { format!("1/{}×", 1 << -exponent) } else { format!("{}×", 1 << exponent) };
        write(&area, &label, (x, TOP - 14), 14, HPos::Center)?;
    }
    for (index, row) in section.rows.iter().enumerate() {
        draw_row(&area, row, TOP + GAP / 2 + index as i32 * row_height)?;
    }
    area.present()?;
    Ok(())
}

fn draw_row(area: &Area<'_>, row: &Row, top: i32) -> Result<(), Box<dyn Error>> {
    let middle = top + row.sides.len() as i32 * BAR / 2;
    write(area, &row.title.replace('`', ""), (LEFT - 6, middle), 14, HPos::Right)?;
    let best = row.best_peer();
    for (side, (runs, colour)) in row.sides.iter().zip(COLOURS).enumerate() {
        if runs.is_empty() {
            continue;
        }
        let ratio = quotient(runs.median(), best);
        let (begin, end) = (position(1.0), position(ratio));
        let y = top + side as i32 * BAR;
        // At least a line, where there is nothing to show.
        let (left, right) = (begin.min(end) - 1, begin.max(end) + 1);
        area.draw(&Rectangle::new([(left, y + 1), (right, y + BAR)], colour.filled()))?;
        let (x, anchor) = if ratio < 1.0 { (left - 4, HPos::Right) } else { (right + 4, HPos::Left) };
        let label = if ratio.is_finite() { format!("{ratio:.2}") } else { "∞".to_owned() };
        write(area, &label, (x, y + BAR / 2 + 1), 12, anchor)?;
    }
    Ok(())
}

fn legend(area: &Area<'_>, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let width = |name: &str| 28 + 7 * name.len() as i32;
    let mut x = RIGHT - names.iter().map(|name| width(name)).sum::<i32>();
    for (name, colour) in names.iter().zip(COLOURS) {
        area.draw(&Rectangle::new([(x, 20), (x + 14, 32)], colour.filled()))?;
        write(area, name, (x + 20, 26), 16, HPos::Left)?;
        x += width(name);
    }
    Ok(())
}

/// Where a ratio is from left to right, on a logarithmic scale.
fn position(ratio: f64) -> i32 {
    let part = (ratio.log2().clamp(-SPAN, SPAN) + SPAN) / (2.0 * SPAN);
    LEFT + 20 + (part * f64::from(RIGHT - LEFT - 40)).round() as i32
}

/// The backend makes letters a fifth smaller than it is told.
fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: i32, anchor: HPos) -> Result<(), Box<dyn Error>> {
    let style = ("sans-serif", size).into_font().color(&INK).pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style))?;
    Ok(())
}
