//! What the programs share.

use collective_dsl::CollectiveKind;
use collective_dsl::{ChunkRef, Diagnostics, Options, Replication, Setting, Trace};

use crate::figures::Row;

pub(crate) type Traced = Result<Trace, Diagnostics>;

impl Row {
    /// The numbers that the program takes.
    pub(crate) fn numbers<const N: usize>(&self) -> [usize; N] {
        self.args.try_into().unwrap()
    }

    /// A setting with the row's protocol.
    pub(crate) fn setting(
        &self,
        kind: CollectiveKind,
        instances: usize,
        replication: Replication,
    ) -> Setting<'static> {
        let options = Options {
            protocol: self.protocol,
            instances: instances as u32,
            replication,
            fusion: self.variant != "unfused",
        };
        Setting { options, ..Setting::new(self.program, kind, self.ranks) }
    }
}

/// Asks for one thread block for both directions between the chunk's rank and a peer, on both: the number of the
/// peer, times `of` plus `which` where there are several.
pub(crate) fn exchange<'p>(chunk: ChunkRef<'p>, peer: usize, (which, of): (usize, usize)) -> ChunkRef<'p> {
    let rank = chunk.rank();
    chunk.on_send_block(peer * of + which).on_recv_block(rank * of + which)
}

/// One thread block a peer.
pub(crate) const ONE: (usize, usize) = (0, 1);

/// Position of `peer` among all ranks but `rank`.
pub(crate) fn slot(rank: usize, peer: usize) -> usize {
    if peer < rank { peer } else { peer - 1 }
}
