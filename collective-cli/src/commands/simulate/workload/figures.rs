//! Figures as people read them.

use collective::sim::units::{Bytes, Picos};

/// Microseconds, to the nanosecond.
pub(super) fn micros(time: Picos) -> String {
    let nanos = time.0 / 1000 + u64::from(time.0 % 1000 >= 500);
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}

/// The share of a whole; nothing of nothing.
pub(super) fn percent(part: Picos, whole: Picos) -> String {
    if whole == Picos::ZERO {
        return "-".to_owned();
    }
    format!("{:.1} %", part.0 as f64 / whole.0 as f64 * 100.0)
}

/// A size in few characters: exactly where that is short, else with one decimal.
pub(super) fn size(bytes: u64) -> String {
    let exact = Bytes(bytes).to_string();
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if exact.len() > 8 => format!("{:.1} {name}", bytes as f64 / unit as f64),
        _ => exact,
    }
}

/// A text of at most so many characters, the rest left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    // Names come from files, and a terminal obeys control characters; marks of direction turn the whole line round.
    let is_plain = |letter: char| {
        !letter.is_control()
            && !('\u{202a}'..='\u{202e}').contains(&letter)
            && !('\u{2066}'..='\u{2069}').contains(&letter)
    };
    let plain = |letter: char| if is_plain(letter) { letter } else { '\u{fffd}' };
    let mut short: String = text.chars().take(most).map(plain).collect();
    if text.chars().nth(most).is_some() {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_obeyed_by_no_terminal() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
        assert_eq!(shortened("a\u{1b}[31m\n\u{202e}b", 20), "a\u{fffd}[31m\u{fffd}\u{fffd}b");
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(micros(Picos(1_234_567_500)), "1234.568");
        assert_eq!(micros(Picos(499)), "0.000");
        assert_eq!(percent(Picos(1), Picos(3)), "33.3 %");
        assert_eq!(percent(Picos(0), Picos(0)), "-");
        assert_eq!(
            (size(1 << 20), size(1000), size(0)),
            ("1 MiB".to_owned(), "1 KB".to_owned(), "0 B".to_owned())
        );
        assert_eq!(size(1_234_567_890), "1.1 GiB");
        assert_eq!(size(1 << 13), "8 KiB");
        assert_eq!((shortened("four", 4), shortened("fünfer", 4)), ("four".to_owned(), "fün…".to_owned()));
    }
}
