//! A chain of steps, each on the row where it happened, and what the time went into.

use collective::sim::units::Picos;

use super::axis::{Scale, ticks};
use super::colours::{FAINT, FRAME, INK};
use super::frame::{Frame, Legend, MARGIN, SMALL, time_axis};
use super::svg::{Anchor, Stroke, Svg, TextStyle, fitted, text_width};
use super::unit::{Unit, short};

/// Steps one after the other from time 0 to the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The end of the time axis.
    pub(crate) end: Picos,
    /// What time goes into: colour and meaning.
    pub(crate) causes: Vec<Cause>,
    /// The rows, from above.
    pub(crate) rows: Vec<String>,
    pub(crate) steps: Vec<ChainStep>,
    /// What the same time went into, in another division; the most important first.
    pub(crate) lines: Vec<ChainLine>,
    /// Whose shares `lines` are, such as "by source line".
    pub(crate) by: String,
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) colour: &'static str,
    pub(crate) text: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct ChainStep {
    /// Index into the rows.
    pub(crate) row: usize,
    pub(crate) start: Picos,
    /// By cause, in the order in which they are drawn.
    pub(crate) shares: Vec<Picos>,
    pub(crate) tooltip: String,
}

/// A part of the chain's time.
#[derive(Clone, Debug)]
pub(crate) struct ChainLine {
    pub(crate) label: String,
    pub(crate) shares: Vec<Picos>,
}

const WIDTH: f64 = 1280.0;
const LEAST_ROW: f64 = 7.0;
const MOST_ROW: f64 = 22.0;
const LINE: f64 = 19.0;

/// The picture.
pub(crate) fn chain(chain: &Chain) -> String {
    let frame = Frame::new(&chain.title, &chain.subtitle, &chain.notes, WIDTH);
    let total: u64 = chain.steps.iter().flat_map(|step| &step.shares).map(|time| time.0).sum();
    let sum = |cause: usize| -> u64 {
        chain.steps.iter().filter_map(|step| step.shares.get(cause)).map(|time| time.0).sum()
    };
    let texts: Vec<(&str, String)> = chain
        .causes
        .iter()
        .enumerate()
        .filter(|(at, _)| sum(*at) > 0)
        .map(|(at, cause)| {
            let percent = sum(at) as f64 / total.max(1) as f64 * 100.0;
            let time = Unit::Nanoseconds.show(sum(at) as f64 / 1000.0);
            (cause.colour, format!("{}: {time}, {} %", cause.text, short((percent * 10.0).round() / 10.0)))
        })
        .collect();
    let entries: Vec<(&str, &str)> = texts.iter().map(|(colour, text)| (*colour, text.as_str())).collect();
    let legend = Legend::new(&entries, WIDTH - 2.0 * MARGIN);
    let label_width = chain.rows.iter().map(|row| text_width(row, SMALL)).fold(0.0, f64::max).min(160.0);
    let left = MARGIN + label_width + 8.0;
    let top = frame.top() + legend.height + 26.0;
    let row = (560.0 / chain.rows.len().max(1) as f64).clamp(LEAST_ROW, MOST_ROW);
    let bottom = top + row * chain.rows.len().max(1) as f64;
    let lines_top = bottom + 36.0;
    let lines_bottom =
        if chain.lines.is_empty() { bottom } else { lines_top + LINE * chain.lines.len() as f64 };

    let end = chain.end.0.max(1) as f64 / 1000.0;
    let scale = Scale { low: 0.0, high: end, log: false, from: left, to: WIDTH - MARGIN - 16.0 };
    let mut svg = frame.begin(lines_bottom);
    legend.draw(&mut svg, (MARGIN, frame.top()));
    time_axis(&mut svg, &scale, &ticks(Unit::Nanoseconds, 0.0, end, false, 12), top - 4.0, bottom);
    // Of rows that are too low for text, some have a label.
    let every = (12.0 / row).ceil().max(1.0) as usize;
    for (at, label) in chain.rows.iter().enumerate() {
        let y = top + row * (at as f64 + 0.5);
        svg.line((left, y), (scale.to, y), "#f3f4f6", 1.0);
        if at.is_multiple_of(every) {
            let style = TextStyle { size: SMALL, anchor: Anchor::End, colour: FAINT, ..TextStyle::default() };
            svg.text((left - 8.0, y + 4.0), &fitted(label, SMALL, label_width), style);
        }
    }
    draw_steps(&mut svg, chain, &scale, top, row);
    svg.line((left, top - 4.0), (left, bottom), FRAME, 1.0);
    draw_lines(&mut svg, chain, total, lines_top);
    svg.finish()
}

fn draw_steps(svg: &mut Svg, chain: &Chain, scale: &Scale, top: f64, row: f64) {
    let bar = (row - 2.0).min(14.0);
    let place = |step: &ChainStep| top + row * (step.row as f64 + 0.5);
    let at = |picos: u64| scale.at(picos as f64 / 1000.0);
    // Below the bars: from where to where the chain goes on.
    for two in chain.steps.windows(2) {
        if let [before, after] = two
            && before.row != after.row
        {
            let x = at(after.start.0);
            let stroke = Stroke { colour: FRAME, width: 1.0, dashes: "" };
            svg.polyline(&[(x, place(before)), (x, place(after))], stroke, "");
        }
    }
    for step in &chain.steps {
        let (y, mut begin) = (place(step) - bar / 2.0, step.start.0);
        for (cause, share) in chain.causes.iter().zip(&step.shares).filter(|(_, share)| share.0 > 0) {
            let (from, to) = (at(begin), at(begin.saturating_add(share.0)));
            svg.area((from, y), ((to - from).max(0.5), bar), cause.colour, &step.tooltip);
            begin = begin.saturating_add(share.0);
        }
    }
}

/// A bar for each line of the other division, as long as its part of the whole.
fn draw_lines(svg: &mut Svg, chain: &Chain, total: u64, top: f64) {
    if chain.lines.is_empty() {
        return;
    }
    let bold = TextStyle { size: 12.0, bold: true, ..TextStyle::default() };
    svg.text((MARGIN, top - 8.0), &chain.by, bold);
    let label_width =
        chain.lines.iter().map(|line| text_width(&line.label, SMALL)).fold(0.0, f64::max).min(420.0);
    let (left, right) = (MARGIN + label_width + 8.0, WIDTH - MARGIN - 150.0);
    let largest = chain.lines.iter().map(|line| line.shares.iter().map(|time| time.0).sum::<u64>()).max();
    for (at, line) in (0..).zip(&chain.lines) {
        let y = top + LINE * f64::from(at);
        let style = TextStyle { size: SMALL, anchor: Anchor::End, ..TextStyle::default() };
        svg.text((left - 8.0, y + 13.0), &fitted(&line.label, SMALL, label_width), style);
        let mut x = left;
        for (cause, share) in chain.causes.iter().zip(&line.shares).filter(|(_, share)| share.0 > 0) {
            let wide = (right - left) * share.0 as f64 / largest.unwrap_or(1).max(1) as f64;
            svg.area((x, y + 2.0), (wide, LINE - 5.0), cause.colour, cause.text);
            x += wide;
        }
        let time: u64 = line.shares.iter().map(|time| time.0).sum();
        let percent = short((time as f64 / total.max(1) as f64 * 1000.0).round() / 10.0);
        let text = format!("{}, {percent} %", Unit::Nanoseconds.show(time as f64 / 1000.0));
        svg.text((x + 8.0, y + 13.0), &text, TextStyle { size: SMALL, colour: INK, ..TextStyle::default() });
    }
}
