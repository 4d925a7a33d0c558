//! The few shapes of SVG that pictures need.

use std::fmt::Write;

/// A picture under way.
pub(super) struct Svg {
    text: String,
}

/// How text stands.
#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) centred: bool,
    pub(super) colour: &'static str,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { size: 12.0, bold: false, centred: false, colour: "#111827" }
    }
}

/// About how wide a text is; wide rather than narrow, as fonts differ.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.6
}

/// The same of bold text.
pub(super) fn bold_width(text: &str, size: f64) -> f64 {
    1.15 * text_width(text, size)
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

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let [x1, y1, x2, y2, width] = [from.0, from.1, to.0, to.1, width].map(tenths);
        self.push(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A quadratic curve.
    pub(super) fn curve(
        &mut self,
        from: (f64, f64),
        control: (f64, f64),
        to: (f64, f64),
        colour: &str,
        width: f64,
    ) {
        let [x1, y1, x2, y2, x3, y3, width] =
            [from.0, from.1, control.0, control.1, to.0, to.1, width].map(tenths);
        self.push(format_args!(
            "<path d=\"M{x1} {y1}Q{x2} {y2} {x3} {y3}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// The head of an arrow that comes from `from` and ends at `tip`.
    pub(super) fn arrow_head(&mut self, from: (f64, f64), tip: (f64, f64), colour: &str) {
        let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (dx, dy) = (dx / length * 9.0, dy / length * 9.0);
        let back = (tip.0 - dx, tip.1 - dy);
        let corners =
            [tip.0, tip.1, back.0 - dy * 0.45, back.1 + dx * 0.45, back.0 + dy * 0.45, back.1 - dx * 0.45];
        let [x1, y1, x2, y2, x3, y3] = corners.map(tenths);
        self.push(format_args!("<path d=\"M{x1} {y1}L{x2} {y2}L{x3} {y3}Z\" fill=\"{colour}\"/>"));
    }

    pub(super) fn circle(&mut self, centre: (f64, f64), radius: f64, fill: &str, stroke: &str) {
        let [x, y, radius] = [centre.0, centre.1, radius].map(tenths);
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
        ));
    }

    pub(super) fn rectangle(
        &mut self,
        centre: (f64, f64),
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

    pub(super) fn text(&mut self, at: (f64, f64), text: &str, style: TextStyle) {
        let [x, y, size] = [at.0, at.1, style.size].map(tenths);
        let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
        let anchor = if style.centred { " text-anchor=\"middle\"" } else { "" };
        let (colour, text) = (style.colour, escaped(text));
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{weight}{anchor}>{text}</text>"
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

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{shape}");
    }
}

/// A tenth of a pixel is fine enough; so files stay small, and the same on every machine.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no other control characters.
            c if c.is_control() => out.push(' '),
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
}
