//! How wide lines are, and may be.

/// Of a terminal that does not say how wide it is.
pub(super) const USUAL: usize = 100;
/// Narrower ones cannot hold a table.
const LEAST: usize = 20;

/// How wide lines to a terminal may be: as the variable COLUMNS says, else as the terminal does. What is no terminal has no limit.
pub(super) fn of_terminal(
    is_terminal: bool,
    environment: &dyn Fn(&str) -> Option<String>,
    asked: impl FnOnce() -> Option<usize>,
) -> Option<usize> {
    let stated = || environment("COLUMNS").and_then(|text| text.trim().parse().ok());
    let width = || stated().filter(|width| *width > 0).or_else(asked).unwrap_or(USUAL);
    is_terminal.then(|| width().max(LEAST))
}

/// The characters that are seen: all but the escape sequences of colours.
pub(crate) fn visible(text: &str) -> usize {
    let mut seen = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // `ESC [ … m`
            for inside in characters.by_ref() {
                if inside.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            seen += 1;
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_that_of_the_terminal_unless_columns_says_another() {
        let columns = |value: &'static str| move |name: &str| (name == "COLUMNS").then(|| value.to_owned());
        let none = |_: &str| None;
        assert_eq!(of_terminal(true, &none, || Some(80)), Some(80));
        assert_eq!(of_terminal(true, &none, || None), Some(100));
        assert_eq!(of_terminal(true, &columns("60"), || Some(80)), Some(60));
        assert_eq!(of_terminal(true, &columns("wide"), || Some(80)), Some(80));
        assert_eq!(of_terminal(true, &columns("0"), || Some(80)), Some(80));
        assert_eq!(of_terminal(true, &columns("1"), || Some(80)), Some(20));
        assert_eq!(of_terminal(false, &columns("60"), || Some(80)), None, "what is piped is not cut");
    }

    #[test]
    fn colours_are_not_seen() {
        assert_eq!(visible("\u{1b}[1m\u{1b}[32mpass\u{1b}[0m ×"), 6);
        assert_eq!(visible(""), 0);
    }
}
