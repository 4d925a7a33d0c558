//! JSON values that several commands print.

use collective::sim::units::Picos;
use serde_json::{Value, json};

/// From here on a double has no digits behind the point to speak of, and would be printed with an exponent.
const WHOLE: u64 = 1_000_000_000_000_000 * 1000;

/// A time in nanoseconds: a whole number where it is one, else with at most three decimals; from 10^15 ns on (11 days) rounded to
/// a whole number.
pub(crate) fn nanoseconds(time: Picos) -> Value {
    if time.0.is_multiple_of(1000) {
        json!(time.0 / 1000)
    } else if time.0 >= WHOLE {
        json!(time.0 / 1000 + u64::from(time.0 % 1000 >= 500))
    } else {
        json!(time.0 as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_without_exponents() {
        for (picos, text) in [
            (0, "0"),
            (1, "0.001"),
            (20_626_500, "20626.5"),
            (999_999_999_999_999_500, "999999999999999.5"),
            (1_234_567_890_123_456_789, "1234567890123457"),
            (u64::MAX, "18446744073709552"),
        ] {
            assert_eq!(nanoseconds(Picos(picos)).to_string(), text);
        }
    }
}
