//! Bandwidths.

use std::fmt;
use std::str::FromStr;

use super::parse::{Syntax, UnitError, prefix};
use super::{Bytes, Picos};

const SYNTAX: Syntax = Syntax {
    quantity: "bandwidth",
    units: "B/s, KB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, or in bits b/s, Mb/s, Gb/s, Gbps",
};
const RANGE: &str = "at least 1 B/s and at most 10^18 B/s";

/// A bandwidth: a finite number of bytes per second, at least 1.
///
/// A double, so that the files of other simulators keep their exact value; durations in exact
/// arithmetic are computed from the nearest whole number of bytes per second.
///
/// ```
/// use sim_core::units::Bandwidth;
///
/// let bandwidth: Bandwidth = "50 GiB/s".parse()?;
/// assert_eq!(bandwidth.bytes_per_s(), 50.0 * 1_073_741_824.0);
/// assert_eq!("400 Gb/s".parse::<Bandwidth>()?.to_string(), "50 GB/s");
/// # Ok::<(), sim_core::units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Bandwidth {
    bytes_per_s: f64,
}

impl Bandwidth {
    /// The least there is.
    pub(crate) const LEAST: Self = Self { bytes_per_s: 1.0 };

    /// A bandwidth in bytes per second.
    ///
    /// # Errors
    /// [`UnitError::OutOfRange`] unless 1 ≤ `bytes_per_s` ≤ 10^18.
    pub fn from_bytes_per_s(bytes_per_s: f64) -> Result<Self, UnitError> {
        if (1.0..=1e18).contains(&bytes_per_s) {
            Ok(Self { bytes_per_s })
        } else {
            Err(SYNTAX.out_of_range(format!("{bytes_per_s} B/s"), RANGE))
        }
    }

    /// The bandwidth in bytes per second.
    #[must_use]
    pub fn bytes_per_s(self) -> f64 {
        self.bytes_per_s
    }

    /// The bandwidth in bytes per nanosecond.
    #[must_use]
    pub fn bytes_per_ns(self) -> f64 {
        self.bytes_per_s / 1e9
    }

    /// The bandwidth rounded to whole bytes per second, half up; at least 1.
    #[must_use]
    pub fn whole_bytes_per_s(self) -> u64 {
        self.bytes_per_s.round() as u64
    }

    /// How long `size` occupies a link of this bandwidth: size · 10^12 / (whole bytes per second)
    /// picoseconds, rounded half up. None if that does not fit.
    #[must_use]
    pub fn transfer_time(self, size: Bytes) -> Option<Picos> {
        transfer_time(size, self.whole_bytes_per_s())
    }
}

/// size · 10^12 / `bytes_per_s` picoseconds, rounded half up; None if that does not fit.
#[inline]
pub(crate) fn transfer_time(size: Bytes, bytes_per_s: u64) -> Option<Picos> {
    // The narrow division is several times faster and does for messages up to 18 MB.
    if let Some(product) = size.0.checked_mul(1_000_000_000_000) {
        let rest = product % bytes_per_s;
        return Some(Picos(product / bytes_per_s + u64::from(rest >= bytes_per_s - rest)));
    }
    let (product, bytes_per_s) = (u128::from(size.0) * 1_000_000_000_000, u128::from(bytes_per_s));
    let rest = product % bytes_per_s;
    u64::try_from(product / bytes_per_s + u128::from(rest >= bytes_per_s - rest)).ok().map(Picos)
}

impl FromStr for Bandwidth {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = SYNTAX.split(text)?;
        let bytes = unit.strip_suffix("B/s").map(|prefix| (prefix, 1.0));
        let bits = ["bit/s", "b/s", "bps"].iter().find_map(|end| unit.strip_suffix(end)).map(|p| (p, 8.0));
        let factor = bytes.or(bits).and_then(|(text, divisor)| Some((prefix(text)? as f64, divisor)));
        let (factor, divisor) = factor.ok_or_else(|| SYNTAX.unit_error(text, unit))?;
        Self::from_bytes_per_s(number.value * factor / divisor).map_err(|_| SYNTAX.out_of_range(text, RANGE))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s"), (1.0, "B/s")];
        let (factor, unit) =
            units.into_iter().find(|(factor, _)| self.bytes_per_s >= *factor).unwrap_or((1.0, "B/s"));
        write!(f, "{} {unit}", self.bytes_per_s / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_bytes_and_both_prefixes_are_told_apart() {
        for (text, bytes_per_s) in [
            ("400 GB/s", 400e9),
            ("50 GiB/s", 53_687_091_200.0),
            ("400 Gb/s", 50e9),
            ("400Gbps", 50e9),
            ("400 Gbit/s", 50e9),
            ("12.5 MB/s", 12.5e6),
            ("3 KiB/s", 3072.0),
            ("7 B/s", 7.0),
            ("1.8 TB/s", 1.8e12),
        ] {
            assert_eq!(text.parse::<Bandwidth>().map(Bandwidth::bytes_per_s), Ok(bytes_per_s), "{text}");
        }
    }

    #[test]
    fn what_is_no_bandwidth_is_refused() {
        for (text, part) in [
            ("50", "has no unit"),
            ("50 GB", "unknown unit \"GB\""),
            ("50 XB/s", "KiB/s"),
            ("0 GB/s", "at least 1 B/s"),
            ("fast", "expected a number"),
        ] {
            let error = text.parse::<Bandwidth>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Bandwidth::from_bytes_per_s(value).is_err(), "{value}");
        }
    }

    #[test]
    fn transfer_times_are_rounded_half_up_once() {
        let time = |bytes_per_s, bytes| {
            Bandwidth::from_bytes_per_s(bytes_per_s).map(|bandwidth| bandwidth.transfer_time(Bytes(bytes)))
        };
        // 2^30 B at 100 GB/s: 10,737,418.24 ns.
        assert_eq!(time(100e9, 1 << 30), Ok(Some(Picos(10_737_418_240))));
        // 1/3 s, 2/3 s, and 1 B at 2·10^12 B/s = half a picosecond.
        assert_eq!(time(3.0, 1), Ok(Some(Picos(333_333_333_333))));
        assert_eq!(time(3.0, 2), Ok(Some(Picos(666_666_666_667))));
        assert_eq!(time(2e12, 1), Ok(Some(Picos(1))));
        assert_eq!(time(50e9, 0), Ok(Some(Picos(0))));
        assert_eq!(time(1.0, u64::MAX), Ok(None));
    }
}
