//! Splitting a quantity into its number and its unit, and what can be wrong with one.

use thiserror::Error;

/// A quantity that cannot be read or is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not begin with a number.
    #[error("{text:?} is not a {quantity}: expected a number and one of the units {units}")]
    NoNumber {
        /// What was to be read: bandwidth, time, latency or size.
        quantity: &'static str,
        /// The text as given.
        text: String,
        /// The accepted units.
        units: &'static str,
    },
    /// A bare number where the unit matters.
    #[error("{quantity} {text:?} has no unit: expected one of {units}")]
    NoUnit {
        /// What was to be read.
        quantity: &'static str,
        /// The text as given.
        text: String,
        /// The accepted units.
        units: &'static str,
    },
    /// A unit that the quantity does not have.
    #[error("{quantity} {text:?} has the unknown unit {unit:?}: expected one of {units}")]
    UnknownUnit {
        /// What was to be read.
        quantity: &'static str,
        /// The text as given.
        text: String,
        /// The unit as given.
        unit: String,
        /// The accepted units.
        units: &'static str,
    },
    /// A number outside the range of the quantity.
    #[error("{quantity} {text:?} is out of range: expected {expected}")]
    OutOfRange {
        /// What was to be read.
        quantity: &'static str,
        /// The value as given.
        text: String,
        /// The accepted range.
        expected: &'static str,
    },
}

/// A quantity's name and units, to read texts and to word errors.
pub(super) struct Syntax {
    pub(super) quantity: &'static str,
    pub(super) units: &'static str,
}

/// A non-negative decimal number, exactly as written: `digits / 10^scale`.
pub(super) struct Decimal {
    digits: u128,
    scale: u32,
    /// The nearest double.
    pub(super) value: f64,
}

impl Decimal {
    /// `self × factor` rounded half up, and whether it was whole without rounding. None on overflow.
    pub(super) fn times(&self, factor: u128) -> Option<(u128, bool)> {
        let divisor = 10u128.checked_pow(self.scale)?;
        let product = self.digits.checked_mul(factor)?;
        let (whole, rest) = (product / divisor, product % divisor);
        Some((whole + u128::from(rest >= divisor - rest && rest > 0), rest == 0))
    }
}

impl Syntax {
    /// Splits `text` into number and unit; the unit is empty for a bare number.
    pub(super) fn split<'a>(&self, text: &'a str) -> Result<(Decimal, &'a str), UnitError> {
        let trimmed = text.trim();
        let end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let no_number =
            || UnitError::NoNumber { quantity: self.quantity, text: text.to_owned(), units: self.units };
        if number.starts_with('-') {
            return Err(self.out_of_range(text, "a number that is not negative"));
        }
        let value: f64 = number.parse().map_err(|_| no_number())?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: u128 = format!("0{whole}{fraction}")
            .parse()
            .map_err(|_| self.out_of_range(text, "a number of at most 38 digits"))?;
        let scale = u32::try_from(fraction.len()).map_err(|_| no_number())?;
        Ok((Decimal { digits, scale, value }, unit.trim_start()))
    }

    /// The error for a unit that is missing or unknown.
    pub(super) fn unit_error(&self, text: &str, unit: &str) -> UnitError {
        let (quantity, text, units) = (self.quantity, text.to_owned(), self.units);
        if unit.is_empty() {
            UnitError::NoUnit { quantity, text, units }
        } else {
            UnitError::UnknownUnit { quantity, text, unit: unit.to_owned(), units }
        }
    }

    /// The error for a number outside the range.
    pub(super) fn out_of_range(&self, text: impl ToString, expected: &'static str) -> UnitError {
        UnitError::OutOfRange { quantity: self.quantity, text: text.to_string(), expected }
    }
}

/// The factor of an SI or binary prefix.
pub(super) fn prefix(text: &str) -> Option<u64> {
    Some(match text {
        "" => 1,
        "k" | "K" => 1000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    })
}
