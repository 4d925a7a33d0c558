//! What is left of the differences between simulated and measured times.

use crate::sim::units::Picos;

/// A point with its simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Residual {
    /// The number of the point.
    pub point: usize,
    /// The number of its program.
    pub program: usize,
    /// Its size in bytes.
    pub size: u64,
    /// What was measured, in nanoseconds.
    pub measured_ns: f64,
    /// What is simulated.
    pub simulated: Picos,
    /// Whether the figures were fitted to it.
    pub is_fitted: bool,
}

impl Residual {
    /// Simulated by measured: above 1 where the simulation is too slow.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.logarithm().exp()
    }

    pub(super) fn logarithm(&self) -> f64 {
        (self.simulated.0.max(1) as f64 / 1000.0).ln() - self.measured_ns.ln()
    }
}

/// How far simulated times are from measured ones.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Of so many points.
    pub points: usize,
    /// exp(mean of |ln(simulated / measured)|) − 1: the geometric mean of the factors between them, less 1.
    pub mean_error: f64,
    /// exp(mean of ln(simulated / measured)) − 1: above 0 where the simulation is too slow on the whole.
    pub bias: f64,
    /// exp(largest |ln(simulated / measured)|) − 1.
    pub largest_error: f64,
}

impl Summary {
    /// Of some points; none if there are none.
    ///
    /// ```
    /// use collective::calibrate::Summary;
    ///
    /// // One twice as slow as measured, one twice as fast.
    /// let summary = Summary::of([2.0, 0.5]).ok_or("two")?;
    /// assert!((summary.mean_error - 1.0).abs() < 1e-12 && (summary.largest_error - 1.0).abs() < 1e-12);
    /// assert!(summary.bias.abs() < 1e-12);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn of(ratios: impl IntoIterator<Item = f64>) -> Option<Self> {
        let logarithms: Vec<f64> = ratios.into_iter().map(f64::ln).collect();
        let count = logarithms.len() as f64;
        let mean = |of: fn(f64) -> f64| logarithms.iter().map(|it| of(*it)).sum::<f64>() / count;
        let largest = logarithms.iter().map(|it| it.abs()).fold(0.0, f64::max);
        (!logarithms.is_empty()).then(|| Self {
            points: logarithms.len(),
            mean_error: mean(f64::abs).exp_m1(),
            bias: mean(|it| it).exp_m1(),
            largest_error: largest.exp_m1(),
        })
    }
}
