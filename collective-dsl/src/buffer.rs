//! The buffers that a program moves chunks between.

use std::fmt;

/// A buffer of one rank, as a program names it.
///
/// Where input and output are one buffer (in place) the names alias: see [`crate::Collective::locate_output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer<'a> {
    /// What the rank contributes.
    Input,
    /// Where the collective's result belongs.
    Output,
    /// Working space with a name of the program's choice. Every rank has its own; it comes into being, and
    /// grows, with the first copy into it.
    Scratch(&'a str),
}

impl fmt::Display for Buffer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::Input => f.write_str("input"),
            Buffer::Output => f.write_str("output"),
            Buffer::Scratch(name) => write!(f, "scratch \"{name}\""),
        }
    }
}

/// A buffer that really exists on a rank, after aliases are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The input buffer; when in place, for all-reduce and reduce-scatter, the output too.
    Input,
    /// The output buffer; when in place, for all-gather, the input too.
    Output,
    /// A scratch buffer of the rank, by the order of creation on it.
    Scratch(u16),
}
