//! Bars in rows along a time axis.

use collective::sim::units::Picos;

use super::axis::{Scale, axis_end, ticks};
use super::colours::{CRITICAL, FAINT, FRAME, GRID};
use super::frame::{Frame, Legend, MARGIN, SMALL, time_axis};
use super::svg::{Anchor, Svg, TextStyle, bold_width, fitted, text_width};
use super::unit::Unit;

/// What happened on rows from time 0 on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gantt {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The end of the time axis.
    pub(crate) end: Picos,
    /// The kinds of bars: colour and meaning. [`Bar::kind`] is an index.
    pub(crate) kinds: Vec<(&'static str, String)>,
    pub(crate) groups: Vec<Group>,
    pub(crate) notes: Vec<String>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) label: String,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// In the order in which they begin; none begins before the one before it ends.
    pub(crate) bars: Vec<Bar>,
}

#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) start: Picos,
    pub(crate) finish: Picos,
    pub(crate) kind: usize,
    /// Written on the bar where it has room.
    pub(crate) text: String,
    /// Shown beside the pointer.
    pub(crate) tooltip: String,
    /// Drawn with a red line around it.
    pub(crate) is_critical: bool,
}

const WIDTH: f64 = 1280.0;
const ROW: f64 = 15.0;
const BAR: f64 = 11.0;
/// Between groups of several rows, and of one.
const BETWEEN: f64 = 7.0;
const NEAR: f64 = 1.0;
/// Narrower bars are drawn together with their neighbours.
const NARROW: f64 = 1.0;

/// The picture.
pub(crate) fn gantt(gantt: &Gantt) -> String {
    let frame = Frame::new(&gantt.title, &gantt.subtitle, &gantt.notes, WIDTH);
    let entries: Vec<(&str, &str)> =
        gantt.kinds.iter().map(|(colour, text)| (*colour, text.as_str())).collect();
    let legend = Legend::new(&entries, WIDTH - 2.0 * MARGIN);
    let group_width =
        gantt.groups.iter().map(|group| bold_width(&group.label, SMALL)).fold(0.0, f64::max).min(120.0);
    let rows = || gantt.groups.iter().flat_map(|group| &group.rows);
    let row_width = rows().map(|row| text_width(&row.label, SMALL)).fold(0.0, f64::max).min(230.0);
    let left = MARGIN + group_width + row_width + 22.0;
    let top = frame.top() + legend.height + 26.0;
    let rows_height = |group: &Group| ROW * group.rows.len() as f64;
    let gaps: f64 = gantt.groups.windows(2).map(between).sum();
    let height = gantt.groups.iter().map(rows_height).sum::<f64>() + gaps;
    let bottom = top + height.max(ROW);

    let end = axis_end(gantt.end);
    let scale = Scale { low: 0.0, high: end, log: false, from: left, to: WIDTH - MARGIN - 16.0 };
    let mut svg = frame.begin(bottom);
    legend.draw(&mut svg, (MARGIN, frame.top()));
    time_axis(&mut svg, &scale, &ticks(Unit::Nanoseconds, 0.0, end, false, 12), top - 4.0, bottom);
    let mut y = top;
    for (at, group) in gantt.groups.iter().enumerate() {
        if let Some(two) = at.checked_sub(1).and_then(|before| gantt.groups.get(before..=at)) {
            y += between(two);
            if between(two) == BETWEEN {
                svg.line((MARGIN, y - BETWEEN / 2.0), (scale.to, y - BETWEEN / 2.0), GRID, 1.0);
            }
        }
        let style = TextStyle { size: SMALL, bold: true, ..TextStyle::default() };
        svg.text((MARGIN, y + ROW * 0.75), &fitted(&group.label, SMALL * 1.15, group_width), style);
        for row in &group.rows {
            let style = TextStyle { size: SMALL, anchor: Anchor::End, colour: FAINT, ..TextStyle::default() };
            svg.text((left - 8.0, y + ROW * 0.75), &fitted(&row.label, SMALL, row_width), style);
            svg.area((left, y + 2.0), (scale.to - left, BAR), "#f3f4f6", "");
            draw_row(&mut svg, gantt, &scale, row, y + 2.0);
            y += ROW;
        }
    }
    svg.line((left, top - 4.0), (left, bottom), FRAME, 1.0);
    svg.finish()
}

/// How far a group is from the one before it.
fn between(two: &[Group]) -> f64 {
    if two.iter().any(|group| group.rows.len() > 1) { BETWEEN } else { NEAR }
}

/// A bar, or several that are too narrow to be told apart.
struct Shown<'a> {
    from: f64,
    to: f64,
    first: &'a Bar,
    count: usize,
    is_critical: bool,
}

fn draw_row(svg: &mut Svg, gantt: &Gantt, scale: &Scale, row: &Row, y: f64) {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for bar in &row.bars {
        let [from, to] = [bar.start, bar.finish].map(|time| scale.at(time.0 as f64 / 1000.0));
        match shown.last_mut() {
            Some(last) if to - from < NARROW && to - last.from < NARROW => {
                last.to = last.to.max(to);
                last.count += 1;
                last.is_critical |= bar.is_critical;
            }
            _ => shown.push(Shown { from, to, first: bar, count: 1, is_critical: bar.is_critical }),
        }
    }
    for Shown { from, to, first, count, .. } in &shown {
        let colour = gantt.kinds.get(first.kind).map_or(FAINT, |(colour, _)| *colour);
        let more = if *count > 1 {
            format!("\nand {} more, too short to be told apart here", count - 1)
        } else {
            String::new()
        };
        // What takes no time is seen all the same.
        let wide = (to - from).max(NARROW);
        // A gap tells a bar from the next one.
        let wide = if wide > 3.0 { wide - 0.5 } else { wide };
        svg.area((*from, y), (wide, BAR), colour, &format!("{}{more}", first.tooltip));
        if *count == 1 && text_width(&first.text, 9.0) + 4.0 < wide && !first.text.is_empty() {
            let style =
                TextStyle { size: 9.0, anchor: Anchor::Middle, colour: "#ffffff", ..TextStyle::default() };
            svg.text(((from + to) / 2.0, y + BAR * 0.77), &first.text, style);
        }
    }
    // On top, so that neighbours do not cover half of the line.
    for Shown { from, to, .. } in shown.iter().filter(|shown| shown.is_critical) {
        let wide = (to - from).max(NARROW);
        if wide < 6.0 {
            // Nothing would be left between the sides.
            svg.area((*from, y - 1.5), (wide, 1.5), CRITICAL, "");
            svg.area((*from, y + BAR), (wide, 1.5), CRITICAL, "");
        } else {
            svg.outlined((*from, y - 0.75), (wide, BAR + 1.5), "none", CRITICAL, "");
        }
    }
}
