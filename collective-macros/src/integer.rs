//! Integers as Rust computes with them in a debug build: an operation that does not fit its type is a fault.

use crate::ast::{BinaryOp, Guard, IntMethod};

/// The type of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntKind {
    /// Of a literal, between the parser and [`crate::infer`].
    Untyped,
    U8,
    U16,
    U32,
    U64,
    Usize,
    I8,
    I16,
    I32,
    I64,
    Isize,
}

impl IntKind {
    const NAMED: [(&'static str, IntKind); 10] = [
        ("usize", IntKind::Usize),
        ("u8", IntKind::U8),
        ("u16", IntKind::U16),
        ("u32", IntKind::U32),
        ("u64", IntKind::U64),
        ("isize", IntKind::Isize),
        ("i8", IntKind::I8),
        ("i16", IntKind::I16),
        ("i32", IntKind::I32),
        ("i64", IntKind::I64),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map_or("a number", |(name, _)| name)
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            IntKind::U8 | IntKind::I8 => 8,
            IntKind::U16 | IntKind::I16 => 16,
            IntKind::U32 | IntKind::I32 | IntKind::Untyped => 32,
            IntKind::U64 | IntKind::I64 | IntKind::Usize | IntKind::Isize => 64,
        }
    }

    fn is_signed(self) -> bool {
        matches!(
            self,
            IntKind::I8 | IntKind::I16 | IntKind::I32 | IntKind::I64 | IntKind::Isize | IntKind::Untyped
        )
    }

    pub(crate) fn min(self) -> i128 {
        if self.is_signed() { -(1 << (self.bits() - 1)) } else { 0 }
    }

    pub(crate) fn max(self) -> i128 {
        (1 << (self.bits() - u32::from(self.is_signed()))) - 1
    }

    pub(crate) fn holds(self, value: i128) -> bool {
        (self.min()..=self.max()).contains(&value)
    }

    pub(crate) fn unsigned(self) -> Self {
        match self {
            IntKind::I8 => IntKind::U8,
            IntKind::I16 => IntKind::U16,
            IntKind::I32 => IntKind::U32,
            IntKind::I64 => IntKind::U64,
            IntKind::Isize => IntKind::Usize,
            other => other,
        }
    }
}

/// An integer value. Of 128 bits, so that no result of two 64-bit operands is lost before it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Int {
    pub(crate) value: i128,
    pub(crate) kind: IntKind,
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Below the smallest value of the type.
    Underflow(IntKind),
    /// Above the largest value of the type.
    Overflow(IntKind),
    DivideByZero,
    /// A shift by more than the width of the type.
    ShiftTooFar(IntKind),
    /// Operands of different types.
    Mixed(IntKind, IntKind),
    /// A logarithm of zero or a root of a negative number.
    Undefined,
}

impl Int {
    pub(crate) fn new(value: i128, kind: IntKind) -> Self {
        Self { value, kind }
    }

    pub(crate) fn usize(value: usize) -> Self {
        Self { value: value as i128, kind: IntKind::Usize }
    }

    /// `as`: keeps the low bits.
    pub(crate) fn cast(self, kind: IntKind) -> Self {
        Self::new(wrap(self.value, kind), kind)
    }

    /// `!`.
    pub(crate) fn not(self) -> Self {
        Self::new(wrap(!self.value, self.kind), self.kind)
    }

    pub(crate) fn negate(self) -> Result<Self, Fault> {
        Self::new(-self.value, self.kind).checked()
    }

    fn checked(self) -> Result<Self, Fault> {
        if self.value < self.kind.min() {
            Err(Fault::Underflow(self.kind))
        } else if self.value > self.kind.max() {
            Err(Fault::Overflow(self.kind))
        } else {
            Ok(self)
        }
    }
}

/// The low bits of a value, read in a type.
fn wrap(value: i128, kind: IntKind) -> i128 {
    let low = value & ((1 << kind.bits()) - 1);
    if kind.is_signed() && low > kind.max() { low - (1 << kind.bits()) } else { low }
}

/// The one type of two operands.
pub(crate) fn common(a: Int, b: Int) -> Result<IntKind, Fault> {
    if a.kind == b.kind { Ok(a.kind) } else { Err(Fault::Mixed(a.kind, b.kind)) }
}

