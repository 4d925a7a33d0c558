//! Scales and their ticks.

use super::unit::{Unit, short};

/// Places values between two pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
    /// The pixels of `low` and `high`.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Scale {
    /// The pixel of a value. On a logarithmic scale values are positive.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * if part.is_finite() { part } else { 0.0 }
    }
}

/// A line of the grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// At most about `most` ticks from `low` to `high`.
pub(super) fn ticks(unit: Unit, low: f64, high: f64, log: bool, most: usize) -> Vec<Tick> {
    let values = match (log, unit) {
        (false, Unit::Bytes) => linear(low, high, most, &[1.0, 2.0, 4.0, 8.0]),
        (false, _) => linear(low, high, most, &[1.0, 2.0, 5.0]),
        (true, Unit::Bytes | Unit::Count) => powers(low, high, most),
        (true, _) => decades(low, high, most),
    };
    let label = |value: f64| match unit {
        // One unit for the whole axis is easier to read where steps are even.
        Unit::Nanoseconds if !log => {
            let (of, name) = unit.of_axis(high);
            if value == 0.0 { "0".to_owned() } else { format!("{} {name}", short(value / of)) }
        }
        _ => unit.show(value),
    };
    values.into_iter().map(|value| Tick { value, label: label(value) }).collect()
}

/// Even steps of 1, 2 or 5 times a power of ten; of sizes, of a power of two.
fn linear(low: f64, high: f64, most: usize, steps: &[f64]) -> Vec<f64> {
    let base: f64 = if steps.len() == 3 { 10.0 } else { 16.0 };
    let least = (high - low) / most.max(1) as f64;
    if least.is_nan() || least <= 0.0 || !least.is_finite() {
        return vec![low];
    }
    let power = base.powf(least.log(base).floor());
    let step = steps.iter().map(|step| step * power).find(|step| *step >= least).unwrap_or(base * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step * 1.000_000_001).floor() as i64;
    (first..=last).take(1000).map(|at| at as f64 * step).collect()
}

/// Powers of two, each, every second, ….
fn powers(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = ((low * 0.999_999).log2().ceil() as i32, (high * 1.000_001).log2().floor() as i32);
    let count = (last - first + 1).max(0) as usize;
    if count == 0 {
        return vec![low];
    }
    let step = [1, 2, 5, 10, 20].into_iter().find(|step| count.div_ceil(*step) <= most).unwrap_or(50) as i32;
    (first..=last)
        .filter(|power| power.rem_euclid(step) == 0 || count == 1)
        .map(|power| 2f64.powi(power))
        .collect()
}

/// Powers of ten, and between them 2 and 5 where there is room.
fn decades(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let (low, high) = (low * 0.999_999, high * 1.000_001);
    let of = |parts: &[f64], step: i32| -> Vec<f64> {
        let powers = (first..=last).filter(|power| power.rem_euclid(step) == 0);
        let values = powers.flat_map(|power| parts.iter().map(move |part| part * 10f64.powi(power)));
        values.filter(|value| (low..=high).contains(value)).collect()
    };
    for parts in [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0][..], &[1.0, 2.0, 5.0], &[1.0]] {
        let values = of(parts, 1);
        if values.len() <= most {
            // Less than two say nothing of the scale.
            return if values.len() < 2 { linear(low, high, most.min(5), &[1.0, 2.0, 5.0]) } else { values };
        }
    }
    of(&[1.0], ((last - first) as usize).div_ceil(most.max(1)).max(1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, low: f64, high: f64, log: bool, most: usize) -> Vec<String> {
        ticks(unit, low, high, log, most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_where_people_expect_them() {
        let sizes = labels(Unit::Bytes, 1024.0, 1024.0 * 1024.0 * 1024.0, true, 11);
        assert_eq!(
            sizes,
            [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30].map(|power| super::super::unit::bytes(1 << power))
        );
        assert_eq!(
            labels(Unit::Nanoseconds, 0.0, 41_000.0, false, 6),
            ["0", "10 us", "20 us", "30 us", "40 us"]
        );
        assert_eq!(labels(Unit::Nanoseconds, 900.0, 2.1e6, true, 8), ["1 us", "10 us", "100 us", "1 ms"]);
        assert_eq!(labels(Unit::GigabytesPerSecond, 0.0, 48.0, false, 6), ["0", "10", "20", "30", "40"]);
    }

    #[test]
    fn any_range_has_few_ticks_within_it() {
        for low in [0.0f64, 1e-3, 1.0, 999.0, 1e15] {
            for factor in [1.0, 1.0001, 1.5, 3.0, 10.0, 1e4, 1e12] {
                let high = if low == 0.0 { factor } else { low * factor };
                for log in [false, true] {
                    if log && low == 0.0 {
                        continue;
                    }
                    for unit in [Unit::Bytes, Unit::Nanoseconds, Unit::GigabytesPerSecond, Unit::Count] {
                        let ticks = ticks(unit, low, high, log, 8);
                        assert!(ticks.len() <= 12, "{low} {high} {log} {unit:?}: {ticks:?}");
                        assert!(ticks.iter().all(|tick| tick.value.is_finite()));
                    }
                }
            }
        }
    }
}
