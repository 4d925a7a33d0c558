//! Curves for a terminal: letters on a grid.

use super::axis::{Scale, Tick, ticks};
use super::curves::{Curves, Shown};

/// So many lines have a letter; more cannot be told apart.
const MOST: usize = 12;
const HEIGHT: usize = 20;

/// The curves in so many columns.
pub(crate) fn terminal(curves: &Curves, columns: usize) -> String {
    let mut shown = Shown::of(curves);
    let (x_range, y_range) = shown.ranges(curves);
    let more = shown.labelled.len().saturating_sub(MOST);
    shown.labelled.truncate(MOST);
    let y =
        Scale { low: y_range.0, high: y_range.1, log: curves.y.is_log, from: HEIGHT as f64 - 1.0, to: 0.0 };
    let y_ticks = ticks(curves.y.unit, y.low, y.high, y.log, 6);
    let margin = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0) + 1;
    let width = columns.saturating_sub(margin + 3).max(20);
    let x =
        Scale { low: x_range.0, high: x_range.1, log: curves.x.is_log, from: 0.0, to: width as f64 - 1.0 };
    let x_ticks = ticks(curves.x.unit, x.low, x.high, x.log, width / 12);

    let mut grid = vec![vec![' '; width]; HEIGHT];
    let cell = |(at_x, at_y): (f64, f64)| {
        let column = (x.at(at_x).round().max(0.0) as usize).min(width - 1);
        (column, (y.at(at_y).round().max(0.0) as usize).min(HEIGHT - 1))
    };
    // The best is drawn last, on top of the others: first what joins points, then points.
    for line in shown.labelled.iter().rev() {
        let cells: Vec<(usize, usize)> = shown.points[*line].iter().map(|point| cell(*point)).collect();
        for two in cells.windows(2) {
            let ((x1, y1), (x2, y2)) = (two[0], two[1]);
            (x1 + 1..x2).for_each(|column| {
                let part = (column - x1) as f64 / (x2 - x1) as f64;
                let row = y1 as f64 + (y2 as f64 - y1 as f64) * part;
                grid[row.round() as usize][column] = '·';
            });
        }
    }
    for (rank, line) in shown.labelled.iter().enumerate().rev() {
        for point in &shown.points[*line] {
            let (column, row) = cell(*point);
            grid[row][column] = letter(rank);
        }
    }
    let mut text = format!("{}\n", curves.title);
    if !curves.subtitle.is_empty() {
        text.push_str(&format!("{}\n", curves.subtitle));
    }
    text.push_str(&format!("{}\n", curves.y.label));
    for (row, cells) in grid.iter().enumerate() {
        let tick = y_ticks.iter().find(|tick| y.at(tick.value).round() == row as f64);
        let label = tick.map_or("", |tick| tick.label.as_str());
        let (edge, cells): (char, String) = (if tick.is_some() { '┤' } else { '│' }, cells.iter().collect());
        text.push_str(&format!("{label:>margin$} {edge}{}\n", cells.trim_end()));
    }
    text.push_str(&below(&x, &x_ticks, margin, width));
    text.push_str(&format!("{:margin$}   {}\n\n", "", curves.x.label));
    for (rank, line) in shown.labelled.iter().enumerate() {
        let last = shown.points[*line].last();
        let last = last.map(|(x, y)| format!(": {} at {}", curves.y.unit.show(*y), curves.x.unit.show(*x)));
        let label = &curves.lines[*line].label;
        text.push_str(&format!("{} {label}{}\n", letter(rank), last.unwrap_or_default()));
    }
    if more > 0 {
        text.push_str(&format!("and {more} more that are further from the best; -o OUT.svg shows them\n"));
    }
    curves.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
    text
}

fn letter(rank: usize) -> char {
    char::from(b'A' + (rank % 26) as u8)
}

/// The axis with its ticks, and their labels where they have room.
fn below(x: &Scale, ticks: &[Tick], margin: usize, width: usize) -> String {
    let (mut line, mut labels) = (vec!['─'; width], vec![' '; width + 12]);
    let mut free = 0;
    for tick in ticks {
        let at = (x.at(tick.value).round().max(0.0) as usize).min(width - 1);
        line[at] = '┬';
        let count = tick.label.chars().count();
        let from = at.saturating_sub(count / 2);
        if from >= free && from + count <= labels.len() {
            labels[from..from + count].iter_mut().zip(tick.label.chars()).for_each(|(cell, c)| *cell = c);
            free = from + count + 1;
        }
    }
    let (line, labels): (String, String) = (line.into_iter().collect(), labels.into_iter().collect());
    format!("{:margin$} └{line}\n{:margin$}  {}\n", "", "", labels.trim_end())
}