/// An operator that gives an integer; comparisons are [`compare`].
pub(crate) fn arithmetic(op: BinaryOp, a: Int, b: Int) -> Result<Int, Fault> {
    match op {
        BinaryOp::Shl | BinaryOp::Shr => return shift(op, a, b),
        BinaryOp::Pow => return power(a, b),
        _ => {}
    }
    let kind = common(a, b)?;
    let overflow = Fault::Overflow(kind);
    let value = match op {
        BinaryOp::Add => a.value + b.value,
        BinaryOp::Sub => a.value - b.value,
        BinaryOp::Mul => {
            let is_below = (a.value < 0) != (b.value < 0);
            let fault = if is_below { Fault::Underflow(kind) } else { overflow };
            a.value.checked_mul(b.value).ok_or(fault)?
        }
        BinaryOp::Div => a.value.checked_div(b.value).ok_or(Fault::DivideByZero)?,
        BinaryOp::Rem if is_least_by_minus_one(a, b) => return Err(overflow),
        BinaryOp::Rem => a.value.checked_rem(b.value).ok_or(Fault::DivideByZero)?,
        BinaryOp::BitAnd => a.value & b.value,
        BinaryOp::BitOr => a.value | b.value,
        _ => a.value ^ b.value,
    };
    Int::new(value, kind).checked()
}

/// Whether a division overflows. So does its remainder in Rust, though it would be 0.
fn is_least_by_minus_one(a: Int, b: Int) -> bool {
    b.value == -1 && a.value == a.kind.min()
}

fn shift(op: BinaryOp, a: Int, b: Int) -> Result<Int, Fault> {
    let too_far = Fault::ShiftTooFar(a.kind);
    let by = u32::try_from(b.value).ok().filter(|by| *by < a.kind.bits()).ok_or(too_far)?;
    if op == BinaryOp::Shr {
        return Ok(Int::new(a.value >> by, a.kind));
    }
    // The bits that leave the type are dropped.
    Ok(Int::new(wrap(a.value << by, a.kind), a.kind))
}

/// What an operation gives that does not stop where the operator would.
pub(crate) enum Guarded {
    Int(Int),
    Nothing,
    Pair(Int, bool),
}

/// `checked_sub` and its like.
pub(crate) fn guarded(guard: Guard, op: BinaryOp, a: Int, b: Int) -> Result<Guarded, Fault> {
    let fault = match (arithmetic(op, a, b), guard) {
        (Ok(int), Guard::Overflowing) => return Ok(Guarded::Pair(int, false)),
        (Ok(int), _) => return Ok(Guarded::Int(int)),
        (Err(Fault::DivideByZero | Fault::ShiftTooFar(_)), Guard::Checked) => return Ok(Guarded::Nothing),
        (Err(fault), _) => fault,
    };
    let (Fault::Underflow(kind) | Fault::Overflow(kind)) = fault else { return Err(fault) };
    Ok(match guard {
        Guard::Checked => Guarded::Nothing,
        Guard::Wrapping => Guarded::Int(wrapped(op, a, b)),
        Guard::Overflowing => Guarded::Pair(wrapped(op, a, b), true),
        Guard::Saturating => {
            let is_below = match op {
                BinaryOp::Mul => (a.value < 0) != (b.value < 0),
                _ => matches!(fault, Fault::Underflow(_)),
            };
            Guarded::Int(Int::new(if is_below { kind.min() } else { kind.max() }, kind))
        }
    })
}

/// The low bits of a result that does not fit.
fn wrapped(op: BinaryOp, a: Int, b: Int) -> Int {
    let value = match op {
        BinaryOp::Add => a.value + b.value,
        BinaryOp::Sub => a.value - b.value,
        BinaryOp::Mul => a.value.wrapping_mul(b.value),
        BinaryOp::Pow => a.value.wrapping_pow(b.value as u32),
        BinaryOp::Rem => 0,
        // Of a division only the least by -1 does not fit.
        _ => -a.value,
    };
    Int::new(wrap(value, a.kind), a.kind)
}

/// A comparison.
pub(crate) fn compare(op: BinaryOp, a: i128, b: i128) -> bool {
    match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        _ => a >= b,
    }
}

/// The result of a method: most give an integer.
pub(crate) enum Answer {
    Int(Int),
    Bool(bool),
}

