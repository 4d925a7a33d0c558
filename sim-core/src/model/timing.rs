//! latency + size / bandwidth in the arithmetic of each convention.

use super::Conventions;
use crate::units::{Bandwidth, Bytes, Latency, Picos, transfer_time};

/// What a link or a whole route costs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timing {
    /// Integers; rounded once, half up, to a picosecond.
    Exact { latency: Picos, bytes_per_s: u64 },
    /// Doubles; cut to whole nanoseconds.
    AstraSim { latency_ns: f64, bytes_per_ns: f64 },
}

impl Timing {
    /// `hops` links in a row of the same `latency`; `hops` · latency must fit.
    pub(super) fn new(
        conventions: Conventions,
        hops: u32,
        latency: Latency,
        bandwidth: Bandwidth,
    ) -> Option<Self> {
        Some(match conventions {
            Conventions::Exact => Self::Exact {
                latency: Picos(latency.to_picos().0.checked_mul(u64::from(hops))?),
                bytes_per_s: bandwidth.whole_bytes_per_s(),
            },
            Conventions::AstraSim => Self::AstraSim {
                latency_ns: f64::from(hops) * latency.as_ns(),
                bytes_per_ns: bandwidth.bytes_per_ns(),
            },
        })
    }

    /// Equal for equal timings of one convention, and different for different ones.
    pub(super) fn bits(&self) -> (u64, u64) {
        match *self {
            Self::Exact { latency, bytes_per_s } => (latency.0, bytes_per_s),
            Self::AstraSim { latency_ns, bytes_per_ns } => (latency_ns.to_bits(), bytes_per_ns.to_bits()),
        }
    }

    /// size / bandwidth: how long the message occupies the link. None if it does not fit, as below.
    #[inline]
    pub(super) fn occupation(&self, size: Bytes) -> Option<Picos> {
        match *self {
            Self::Exact { bytes_per_s, .. } => transfer_time(size, bytes_per_s),
            Self::AstraSim { bytes_per_ns, .. } => whole_ns(size.0 as f64 / bytes_per_ns),
        }
    }

    /// latency + size / bandwidth: how long the message takes to the other end.
    #[inline]
    pub(super) fn passage(&self, size: Bytes) -> Option<Picos> {
        match *self {
            Self::Exact { latency, bytes_per_s } => latency.checked_add(transfer_time(size, bytes_per_s)?),
            Self::AstraSim { latency_ns, bytes_per_ns } => {
                whole_ns(latency_ns + size.0 as f64 / bytes_per_ns)
            }
        }
    }
}

/// ⌊ns⌋; the cast saturates, and what saturates does not fit either.
#[inline]
fn whole_ns(ns: f64) -> Option<Picos> {
    Picos::from_ns(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(conventions: Conventions, hops: u32, bytes_per_s: f64) -> Timing {
        let (latency, bandwidth) = (Latency::from_ns(500.0), Bandwidth::from_bytes_per_s(bytes_per_s));
        Timing::new(conventions, hops, latency.unwrap(), bandwidth.unwrap()).unwrap()
    }

    #[test]
    fn both_arithmetics_agree_with_hand_computed_figures() {
        let size = Bytes(1_000_000);
        let exact = timing(Conventions::Exact, 4, 50e9);
        assert_eq!(exact.passage(size), Picos::from_ns(22_000));
        assert_eq!(exact.occupation(size), Picos::from_ns(20_000));
        // 1,000,000 / 53.6870912 = 18,626.45 ns.
        let astra = timing(Conventions::AstraSim, 4, 50.0 * 1_073_741_824.0);
        assert_eq!(astra.passage(size), Picos::from_ns(20_626));
        assert_eq!(astra.occupation(size), Picos::from_ns(18_626));
    }

    #[test]
    fn what_does_not_fit_is_none() {
        for conventions in Conventions::ALL {
            assert_eq!(timing(conventions, 1, 1.0).passage(Bytes(u64::MAX)), None);
        }
    }
}
