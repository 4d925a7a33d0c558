//! What the simulator answers, by kind of claim.

mod astra_sim;
mod by_hand;
mod documented;
mod link_loads;
mod networks;
mod properties;
mod refused;
mod routes;
mod stuck;
mod support;
