//! Figures as people read them.

use collective::sim::units::Picos;

/// The share of a whole; nothing of nothing.
pub(super) fn percent(part: Picos, whole: Picos) -> String {
    if whole == Picos::ZERO {
        return "-".to_owned();
    }
    format!("{:.1} %", part.0 as f64 / whole.0 as f64 * 100.0)
}

/// A text of at most so many characters; of a longer one the middle is left out, as names differ at their ends too.
pub(super) fn shortened(text: &str, most: usize) -> String {
    // Names come from files, and a terminal obeys control characters; marks of direction turn the whole line round.
    let is_plain = |letter: char| {
        !letter.is_control()
            && !('\u{202a}'..='\u{202e}').contains(&letter)
            && !('\u{2066}'..='\u{2069}').contains(&letter)
    };
    let plain = |letter: char| if is_plain(letter) { letter } else { '\u{fffd}' };
    let count = text.chars().count();
    if count <= most {
        return text.chars().map(plain).collect();
    }
    let kept = most.saturating_sub(1);
    let (begin, end) = (kept.div_ceil(2), kept / 2);
    let head = text.chars().take(begin).map(plain);
    let tail = text.chars().skip(count - end).map(plain);
    head.chain(['…']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_obeyed_by_no_terminal() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "a…d");
        assert_eq!(shortened("layer 11 backward bucket", 11), "layer…ucket");
        assert_eq!(shortened("a\u{1b}[31m\n\u{202e}b", 20), "a\u{fffd}[31m\u{fffd}\u{fffd}b");
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(percent(Picos(1), Picos(3)), "33.3 %");
        assert_eq!(percent(Picos(0), Picos(0)), "-");
        assert_eq!((shortened("four", 4), shortened("fünffer", 5)), ("four".to_owned(), "fü…er".to_owned()));
    }
}
