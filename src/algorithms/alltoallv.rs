//! All-to-all with a size of its own for each pair of ranks.
//!
//! The sizes are a table, which `#[collective]` has no parameter for. So these are ordinary functions, to be called on a
//! program for [`Collective::all_to_all_v`](crate::Collective::all_to_all_v), whose table they read; they are right for
//! [`Collective::all_to_all`](crate::Collective::all_to_all) too. Entries of 0 cost nothing.
//!
//! ```
//! use collective::algorithms::alltoallv;
//! use collective::sim::topology::{Dimension, Topology};
//! use collective::sim::{Model, Simulation};
//! use collective::et::{self, EtOptions, NodeOrder};
//! use collective::{Collective, Program, Size, compile};
//!
//! // Tokens for the experts of three ranks, in chunks: most are for the expert of rank 2.
//! let table = [vec![1, 0, 4], vec![0, 2, 3], vec![1, 1, 1]];
//! let p = Program::new(Collective::all_to_all_v(&table)?);
//! alltoallv::pairwise(&p);
//! let schedule = compile(&p.finish("tokens")?)?;
//! assert_eq!(schedule.message_count(), 4); // the pairs that have something for each other
//!
//! // S is what the rank sends that sends most: 5 chunks of 1 MB. Rank 2 gets 7 of them.
//! let size = Size::bytes(5_000_000);
//! let graph = et::graph(&schedule, &EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) })?;
//! let switch = Topology::new([Dimension::switch(3, "50 GB/s".parse()?, "500 ns".parse()?)])?;
//! let report = Simulation::new(&switch).model(Model::Fluid).run(&graph)?;
//! // α + 7 MB/B, the least possible.
//! assert_eq!(report.makespan.to_string(), "141000 ns");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No algorithm takes less time than max(row sum, column sum)/B, of the table without its diagonal, where every rank
//! has one link.

use crate::prelude::*;

/// What one rank has for another.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
    count: usize,
    /// Where it lies in the sender's input.
    sent_from: usize,
    /// Where it lies in the receiver's output.
    received_at: usize,
}

/// The parts of a program's table, row by row; none, and a finding, if the program is for something else.
fn parts(p: &Program) -> Vec<Part> {
    let collective = p.collective();
    let all_to_all = collective.chunks_between(0, 0).is_some() && !collective.is_in_place();
    if !p.require(all_to_all, "the collective must be all-to-all-v or all-to-all, out of place") {
        return Vec::new();
    }
    let ranks = p.ranks();
    let mut parts = Vec::with_capacity(ranks * ranks);
    let mut received = vec![0; ranks];
    for from in 0..ranks {
        let mut sent = 0;
        for (to, received) in received.iter_mut().enumerate() {
            let count = collective.chunks_between(from, to).unwrap_or(0);
            parts.push(Part { from, to, count, sent_from: sent, received_at: *received });
            sent += count;
            *received += count;
        }
    }
    parts
}

/// Every rank sends every other what it has for it, all at once.
///
/// Choose it where every rank reaches all others at once, and where no rank gets much more than the others. Where all get
/// from all, a receiver's link is shared by many.
///
/// Rounds: 1. Bytes sent by a rank: its row of the table without its own entry, the least possible. Time, with links of
/// latency α and bandwidth B between any two: α and the largest entry outside of the diagonal at B.
///
/// Source: MPI's `MPI_Alltoallv`; "linear" in Open MPI.
pub fn direct(p: &Program) {
    for part in parts(p).into_iter().filter(|part| part.count > 0) {
        let chunks = p.chunks(part.from, Input, part.sent_from, part.count);
        chunks.copy_to(part.to, Output, part.received_at);
    }
}

/// In round t every rank sends to the rank t behind it what it has for it, and to no other.
///
/// A part leaves from one buffer, which is free again when the message is delivered: so a rank sends one at a time. Ranks do
/// not wait for one another: who has less to send goes on earlier.
///
/// Choose it for large parts where a rank has one link to the others.
///
/// Rounds: n−1 at most, of a rank those in which it has something to send. Bytes sent by a rank: its row of the table without
/// its own entry, the least possible. Time between equally distant ranks, where the entry depends on the distance t only and
/// is m bytes: the sum over t of α + m(t)/B. Else at least α and the largest row or column sum at B.
///
/// Source: MPI's `MPI_Alltoallv`; "pairwise" in Open MPI.
pub fn pairwise(p: &Program) {
    let (parts, ranks) = (parts(p), p.ranks());
    for round in 0..ranks {
        for from in 0..ranks {
            let Some(part) = parts.get(from * ranks + (from + round) % ranks) else { return };
            if part.count == 0 {
                continue;
            }
            let mut chunks = p.chunks(from, Input, part.sent_from, part.count);
            if round > 0 {
                chunks = chunks.copy_to(from, Scratch("outgoing"), 0);
            }
            chunks.copy_to(part.to, Output, part.received_at);
        }
    }
}
