//! Algorithms that were checked at build time and lie in the binary.

use chakra_et::ReadError;
use chakra_et::graph::Graph;

use crate::et::{EtBytes, RescaleError, rescale};
use crate::size::Size;

/// An instance of an algorithm, checked and compiled at build time: the bytes of its Chakra execution
/// traces, one file a rank.
///
/// `#[collective(…, build(ranks = 8))]` makes one, called `RANKS_8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The algorithm's name.
    pub name: &'static str,
    /// The parameters that it was built for.
    pub params: &'static [(&'static str, usize)],
    /// The bytes of each rank's file.
    pub ranks: &'static [&'static [u8]],
}

impl Embedded {
    /// The compact graph, for the size that it was built for.
    ///
    /// # Errors
    /// None with bytes that the macro has made.
    pub fn graph(&self) -> Result<Graph, ReadError> {
        chakra_et::graph_from_bytes(self.ranks)
    }

    /// The traces for another size of the collective.
    ///
    /// # Errors
    /// The size is not a whole number of elements.
    pub fn with_size(&self, size: Size) -> Result<EtBytes, RescaleError> {
        rescale(self.ranks, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer::{Input, Scratch};
    use crate::collective::Collective;
    use crate::et::{self, EtOptions};
    use crate::program::Program;
    use crate::schedule::Schedule;

    fn ring(ranks: usize) -> Schedule {
        let p = Program::new(Collective::all_reduce(ranks).unwrap().in_place().unwrap());
        for index in 0..ranks {
            let mut sum = p.chunk(index, Input, index);
            (1..ranks).for_each(|step| sum = p.chunk((index + step) % ranks, Input, index).reduce(sum));
            (0..ranks - 1).for_each(|step| sum = sum.copy_to((index + step) % ranks, Input, index));
        }
        crate::compile(&p.finish("ring").unwrap()).unwrap()
    }

    fn bytes(schedule: &Schedule, size: u64) -> EtBytes {
        et::bytes(schedule, &EtOptions::new(Size::bytes(size))).unwrap()
    }

    /// As `Embedded::with_size`, from bytes that are no statics.
    fn rescaled(from: &EtBytes, size: u64) -> Result<EtBytes, RescaleError> {
        let ranks: Vec<&[u8]> = from.ranks().iter().map(Vec::as_slice).collect();
        rescale(&ranks, Size::bytes(size))
    }

    #[test]
    fn any_size_from_any_other_is_what_a_fresh_compilation_gives() {
        for ranks in [1, 3, 8] {
            let schedule = ring(ranks);
            // Less than an element a chunk, uneven, even, nothing.
            for from in [4, 12, 4_000_012, 1 << 20] {
                for to in [0, 4, 12, 4_000_012, 1 << 20] {
                    let got = rescaled(&bytes(&schedule, from), to).unwrap();
                    assert_eq!(got, bytes(&schedule, to), "{ranks} ranks, {from} to {to}");
                }
            }
            assert!(matches!(rescaled(&bytes(&schedule, 0), 4), Err(RescaleError::Empty { .. })));
        }
    }

    #[test]
    fn a_size_at_which_added_chunks_differ_is_refused_as_a_fresh_compilation_does() {
        let p = Program::new(Collective::all_reduce(1).unwrap().with_chunks(2).unwrap().in_place().unwrap());
        p.chunk(0, Input, 0).copy_to(0, Scratch("s"), 0).reduce(p.chunk(0, Input, 1));
        let schedule = crate::compile(&p.finish("mixed").unwrap()).unwrap();
        let embedded = bytes(&schedule, 8);
        assert_eq!(rescaled(&embedded, 16).unwrap(), bytes(&schedule, 16));
        let error = rescaled(&embedded, 12).unwrap_err().to_string();
        assert_eq!(error, "the algorithm adds chunk 1 to chunk 0: with 3 elements in all they are not equal");
        assert!(et::bytes(&schedule, &EtOptions::new(Size::bytes(12))).is_err());
    }
}
