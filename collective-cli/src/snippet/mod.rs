//! The lines of a file at fault, with a mark under what is wrong.

mod marked;

use std::fs;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use self::marked::Marked;

/// Larger files are generated, and are not read again to show a line of them.
const MOST_BYTES: u64 = 256 << 20;

/// A place in a file, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, as it is opened.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: Option<u64>,
    /// The column in the line, from 1.
    pub(crate) column: Option<u64>,
    /// The bytes in the file; goes before line and column.
    pub(crate) span: Option<Range<usize>>,
}

impl Place {
    /// A line of a file.
    pub(crate) fn line(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line: Some(line), ..Self::default() }
    }

    /// Bytes of a file, or, where they are not known, a line.
    pub(crate) fn of(file: impl Into<String>, line: Option<u64>, span: Option<Range<usize>>) -> Self {
        Self { file: file.into(), line, column: None, span }
    }

    /// The lines around it as text; none if the place is not known or the file cannot be read, now.
    pub(crate) fn shown(&self, is_coloured: bool, width: usize) -> Option<String> {
        if self.line.is_none() && self.span.is_none() {
            return None;
        }
        let path = Path::new(&self.file);
        let there = fs::metadata(path).ok()?;
        if !there.is_file() || there.len() > MOST_BYTES {
            return None;
        }
        let text = fs::read(path).ok()?;
        self.shown_in(&String::from_utf8_lossy(&text), is_coloured, width)
    }

    /// The same of a text.
    fn shown_in(&self, text: &str, is_coloured: bool, width: usize) -> Option<String> {
        let Marked { shown, first, mark } = marked::find(self, text)?;
        let snippet = Snippet::source(shown)
            .path(self.file.as_str())
            .line_start(first)
            .fold(false)
            .annotation(AnnotationKind::Primary.span(mark));
        let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(width);
        Some(renderer.render(&[Group::with_level(Level::ERROR).element(snippet)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[dimension]]\nkind = \"ring\"\nsize = 0\n";

    #[test]
    fn a_span_is_marked_in_its_line() {
        let at = TEXT.find("0").unwrap();
        let place = Place::of("a.toml", Some(3), Some(at..at + 1));
        let shown = place.shown_in(TEXT, false, 100).unwrap();
        assert!(shown.contains("--> a.toml:3:8"), "{shown}");
        assert!(shown.contains("3 | size = 0\n") && shown.ends_with("       ^"), "{shown}");
        assert!(!shown.contains('\u{1b}') && place.shown_in(TEXT, true, 100).unwrap().contains('\u{1b}'));
    }

    #[test]
    fn a_line_alone_is_marked_as_a_whole() {
        let shown = Place::line("a.toml", 2).shown_in(TEXT, false, 100).unwrap();
        assert!(shown.contains("2 | kind = \"ring\"\n") && shown.contains("^^^^^^^^^^^^^"), "{shown}");
    }

    #[test]
    fn a_place_that_is_not_there_is_not_shown() {
        assert_eq!(Place::line("a.toml", 9).shown_in(TEXT, false, 100), None);
        assert_eq!(Place::of("a.toml", None, Some(90..99)).shown_in(TEXT, false, 100), None);
        assert_eq!(Place::line("no/such/file", 1).shown(false, 100), None);
        assert_eq!(Place::default().shown(false, 100), None);
        assert_eq!(Place::line(std::env::temp_dir().display().to_string(), 1).shown(false, 100), None);
    }

    #[test]
    fn odd_texts_do_no_harm() {
        for text in ["", "\n", "ä", "\u{feff}ä\r\nö\r\n", "\t\tx", "no end"] {
            for span in [0..0, 0..1, 1..2, 0..100, 3..3, Range { start: 5, end: 2 }] {
                let _ = Place::of("f", None, Some(span)).shown_in(text, false, 30);
            }
            for line in 0..4 {
                let _ = Place { column: Some(7), ..Place::line("f", line) }.shown_in(text, false, 30);
            }
        }
        let long = format!("<algo {}>", "x='1' ".repeat(10_000));
        let shown = Place::of("f.xml", None, Some(30_000..30_001)).shown_in(&long, false, 80).unwrap();
        assert!(shown.lines().all(|line| line.chars().count() <= 90), "{shown}");
    }
}
