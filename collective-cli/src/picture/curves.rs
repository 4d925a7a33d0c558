//! Lines over an axis.

use super::axis::{Scale, Tick, ticks};
use super::colours::{COLOURS, FAINT, FRAME, GRID};
use super::frame::{Frame, MARGIN, SMALL};
use super::svg::{Anchor, Point, Stroke, Svg, TextStyle, fitted, text_width};
use super::unit::Unit;

/// Values of several things over one axis.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
    /// Whether more is better: says which lines get a label where there are too many.
    pub(crate) more_is_better: bool,
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) label: String,
    /// In the order of their x.
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 1240.0;
const HEIGHT: f64 = 470.0;
/// So many lines can each have a colour and a label; of more than that only the best have.
const MOST_LABELS: usize = 20;
const BEST: usize = 12;
const LABEL: f64 = 15.0;
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// The picture.
pub(crate) fn curves(curves: &Curves) -> String {
    let shown = Shown::of(curves);
    let frame = Frame::new(&curves.title, &curves.subtitle, &shown.notes, WIDTH);
    let label_width = shown.labelled.iter().map(|at| text_width(&curves.lines[*at].label, SMALL));
    let label_width = label_width.fold(40.0, f64::max).min(420.0);
    let (x_range, y_range) = shown.ranges(curves);
    let top = frame.top() + 8.0;
    let bottom = top + HEIGHT;
    let y = Scale { low: y_range.0, high: y_range.1, log: curves.y.is_log, from: bottom, to: top };
    let y_ticks = ticks(curves.y.unit, y.low, y.high, y.log, 11);
    let ticks_width = y_ticks.iter().map(|tick| text_width(&tick.label, SMALL)).fold(0.0, f64::max);
    let left = MARGIN + 30.0 + ticks_width;
    let right = WIDTH - MARGIN - label_width - 30.0;
    let x = Scale { low: x_range.0, high: x_range.1, log: curves.x.is_log, from: left, to: right };
    let x_ticks = ticks(curves.x.unit, x.low, x.high, x.log, ((right - left) / 60.0) as usize);

    let mut svg = frame.begin(bottom + 48.0);
    draw_grid(&mut svg, curves, (&x, &x_ticks), (&y, &y_ticks));
    if shown.points.iter().all(Vec::is_empty) {
        let style = TextStyle { size: 14.0, anchor: Anchor::Middle, colour: FAINT, ..TextStyle::default() };
        svg.text(((left + right) / 2.0, (top + bottom) / 2.0), "there is nothing to show", style);
    }
    let place = |(at_x, at_y): &(f64, f64)| (x.at(*at_x), y.at(*at_y));
    for (at, line) in curves.lines.iter().enumerate().filter(|(at, _)| !shown.labelled.contains(at)) {
        let points: Vec<Point> = shown.points[at].iter().map(place).collect();
        svg.polyline(&points, Stroke { colour: "#d1d5db", width: 1.0, dashes: "" }, &line.label);
    }
    // The best is drawn last, on top of the others.
    let mut ends: Vec<(f64, usize, usize, Point)> = Vec::new();
    for (rank, at) in shown.labelled.iter().enumerate().rev() {
        let points: Vec<Point> = shown.points[*at].iter().map(place).collect();
        let look = Look::of(rank);
        let stroke = Stroke { colour: look.colour, width: 1.8, dashes: look.dashes };
        svg.polyline(&points, stroke, &curves.lines[*at].label);
        if points.len() <= 64 {
            points.iter().for_each(|point| look.mark(&mut svg, *point));
        }
        if let Some(last) = points.last() {
            ends.push((last.1, rank, *at, *last));
        }
    }
    draw_labels(&mut svg, curves, ends, (top, bottom), right, label_width);
    svg.finish()
}

/// What is drawn, and how much of it with a label.
pub(super) struct Shown {
    /// By line, the points that the axes can show.
    pub(super) points: Vec<Vec<(f64, f64)>>,
    /// The lines with a label, the best first.
    pub(super) labelled: Vec<usize>,
    notes: Vec<String>,
}

