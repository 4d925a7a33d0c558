//! The programs that were measured, in the language.

use collective::Buffer::{Input, Output, Scratch};
use collective::{
    ChunkRef, CollectiveKind, Options, Program, Protocol, Replication, Schedule, Setting, compile,
};

use crate::measured::Run;

const RANKS: usize = 8;

/// What a program does.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// All-gather around a ring of so many channels.
    Ring(usize),
    /// All-gather by direct messages.
    AllPairsGather,
    /// All-reduce by direct messages.
    AllPairsReduce,
}

impl Shape {
    pub(crate) fn kind(self) -> CollectiveKind {
        match self {
            Self::Ring(_) | Self::AllPairsGather => CollectiveKind::AllGather,
            Self::AllPairsReduce => CollectiveKind::AllReduce,
        }
    }

    /// Of an instance: the size is divided into so many.
    pub(crate) fn chunks(self) -> usize {
        match self {
            Self::Ring(_) | Self::AllPairsGather => RANKS,
            Self::AllPairsReduce => RANKS * RANKS,
        }
    }

    fn trace(self, p: &Program) {
        match self {
            Self::Ring(channels) => ring(p, channels),
            Self::AllPairsGather => all_pairs_gather(p),
            Self::AllPairsReduce => all_pairs_reduce(p),
        }
    }
}

impl Run {
    /// Compiled, which is to say verified; without fusion, as the programs are.
    pub(crate) fn schedule(&self) -> Schedule {
        let options = Options {
            protocol: self.protocol.name().parse::<Protocol>().unwrap(),
            instances: self.instances,
            replication: Replication::Blocked,
            fusion: false,
        };
        let chunks = match self.shape {
            Shape::AllPairsReduce => Some(self.shape.chunks()),
            Shape::Ring(_) | Shape::AllPairsGather => None,
        };
        let setting = Setting::new(self.name, self.shape.kind(), RANKS);
        let setting = Setting { in_place: true, chunks, options, ..setting };
        compile(&setting.trace("", |p| self.shape.trace(p)).unwrap()).unwrap()
    }
}

/// Each chunk goes around once, on a channel of its own or in turn with others, with one thread block a channel.
fn ring(p: &Program, channels: usize) {
    for rank in 0..RANKS {
        let channel = rank % channels;
        let mut chunk = p.chunk(rank, Input, 0).on_channel(channel);
        for hop in 1..RANKS {
            let to = (rank + hop) % RANKS;
            chunk = chunk.on_send_block(channel).on_recv_block(channel).copy_to(to, Output, rank);
        }
    }
}

/// One thread block a peer, for both directions.
fn exchange<'p>(chunks: ChunkRef<'p>, peer: usize) -> ChunkRef<'p> {
    let rank = chunks.rank();
    chunks.on_send_block(peer).on_recv_block(rank)
}

fn peers(rank: usize) -> impl Iterator<Item = usize> {
    (0..RANKS).filter(move |peer| *peer != rank)
}

fn all_pairs_gather(p: &Program) {
    for rank in 0..RANKS {
        for peer in peers(rank) {
            exchange(p.chunk(rank, Input, 0), peer).copy_to(peer, Output, rank);
        }
    }
}

/// Each rank collects its part from all others, adds it up, a chunk on each thread block, one of which has no peer, and sends the
/// sums to all.
fn all_pairs_reduce(p: &Program) {
    for rank in 0..RANKS {
        for peer in peers(rank) {
            let place = if rank < peer { rank } else { rank - 1 };
            let part = p.chunks(rank, Input, peer * RANKS, RANKS);
            exchange(part, peer).copy_to(peer, Scratch("arrived"), place * RANKS);
        }
    }
    for rank in 0..RANKS {
        for chunk in 0..RANKS {
            for place in 0..RANKS - 1 {
                let arrived = p.chunk(rank, Scratch("arrived"), place * RANKS + chunk).on_send_block(chunk);
                p.chunk(rank, Input, rank * RANKS + chunk).reduce(arrived);
            }
        }
    }
    for rank in 0..RANKS {
        let sums = p.chunks(rank, Input, rank * RANKS, RANKS);
        for peer in peers(rank) {
            exchange(sums, peer).copy_to(peer, Input, rank * RANKS);
        }
    }
}