/// A method; `args` are as many as [`crate::parse::method`] has made sure of.
pub(crate) fn method(method: IntMethod, this: Int, args: &[Int]) -> Result<Answer, Fault> {
    use IntMethod as M;
    // The exponent has a type of its own.
    if method == M::Pow {
        return power(this, first(args)).map(Answer::Int);
    }
    for arg in args {
        common(this, *arg)?;
    }
    let kind = this.kind;
    let value = this.value;
    let other = first(args).value;
    let u32 = |value: u32| Ok(Answer::Int(Int::new(i128::from(value), IntKind::U32)));
    let own = |value: i128| Int::new(value, kind).checked().map(Answer::Int);
    match method {
        M::Pow => Err(Fault::Undefined),
        M::Ilog2 => u32(value.checked_ilog2().ok_or(Fault::Undefined)?),
        M::Ilog => u32(value.checked_ilog(other).ok_or(Fault::Undefined)?),
        M::Min => own(value.min(other)),
        M::Max => own(value.max(other)),
        M::Clamp => {
            let high = args.get(1).map_or(value, |high| high.value);
            if other > high { Err(Fault::Undefined) } else { own(value.clamp(other, high)) }
        }
        M::AbsDiff => Ok(Answer::Int(Int::new((value - other).abs(), kind.unsigned()))),
        M::Abs => own(value.abs()),
        M::DivCeil => own(value
            .checked_add(other - 1)
            .and_then(|up| up.checked_div(other))
            .ok_or(Fault::DivideByZero)?),
        M::DivEuclid => own(value.checked_div_euclid(other).ok_or(Fault::DivideByZero)?),
        M::RemEuclid if is_least_by_minus_one(this, first(args)) => Err(Fault::Overflow(kind)),
        M::RemEuclid => own(value.checked_rem_euclid(other).ok_or(Fault::DivideByZero)?),
        M::NextMultipleOf => {
            let over = value.checked_rem_euclid(other).ok_or(Fault::DivideByZero)?;
            own(if over == 0 { value } else { value + other - over })
        }
        M::TrailingZeros if value == 0 => u32(kind.bits()),
        M::TrailingZeros => u32(value.trailing_zeros()),
        M::LeadingZeros => u32((wrap(value, kind.unsigned())).leading_zeros() - (128 - kind.bits())),
        M::CountOnes => u32(wrap(value, kind.unsigned()).count_ones()),
        M::IsPowerOfTwo => Ok(Answer::Bool(value > 0 && value.count_ones() == 1)),
        M::NextPowerOfTwo => own((value.max(0) as u128).next_power_of_two() as i128),
        M::IsMultipleOf => Ok(Answer::Bool(if other == 0 { value == 0 } else { value % other == 0 })),
        M::Isqrt => own(value.checked_isqrt().ok_or(Fault::Undefined)?),
        M::Ilog10 => u32(value.checked_ilog10().ok_or(Fault::Undefined)?),
        M::Signum => own(value.signum()),
        M::IsPositive => Ok(Answer::Bool(value > 0)),
        M::IsNegative => Ok(Answer::Bool(value < 0)),
        M::UnsignedAbs => Ok(Answer::Int(Int::new(value.abs(), kind.unsigned()))),
        M::CountZeros => u32(kind.bits() - wrap(value, kind.unsigned()).count_ones()),
        M::LeadingOnes => u32(wrap(!value, kind.unsigned()).leading_zeros() - (128 - kind.bits())),
        M::TrailingOnes => u32(wrap(value, kind.unsigned()).trailing_ones()),
        M::ReverseBits => {
            let reversed = wrap(value, kind.unsigned()).reverse_bits() as u128 >> (128 - kind.bits());
            own(wrap(reversed as i128, kind))
        }
        // Towards zero where it has a sign, as in Rust.
        M::Midpoint => own((value + other) / 2),
    }
}

fn first(args: &[Int]) -> Int {
    args.first().copied().unwrap_or(Int::usize(0))
}

fn power(base: Int, exponent: Int) -> Result<Int, Fault> {
    let exponent = exponent.value as u32;
    let value = base.value.checked_pow(exponent).ok_or(if base.value < 0 && exponent % 2 == 1 {
        Fault::Underflow(base.kind)
    } else {
        Fault::Overflow(base.kind)
    })?;
    Int::new(value, base.kind).checked()
}
