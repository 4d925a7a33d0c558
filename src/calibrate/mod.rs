//! Figures of a machine and measured times: which figures a time depends on, and which figures fit the times.
//!
//! [`sensitivities`] says of one collective on one machine how much each figure is worth.
//!
//! [`fit`] takes measured times of some programs at some sizes, and changes a few [`Parameter`]s of a [`Machine`] so that the
//! simulated times come as near as they can: least squares of ln(simulated / measured), by Levenberg and Marquardt, in the logarithms
//! of the figures. An error of 10 % counts the same at each size, and no figure becomes negative. A [`Fit`] says with each
//! figure how well the times tell it, which two figures they cannot tell apart, and what is left of the differences; and
//! [`leave_one_out`] how well a program is foretold by a fit of the others. What simulates is a closure, so that both work with any
//! model of a time.
//!
//! [`Machine`]: crate::sim::machine::Machine

mod fit;
mod least_squares;
mod linear;
mod parameter;
mod residuals;
#[cfg(feature = "topology-files")]
mod runs;
mod sensitivity;
mod without;

pub use fit::{Estimate, Fit, FitError, Options, Point, fit};
pub use parameter::{Figure, Parameter, ParameterError, UnknownFigure};
pub use residuals::{Residual, Summary};
#[cfg(feature = "topology-files")]
pub use runs::{RunEntry, RunsError, parse_runs};
pub use sensitivity::{Sensitivity, sensitivities};
pub use without::leave_one_out;
