//! As somebody who trains a model I want to know how long a step takes on a network, what of its communication is hidden, and
//! what the rest waits for.

#[path = "../support/mod.rs"]
mod support;

mod errors;
mod reports;
mod samples;
mod scaling;
mod steps;
mod system;
mod timeline;
