//! Chakra execution traces.
pub mod graph;
