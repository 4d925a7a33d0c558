//! How TE-CCL counts time: in epochs.

use collective::sim::topology::LinkSpec;
use collective::sim::units::{Bandwidth, Latency};

/// The latency that TE-CCL counts for a link.
///
/// A schedule of TE-CCL is a sequence of epochs. Here an epoch is what a chunk takes on the fastest link, and four times that for
/// chunks of outputs up to 4 KB. A link's latency is a whole number of epochs, rounded up, or none where it is up to a tenth of one.
pub(crate) enum Epochs {
    /// As above, by picoseconds of an epoch.
    Of(u64),
    /// Latencies are what they are.
    None,
}

impl Epochs {
    /// The epochs for all-to-alls of chunks of `chunk` bytes.
    pub(crate) fn of_chunks(chunk: f64, output: u64, fastest_gbps: f64) -> Self {
        let factor = if output <= 4000 { 4.0 } else { 1.0 };
        Self::Of((factor * chunk * 1000.0 / fastest_gbps).round() as u64)
    }

    /// A link of so many GB/s, and of a latency that is counted in these epochs.
    pub(crate) fn link(&self, gbps: f64, latency_ns: u64) -> LinkSpec {
        let latency = 1000 * latency_ns;
        let counted = match self {
            Self::None => latency,
            Self::Of(epoch) if 10 * latency <= *epoch => 0,
            Self::Of(epoch) => latency.div_ceil(*epoch) * epoch,
        };
        LinkSpec::new(
            Bandwidth::from_bytes_per_s(gbps * 1e9).unwrap(),
            Latency::from_ns(counted as f64 / 1000.0).unwrap(),
        )
    }
}
