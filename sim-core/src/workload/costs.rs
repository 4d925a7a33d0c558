//! How long computations and accesses to memory take.

use crate::units::{Bandwidth, Picos};

/// The speed of a processor and its memory, from which the time of a computation follows: the roofline model of
/// Williams, Waterman and Patterson (CACM 52(4), 2009).
///
/// A computation of W operations on Q bytes takes max(W / peak, Q / bandwidth), which is W divided by
/// min(peak, W / Q · bandwidth), rounded half up to a picosecond. Under ASTRA-sim's conventions that is cut to
/// whole nanoseconds, and a computation on 0 bytes takes no time.
///
/// ```
/// use sim_core::workload::Roofline;
///
/// // 900 TFLOP/s and 1600 GB/s.
/// let roofline = Roofline::new(900e12, "1600 GB/s".parse()?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    peak: f64,
    bandwidth: Bandwidth,
}

/// A speed that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a peak of {peak} operations per second: expected a number above 0")]
pub struct PeakError {
    peak: f64,
}

impl Roofline {
    /// From a peak in operations per second, and the bandwidth of the memory.
    ///
    /// # Errors
    ///
    /// The peak is not a positive finite number.
    pub fn new(peak: f64, bandwidth: Bandwidth) -> Result<Self, PeakError> {
        if peak.is_finite() && peak > 0.0 { Ok(Self { peak, bandwidth }) } else { Err(PeakError { peak }) }
    }

    /// The peak in operations per second.
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.peak
    }

    /// The bandwidth of the memory.
    #[must_use]
    pub fn bandwidth(&self) -> Bandwidth {
        self.bandwidth
    }
}

/// The time of loads and stores: latency + size / bandwidth, for local and for remote memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Latency of an access.
    pub latency: Picos,
    /// Bandwidth.
    pub bandwidth: Bandwidth,
}
