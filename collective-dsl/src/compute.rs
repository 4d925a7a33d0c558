//! Computation that produces or consumes chunks, so that it overlaps with the messages of a collective chunk by chunk.

use std::fmt;

use crate::schedule::Place;

/// What a computation costs: floating-point operations and bytes of memory, or a duration.
///
/// In a trace the duration is `duration_micros` of the COMP node, the operations are `num_ops`, the bytes
/// `tensor_size`. Chakra traces know no other unit of time, so durations are whole microseconds; shorter work is stated
/// in operations and bytes, which a simulator turns into time by the speed of its devices. Without a duration and without
/// such a speed a computation takes no time. Costs are the program's own: they do not grow with the size of
/// the collective, but of one of size 0 nothing is computed.
///
/// ```
/// use collective_dsl::Cost;
/// let (m, n, k) = (1024, 4096, 8192);
/// // A product of matrices of 16-bit numbers, each of which is moved once.
/// let product = Cost::flops(2 * m * n * k).bytes(2 * (m * n + n * k + m * k));
/// assert_eq!((product.flops, product.micros), (68_719_476_736, 0));
/// assert_eq!(Cost::micros(40).to_string(), "40 us");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes read from and written to memory.
    pub bytes: u64,
    /// The duration in microseconds; 0 where it follows from the others.
    pub micros: u64,
}

impl Cost {
    /// A number of floating-point operations.
    #[must_use]
    pub const fn flops(flops: usize) -> Self {
        Self { flops: flops as u64, bytes: 0, micros: 0 }
    }

    /// A duration in microseconds.
    #[must_use]
    pub const fn micros(micros: usize) -> Self {
        Self { flops: 0, bytes: 0, micros: micros as u64 }
    }

    /// The same, with so many bytes of memory read and written.
    #[must_use]
    pub const fn bytes(self, bytes: usize) -> Self {
        Self { bytes: bytes as u64, ..self }
    }
}

impl fmt::Display for Cost {
    /// What is stated of it, such as `2000 flops 512 B`; `no cost` if nothing is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.micros, "us"), (self.flops, "flops"), (self.bytes, "B")];
        let mut space = "";
        for (value, unit) in parts.into_iter().filter(|(value, _)| *value > 0) {
            write!(f, "{space}{value} {unit}")?;
            space = " ";
        }
        if space.is_empty() { f.write_str("no cost") } else { Ok(()) }
    }
}

/// Consecutive chunks, from a place on: a [`crate::Slice`] in a trace, a [`crate::Place`] in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkRun<P> {
    /// The first chunk.
    pub first: P,
    /// How many.
    pub count: u32,
}

impl fmt::Display for ChunkRun<Place> {
    /// `i[3]` or `i[3..5]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { buffer, index } = self.first;
        match self.count {
            1 => self.first.fmt(f),
            count => write!(f, "{}[{index}..{}]", buffer.letter(), u64::from(index) + u64::from(count)),
        }
    }
}

/// What one computation of a rank does.
///
/// What it writes are chunks of the rank's input: with it the rank's contribution comes into being, and is not there before.
/// The computations of one rank run one at a time, in the order of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation<P> {
    /// What it costs.
    pub cost: Cost,
    /// The chunks that must be there when it begins, and stay until it ends.
    pub reads: Vec<ChunkRun<P>>,
    /// The chunks that are there when it ends.
    pub writes: Vec<ChunkRun<P>>,
}
