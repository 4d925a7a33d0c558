//! Which ranks are run, and which nodes each of them has.

use chakra_et::graph::{Graph, RankGraph, Symmetry};

use crate::engine::connection::Key;

/// The ranks of a run.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Those of a graph, each with its own nodes.
    Each(&'a Graph),
    /// As many as the symmetry relabels, each with the nodes of the graph's first, relabelled.
    Alike(&'a Graph, &'a Symmetry),
    /// The first of such ranks alone: what it sends to others stands for what it receives itself.
    First(&'a Graph, &'a Symmetry),
}

impl<'a> Source<'a> {
    /// How many ranks are run.
    pub(super) fn rank_count(&self) -> u32 {
        match self {
            // A graph has as many ranks as a topology, which counts them in 32 bits.
            Self::Each(graph) => graph.rank_count() as u32,
            Self::Alike(_, symmetry) => symmetry.rank_count(),
            Self::First(..) => 1,
        }
    }

    /// The different programs of the ranks, in the order of [`Source::program`].
    pub(super) fn programs(&self) -> &'a [RankGraph] {
        match *self {
            Self::Each(graph) => graph.ranks(),
            Self::Alike(graph, _) | Self::First(graph, _) => &graph.ranks()[..graph.rank_count().min(1)],
        }
    }

    /// Which program a rank has.
    #[inline]
    pub(super) fn program(&self, rank: u32) -> usize {
        match self {
            Self::Each(_) => rank as usize,
            Self::Alike(..) | Self::First(..) => 0,
        }
    }

    /// Number of nodes of all ranks together.
    pub(super) fn node_count(&self) -> usize {
        match self {
            Self::Each(graph) => graph.node_count(),
            _ => self.programs().iter().map(RankGraph::len).sum::<usize>() * self.rank_count() as usize,
        }
    }

    /// The peer of a rank that its program names.
    #[inline]
    pub(super) fn peer(&self, rank: u32, named: u32) -> u32 {
        match self {
            Self::Each(_) | Self::First(..) => named,
            Self::Alike(_, symmetry) => symmetry.moved(named, rank),
        }
    }

    /// Whether a program, which is that of a rank of this number, may name the peer.
    pub(super) fn may_name(&self, program: usize, peer: u32) -> bool {
        let ranks = match self {
            Self::Each(graph) => graph.rank_count() as u32,
            Self::Alike(_, symmetry) | Self::First(_, symmetry) => symmetry.rank_count(),
        };
        peer < ranks && peer as usize != program
    }

    /// The program that receives what a program sends on a connection, and the connection as that one names it.
    pub(super) fn other_end(&self, program: usize, key: Key) -> (usize, Key) {
        match self {
            Self::Each(_) => (key.peer as usize, key.seen_from(program as u32)),
            Self::Alike(_, symmetry) | Self::First(_, symmetry) => {
                (0, key.seen_from(symmetry.back(key.peer)))
            }
        }
    }
}
