//! Chakra execution traces.
pub mod graph;
pub mod proto;
