//! Simulates Chakra ET graphs on declared networks.
pub mod model;
pub mod topology;
pub mod units;
