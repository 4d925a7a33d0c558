//! What the simulator answers, by kind of claim.

mod astra_sim;
mod by_hand;
mod conditions;
mod determinism;
mod documented;
mod fluid;
mod fluid_properties;
mod folding;
mod link_loads;
mod loggp;
mod machine;
mod machine_fold;
mod models_page;
mod networks;
mod properties;
mod refused;
mod results;
mod routes;
mod stuck;
mod support;
mod workload;