impl Shown {
    pub(super) fn of(curves: &Curves) -> Self {
        let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.is_log || value > 0.0);
        let is_shown = |(x, y): &(f64, f64)| fits(*x, &curves.x) && fits(*y, &curves.y);
        let points: Vec<Vec<(f64, f64)>> =
            curves.lines.iter().map(|line| line.points.iter().copied().filter(is_shown).collect()).collect();
        let mut notes = curves.notes.clone();
        let all: usize = curves.lines.iter().map(|line| line.points.len()).sum();
        let lost = all - points.iter().map(Vec::len).sum::<usize>();
        if lost > 0 {
            let points = if lost == 1 { "1 point is".to_owned() } else { format!("{lost} points are") };
            notes.push(format!("{points} not shown: a logarithmic axis has no place for 0"));
        }
        let mut labelled = by_merit(&points, curves.more_is_better);
        if let Some(more) = labelled.len().checked_sub(BEST).filter(|_| labelled.len() > MOST_LABELS) {
            labelled.truncate(BEST);
            notes.push(format!(
                "labelled are the {BEST} best: those that win at some point first, then by their mean distance from the best; \
                 {more} more are grey"
            ));
        }
        Self { points, labelled, notes }
    }

    /// What the axes must hold: of x and of y.
    pub(super) fn ranges(&self, curves: &Curves) -> ((f64, f64), (f64, f64)) {
        let range = |of: fn(&(f64, f64)) -> f64, axis: &Axis| {
            let values = self.points.iter().flatten().map(of);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            match (low.is_finite(), axis.is_log) {
                (false, _) => (1.0, 10.0),
                (true, true) if high / low < 1.001 => (low / 2.0, high * 2.0),
                (true, true) => (low, high),
                (true, false) if high > 0.0 => (0.0, high),
                (true, false) => (0.0, 1.0),
            }
        };
        let (x, y) = (range(|point| point.0, &curves.x), range(|point| point.1, &curves.y));
        // Room above and below.
        let y = if curves.y.is_log { (y.0 / 1.12, y.1 * 1.12) } else { (y.0, y.1 * 1.04) };
        (x, y)
    }
}

/// The lines that have points: first those that are best somewhere, then those that are near the best.
fn by_merit(points: &[Vec<(f64, f64)>], more_is_better: bool) -> Vec<usize> {
    use std::collections::BTreeMap;
    let better = |a: f64, b: f64| if more_is_better { a > b } else { a < b };
    let mut best = BTreeMap::<u64, (f64, usize)>::new();
    for (line, points) in points.iter().enumerate() {
        for (x, y) in points {
            match best.get(&x.to_bits()) {
                Some((known, _)) if !better(*y, *known) => {}
                _ => {
                    best.insert(x.to_bits(), (*y, line));
                }
            }
        }
    }
    let wins = |line: usize| best.values().filter(|(_, winner)| *winner == line).count();
    let distance = |line: usize| {
        let of = |(x, y): &(f64, f64)| best.get(&x.to_bits()).map_or(0.0, |(best, _)| distance(*y, *best));
        points[line].iter().map(of).sum::<f64>() / points[line].len() as f64
    };
    let mut order: Vec<(usize, f64, usize)> = (0..points.len())
        .filter(|line| !points[*line].is_empty())
        .map(|line| (wins(line), distance(line), line))
        .collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    order.into_iter().map(|(_, _, line)| line).collect()
}

/// How many times as much or as little, as a logarithm.
fn distance(value: f64, best: f64) -> f64 {
    if value > 0.0 && best > 0.0 { (value / best).ln().abs() } else { (value - best).abs() }
}

/// Colour, dashes and mark of a line.
struct Look {
    colour: &'static str,
    dashes: &'static str,
    mark: usize,
}

impl Look {
    fn of(rank: usize) -> Self {
        let (colour, dashes) = (COLOURS[rank % COLOURS.len()], DASHES[(rank / COLOURS.len()) % DASHES.len()]);
        Self { colour, dashes, mark: rank % 5 }
    }

    fn mark(&self, svg: &mut Svg, (x, y): Point) {
        let r = 3.0;
        match self.mark {
            0 => svg.circle((x, y), r, self.colour, "#ffffff"),
            1 => svg.polygon(&[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], self.colour),
            2 => svg.polygon(&[(x, y - 1.3 * r), (x + 1.2 * r, y + r), (x - 1.2 * r, y + r)], self.colour),
            3 => svg.polygon(
                &[(x, y - 1.4 * r), (x + 1.4 * r, y), (x, y + 1.4 * r), (x - 1.4 * r, y)],
                self.colour,
            ),
            _ => svg.polygon(&[(x, y + 1.3 * r), (x + 1.2 * r, y - r), (x - 1.2 * r, y - r)], self.colour),
        }
    }
}

