//! Ranks that start late or compute slowly.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::units::Picos;

/// A rank that starts late, computes slowly, or both.
///
/// Read from `"RANK=+DELAY"`, `"RANK=xFACTOR"` or both, with a comma between.
///
/// ```
/// use sim_core::straggler::{Slowdown, Straggler};
///
/// let straggler: Straggler = "3=+10us,x1.5".parse()?;
/// assert_eq!((straggler.rank, straggler.delay), (3, "10 us".parse()?));
/// assert_eq!(straggler.slowdown, Slowdown::from_factor(1.5).unwrap());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Straggler {
    /// The rank.
    pub rank: u32,
    /// When it issues its first nodes.
    pub delay: Picos,
    /// How many times as long its COMPs take.
    pub slowdown: Slowdown,
}

/// How many times as long a computation takes; in millionths, from one millionth to 10^6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slowdown {
    millionths: u64,
}

const MILLION: u64 = 1_000_000;

impl Slowdown {
    /// As fast as stated.
    pub const NONE: Self = Self { millionths: MILLION };

    /// A factor, rounded to millionths; None unless the result is from one millionth to 10^6.
    #[must_use]
    pub fn from_factor(factor: f64) -> Option<Self> {
        let millionths = (factor * MILLION as f64).round();
        let range = 1.0..=(MILLION * MILLION) as f64;
        range.contains(&millionths).then_some(Self { millionths: millionths as u64 })
    }

    /// The time that a computation takes, rounded half up; None if it does not fit.
    pub(crate) fn applied_to(self, duration: Picos) -> Option<Picos> {
        let product = u128::from(duration.0) * u128::from(self.millionths);
        let half = u128::from(MILLION / 2);
        u64::try_from((product + half) / u128::from(MILLION)).ok().map(Picos)
    }
}

/// A text that is no [`Straggler`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no straggler: expected RANK=+DELAY, RANK=xFACTOR or RANK=+DELAY,xFACTOR, such as 3=+10us,x1.5 ({why})"
)]
pub struct StragglerError {
    text: String,
    why: String,
}

impl FromStr for Straggler {
    type Err = StragglerError;

    fn from_str(text: &str) -> Result<Self, StragglerError> {
        let error = |why: &dyn fmt::Display| StragglerError { text: text.to_owned(), why: why.to_string() };
        let (rank, what) = text.split_once('=').ok_or_else(|| error(&"there is no ="))?;
        let rank = rank.trim().parse().map_err(|_| error(&"the rank is a whole number"))?;
        let mut straggler = Self { rank, delay: Picos::ZERO, slowdown: Slowdown::NONE };
        for part in what.split(',').map(str::trim) {
            if let Some(delay) = part.strip_prefix('+') {
                straggler.delay = delay.parse().map_err(|problem| error(&problem))?;
            } else if let Some(factor) = part.strip_prefix('x') {
                let slowdown = factor.parse().ok().and_then(Slowdown::from_factor);
                straggler.slowdown =
                    slowdown.ok_or_else(|| error(&"a factor is from 0.000001 to 1000000"))?;
            } else {
                return Err(error(&"a delay begins with +, a factor with x"));
            }
        }
        Ok(straggler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_straggler_is_refused_with_the_reason() {
        for (text, why) in [
            ("3", "there is no ="),
            ("x=+1us", "the rank is a whole number"),
            ("-1=+1us", "the rank is a whole number"),
            ("3=", "a delay begins with +"),
            ("3=1us", "a delay begins with +"),
            ("3=+1", "has no unit"),
            ("3=x0", "a factor is from"),
            ("3=xNaN", "a factor is from"),
            ("3=x-2", "a factor is from"),
        ] {
            let error = text.parse::<Straggler>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("such as 3=+10us,x1.5"), "{text}: {error}");
        }
    }

    #[test]
    fn a_slowdown_is_rounded_once_half_up() {
        let slow = |factor, picos| Slowdown::from_factor(factor).unwrap().applied_to(Picos(picos));
        assert_eq!(slow(1.5, 3), Some(Picos(5)), "4.5");
        assert_eq!(slow(0.000_001, 499_999), Some(Picos(0)));
        assert_eq!(slow(1.0, u64::MAX), Some(Picos(u64::MAX)));
        assert_eq!(slow(2.0, u64::MAX), None);
    }
}
