//! Rows as text. On a terminal a table is made to fit; piped it is as wide as it is.

use crate::console::{self, visible};

/// Between two columns.
const GAP: usize = 2;
/// Names are not shortened further than to so many characters.
const LEAST: usize = 16;

/// Rows as text: columns as wide as their widest cell, the first to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    within(rows, console::width())
}

/// The same, no wider than so many characters: first names are shortened in the middle, then the columns that find no place come in
/// further tables below, each with the first column again.
fn within(rows: &[Vec<String>], most: Option<usize>) -> String {
    let Some(most) = most.filter(|most| total(&widths(rows)) > *most) else { return plain(rows) };
    let rows = shortened(rows, most);
    let widths = widths(&rows);
    if total(&widths) <= most {
        return plain(&rows);
    }
    let mut text = String::new();
    let mut next = 1;
    while next < widths.len() {
        let mut chosen = vec![0, next];
        next += 1;
        let width = |chosen: &[usize]| total(&chosen.iter().map(|at| widths[*at]).collect::<Vec<_>>());
        while next < widths.len() && width(&chosen) + GAP + widths[next] <= most {
            chosen.push(next);
            next += 1;
        }
        let cell = |row: &Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
        let part = |row: &Vec<String>| chosen.iter().map(|at| cell(row, *at)).collect();
        text.push_str(&plain(&rows.iter().map(part).collect::<Vec<Vec<String>>>()));
        if next < widths.len() {
            text.push('\n');
        }
    }
    if text.is_empty() { plain(&rows) } else { text }
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn plain(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - visible(cell));
            let gap = if at > 0 { "  " } else { "" };
            let (before, after) = if at == 0 { (String::new(), pad) } else { (pad, String::new()) };
            line.push_str(&format!("{gap}{before}{cell}{after}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The widest columns of names, shortened in turn until all fits or none can be.
fn shortened(rows: &[Vec<String>], most: usize) -> Vec<Vec<String>> {
    let mut widths: Vec<(usize, bool)> =
        widths(rows).into_iter().enumerate().map(|(at, width)| (width, is_names(rows, at))).collect();
    let sum = |widths: &[(usize, bool)]| total(&widths.iter().map(|(width, _)| *width).collect::<Vec<_>>());
    while sum(&widths) > most {
        let longest = widths.iter_mut().filter(|(width, is_names)| *is_names && *width > LEAST);
        match longest.max_by_key(|(width, _)| *width) {
            Some((width, _)) => *width -= 1,
            None => break,
        }
    }
    let cell = |(cell, (width, _)): (&String, &(usize, bool))| ellipsis(cell, *width);
    rows.iter().map(|row| row.iter().zip(&widths).map(cell).collect()).collect()
}

/// Whether a column has names rather than figures, of which no digit may be lost.
fn is_names(rows: &[Vec<String>], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
    // The first row may be that of the headings.
    let is_name = |cell: &str| cell.chars().next().is_some_and(char::is_alphabetic) || cell.contains('/');
    cells.skip(usize::from(rows.len() > 1)).any(is_name)
}

/// A text of at most so many characters, with … in the middle if it had more.
fn ellipsis(text: &str, most: usize) -> String {
    // Padding at the ends of left-aligned cells goes first.
    let trimmed = if visible(text) > most { text.trim_end() } else { text };
    let count = visible(trimmed);
    if count <= most || most < 3 || trimmed.contains('\u{1b}') {
        return trimmed.to_owned();
    }
    let (begin, end) = (most / 2, most - most / 2 - 1);
    let first: String = trimmed.chars().take(begin).collect();
    let last: String = trimmed.chars().skip(count - end).collect();
    format!("{first}…{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn what_is_piped_is_as_wide_as_it_is() {
        let long = "a".repeat(300);
        let text = within(&rows(&[&["name", "size"], &[&long, "1"]]), None);
        assert_eq!(text.lines().nth(1).unwrap(), format!("{long}     1"));
    }

    #[test]
    fn names_are_shortened_in_the_middle_and_figures_never() {
        let name = "allreduce_hierarchical(gpus=8, inner=1, outer=2)";
        let table = rows(&[&["algorithm", "time"], &[name, "123456789012345 ns"]]);
        let text = within(&table, Some(50));
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        // 50 less 18 of the time and 2 between: 15 at the beginning, 14 at the end.
        assert!(text.contains("allreduce_hiera…er=1, outer=2)  123456789012345 ns"), "{text}");
        assert_eq!(within(&table, Some(200)), within(&table, None));
    }

    #[test]
    fn columns_without_a_place_come_below_with_the_first_column() {
        let table = rows(&[&["rank", "1111111111", "2222222222", "3333333333"], &["0", "1", "2", "3"]]);
        let text = within(&table, Some(30));
        assert_eq!(
            text,
            "rank  1111111111  2222222222\n0              1           2\n\nrank  3333333333\n0              3\n"
        );
    }

    #[test]
    fn colours_do_not_move_columns() {
        let table = rows(&[&["verdict", "\u{1b}[32mpass\u{1b}[0m"], &["post-condition", "holds"]]);
        let text = within(&table, None);
        let pad = " ".repeat(10);
        assert_eq!(text, format!("verdict{pad}\u{1b}[32mpass\u{1b}[0m\npost-condition  holds\n"));
    }
}