fn draw_grid(
    svg: &mut Svg,
    curves: &Curves,
    (x, x_ticks): (&Scale, &[Tick]),
    (y, y_ticks): (&Scale, &[Tick]),
) {
    let (left, right, top, bottom) = (x.from, x.to, y.to, y.from);
    for tick in x_ticks {
        let at = x.at(tick.value);
        svg.line((at, top), (at, bottom), GRID, 1.0);
        let style = TextStyle { size: SMALL, anchor: Anchor::Middle, ..TextStyle::default() };
        svg.text((at, bottom + 16.0), &tick.label, style);
    }
    for tick in y_ticks {
        let at = y.at(tick.value);
        svg.line((left, at), (right, at), GRID, 1.0);
        let style = TextStyle { size: SMALL, anchor: Anchor::End, ..TextStyle::default() };
        svg.text((left - 8.0, at + 4.0), &tick.label, style);
    }
    svg.line((left, top), (left, bottom), FRAME, 1.0);
    svg.line((left, bottom), (right, bottom), FRAME, 1.0);
    let style = TextStyle { size: 12.0, anchor: Anchor::Middle, ..TextStyle::default() };
    svg.text(((left + right) / 2.0, bottom + 38.0), &curves.x.label, style);
    svg.upright_text((MARGIN + 8.0, (top + bottom) / 2.0), &curves.y.label, 12.0);
}

/// Labels beside the ends of their lines, moved apart so that they can be read.
fn draw_labels(
    svg: &mut Svg,
    curves: &Curves,
    mut ends: Vec<(f64, usize, usize, Point)>,
    (top, bottom): (f64, f64),
    right: f64,
    width: f64,
) {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let wished: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
    let places = apart(&wished, LABEL, top + 4.0, bottom + 4.0);
    for ((_, rank, line, end), place) in ends.iter().zip(places) {
        let look = Look::of(*rank);
        let x = right + 22.0;
        svg.polyline(
            &[*end, (right + 4.0, end.1), (x - 4.0, place)],
            Stroke { colour: look.colour, width: 0.8, dashes: if end.0 < right - 1.0 { "1 3" } else { "" } },
            "",
        );
        look.mark(svg, (x, place));
        let style = TextStyle { size: SMALL, ..TextStyle::default() };
        svg.text((x + 8.0, place + 4.0), &fitted(&curves.lines[*line].label, SMALL, width), style);
    }
}

/// Places in the order of the wishes, at least `gap` apart, and as near to them as groups allow.
fn apart(wished: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    // Groups of neighbours that touch: first place wished for on average, and how many.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for wish in wished {
        let mut group = (*wish, 1);
        while let Some((start, count)) = groups.last().copied() {
            if start + gap * count as f64 <= group.0 {
                break;
            }
            groups.pop();
            let (n, m) = (count as f64, group.1 as f64);
            group = ((start * n + (group.0 - gap * n) * m) / (n + m), count + group.1);
        }
        // Within the picture.
        let last = bottom - gap * (group.1 as f64 - 1.0);
        group.0 = group.0.min(last).max(top);
        groups.push(group);
        while let [.., (before, count), (start, more)] = groups[..]
            && before + gap * count as f64 > start + 1e-9
        {
            let merged = (start - gap * count as f64).max(top);
            groups.truncate(groups.len() - 2);
            groups.push((merged, count + more));
        }
    }
    groups.into_iter().flat_map(|(start, count)| (0..count).map(move |at| start + gap * at as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_order_and_their_distance() {
        for wished in [vec![], vec![5.0], vec![5.0, 5.0, 5.0], vec![0.0, 90.0, 91.0, 100.0], vec![100.0; 6]] {
            let places = apart(&wished, 15.0, 0.0, 100.0);
            assert_eq!(places.len(), wished.len());
            assert!(places.windows(2).all(|two| two[1] - two[0] >= 15.0 - 1e-9), "{wished:?}: {places:?}");
            assert!(places.iter().all(|place| (-1e-9..=100.0 + 1e-9).contains(place)), "{places:?}");
        }
        assert_eq!(apart(&[10.0, 50.0], 15.0, 0.0, 100.0), [10.0, 50.0]);
    }

    #[test]
    fn winners_come_first_then_what_is_near_them() {
        let line = |values: [f64; 2]| vec![(1.0, values[0]), (2.0, values[1])];
        let lines = [line([2.0, 2.0]), line([9.0, 1.0]), line([1.0, 9.0]), line([3.0, 3.0]), Vec::new()];
        assert_eq!(by_merit(&lines, false), [1, 2, 0, 3]);
        assert_eq!(by_merit(&lines, true)[..2], [1, 2]);
    }
}
