//! How well a program is foretold by a fit of the others.

use super::fit::{Fit, FitError, Options, Point, fit};
use super::parameter::Parameter;
use super::residuals::Summary;
use crate::sim::machine::Machine;
use crate::sim::units::Picos;

/// For each program up to the largest number of one: how far its fitted sizes are off where the figures are fitted to those of all
/// other programs. The searches begin at `fit`, which must be that of the same arguments.
///
/// None where that says nothing: it is the only program, the others are too few points, or one of the figures matters to none of
/// them, so that they do not tell it.
///
/// # Errors
/// Those of [`fit`](super::fit()).
pub fn leave_one_out<E: Send>(
    whole: &Fit,
    points: &[Point],
    options: Options,
    time: impl Fn(&Machine, &Point) -> Result<Picos, E> + Sync,
) -> Result<Vec<Option<Summary>>, FitError<E>> {
    let parameters: Vec<Parameter> = whole.estimates.iter().map(|it| it.parameter).collect();
    let programs = points.iter().map(|point| point.program + 1).max().unwrap_or(0);
    (0..programs).map(|program| one(whole, &parameters, points, program, options, &time)).collect()
}

fn one<E: Send>(
    whole: &Fit,
    parameters: &[Parameter],
    points: &[Point],
    program: usize,
    options: Options,
    time: &(impl Fn(&Machine, &Point) -> Result<Picos, E> + Sync),
) -> Result<Option<Summary>, FitError<E>> {
    let matters = |parameter: usize, is_own: bool| {
        let of =
            points.iter().zip(&whole.influence).filter(|(point, _)| (point.program == program) == is_own);
        of.into_iter().any(|(_, influence)| influence[parameter] != 0.0)
    };
    if (0..parameters.len()).any(|parameter| matters(parameter, true) && !matters(parameter, false)) {
        return Ok(None);
    }
    // What only this program tells is not asked of the others.
    let told: Vec<Parameter> =
        (0..parameters.len()).filter(|at| matters(*at, false)).map(|at| parameters[at]).collect();
    let others: Vec<Point> = points.iter().filter(|point| point.program != program).copied().collect();
    let fitted = match fit(&whole.machine, &told, &others, options, time) {
        Ok(fitted) => fitted,
        Err(FitError::TooFew { .. } | FitError::NoParameters) => return Ok(None),
        Err(error) => return Err(error),
    };
    let own = points.iter().filter(|point| point.program == program && point.size > options.small);
    let ratio = |point: &Point| time(&fitted.machine, point).map(|time| time.as_ns() / point.measured_ns);
    let ratios = own.map(ratio).collect::<Result<Vec<f64>, E>>().map_err(FitError::Time)?;
    Ok(Summary::of(ratios))
}
