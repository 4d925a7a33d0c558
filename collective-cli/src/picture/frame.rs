//! What stands around a picture: a title above, notes below.

use super::axis::{Scale, Tick};
use super::colours::{FAINT, GRID, INK};
use super::svg::{Anchor, Svg, TextStyle, bold_width, fitted, text_width};

/// Between the picture and its border.
pub(super) const MARGIN: f64 = 24.0;
const LINE: f64 = 16.0;
const NOTE: TextStyle = TextStyle { size: 11.0, bold: false, anchor: Anchor::Start, colour: FAINT };
/// The size of the text at ticks.
pub(super) const SMALL: f64 = 11.0;

/// Title and notes, broken into lines for a width.
pub(super) struct Frame {
    title: String,
    subtitle: Vec<String>,
    notes: Vec<String>,
    pub(super) width: f64,
}

impl Frame {
    pub(super) fn new(title: &str, subtitle: &str, notes: &[String], width: f64) -> Self {
        let inside = width - 2.0 * MARGIN;
        let size = 16.0;
        let title = if bold_width(title, size) > inside {
            fitted(title, size, inside / 1.15)
        } else {
            title.to_owned()
        };
        let subtitle = wrapped(subtitle, inside / (12.5 * 0.56));
        let notes = notes.iter().flat_map(|note| wrapped(note, inside / (NOTE.size * 0.56))).collect();
        Self { title, subtitle, notes, width }
    }

    /// Where the picture begins.
    pub(super) fn top(&self) -> f64 {
        MARGIN + 22.0 + LINE * self.subtitle.len() as f64 + 10.0
    }

    /// What the notes take below a picture, with the margin.
    pub(super) fn below(&self) -> f64 {
        let notes = if self.notes.is_empty() { 0.0 } else { 10.0 + LINE * self.notes.len() as f64 };
        notes + MARGIN * 0.7
    }

    /// A picture with its title, and with its notes below `bottom`.
    pub(super) fn begin(&self, bottom: f64) -> Svg {
        let mut svg = Svg::new(self.width, bottom + self.below());
        svg.text(
            (MARGIN, MARGIN + 12.0),
            &self.title,
            TextStyle { size: 16.0, bold: true, ..TextStyle::default() },
        );
        for (at, line) in (0..).zip(&self.subtitle) {
            let y = MARGIN + 12.0 + 18.0 + LINE * f64::from(at);
            svg.text((MARGIN, y), line, TextStyle { size: 12.5, colour: FAINT, ..TextStyle::default() });
        }
        for (at, note) in (1..).zip(&self.notes) {
            svg.text((MARGIN, bottom + 6.0 + LINE * f64::from(at)), note, NOTE);
        }
        svg
    }
}

/// Lines of at most about so many characters, broken between words.
fn wrapped(text: &str, most: f64) -> Vec<String> {
    let most = (most as usize).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A time axis along the top of rows, with lines down to `bottom`.
pub(super) fn time_axis(svg: &mut Svg, scale: &Scale, ticks: &[Tick], top: f64, bottom: f64) {
    for tick in ticks {
        let x = scale.at(tick.value);
        svg.line((x, top), (x, bottom), GRID, 1.0);
        let style = TextStyle { size: SMALL, anchor: Anchor::Middle, colour: INK, ..TextStyle::default() };
        svg.text((x, top - 6.0), &tick.label, style);
    }
}

/// A legend in lines of at most a width: coloured boxes with what they mean.
pub(super) struct Legend<'a> {
    places: Vec<(f64, f64, &'a str, &'a str)>,
    pub(super) height: f64,
}

impl<'a> Legend<'a> {
    pub(super) fn new(entries: &[(&'a str, &'a str)], width: f64) -> Self {
        let (mut x, mut y, mut places) = (0.0, 0.0, Vec::new());
        for (colour, text) in entries {
            let wide = 18.0 + text_width(text, SMALL) + 16.0;
            if x > 0.0 && x + wide > width {
                (x, y) = (0.0, y + 18.0);
            }
            places.push((x, y, *colour, *text));
            x += wide;
        }
        Self { height: if places.is_empty() { 0.0 } else { y + 18.0 }, places }
    }

    pub(super) fn draw(&self, svg: &mut Svg, corner: (f64, f64)) {
        for (x, y, colour, text) in &self.places {
            let (x, y) = (corner.0 + x, corner.1 + y);
            match colour.strip_prefix("outline ") {
                Some(stroke) => svg.outlined((x + 0.75, y + 1.75), (10.5, 10.5), "#ffffff", stroke, ""),
                None => svg.area((x, y + 1.0), (12.0, 12.0), colour, ""),
            }
            svg.text((x + 18.0, y + 11.0), text, TextStyle { size: SMALL, ..TextStyle::default() });
        }
    }
}
