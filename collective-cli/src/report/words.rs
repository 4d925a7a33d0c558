//! Figures in words.

use collective::sim::units::Bytes;

use crate::units_shown::size;
pub(super) use crate::units_shown::time;

/// A size in the unit that suits it.
pub(super) fn bytes(bytes: u64) -> String {
    size(Bytes(bytes))
}

/// So many decimals at most.
pub(super) fn decimals(value: f64, most: usize) -> String {
    let text = format!("{value:.most$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share of 1 as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Ascending numbers as runs: `0-3 5`.
pub(super) fn runs(numbers: impl Iterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_runs() {
        assert_eq!(runs([0, 1, 2, 5, 7, 8].into_iter()), "0-2 5 7-8");
        assert_eq!(runs(std::iter::empty()), "");
    }
}
