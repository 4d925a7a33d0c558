//! How the data of a step are cut: into rounds of the loop over the buffer, and each round into slices.

use chakra_et::graph::Graph;

use super::parameters::Costs;
use super::program::Program;

/// The loop over the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Bytes of a chunk, and the most of them in a round.
    pub(super) chunk: u64,
    pub(super) piece: u64,
    /// At least 1.
    pub(super) count: u32,
    pub(super) slices: u32,
    /// Whether rounds that repeat are left out.
    pub(super) jumps: bool,
}

impl Rounds {
    /// A chunk is the size of the collective by its chunks, where the graph states that, else the largest message.
    pub(super) fn of(graph: &Graph, program: &Program, costs: &Costs) -> Self {
        let stated = graph.info.as_ref().and_then(|info| info.size_bytes.checked_div(info.chunks));
        let largest = || program.steps.iter().map(|step| step.bytes).max().unwrap_or(0);
        let chunk = stated.unwrap_or_else(largest).max(1);
        let piece = costs.piece.map_or(chunk, |piece| piece.0.clamp(1, chunk));
        let count = u32::try_from(chunk.div_ceil(piece)).unwrap_or(u32::MAX);
        Self { chunk, piece, count, slices: costs.slices.max(1), jumps: true }
    }

    /// What a step of `bytes` moves in a round: the same in all but the last, which has what is left.
    pub(super) fn data(self, bytes: u64, round: u32) -> u64 {
        let each = (u128::from(bytes) * u128::from(self.piece) / u128::from(self.chunk)) as u64;
        if round + 1 < self.count { each } else { bytes - each * u64::from(self.count - 1) }
    }

    /// In how many slices the data of a round move: no slice is empty but the only one.
    pub(super) fn slices(self, data: u64) -> u32 {
        if data < u64::from(self.slices) { 1 } else { self.slices }
    }

    /// The bytes of a slice.
    pub(super) fn slice(self, data: u64, slice: u32) -> u64 {
        let slices = u128::from(self.slices(data));
        let upto = |slice: u32| (u128::from(data) * u128::from(slice) / slices) as u64;
        upto(slice + 1) - upto(slice)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost(chunk in 1u64..1 << 40, piece in 1u64..1 << 40, chunks in 0u64..9, slices in 1u32..9) {
            let piece = piece.clamp(chunk.div_ceil(1000), chunk);
            let count = u32::try_from(chunk.div_ceil(piece)).unwrap();
            let rounds = Rounds { chunk, piece, count, slices, jumps: true };
            let bytes = chunk * chunks;
            let mut sum = 0;
            for round in 0..count {
                let data = rounds.data(bytes, round);
                sum += (0..rounds.slices(data)).map(|slice| rounds.slice(data, slice)).sum::<u64>();
            }
            prop_assert_eq!(sum, bytes);
        }
    }

    #[test]
    fn all_rounds_but_the_last_are_alike() {
        let rounds = Rounds { chunk: 10, piece: 4, count: 3, slices: 2, jumps: true };
        assert_eq!([0, 1, 2].map(|round| rounds.data(20, round)), [8, 8, 4]);
        assert_eq!([0, 1].map(|slice| rounds.slice(7, slice)), [3, 4]);
        assert_eq!((rounds.slices(1), rounds.slice(1, 0), rounds.slices(0)), (1, 1, 1));
    }
}
