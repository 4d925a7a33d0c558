//! Rows of cells along a time axis, the darker the larger their share.

use collective::sim::units::Picos;

use super::axis::{Scale, ticks};
use super::colours::{FAINT, FRAME, heat};
use super::frame::{Frame, MARGIN, SMALL, time_axis};
use super::svg::{Anchor, Svg, TextStyle, fitted, text_width};
use super::unit::{Unit, short};

/// Shares of rows in equal intervals of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeatMap {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The end of the time axis.
    pub(crate) end: Picos,
    /// What a share of 1 is, such as "of the link's bandwidth".
    pub(crate) of: String,
    pub(crate) rows: Vec<HeatRow>,
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HeatRow {
    pub(crate) label: String,
    /// From 0 to 1; all rows have as many.
    pub(crate) cells: Vec<f64>,
    /// What is written behind the row, in words.
    pub(crate) total: String,
    /// Of the whole time.
    pub(crate) share: f64,
}

const WIDTH: f64 = 1280.0;
const ROW: f64 = 15.0;
const CELL: f64 = 13.0;
const SHARE: f64 = 110.0;

/// The picture.
pub(crate) fn heat_map(map: &HeatMap) -> String {
    let frame = Frame::new(&map.title, &map.subtitle, &map.notes, WIDTH);
    let widest = |texts: &dyn Fn(&HeatRow) -> f64| map.rows.iter().map(texts).fold(0.0, f64::max);
    let label_width = widest(&|row| text_width(&row.label, SMALL)).min(300.0);
    let total_width = widest(&|row| text_width(&row.total, SMALL)).min(160.0);
    let left = MARGIN + label_width + 8.0;
    let right = WIDTH - MARGIN - total_width - SHARE - 16.0;
    let top = frame.top() + 26.0 + 26.0;
    let bottom = top + ROW * map.rows.len().max(1) as f64;
    let end = map.end.0.max(1) as f64 / 1000.0;
    let scale = Scale { low: 0.0, high: end, log: false, from: left, to: right };

    let mut svg = frame.begin(bottom);
    draw_scale(&mut svg, &map.of, frame.top());
    let ticks = ticks(Unit::Nanoseconds, 0.0, end, false, 10);
    time_axis(&mut svg, &scale, &ticks, top - 4.0, bottom);
    let heading = TextStyle { size: SMALL, colour: FAINT, ..TextStyle::default() };
    svg.text((right + 12.0, top - 10.0), "whole run", heading);
    for (at, row) in (0..).zip(&map.rows) {
        let y = top + ROW * f64::from(at);
        let label = TextStyle { size: SMALL, anchor: Anchor::End, ..TextStyle::default() };
        svg.text((left - 8.0, y + ROW * 0.72), &fitted(&row.label, SMALL, label_width), label);
        svg.area((left, y), (right - left, CELL), &heat(0.0), "");
        draw_cells(&mut svg, map, row, &scale, y);
        // The share of the whole time as a bar, with the figures behind it.
        let wide = (SHARE - 50.0) * row.share.clamp(0.0, 1.0);
        svg.area((right + 12.0, y + 1.0), (SHARE - 50.0, CELL - 2.0), "#f3f4f6", "");
        svg.area((right + 12.0, y + 1.0), (wide, CELL - 2.0), &heat(0.7), "");
        let figure = TextStyle { size: SMALL, anchor: Anchor::End, ..TextStyle::default() };
        let percent = format!("{} %", short((row.share * 1000.0).round() / 10.0));
        svg.text((right + SHARE + 6.0, y + ROW * 0.72), &percent, figure);
        svg.text((WIDTH - MARGIN, y + ROW * 0.72), &fitted(&row.total, SMALL, total_width), figure);
    }
    svg.line((left, top - 4.0), (left, bottom), FRAME, 1.0);
    svg.finish()
}

/// Neighbours of one colour are one box.
fn draw_cells(svg: &mut Svg, map: &HeatMap, row: &HeatRow, scale: &Scale, y: f64) {
    let edge = |at: usize| scale.from + (scale.to - scale.from) * at as f64 / row.cells.len().max(1) as f64;
    let time = |at: usize| {
        let part = at as f64 / row.cells.len().max(1) as f64;
        Unit::Nanoseconds.show(map.end.0 as f64 / 1000.0 * part)
    };
    // Whole percents: more are not seen, and boxes are fewer.
    let percent = |share: f64| (share.clamp(0.0, 1.0) * 100.0).round();
    let mut at = 0;
    while at < row.cells.len() {
        let share = percent(row.cells[at]);
        let begin = at;
        while at < row.cells.len() && percent(row.cells[at]) == share {
            at += 1;
        }
        if row.cells[begin] > 0.0 {
            // What is hardly there is seen all the same.
            let colour = heat((share / 100.0).max(0.08));
            let tooltip = format!("{}\n{} to {}: {share} %", row.label, time(begin), time(at));
            svg.area((edge(begin), y), (edge(at) - edge(begin), CELL), &colour, &tooltip);
        }
    }
}

/// What the colours mean.
fn draw_scale(svg: &mut Svg, of: &str, y: f64) {
    const STEPS: u32 = 20;
    let style = TextStyle { size: SMALL, ..TextStyle::default() };
    svg.text((MARGIN, y + 11.0), "0 %", style);
    let from = MARGIN + 30.0;
    for step in 0..STEPS {
        let colour = heat(f64::from(step) / f64::from(STEPS - 1));
        svg.area((from + 8.0 * f64::from(step), y + 1.0), (8.0, 12.0), &colour, "");
    }
    svg.text((from + 8.0 * f64::from(STEPS) + 8.0, y + 11.0), &format!("100 % {of}"), style);
}
