//! Times: points and spans in whole picoseconds, and the latency of a link.

use std::fmt;
use std::str::FromStr;

use super::parse::{Decimal, Syntax, UnitError};

const TIME: Syntax = Syntax { quantity: "time", units: "ps, ns, us (or µs), ms, s" };
const LATENCY: Syntax = Syntax { quantity: "latency", units: TIME.units };
const LATENCY_RANGE: &str = "at least 0 ns and at most 10^15 ns";

/// Picoseconds in a nanosecond.
const PER_NS: u64 = 1000;

/// A time in whole picoseconds: a span, or a point counted from the start of the simulation.
///
/// 2^64 ps are 213 days. Read from `"10 ps"`, `"1.5us"`, `"3 ms"` (rounded half up to a whole
/// picosecond); shown in nanoseconds with at most three decimals.
///
/// ```
/// use sim_core::units::Picos;
///
/// assert_eq!("1.5 µs".parse(), Ok(Picos(1_500_000)));
/// assert_eq!(Picos(20_626_500).to_string(), "20626.5 ns");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Picos(pub u64);

impl Picos {
    /// The start of the simulation.
    pub const ZERO: Self = Self(0);

    /// A whole number of nanoseconds; None if it does not fit.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Option<Self> {
        match ns.checked_mul(PER_NS) {
            Some(picos) => Some(Self(picos)),
            None => None,
        }
    }

    /// The time in nanoseconds, as the nearest double.
    #[must_use]
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / PER_NS as f64
    }

    /// The sum; None if it does not fit.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }
}

impl FromStr for Picos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, factor) = split(&TIME, text)?;
        let picos = number.times(u128::from(factor)).and_then(|(picos, _)| u64::try_from(picos).ok());
        picos.map(Picos).ok_or_else(|| TIME.out_of_range(text, "fewer than 2^64 picoseconds (213 days)"))
    }
}

impl fmt::Display for Picos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ns, picos) = (self.0 / PER_NS, self.0 % PER_NS);
        match picos {
            0 => write!(f, "{ns} ns"),
            _ => write!(f, "{ns}.{} ns", format!("{picos:03}").trim_end_matches('0')),
        }
    }
}

/// The latency of a link: a finite number of nanoseconds, at least 0.
///
/// A double, because the files of other simulators hold fractions of a nanosecond and their rounding
/// is to be met exactly. Read like a [`Picos`].
///
/// ```
/// use sim_core::units::{Latency, Picos};
///
/// let latency: Latency = "500 ns".parse()?;
/// assert_eq!(latency, Latency::from_ns(500.0)?);
/// assert_eq!(latency.to_picos(), Picos(500_000));
/// # Ok::<(), sim_core::units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Latency {
    ns: f64,
}

impl Latency {
    /// A latency in nanoseconds.
    ///
    /// # Errors
    /// [`UnitError::OutOfRange`] unless 0 ≤ `ns` ≤ 10^15 (11 days).
    pub fn from_ns(ns: f64) -> Result<Self, UnitError> {
        if (0.0..=1e15).contains(&ns) {
            Ok(Self { ns })
        } else {
            Err(LATENCY.out_of_range(format!("{ns} ns"), LATENCY_RANGE))
        }
    }

    /// The latency in nanoseconds.
    #[must_use]
    pub fn as_ns(self) -> f64 {
        self.ns
    }

    /// The latency rounded to the nearest picosecond, half up.
    #[must_use]
    pub fn to_picos(self) -> Picos {
        Picos((self.ns * PER_NS as f64).round() as u64)
    }
}

impl FromStr for Latency {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, picos) = split(&LATENCY, text)?;
        // One division or one product, so that a decimal number of nanoseconds keeps its nearest double.
        let ns = match picos / PER_NS {
            0 => number.value / (PER_NS / picos) as f64,
            factor => number.value * factor as f64,
        };
        Self::from_ns(ns).map_err(|_| LATENCY.out_of_range(text, LATENCY_RANGE))
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.ns)
    }
}

/// The number in `text` and the picoseconds in its unit.
fn split(syntax: &Syntax, text: &str) -> Result<(Decimal, u64), UnitError> {
    let (number, unit) = syntax.split(text)?;
    let picos = match unit {
        "ps" => 1,
        "ns" => PER_NS,
        // The micro sign and the Greek letter look alike and both occur.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        _ => return Err(syntax.unit_error(text, unit)),
    };
    Ok((number, picos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        for (text, picos) in [
            ("500 ns", 500_000),
            ("1.5us", 1_500_000),
            ("1.5 µs", 1_500_000),
            ("1.5 μs", 1_500_000),
            ("3 ms", 3_000_000_000),
            ("10 ps", 10),
            ("1 s", 1_000_000_000_000),
            ("0.0005 ns", 1),
            ("0.0004 ns", 0),
        ] {
            assert_eq!(text.parse(), Ok(Picos(picos)), "{text}");
            if !text.starts_with("0.") {
                assert_eq!(text.parse::<Latency>().map(Latency::to_picos), Ok(Picos(picos)), "{text}");
            }
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_the_accepted_units() {
        assert_eq!(
            "500".parse::<Latency>().unwrap_err().to_string(),
            "latency \"500\" has no unit: expected one of ps, ns, us (or µs), ms, s"
        );
        assert!("500".parse::<Picos>().is_err());
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!("-1 ns".parse::<Latency>().is_err());
        assert!("99999999999 s".parse::<Picos>().is_err());
        assert!("99999999999 s".parse::<Latency>().is_err());
        for ns in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Latency::from_ns(ns).is_err(), "{ns}");
        }
        assert_eq!(Picos::from_ns(u64::MAX), None);
        assert_eq!(Picos(u64::MAX).checked_add(Picos(1)), None);
    }

    #[test]
    fn picoseconds_show_as_nanoseconds() {
        assert_eq!(Picos(41_181_000).to_string(), "41181 ns");
        assert_eq!(Picos(1).to_string(), "0.001 ns");
        assert_eq!(Picos(1_500).to_string().parse(), Ok(Picos(1_500)));
    }
}
