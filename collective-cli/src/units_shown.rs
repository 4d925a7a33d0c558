//! Times and sizes as people read them; JSON and CSV have exact numbers with the unit in the name instead.
//!
//! A figure has at most [`DIGITS`] significant digits in the largest unit in which it is at least 1. It is rounded in whole
//! numbers, half up, so the same figure is the same text everywhere.

use collective::sim::units::{Bytes, Picos};

/// Significant digits. Whole units may have more: below 1024 of a binary unit there are four digits before the point.
const DIGITS: usize = 5;

const TIMES: &[(u64, &str)] =
    &[(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1000, "ns"), (1, "ps")];
const SIZES: &[(u64, &str)] =
    &[(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];

/// A time in the unit that suits it, rounded: `89.3 ms`, `20.627 us`, `0 ns`.
pub(crate) fn time(time: Picos) -> String {
    if time == Picos::ZERO { "0 ns".to_owned() } else { scaled(time.0, TIMES) }
}

/// The same with the exact nanoseconds behind, unless they say the same: `20.627 us (20626.5 ns)`, `500 ns`.
pub(crate) fn time_exact(time: Picos) -> String {
    with_exact(self::time(time), &time.to_string())
}

/// A size in the unit that suits it: exactly, where that is short (`64 MiB`, `1 GB`, `1536 B`), else rounded (`1.1774 MiB`).
pub(crate) fn size(bytes: Bytes) -> String {
    let exact = bytes.to_string();
    let digits = exact.chars().filter(char::is_ascii_digit).count();
    if digits <= DIGITS { exact } else { scaled(bytes.0, SIZES) }
}

/// The same with the exact bytes behind, unless they say the same: `64 MiB (67108864 B)`.
pub(crate) fn size_exact(bytes: Bytes) -> String {
    with_exact(size(bytes), &format!("{} B", bytes.0))
}

fn with_exact(shown: String, exact: &str) -> String {
    if shown == exact { shown } else { format!("{shown} ({exact})") }
}

/// In the largest unit in which the rounded value is at least 1; units begin with the largest.
fn scaled(value: u64, units: &[(u64, &str)]) -> String {
    let rounded = units.iter().map(|(unit, name)| (rounded(value, *unit), name));
    for (text, name) in rounded {
        if !text.starts_with("0.") && text != "0" {
            return format!("{text} {name}");
        }
    }
    value.to_string()
}

/// `value / unit` with at most [`DIGITS`] significant digits, those after the point without zeros at the end.
fn rounded(value: u64, unit: u64) -> String {
    let (value, unit) = (u128::from(value), u128::from(unit));
    let whole_digits = if value < unit { 0 } else { (value / unit).to_string().len() };
    let decimals = u32::try_from(DIGITS.saturating_sub(whole_digits)).unwrap_or(0);
    let factor = 10_u128.pow(decimals);
    // At most 2^65 · 10^5.
    let scaled = (2 * value * factor + unit) / (2 * unit);
    let (whole, fraction) = (scaled / factor, scaled % factor);
    if fraction == 0 {
        return whole.to_string();
    }
    let fraction = format!("{fraction:0width$}", width = decimals as usize);
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_its_unit_with_five_digits() {
        for (picos, text) in [
            (0, "0 ns"),
            (1, "1 ps"),
            (999, "999 ps"),
            (1_500, "1.5 ns"),
            (500_000, "500 ns"),
            (20_626_500, "20.627 us"),
            (89_300_000_000, "89.3 ms"),
            (1_234_500_000_000, "1.2345 s"),
            // Half up, and what rounds to a thousand is one of the next unit.
            (12_345_650, "12.346 us"),
            (999_994_999, "999.99 us"),
            (999_999_999, "1 ms"),
            (99_999_600_000_000, "100 s"),
            (u64::MAX, "18446744 s"),
        ] {
            assert_eq!(time(Picos(picos)), text, "{picos}");
        }
    }

    #[test]
    fn the_exact_time_is_said_where_it_says_more() {
        assert_eq!(time_exact(Picos(20_626_500)), "20.627 us (20626.5 ns)");
        assert_eq!(time_exact(Picos(20_000_000)), "20 us (20000 ns)");
        assert_eq!(time_exact(Picos(500_000)), "500 ns");
        assert_eq!(time_exact(Picos(1)), "1 ps (0.001 ns)");
        assert_eq!(time_exact(Picos(0)), "0 ns");
        // From 10^15 ns on, too, no digit is lost and there is no exponent.
        assert_eq!(time_exact(Picos(1_234_567_890_123_456_789)), "1234568 s (1234567890123456.789 ns)");
    }

    #[test]
    fn a_size_is_exact_where_that_is_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (1, "1 B"),
            (1536, "1536 B"),
            (65_536, "64 KiB"),
            (1_000_000_000, "1 GB"),
            (100 << 20, "100 MiB"),
            (1_234_567, "1.1774 MiB"),
            ((1 << 20) - 1, "1 MiB"),
            ((1 << 30) - 1, "1 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(size(Bytes(bytes)), text, "{bytes}");
        }
        assert_eq!(size_exact(Bytes(64 << 20)), "64 MiB (67108864 B)");
        assert_eq!(size_exact(Bytes(7)), "7 B");
    }
}
