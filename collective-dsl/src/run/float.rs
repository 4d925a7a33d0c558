//! Floating point: the types of 16 bits, and numbers of twice the precision of `f64` to compare with.

use std::fmt;

/// A binary floating-point type.
pub(super) trait Float: Copy {
    /// Binary digits, the leading one included. (`f32::DIGITS` are decimal ones.)
    const BINARY_DIGITS: u32;
    /// Exponent of the smallest normal number.
    const LEAST: i32;

    /// The value, exactly.
    fn value(self) -> f64;

    /// The nearest number, of two the even one.
    fn nearest(value: f64) -> Self;

    /// The largest error after so many roundings of a sum of numbers whose sizes add up to `magnitude`, or of a product
    /// of that size: ((1 + u)^k − 1) · magnitude with the unit roundoff u, which is 2^−digits.
    ///
    /// Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2. Half of the smallest number is
    /// added for results below the normal range.
    fn bound(roundings: u32, magnitude: f64) -> f64 {
        if roundings == 0 {
            return 0.0;
        }
        let unit = power_of_two(-(Self::BINARY_DIGITS as i32));
        let growth = (f64::from(roundings) * unit.ln_1p()).exp_m1();
        growth * magnitude + 0.5 * power_of_two((Self::LEAST - Self::BINARY_DIGITS as i32 + 1).max(-1022))
    }
}

impl Float for f32 {
    const BINARY_DIGITS: u32 = 24;
    const LEAST: i32 = -126;

