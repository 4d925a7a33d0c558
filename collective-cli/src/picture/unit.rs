//! Figures with their units.

use collective::sim::units::{Bytes, Picos};

/// What is counted along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Shown in powers of 1024.
    Bytes,
    /// Time.
    Nanoseconds,
    /// 10^9 bytes a second.
    GigabytesPerSecond,
    /// Ranks, or anything else.
    Count,
}

/// How many ns the units of time have, the longest first.
const TIMES: [(f64, &str); 5] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"), (1e-3, "ps")];

impl Unit {
    /// A value in a unit that suits it.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Bytes if value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(63) => {
                bytes(value as u64)
            }
            Self::Nanoseconds => match TIMES.iter().find(|(of, _)| value.abs() >= of * 0.999_999) {
                Some((of, name)) => format!("{} {name}", short(value / of)),
                None => "0".to_owned(),
            },
            _ => short(value),
        }
    }

    /// The unit of an axis up to a value: how many of the axis' values it is, and its name.
    pub(super) fn of_axis(self, most: f64) -> (f64, &'static str) {
        match self {
            Self::Nanoseconds => {
                TIMES.into_iter().find(|(of, _)| most >= of * 0.999_999).unwrap_or((1.0, "ns"))
            }
            Self::GigabytesPerSecond => (1.0, "GB/s"),
            Self::Bytes => (1.0, "B"),
            Self::Count => (1.0, ""),
        }
    }
}

/// A time in a unit that suits it.
pub(crate) fn time(time: Picos) -> String {
    Unit::Nanoseconds.show(time.0 as f64 / 1000.0)
}

/// A size in the largest binary unit in which it has at most two decimals; else as the library says it.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [(u32, &str); 6] =
        [(60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let known = UNITS.iter().find(|(shift, _)| value >= 1 << shift);
    let Some((shift, name)) = known else { return Bytes(value).to_string() };
    let hundredths = u128::from(value) * 100;
    let unit = 1u128 << shift;
    if hundredths.is_multiple_of(unit) {
        return format!("{} {name}", short((hundredths / unit) as f64 / 100.0));
    }
    format!("{:.1} {name}", value as f64 / unit as f64)
}

/// At most four significant digits, without zeros behind the point.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    if digits <= 0 {
        return if value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:.1e}") };
    }
    let text = format!("{value:.*}", digits.min(9) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_suits_them() {
        for (ns, shown) in [
            (0.0, "0"),
            (0.001, "1 ps"),
            (1.0, "1 ns"),
            (999.0, "999 ns"),
            (1000.0, "1 us"),
            (12_345.0, "12.35 us"),
            (2.5e12, "2500 s"),
        ] {
            assert_eq!(Unit::Nanoseconds.show(ns), shown);
        }
        for (size, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1 << 16, "64 KiB"),
            (3 << 29, "1.5 GiB"),
            (1_000_000, "976.6 KiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(size), shown);
        }
        assert_eq!([short(50.0), short(0.000_5), short(123_456.0)], ["50", "0.0005", "123456"]);
    }
}
