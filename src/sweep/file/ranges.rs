//! Sizes and numbers of ranks: single ones and ranges.

use super::each;
use crate::sim::units::Bytes;
use crate::workload::file::table::{Fault, Value};

/// A range of more is a mistake.
const MOST: usize = 10_000;

/// The number that a text or a whole number says.
pub(super) type Number = fn(&str) -> Result<u64, String>;

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    text.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| error.to_string())
}

pub(super) fn count(text: &str) -> Result<u64, String> {
    let count = text.parse::<u32>().ok().filter(|count| *count > 0);
    count
        .map(u64::from)
        .ok_or_else(|| format!("{text:?} is no number of ranks: expected a whole number from 1 on"))
}

/// All numbers of a value or a list, in its order, each once.
pub(super) fn all(value: &Value<'_>, expected: &str, number: Number) -> Result<Vec<u64>, Fault> {
    let of_one = |value: &Value<'_>| -> Result<Vec<u64>, Fault> {
        let told = |message: String| value.fault(format!("{}: {message}", value.shown()));
        match (value.as_text(), value.integer()) {
            (Some(text), _) => range(text, number).map_err(told),
            (None, Some(whole)) => Ok(vec![number(&whole.to_string()).map_err(told)?]),
            (None, None) => Err(value.wrong(expected)),
        }
    };
    let mut all = Vec::new();
    for one in each(value, of_one)?.into_iter().flatten() {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    Ok(all)
}

/// `FROM..TO`, in factors of 2; `FROM..TO xFACTOR`; or a single number.
fn range(text: &str, number: Number) -> Result<Vec<u64>, String> {
    let Some((from, rest)) = text.split_once("..") else { return Ok(vec![number(text.trim())?]) };
    let (to, factor) = rest.rsplit_once('x').unwrap_or((rest, "2"));
    let (from, to) = (number(from.trim())?, number(to.trim())?);
    let factor = factor.trim().parse::<u64>().ok().filter(|factor| *factor >= 2);
    let factor = factor.ok_or("the factor after x must be a whole number from 2 on")?;
    if from == 0 || from > to {
        return Err("the range is empty: expected FROM..TO with 0 < FROM ≤ TO".to_owned());
    }
    let numbers = std::iter::successors(Some(from), |before| before.checked_mul(factor));
    Ok(numbers.take_while(|number| *number <= to).take(MOST).collect())
}
