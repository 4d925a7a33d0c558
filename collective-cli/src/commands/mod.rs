//! One file a subcommand.

pub(crate) mod algorithms;
pub(crate) mod compile;
pub(crate) mod convert;
pub(crate) mod simulate;
