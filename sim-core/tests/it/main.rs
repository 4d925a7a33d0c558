//! What the simulator answers, by kind of claim.

mod astra_sim;
mod by_hand;
mod fluid;
mod properties;
mod refused;
mod stuck;
mod support;
