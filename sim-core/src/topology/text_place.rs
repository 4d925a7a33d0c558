//! A place in the text of a file.

use std::ops::Range;

/// Where in a text something is, as far as that is known.
///
/// ```
/// use sim_core::topology::TextPlace;
///
/// let place = TextPlace::of("a = 1\nb = 2\n", &(10..11));
/// assert_eq!((place.line, place.span), (Some(2), Some(10..11)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TextPlace {
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The bytes of the text.
    pub span: Option<Range<usize>>,
}

impl TextPlace {
    /// A place of which this is known.
    #[must_use]
    pub fn new(line: Option<u64>, span: Option<Range<usize>>) -> Self {
        Self { line, span }
    }

    /// The bytes of a text, and the line in which they begin.
    #[must_use]
    pub fn of(text: &str, span: &Range<usize>) -> Self {
        let before = text.as_bytes().get(..span.start);
        let line = before.map(|before| before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1);
        Self { line, span: line.map(|_| span.clone()) }
    }
}
