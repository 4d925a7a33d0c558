//! Arithmetic that has no value where it overflows, for the expressions among the arguments of `#[collective]`.
//!
//! Generated code calls these functions in place of the operators, which wrap in a release build.

/// A number that is added, subtracted and multiplied.
pub trait Number: Copy {
    /// `self + other`.
    fn add(self, other: Self) -> Option<Self>;
    /// `self - other`.
    fn sub(self, other: Self) -> Option<Self>;
    /// `self * other`.
    fn mul(self, other: Self) -> Option<Self>;
}

/// A number that is shifted and raised to a power.
pub trait Integer: Number {
    /// `self.pow(exponent)`.
    fn pow(self, exponent: u32) -> Option<Self>;
    /// `self << by`.
    fn shl(self, by: u32) -> Option<Self>;
    /// `self >> by`.
    fn shr(self, by: u32) -> Option<Self>;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn add(self, other: Self) -> Option<Self> { self.checked_add(other) }
            fn sub(self, other: Self) -> Option<Self> { self.checked_sub(other) }
            fn mul(self, other: Self) -> Option<Self> { self.checked_mul(other) }
        }
        impl Integer for $ty {
            fn pow(self, exponent: u32) -> Option<Self> { self.checked_pow(exponent) }
            fn shl(self, by: u32) -> Option<Self> { self.checked_shl(by) }
            fn shr(self, by: u32) -> Option<Self> { self.checked_shr(by) }
        }
    )*};
}

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn add(self, other: Self) -> Option<Self> { Some(self + other) }
            fn sub(self, other: Self) -> Option<Self> { Some(self - other) }
            fn mul(self, other: Self) -> Option<Self> { Some(self * other) }
        }
    )*};
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
floats! { f32 f64 }

/// `a + b`.
pub fn add<T: Number>(a: T, b: T) -> Option<T> {
    a.add(b)
}

/// `a - b`.
pub fn sub<T: Number>(a: T, b: T) -> Option<T> {
    a.sub(b)
}

/// `a * b`.
pub fn mul<T: Number>(a: T, b: T) -> Option<T> {
    a.mul(b)
}

/// `a.pow(exponent)`.
pub fn pow<T: Integer>(a: T, exponent: u32) -> Option<T> {
    a.pow(exponent)
}

/// `a << by`.
pub fn shl<T: Integer>(a: T, by: impl TryInto<u32>) -> Option<T> {
    a.shl(by.try_into().ok()?)
}

/// `a >> by`.
pub fn shr<T: Integer>(a: T, by: impl TryInto<u32>) -> Option<T> {
    a.shr(by.try_into().ok()?)
}
