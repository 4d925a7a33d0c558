//! Elements: what a chunk is made of, how two are combined, and how far a result may be off.

use std::fmt;

use super::Operator;
use super::float::{Bf16, F16, Float, Precise};
use crate::size::ElementType;

/// An element of a buffer. Implemented for `i8`, `i32`, `i64`, `f32`, `f64`, [`Bf16`] and [`F16`].
///
/// Integers wrap around, as they do on a GPU. Floats are rounded to the nearest, ties to even, after every operation.
pub trait Element:
    Copy + PartialEq + Default + fmt::Debug + fmt::Display + Send + Sync + Sealed + 'static
{
    /// The type.
    const TYPE: ElementType;

    /// A value that results are compared with: more precise than the element itself where elements are rounded.
    type Exact: Copy + fmt::Display + Send + Sync;

    /// An input element out of 64 random bits. Sums of `ranks` of them do not overflow where the type is wide enough.
    fn sample(bits: u64, operator: Operator, ranks: u32) -> Self;

    /// 1 or 0.
    fn unit(one: bool) -> Self;

    /// `a` and `b` combined; an average is a sum until the end.
    #[must_use]
    fn combine(operator: Operator, a: Self, b: Self) -> Self;

    /// Divided for an average.
    #[must_use]
    fn divide(self, by: u32) -> Self;

    /// The same value, to compute with exactly.
    fn exact(self) -> Self::Exact;

    /// As [`Element::combine`], without rounding.
    fn combine_exact(operator: Operator, a: Self::Exact, b: Self::Exact) -> Self::Exact;

    /// As [`Element::divide`], without rounding.
    fn divide_exact(value: Self::Exact, by: u32) -> Self::Exact;

    /// How far this result is from the exact one, and how far it may be.
    fn deviation(self, wanted: Self::Exact, path: Path) -> Deviation;
}

/// Keeps the list of element types closed.
pub trait Sealed {}

/// How a result came about, as far as rounding depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The operator.
    pub operator: Operator,
    /// The most operations that any contribution went through.
    pub depth: u32,
    /// Number of contributions.
    pub contributions: u32,
}

impl Path {
    /// Roundings that the bound has to allow for.
    ///
    /// In a sum each contribution goes through at most `depth` additions. In a product the error of every
    /// multiplication counts. The division of an average is one more.
    fn roundings(self) -> u32 {
        match self.operator {
            Operator::Sum => self.depth,
            Operator::Avg => self.depth.saturating_add(1),
            Operator::Prod => self.contributions.saturating_sub(1).max(self.depth),
            Operator::Min | Operator::Max => 0,
        }
    }
}

/// How far a result is off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Deviation {
    /// The difference.
    pub absolute: f64,
    /// The difference over what is wanted; over 1 where that is 0.
    pub relative: f64,
    /// The largest difference that rounding explains.
    pub allowed: f64,
}

impl Deviation {
    /// Whether rounding explains it; never for a result that is no number.
    #[must_use]
    pub fn is_explained(self) -> bool {
        self.absolute <= self.allowed
    }

    fn new(absolute: f64, wanted: f64, allowed: f64) -> Self {
        let relative = if wanted == 0.0 { absolute } else { absolute / wanted.abs() };
        Self { absolute, relative, allowed }
    }
}

macro_rules! integers {
    ($($ty:ident $name:ident)*) => {$(
        impl Sealed for $ty {}

        impl Element for $ty {
            const TYPE: ElementType = ElementType::$name;
            type Exact = $ty;

            fn sample(bits: u64, operator: Operator, ranks: u32) -> Self {
                match operator {
                    Operator::Sum | Operator::Avg => {
                        let ranks = $ty::try_from(ranks).unwrap_or($ty::MAX).max(1);
                        let most = u64::from(($ty::MAX / ranks).max(1).unsigned_abs());
                        // From −most to most, of which an i64 has room for the sum of all ranks.
                        (bits % (2 * most + 1)).wrapping_sub(most) as $ty
                    }
                    // Odd: no factor loses what another has put in, also where the product wraps around.
                    Operator::Prod => (bits | 1) as $ty,
                    Operator::Min | Operator::Max => bits as $ty,
                }
            }

            fn unit(one: bool) -> Self {
                $ty::from(one)
            }

            fn combine(operator: Operator, a: Self, b: Self) -> Self {
                match operator {
                    Operator::Sum | Operator::Avg => a.wrapping_add(b),
                    Operator::Prod => a.wrapping_mul(b),
                    Operator::Min => a.min(b),
                    Operator::Max => a.max(b),
                }
            }

            fn divide(self, by: u32) -> Self {
                // Wide enough for any number of ranks; the quotient is no larger than the dividend.
                (i64::from(self) / i64::from(by.max(1))) as $ty
            }

            fn exact(self) -> $ty {
                self
            }

            fn combine_exact(operator: Operator, a: $ty, b: $ty) -> $ty {
                Self::combine(operator, a, b)
            }

            fn divide_exact(value: $ty, by: u32) -> $ty {
                value.divide(by)
            }

            fn deviation(self, wanted: $ty, _: Path) -> Deviation {
                Deviation::new(self.abs_diff(wanted) as f64, wanted as f64, 0.0)
            }
        }
    )*};
}

