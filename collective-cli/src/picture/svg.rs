//! The few shapes of SVG that pictures need.

use std::fmt::Write;

/// A picture under way.
pub(super) struct Svg {
    text: String,
}

/// A place: from the left, from the top.
pub(super) type Point = (f64, f64);

/// Where a text stands to its point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// To the right of it.
    Start,
    Middle,
    /// To the left of it.
    End,
}

/// How text stands.
#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) anchor: Anchor,
    pub(super) colour: &'static str,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { size: 12.0, bold: false, anchor: Anchor::Start, colour: "#111827" }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(super) struct Stroke<'a> {
    pub(super) colour: &'a str,
    pub(super) width: f64,
    /// Lengths of dashes and gaps; empty for a line without.
    pub(super) dashes: &'a str,
}

/// About how wide a text is; wide rather than narrow, as fonts differ.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.6
}

/// The same of bold text.
pub(super) fn bold_width(text: &str, size: f64) -> f64 {
    1.15 * text_width(text, size)
}

/// As much of a text as is about so wide; the end stays where it has to be cut, as names differ there.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    // What is measured by `text_width` fits.
    let most = (width / (size * 0.6) + 1e-6).floor().max(3.0) as usize;
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (front, back) = ((most - 1) / 2, (most - 1) - (most - 1) / 2);
    let begin: String = text.chars().take(front).collect();
    let end: String = text.chars().skip(count - back).collect();
    format!("{begin}…{end}")
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let (width, height) = (width.ceil(), height.ceil());
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        Self { text }
    }

    pub(super) fn line(&mut self, from: Point, to: Point, colour: &str, width: f64) {
        let [x1, y1, x2, y2, width] = [from.0, from.1, to.0, to.1, width].map(tenths);
        self.push(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A line through points.
    pub(super) fn polyline(&mut self, points: &[Point], stroke: Stroke<'_>, tooltip: &str) {
        let mut path = String::new();
        for (at, point) in points.iter().enumerate() {
            let _ =
                write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, tenths(point.0), tenths(point.1));
        }
        let dashes = match stroke.dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let (colour, width) = (stroke.colour, tenths(stroke.width));
        self.with_tooltip(
            "path",
            format_args!(
                " d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}"
            ),
            tooltip,
        );
    }

    /// A closed shape.
    pub(super) fn polygon(&mut self, corners: &[Point], fill: &str) {
        let mut path = String::new();
        for (at, point) in corners.iter().enumerate() {
            let _ =
                write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, tenths(point.0), tenths(point.1));
        }
        self.push(format_args!("<path d=\"{path}Z\" fill=\"{fill}\"/>"));
    }

    /// A quadratic curve.
    pub(super) fn curve(&mut self, from: Point, control: Point, to: Point, colour: &str, width: f64) {
        let [x1, y1, x2, y2, x3, y3, width] =
            [from.0, from.1, control.0, control.1, to.0, to.1, width].map(tenths);
        self.push(format_args!(
            "<path d=\"M{x1} {y1}Q{x2} {y2} {x3} {y3}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// The head of an arrow that comes from `from` and ends at `tip`.
    pub(super) fn arrow_head(&mut self, from: Point, tip: Point, colour: &str) {
        let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (dx, dy) = (dx / length * 9.0, dy / length * 9.0);
        let back = (tip.0 - dx, tip.1 - dy);
        let corners =
            [tip, (back.0 - dy * 0.45, back.1 + dx * 0.45), (back.0 + dy * 0.45, back.1 - dx * 0.45)];
        self.polygon(&corners, colour);
    }

    pub(super) fn circle(&mut self, centre: Point, radius: f64, fill: &str, stroke: &str) {
        let [x, y, radius] = [centre.0, centre.1, radius].map(tenths);
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
        ));
    }

    pub(super) fn rectangle(
        &mut self,
        centre: Point,
        half_width: f64,
        half_height: f64,
        corner: f64,
        fill: &str,
        stroke: &str,
    ) {
        let [x, y] = [centre.0 - half_width, centre.1 - half_height].map(tenths);
        let [width, height] = [2.0 * half_width, 2.0 * half_height].map(tenths);
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{corner}\" fill=\"{fill}\" \
             stroke=\"{stroke}\"/>"
        ));
    }

    /// A box without a line around it, from its upper left corner. A tooltip may be empty.
    pub(super) fn area(&mut self, corner: Point, size: (f64, f64), fill: &str, tooltip: &str) {
        let ((x, width), (y, height)) = (snapped(corner.0, size.0), snapped(corner.1, size.1));
        self.with_tooltip(
            "rect",
            format_args!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\""),
            tooltip,
        );
    }

    /// The same with a line around it.
    pub(super) fn outlined(
        &mut self,
        corner: Point,
        size: (f64, f64),
        fill: &str,
        stroke: &str,
        tooltip: &str,
    ) {
        let ((x, width), (y, height)) = (snapped(corner.0, size.0), snapped(corner.1, size.1));
        self.with_tooltip(
            "rect",
            format_args!(
                " x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"{stroke}\" \
                 stroke-width=\"1.5\""
            ),
            tooltip,
        );
    }

    pub(super) fn text(&mut self, at: Point, text: &str, style: TextStyle) {
        let [x, y, size] = [at.0, at.1, style.size].map(tenths);
        let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (colour, text) = (style.colour, escaped(text));
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{weight}{anchor}>{text}</text>"
        ));
    }

    /// Text from below to above, its middle at a point.
    pub(super) fn upright_text(&mut self, at: Point, text: &str, size: f64) {
        let ([x, y, size], text) = ([at.0, at.1, size].map(tenths), escaped(text));
        self.push(format_args!(
            "<text transform=\"translate({x} {y}) rotate(-90)\" font-size=\"{size}\" fill=\"#111827\" \
             text-anchor=\"middle\">{text}</text>"
        ));
    }

    /// What a browser shows when the pointer rests on the last shape's text.
    pub(super) fn title(&mut self, text: &str) {
        let end = "</text>\n";
        if self.text.ends_with(end) {
            self.text.truncate(self.text.len() - end.len());
            self.push(format_args!("<title>{}</title></text>", escaped(text)));
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn with_tooltip(&mut self, element: &str, attributes: std::fmt::Arguments<'_>, tooltip: &str) {
        if tooltip.is_empty() {
            self.push(format_args!("<{element}{attributes}/>"));
        } else {
            let tooltip = escaped(tooltip);
            self.push(format_args!("<{element}{attributes}><title>{tooltip}</title></{element}>"));
        }
    }

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{shape}");
    }
}

/// A tenth of a pixel is fine enough; so files stay small, and the same on every machine.
fn tenths(value: f64) -> f64 {
    // Without a negative zero.
    (value * 10.0).round() / 10.0 + 0.0
}

/// Half a pixel is a whole one of a PNG, so that edges are sharp there and neighbours touch.
fn halves(value: f64) -> f64 {
    (value * 2.0).round() / 2.0 + 0.0
}

/// Where an area begins and how far it goes, so that its end is rounded as the begin of the next one.
fn snapped(begin: f64, length: f64) -> (f64, f64) {
    let from = halves(begin);
    (from, halves(begin + length) - from)
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Tooltips have lines.
            '\n' => out.push('\n'),
            // XML has no other control characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_document() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text((1.0, 2.0), "a<b> & \"c\"\u{7}", TextStyle::default());
        let text = svg.finish();
        assert!(text.contains(">a&lt;b&gt; &amp; &quot;c&quot; </text>"), "{text}");
    }

    #[test]
    fn a_name_that_is_cut_keeps_its_end() {
        assert_eq!(fitted("channels=16", 10.0, 100.0), "channels=16");
        assert_eq!(fitted("allreduce_ring channels=16", 10.0, 72.0), "allre…els=16");
    }
}
