//! The messages of the format, as prost types: lossless but for unknown fields, and not yet checked.
//!
//! The code is generated from `proto/et_def.proto` and committed, so that a build needs no protobuf
//! compiler; the test `generated` fails when the two differ.

// The names of the schema speak for themselves, and lints are not for generated code.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
mod generated {
    include!("generated/chakra.rs");
}

pub use generated::*;