macro_rules! floats {
    ($($ty:ident $name:ident)*) => {$(
        impl Sealed for $ty {}

        impl Element for $ty {
            const TYPE: ElementType = ElementType::$name;
            type Exact = Precise;

            fn sample(bits: u64, operator: Operator, ranks: u32) -> Self {
                if operator == Operator::Prod {
                    // Factors so close to 1 that no product of any of them leaves the range: (1 + 4/n)^n < e^4.
                    let width = (4.0 / f64::from(ranks.max(1))).min(0.5);
                    let factor = 1.0 + width * (bits >> 11) as f64 / (1_u64 << 53) as f64;
                    let factor = if bits & 1 == 0 { factor } else { 1.0 / factor };
                    return $ty::nearest(if bits & 2 == 0 { factor } else { -factor });
                }
                // As many digits as the type has, from −1 to 1: exact in it, but sums are not.
                let half = 1_i64 << ($ty::BINARY_DIGITS - 1);
                let digits = (bits >> (64 - $ty::BINARY_DIGITS)) as i64 - half;
                $ty::nearest(digits as f64 / half as f64)
            }

            fn unit(one: bool) -> Self {
                $ty::nearest(f64::from(u8::from(one)))
            }

            fn combine(operator: Operator, a: Self, b: Self) -> Self {
                // Of numbers with at most half of its digits an f64 sum or product, rounded once more, is as if it were
                // rounded once.
                let (a, b) = (a.value(), b.value());
                $ty::nearest(match operator {
                    Operator::Sum | Operator::Avg => a + b,
                    Operator::Prod => a * b,
                    Operator::Min => a.min(b),
                    Operator::Max => a.max(b),
                })
            }

            fn divide(self, by: u32) -> Self {
                $ty::nearest(self.value() / f64::from(by.max(1)))
            }

            fn exact(self) -> Precise {
                Precise::new(self.value())
            }

            fn combine_exact(operator: Operator, a: Precise, b: Precise) -> Precise {
                match operator {
                    Operator::Sum | Operator::Avg => a.add(b),
                    Operator::Prod => a.multiply(b),
                    Operator::Min => if b.value() < a.value() { b } else { a },
                    Operator::Max => if b.value() > a.value() { b } else { a },
                }
            }

            fn divide_exact(value: Precise, by: u32) -> Precise {
                value.divide(by)
            }

            fn deviation(self, wanted: Precise, path: Path) -> Deviation {
                let allowed = $ty::bound(path.roundings(), wanted.magnitude());
                Deviation::new(wanted.distance(self.value()), wanted.value(), allowed)
            }
        }
    )*};
}

integers! { i8 I8 i32 I32 i64 I64 }
floats! { f32 F32 f64 F64 Bf16 Bf16 F16 F16 }

#[cfg(test)]
mod tests {
    use super::*;

    fn sums_fit<T: Element<Exact = T> + Into<i64>>(largest: i64) {
        for ranks in [1, 2, 3, 17, 100] {
            for bits in [0, 1, u64::MAX, 0x8000_0000_0000_0000, 0x1234_5678_9abc_def0] {
                let sample: i64 = T::sample(bits, Operator::Sum, ranks).into();
                assert!(
                    i128::from(sample).abs() * i128::from(ranks) <= i128::from(largest),
                    "{ranks} {bits}"
                );
            }
        }
    }

    #[test]
    fn sums_of_integers_do_not_overflow() {
        sums_fit::<i8>(i8::MAX.into());
        sums_fit::<i32>(i32::MAX.into());
        sums_fit::<i64>(i64::MAX);
    }

    #[test]
    fn averages_of_integers_go_toward_zero() {
        assert_eq!(((-7_i32).divide(2), 7_i8.divide(2), (-1_i64).divide(3)), (-3, 3, 0));
        // More ranks than an i8 can count.
        assert_eq!(100_i8.divide(200), 0);
    }

    #[test]
    fn a_sum_may_be_off_by_as_many_roundings_as_it_is_deep() {
        // 1 + 2⁻²⁴ is halfway between 1 and the next f32: an error of a whole unit roundoff.
        let half = f32::EPSILON / 2.0;
        let path = |depth| Path { operator: Operator::Sum, depth, contributions: 2 };
        let wanted = f32::combine_exact(Operator::Sum, 1.0_f32.exact(), half.exact());
        let got = f32::combine(Operator::Sum, 1.0, half);
        assert!(got.deviation(wanted, path(1)).is_explained());
        assert!(!got.deviation(wanted, path(0)).is_explained());
        assert!(!(got + 2.0 * f32::EPSILON).deviation(wanted, path(1)).is_explained());
        assert!(!f32::NAN.deviation(wanted, path(1)).is_explained());
        assert!(!f32::INFINITY.deviation(wanted, path(1)).is_explained());
    }

    #[test]
    fn products_of_any_of_many_factors_stay_in_range() {
        for ranks in [2_u32, 17, 1024] {
            let factors = (0..ranks).map(|rank| {
                F16::sample(u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15), Operator::Prod, ranks)
            });
            let (mut large, mut small) = (1.0, 1.0);
            for factor in factors {
                let size = factor.value().abs();
                if size > 1.0 { large *= size } else { small *= size }
            }
            assert!(large < 60.0 && small > 1.0 / 60.0, "{ranks} ranks: {small} to {large}");
        }
    }
}
