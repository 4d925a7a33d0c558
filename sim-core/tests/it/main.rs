//! What the simulator answers, by kind of claim.

mod astra_sim;
mod by_hand;
mod determinism;
mod folding;
mod loggp;
mod properties;
mod refused;
mod stuck;
mod support;
mod workload;
