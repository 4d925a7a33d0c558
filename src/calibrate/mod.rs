//! Figures of a machine and measured times: which figures a time depends on, and which figures fit the times.
//!
//! [`sensitivities`] says of one collective on one machine how much each figure is worth.

mod parameter;
mod sensitivity;

pub use parameter::{Figure, Parameter, UnknownFigure};
pub use sensitivity::{Sensitivity, sensitivities};
