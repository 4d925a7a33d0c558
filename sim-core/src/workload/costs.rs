//! How long computations and accesses to memory take.

use chakra_et::workload::Cost;

use crate::error::Overflow;
use crate::model::Conventions;
use crate::units::{Bandwidth, Bytes, Picos};

/// The speed of a processor and its memory, from which the time of a computation follows: the roofline model of
/// Williams, Waterman and Patterson (CACM 52(4), 2009).
///
/// A computation of W operations on Q bytes takes max(W / peak, Q / bandwidth), which is W divided by
/// min(peak, W / Q · bandwidth), rounded half up to a picosecond. Under ASTRA-sim's conventions that is cut to
/// whole nanoseconds, and a computation on 0 bytes takes no time.
///
/// ```
/// use sim_core::workload::Roofline;
/// use chakra_et::workload::Cost;
///
/// // 900 TFLOP/s and 1600 GB/s: a product of 1024 × 1024 matrices of 2-byte numbers is bound by the memory.
/// let roofline = Roofline::new(900e12, "1600 GB/s".parse()?)?;
/// let product = Cost::operations(2 << 30, 6 << 20);
/// assert_eq!(roofline.time(product), Some("3932.16 ns".parse()?));
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

/// The speeds from which times of nodes follow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    pub(crate) roofline: Option<Roofline>,
    pub(crate) local: Option<Memory>,
    pub(crate) remote: Option<Memory>,
}

const PICOS_PER_MICRO: u64 = 1_000_000;
const PICOS_PER_NANO: u64 = 1_000;

impl Costs {
    /// How long a computation takes: what it states, else what the roofline says, else no time. ASTRA-sim: what the
    /// roofline says if there is one, else what it states, else 1 ns.
    pub(crate) fn compute(&self, conventions: Conventions, cost: Cost) -> Result<Picos, Overflow> {
        let stated = cost.micros.checked_mul(PICOS_PER_MICRO).map(Picos).ok_or(Overflow::TIME);
        match (conventions, self.roofline) {
            (Conventions::AstraSim, Some(roofline)) => roofline.in_whole_nanos(cost).ok_or(Overflow::TIME),
            (Conventions::AstraSim, None) if cost.micros == 0 => Ok(Picos(PICOS_PER_NANO)),
            (Conventions::Exact, Some(roofline)) if cost.micros == 0 => {
                roofline.time(cost).ok_or(Overflow::TIME)
            }
            _ => stated,
        }
    }

    /// How long a load or store takes; without a stated speed no time.
    pub(crate) fn access(&self, remote: bool, bytes: u64) -> Result<Picos, Overflow> {
        let memory = if remote { self.remote.or(self.local) } else { self.local };
        let Some(Memory { latency, bandwidth }) = memory else { return Ok(Picos::ZERO) };
        let transfer = bandwidth.transfer_time(Bytes(bytes));
        transfer.and_then(|transfer| latency.checked_add(transfer)).ok_or(Overflow::TIME)
    }
}

impl Roofline {
    /// The time of a computation of so many operations on so many bytes, whatever duration it states; None if it does not fit.
    #[must_use]
    pub fn time(self, cost: Cost) -> Option<Picos> {
        let computing = cost.ops as f64 / self.peak * 1e12;
        let computing = (computing < u64::MAX as f64).then(|| Picos(computing.round() as u64))?;
        Some(computing.max(self.bandwidth.transfer_time(Bytes(cost.bytes))?))
    }

    fn in_whole_nanos(self, cost: Cost) -> Option<Picos> {
        if cost.bytes == 0 || cost.ops == 0 {
            return Some(Picos::ZERO);
        }
        let intensity = cost.ops as f64 / cost.bytes as f64;
        let speed = self.peak.min(self.bandwidth.bytes_per_s() * intensity);
        let nanos = cost.ops as f64 / speed * 1e9;
        let nanos = (nanos < u64::MAX as f64).then_some(nanos as u64)?;
        nanos.checked_mul(PICOS_PER_NANO).map(Picos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roofline() -> Roofline {
        Roofline::new(900e12, "1600 GB/s".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_computation_is_bound_by_the_processor_or_the_memory() {
        let costs = Costs { roofline: Some(roofline()), ..Costs::default() };
        let time = |cost| costs.compute(Conventions::Exact, cost).unwrap();
        // 9 · 10^11 operations at 900 · 10^12 a second are 1 ms; 1.6 · 10^9 bytes as well.
        assert_eq!(time(Cost::operations(900_000_000_000, 1)), "1 ms".parse().unwrap());
        assert_eq!(time(Cost::operations(1, 1_600_000_000)), "1 ms".parse().unwrap());
        assert_eq!(time(Cost { micros: 3, ops: 900_000_000_000, bytes: 1 }), "3 us".parse().unwrap());
        assert_eq!(time(Cost::default()), Picos::ZERO);
    }

    #[test]
    fn astra_sim_prefers_the_roofline_and_counts_whole_nanoseconds() {
        let with = Costs { roofline: Some(roofline()), ..Costs::default() };
        let time = |costs: Costs, cost| costs.compute(Conventions::AstraSim, cost).unwrap();
        let cost = Cost { micros: 3, ops: 1_000_000, bytes: 10_000 };
        // Bound by memory: 10,000 B / 1600 B/ns = 6.25 ns.
        assert_eq!(time(with, cost), Picos(6_000));
        assert_eq!(time(with, Cost { bytes: 0, ..cost }), Picos::ZERO);
        assert_eq!(time(Costs::default(), cost), Picos(3_000_000));
        assert_eq!(time(Costs::default(), Cost { micros: 0, ..cost }), Picos(1_000));
    }

    #[test]
    fn an_access_takes_latency_and_transfer() {
        let memory = |latency: &str, bandwidth: &str| {
            Some(Memory { latency: latency.parse().unwrap(), bandwidth: bandwidth.parse().unwrap() })
        };
        let costs =
            Costs { local: memory("100 ns", "1 GB/s"), remote: memory("1 us", "1 GB/s"), roofline: None };
        assert_eq!(costs.access(false, 1000), Ok(Picos(1_100_000)));
        assert_eq!(costs.access(true, 1000), Ok(Picos(2_000_000)));
        assert_eq!(Costs { remote: None, ..costs }.access(true, 0), Ok(Picos(100_000)));
        assert_eq!(Costs::default().access(true, 1000), Ok(Picos::ZERO));
    }
}
