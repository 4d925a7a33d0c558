//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

use super::parse::{Syntax, UnitError, prefix};

const SYNTAX: Syntax = Syntax { quantity: "size", units: "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB" };

/// A number of bytes.
///
/// Read from `"64KiB"`, `"1 GB"`, `"1024 B"` or a bare number of bytes; shown in the largest binary
/// unit that divides it.
///
/// ```
/// use sim_core::units::Bytes;
///
/// assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
/// assert_eq!("1048576".parse::<Bytes>()?.to_string(), "1 MiB");
/// assert!("1.5 B".parse::<Bytes>().is_err());
/// # Ok::<(), sim_core::units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = SYNTAX.split(text)?;
        let factor = match unit {
            "" => Some(1),
            unit => unit.strip_suffix('B').and_then(prefix),
        };
        let factor = factor.ok_or_else(|| SYNTAX.unit_error(text, unit))?;
        let too_large = || SYNTAX.out_of_range(text, "fewer than 2^64 bytes");
        let (bytes, whole) = number.times(u128::from(factor)).ok_or_else(too_large)?;
        if !whole {
            return Err(SYNTAX.out_of_range(text, "a whole number of bytes"));
        }
        u64::try_from(bytes).map(Bytes).map_err(|_| too_large())
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        let unit = units.iter().find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift);
        match unit {
            Some((shift, unit)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} B", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_exactly() {
        for (text, bytes) in [
            ("64KiB", 65_536),
            ("1 GB", 1_000_000_000),
            ("1MiB", 1 << 20),
            ("1048576", 1_048_576),
            ("1024 B", 1024),
            ("1.5 KiB", 1536),
            ("0", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_reason() {
        for (text, part) in [
            ("1.5 B", "whole number of bytes"),
            ("-1", "not negative"),
            ("18446744073709551616", "fewer than 2^64 bytes"),
            ("64 K", "unknown unit \"K\""),
            ("64 kibibyte", "KiB, MiB"),
            ("large", "expected a number"),
            ("", "expected a number"),
            ("1.2.3 B", "expected a number"),
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn display_can_be_read_back() {
        for bytes in [0, 1, 1000, 1024, 1536, 1 << 20, (1 << 20) + 1, 3 << 40] {
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }
    }
}
