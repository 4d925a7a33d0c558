//! The lines of a text that a place is in.

use std::ops::Range;

use super::Place;

/// Lines of a text, and which bytes of them are marked.
pub(super) struct Marked<'a> {
    pub(super) shown: &'a str,
    /// The number of the first line, from 1.
    pub(super) first: usize,
    /// Never of more than one line.
    pub(super) mark: Range<usize>,
}

/// The line of a place with the one before it; none if the text has no such place.
pub(super) fn find<'a>(place: &Place, text: &'a str) -> Option<Marked<'a>> {
    let span = match (&place.span, place.line) {
        (Some(span), _) => span.clone(),
        (None, Some(line)) => of_line(text, usize::try_from(line).ok()?, place.column)?,
        (None, None) => return None,
    };
    if span.start > text.len() || text.is_empty() {
        return None;
    }
    // Bytes that are no borders of characters come from a file that has changed since.
    let start = floor(text, span.start);
    let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line_end = begin + text[begin..end].trim_end().len();
    let (start, stop) = (start.min(line_end), floor(text, span.end.min(line_end)));
    let number = text[..begin].matches('\n').count() + 1;
    // The line before says where one is, unless it is empty.
    let before = begin.checked_sub(1).map_or(begin, |at| text[..at].rfind('\n').map_or(0, |at| at + 1));
    let (from, first) =
        if text[before..begin].trim().is_empty() { (begin, number) } else { (before, number - 1) };
    let shown = &text[from..line_end];
    // A mark of no width is one character.
    let stop = stop.max(start);
    Some(Marked { shown, first, mark: start - from..stop - from })
}

/// The bytes of a line without the spaces around it, or of the word in a column.
fn of_line(text: &str, line: usize, column: Option<u64>) -> Option<Range<usize>> {
    let index = line.checked_sub(1)?;
    let begin: usize = text.split_inclusive('\n').take(index).map(str::len).sum();
    let this = text.split_inclusive('\n').nth(index)?;
    let indent = this.len() - this.trim_start().len();
    let whole = begin + indent..begin + this.trim_end().len().max(indent);
    let Some(at) = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1)) else {
        return Some(whole);
    };
    let Some((offset, _)) = this.char_indices().nth(at) else { return Some(whole) };
    let word = this[offset..].find(|c: char| !c.is_alphanumeric() && c != '_');
    let length = word.unwrap_or(this.len() - offset).max(1);
    Some(begin + offset..begin + offset + length)
}

/// The border of a character at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
