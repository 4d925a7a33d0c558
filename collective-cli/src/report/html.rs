//! HTML as text, in which nothing that comes from outside can be more than text.

use std::fmt::Write;

/// A page, or a part of one.
#[derive(Default)]
pub(super) struct Html {
    text: String,
}

impl Html {
    /// Opens an element. The values of attributes are escaped.
    pub(super) fn open(&mut self, element: &'static str, attributes: &[(&'static str, &str)]) {
        self.text.push('<');
        self.text.push_str(element);
        for (name, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push('>');
    }

    /// Closes an element.
    pub(super) fn close(&mut self, element: &'static str) {
        let _ = writeln!(self.text, "</{element}>");
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(&escaped(text));
    }

    /// An element that holds nothing but text.
    pub(super) fn element(&mut self, element: &'static str, attributes: &[(&'static str, &str)], text: &str) {
        self.open(element, attributes);
        self.text(text);
        self.close(element);
    }

    /// What is part of the program: a style, a script, marks.
    pub(super) fn own(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// A picture of [`crate::picture`], which has escaped what is in it. A page needs no name space.
    pub(super) fn picture(&mut self, svg: &str) {
        self.text.push_str(&svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1));
    }

    pub(super) fn append(&mut self, part: Html) {
        self.text.push_str(&part.text);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Text that is nothing but text, in content and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            // Also those that change the direction of what follows.
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        let mut html = Html::default();
        html.element("p", &[("title", "\" onclick='x'")], "</p><script>alert(1)</script>\u{0}\u{202e}");
        assert_eq!(
            html.finish(),
            "<p title=\"&quot; onclick=&#39;x&#39;\">&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}\u{fffd}</p>\n"
        );
    }
}
