//! Workloads: training steps in which every collective is carried out by an algorithm, message by message, while the
//! ranks compute.

mod algorithm;
mod costs;

pub use algorithm::{Algorithm, Algorithms, Choice, Chunks, Use};
pub use costs::{Memory, PeakError, Roofline};