    fn value(self) -> f64 {
        self.into()
    }

    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Float for f64 {
    const BINARY_DIGITS: u32 = 53;
    const LEAST: i32 = -1022;

    fn value(self) -> f64 {
        self
    }

    fn nearest(value: f64) -> Self {
        value
    }
}

macro_rules! half {
    ($(#[$doc:meta])* $ty:ident, $digits:literal, $least:literal, $greatest:expr) => {
        $(#[$doc])*
        ///
        /// Kept as the `f32` of the same value.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $ty(f32);

        impl Float for $ty {
            const BINARY_DIGITS: u32 = $digits;
            const LEAST: i32 = $least;

            fn value(self) -> f64 {
                self.0.into()
            }

            fn nearest(value: f64) -> Self {
                Self(round(value, $digits, $least, $greatest) as f32)
            }
        }

        impl From<$ty> for f64 {
            fn from(element: $ty) -> f64 {
                element.value()
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

half! {
    /// A 16-bit brain float: the upper half of an `f32`, 8 binary digits.
    Bf16, 8, -126, f64::from(f32::from_bits(0x7f7f_0000))
}
half! {
    /// A 16-bit IEEE float: 11 binary digits, at most 65,504.
    F16, 11, -14, 65_504.0
}

fn power_of_two(exponent: i32) -> f64 {
    // The exponents here are those of normal f64 numbers.
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The nearest number with so many binary digits, of two the even one; infinite beyond the greatest.
fn round(value: f64, digits: i32, least: i32, greatest: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let quantum = power_of_two(exponent.max(least) - digits + 1);
    // Both scalings are exact, so only the one rounding in between counts.
    let rounded = (value / quantum).round_ties_even() * quantum;
    if rounded.abs() > greatest { f64::INFINITY.copysign(value) } else { rounded }
}

/// A number of about 106 binary digits: the unevaluated sum of two `f64`, with the sum of the sizes of what went into it.
///
/// The operations are Dekker's and Knuth's error-free ones.
#[derive(Clone, Copy, Debug)]
pub struct Precise {
    high: f64,
    low: f64,
    magnitude: f64,
}

impl Precise {
    pub(super) fn new(value: f64) -> Self {
        Self { high: value, low: 0.0, magnitude: value.abs() }
    }

    /// Rounded to `f64`.
    pub(super) fn value(self) -> f64 {
        self.high
    }

    /// Of a sum, the sizes of the addends added up; of a product, its size.
    pub(super) fn magnitude(self) -> f64 {
        self.magnitude
    }

    fn normalised(high: f64, low: f64, magnitude: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high), magnitude }
    }

    pub(super) fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        Self::normalised(sum, error + self.low + other.low, self.magnitude + other.magnitude)
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        let product = self.high * other.high;
        let error = self.high.mul_add(other.high, -product);
        let low = error + self.high * other.low + self.low * other.high;
        Self::normalised(product, low, product.abs())
    }

    pub(super) fn divide(self, by: u32) -> Self {
        let by = f64::from(by.max(1));
        let quotient = self.high / by;
        let rest = (-quotient).mul_add(by, self.high) + self.low;
        Self::normalised(quotient, rest / by, self.magnitude / by)
    }

    /// The distance to a number.
    pub(super) fn distance(self, value: f64) -> f64 {
        ((value - self.high) - self.low).abs()
    }
}

impl fmt::Display for Precise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.high.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brain_floats_are_rounded_to_the_nearest_and_ties_to_even() {
        // The upper half of the bits, plus one where the lower half is more than a half, or a half after an odd one.
        let by_bits = |value: f32| {
            let bits = value.to_bits();
            f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
        };
        let mut bits = 0x0000_1234_u32;
        for _ in 0..10_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for low in [bits & 0xffff, 0x8000, 0x7fff, 0x8001, 0] {
                let value = f32::from_bits(bits & 0xffff_0000 | low);
                if value.is_finite() {
                    assert_eq!(Bf16::nearest(value.into()).0, by_bits(value), "{value:e}");
                }
            }
        }
        assert_eq!(Bf16::nearest(1.0 + 1.0 / 256.0).0, 1.0);
        assert_eq!(Bf16::nearest(1.0 + 3.0 / 256.0).0, 1.015_625);
        // What an f32 in between would round away: more than a half by less than an f32 can tell.
        assert_eq!(Bf16::nearest(1.0 + 1.0 / 256.0 + 1e-12).0, 1.007_812_5);
    }

    #[test]
    fn half_floats_have_the_limits_of_ieee_754() {
        assert_eq!(F16::nearest(65_519.0).0, 65_504.0);
        assert_eq!(F16::nearest(65_520.0).0, f32::INFINITY);
        assert_eq!(F16::nearest(-65_520.0).0, f32::NEG_INFINITY);
        // The smallest number is 2⁻²⁴; half of it is even's, and even is 0.
        let smallest = power_of_two(-24);
        assert_eq!(F16::nearest(smallest).value(), smallest);
        assert_eq!(F16::nearest(smallest / 2.0).value(), 0.0);
        assert_eq!(F16::nearest(smallest * 1.5).value(), 2.0 * smallest);
        assert_eq!(F16::nearest(2049.0).0, 2048.0);
        assert_eq!(F16::nearest(2051.0).0, 2052.0);
    }

    #[test]
    fn precise_sums_keep_what_f64_loses() {
        let tiny = power_of_two(-90);
        let sum = [1.0, tiny, tiny, -1.0].map(Precise::new).into_iter().reduce(Precise::add).unwrap();
        assert_eq!((sum.high, sum.magnitude), (2.0 * tiny, 2.0));
        let third = Precise::new(1.0).divide(3);
        let whole = third.add(third).add(third);
        assert!(whole.distance(1.0) < 1e-31, "{}", whole.distance(1.0));
        let square = third.multiply(Precise::new(3.0));
        assert!(square.distance(1.0) < 1e-31, "{}", square.distance(1.0));
    }

    #[test]
    fn the_bound_is_first_order_in_the_unit_roundoff() {
        let u = f64::from(f32::EPSILON) / 2.0;
        let bound = <f32 as Float>::bound(10, 3.0);
        assert!((bound / (30.0 * u) - 1.0).abs() < 1e-5);
        assert_eq!(<f64 as Float>::bound(0, 3.0), 0.0);
        // 2⁻⁵³ is lost beside 1, but not in the bound.
        assert!(<f64 as Float>::bound(1, 1.0) > 1.1e-16);
    }
}
