//! XML text to a tree of elements, each with its line. Knows nothing of algorithms.

use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::error::XmlError;

/// Elements nest three deep; more than this is no algorithm, and would only serve to exhaust the stack.
const MAX_DEPTH: usize = 32;

/// An element with its children; text and comments are dropped.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// Counted from 1.
    pub(super) line: u32,
    /// Where it begins in the text.
    pub(super) begin: usize,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
}

/// The root element of a document.
///
/// # Errors
/// The text is not well-formed, or nests without need.
pub(super) fn parse(text: &str, file: &str) -> Result<Element, XmlError> {
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    loop {
        let begins = reader.buffer_position();
        let event = reader.read_event();
        let line = lines.of(begins);
        let bad = |message: String| XmlError::Syntax { file: file.to_owned(), line, message };
        let closed = match event {
            Ok(Event::Start(start)) => {
                if open.len() == MAX_DEPTH {
                    return Err(bad(format!("elements nest more than {MAX_DEPTH} deep")));
                }
                open.push(element(&start, line, begins).map_err(bad)?);
                continue;
            }
            Ok(Event::Empty(start)) => element(&start, line, begins).map_err(bad)?,
            Ok(Event::End(_)) => match open.pop() {
                Some(element) => element,
                None => return Err(bad("an element ends that never began".to_owned())),
            },
            Ok(Event::Text(text)) if open.is_empty() && !text.trim_ascii().is_empty() => {
                return Err(bad("text outside the root element".to_owned()));
            }
            Ok(Event::Eof) => break,
            Ok(_) => continue,
            Err(error) => {
                let line = lines.of(reader.error_position());
                return Err(XmlError::Syntax { file: file.to_owned(), line, message: error.to_string() });
            }
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None if root.is_none() => root = Some(closed),
            None => return Err(bad("there is a second root element".to_owned())),
        }
    }
    let line = lines.of(text.len() as u64);
    let bad = |message: String| Err(XmlError::Syntax { file: file.to_owned(), line, message });
    match (open.last(), root) {
        (Some(element), _) => bad(format!("<{}> of line {} is never closed", element.name, element.line)),
        (None, None) => bad("there is no element".to_owned()),
        (None, Some(root)) => Ok(root),
    }
}

fn element(start: &BytesStart<'_>, line: u32, begin: u64) -> Result<Element, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.into_inner().to_owned();
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| format!("attribute {name}: {error}"))?;
        if let Some(character) = value.chars().find(|c| *c < ' ' && !matches!(c, '\t' | '\n' | '\r')) {
            let code = u32::from(character);
            return Err(format!("attribute {name}: XML has no character U+{code:04X}"));
        }
        attributes.push((name, value.into_owned()));
    }
    let (name, children) = (start.name().into_inner().to_owned(), Vec::new());
    // A text in memory is as long as addresses go.
    let begin = usize::try_from(begin).unwrap_or(usize::MAX);
    Ok(Element { name, line, begin, attributes, children })
}

impl Element {
    /// Writes the element as one line a tag.
    pub(super) fn write(&self, indent: usize, out: &mut String) {
        let pad = "  ".repeat(indent);
        out.push_str(&format!("{pad}<{}", self.name));
        for (name, value) in &self.attributes {
            attribute(out, name, value);
        }
        if self.children.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        for child in &self.children {
            child.write(indent + 1, out);
        }
        out.push_str(&format!("{pad}</{}>\n", self.name));
    }
}

/// The attribute of the tag that begins at a byte of a text, from its name to its end.
pub(super) fn span_of(text: &str, begin: usize, name: &str) -> Option<Range<usize>> {
    let tag = text.get(begin..)?;
    let mut at = tag.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>'))?;
    // Name, sign and value by turns, as the reader has accepted them.
    loop {
        at += tag[at..].len() - tag[at..].trim_start().len();
        let sign = tag[at..].find('=')?;
        let found = tag[at..at + sign].trim_end();
        let value = at + sign + 1;
        let value = value + (tag[value..].len() - tag[value..].trim_start().len());
        let quote = tag[value..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let end = value + 1 + tag[value + 1..].find(quote)? + 1;
        if found == name {
            return Some(begin + at..begin + end);
        }
        at = end;
    }
}

/// Appends ` name="value"`.
pub(super) fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    out.push_str(&quick_xml::escape::escape(value));
    out.push('"');
}

/// Lines of growing positions, without counting from the start each time.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, position: u64) -> u32 {
        let position = usize::try_from(position).unwrap_or(usize::MAX).min(self.text.len());
        let bytes = self.text.as_bytes();
        if position < self.at {
            (self.at, self.line) = (0, 1);
        }
        let breaks = bytes[self.at..position].iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        self.at = position;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, "f.xml").unwrap_err().to_string()
    }

    #[test]
    fn comments_declarations_and_spaces_are_passed_over() {
        let text = "<?xml version='1.0'?>\n<!-- a -->\n<!-- b -->\n<algo\n a = 'x&amp;y' ><gpu id=\"0\" /><!-- c --></algo >\n";
        let root = parse(text, "f.xml").unwrap();
        assert_eq!((root.name.as_str(), root.line), ("algo", 4));
        assert_eq!(root.attributes, [("a".to_owned(), "x&y".to_owned())]);
        assert_eq!((root.children[0].name.as_str(), root.children[0].line), ("gpu", 5));
        let mut out = String::new();
        root.write(0, &mut out);
        assert_eq!(out, "<algo a=\"x&amp;y\">\n  <gpu id=\"0\"/>\n</algo>\n");
    }

    #[test]
    fn an_attribute_is_found_in_its_tag() {
        let text = "<a/>\n<b  one='2' two = \"x='9'\"\n\tthree='3'/>";
        let found = |name| span_of(text, 5, name).map(|span| &text[span]);
        assert_eq!(found("one"), Some("one='2'"));
        assert_eq!(found("two"), Some("two = \"x='9'\""));
        assert_eq!(found("three"), Some("three='3'"));
        assert_eq!(found("x"), None);
        assert_eq!((span_of(text, 0, "a"), span_of(text, 999, "a"), span_of("", 0, "a")), (None, None, None));
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_its_line() {
        assert_eq!(
            error("\n<a>\n<b>"),
            "f.xml:3: this is not well-formed XML: <b> of line 3 is never closed"
        );
        assert!(error("<a>\n</b>").starts_with("f.xml:2: "));
        assert!(error("").contains("there is no element"));
        assert!(error("<a/>\n<b/>").contains("f.xml:2: this is not well-formed XML: there is a second root"));
        assert!(error("<a x='1' x='2'/>").starts_with("f.xml:1: "));
        assert!(error("<a x='&nope;'/>").contains("attribute x"));
        assert!(error(&"<a>".repeat(100_000)).contains("nest more than 32 deep"));
    }
}
