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
