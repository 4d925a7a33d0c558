//! MSCCL XML, the format in which MSCCL runtimes take algorithms: written from a schedule, and read into one.
//!
//! [`write()`] makes the dialect of a [`Target`] and holds its limits ([`limits::check`]); [`read()`] takes every dialect
//! known to be in use. The schedule is the meaning of a file: what else it says is in its [`Header`], so that a file
//! can be read, changed and written again without loss.
//!
//! What runtimes make of a file, and so does this module:
//!
//! * Steps run in the order of the file. The k-th send on a connection (sender, receiver, channel) meets the k-th
//!   receive; what a step says of the other end is only for readers (`informed.rs`).
//! * `rrc`, `rrs` and `rrcs` add what arrives to the rank's own chunk at `srcbuf`, `srcoff`, and store the sum at
//!   `dstbuf`, `dstoff`. MSCCLang writes the sender's chunk as source, which is the same only where both are.
//! * A step waits for at most one other; further waits are carried by `nop` steps before it (`nops.rs`, `waits.rs`).
//!   `deps` counts nops.
//! * In place, `i` and `o` name one buffer, or one is a window of the other (`meaning.rs`).
//!
//! The format has no sizes: which part of the data a step moves is found by running the schedule (`flow.rs`).
//! `coll="custom"` has no post-condition ([`crate::Collective::is_unspecified`]), and source lines are not kept: those
//! of an imported schedule are the lines of the file.

mod copies;
mod document;
mod error;
mod flow;
mod header;
mod informed;
pub mod limits;
mod markup;
mod meaning;
mod nops;
mod read;
mod target;
mod waits;
mod warnings;
mod write;

pub use error::XmlError;
pub use header::{Attributes, Extras, Header, Parent};
pub use read::{Imported, Placement, ReadOptions, Unflagged, read, read_with};
pub use target::{Limits, Target};
pub use warnings::Warning;
pub use write::{XmlOptions, write};
