//! The size of a collective.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ElementType {
    /// 8-bit integer.
    I8,
    /// 16-bit IEEE float.
    F16,
    /// 16-bit brain float.
    Bf16,
    /// 32-bit integer.
    I32,
    /// 32-bit IEEE float.
    #[default]
    F32,
    /// 64-bit integer.
    I64,
    /// 64-bit IEEE float.
    F64,
}

impl ElementType {
    /// All types.
    pub const ALL: [ElementType; 7] = [
        ElementType::I8,
        ElementType::F16,
        ElementType::Bf16,
        ElementType::I32,
        ElementType::F32,
        ElementType::I64,
        ElementType::F64,
    ];

    /// Bytes of an element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            ElementType::I8 => 1,
            ElementType::F16 | ElementType::Bf16 => 2,
            ElementType::I32 | ElementType::F32 => 4,
            ElementType::I64 | ElementType::F64 => 8,
        }
    }

    /// The name, such as `f32`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ElementType::I8 => "i8",
            ElementType::F16 => "f16",
            ElementType::Bf16 => "bf16",
            ElementType::I32 => "i32",
            ElementType::F32 => "f32",
            ElementType::I64 => "i64",
            ElementType::F64 => "f64",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ElementType {
    type Err = SizeError;

    fn from_str(name: &str) -> Result<Self, SizeError> {
        Self::ALL
            .into_iter()
            .find(|element| element.name() == name)
            .ok_or_else(|| SizeError::UnknownType(name.to_owned()))
    }
}

/// The size of a collective as nccl-tests counts it: the vector for all-reduce, the whole gathered or
/// scattered buffer for all-gather and reduce-scatter.
///
/// ```
/// use collective_dsl::{ElementType, Size};
/// assert_eq!(Size::bytes(4096).elements()?, 1024);
/// assert!(Size::bytes(4097).elements().is_err());
/// assert_eq!(Size::of(100, ElementType::F64).in_bytes(), 800);
/// # Ok::<(), collective_dsl::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    bytes: u64,
    element: ElementType,
}

/// A size that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SizeError {
    /// Not a whole number of elements.
    #[error("a size of {bytes} bytes is not a whole number of {element} elements of {} bytes", element.bytes())]
    Fraction {
        /// The size.
        bytes: u64,
        /// The element type.
        element: ElementType,
    },
    /// A number of elements that the collective cannot divide as it must.
    #[error("{0}")]
    Indivisible(String),
    /// No such element type.
    #[error("unknown element type \"{0}\"; known are i8, f16, bf16, i32, f32, i64, f64")]
    UnknownType(String),
}

impl Size {
    /// A size in bytes, of `f32` elements.
    #[must_use]
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes, element: ElementType::default() }
    }

    /// So many elements of a type; saturates at the largest `u64`.
    #[must_use]
    pub fn of(elements: u64, element: ElementType) -> Self {
        Self { bytes: elements.saturating_mul(element.bytes()), element }
    }

    /// The same bytes in elements of another type.
    #[must_use]
    pub fn with_type(self, element: ElementType) -> Self {
        Self { element, ..self }
    }

    /// In bytes.
    #[must_use]
    pub fn in_bytes(self) -> u64 {
        self.bytes
    }

    /// The element type.
    #[must_use]
    pub fn element_type(self) -> ElementType {
        self.element
    }

    /// Number of elements.
    ///
    /// # Errors
    /// The size is not a multiple of the element's.
    pub fn elements(self) -> Result<u64, SizeError> {
        if self.bytes.is_multiple_of(self.element.bytes()) {
            Ok(self.bytes / self.element.bytes())
        } else {
            Err(SizeError::Fraction { bytes: self.bytes, element: self.element })
        }
    }
}
