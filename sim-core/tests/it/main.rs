//! What the simulator answers, by kind of claim.

mod astra_sim;
mod by_hand;
mod conditions;
mod documented;
mod fluid;
mod fluid_properties;
mod models_page;
mod networks;
mod properties;
mod refused;
mod results;
mod stuck;
mod support;
mod workload;
