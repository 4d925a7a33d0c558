//! As somebody who trains models I simulate a step with the library's algorithms inside, and can compute by hand what comes out.

mod collectives;
mod determinism;
mod example;
mod groups;
mod memory;
mod orders;
mod overlap;
mod page;
mod pipeline;
mod samples;
mod support;
mod targets;
