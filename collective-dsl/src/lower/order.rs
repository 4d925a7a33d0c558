//! Pass 3: one global order of all operations.
//!
//! The *level* of an operation is the length of the longest chain of data hazards (read after write, write
//! after read, write after write) that leads to it, sending and receiving end taken as one; a rank's computations
//! are such a chain as well. The order is
//! by level, so operations run as early as the data allow, whatever the order of loops in the program. Within
//! a level the messages of one connection are told apart by their *burst* number, and a rank's sends come
//! before its receives: then a thread block that does both can use the link in both directions, and each send
//! finds the slot that the receive of the burst before has freed.

use rustc_hash::FxHashMap;

use super::layout::RankLayout;
use crate::compute::ChunkRun;
use crate::ids::{ChannelId, RankId};
use crate::trace::{OpKind, Slice, Trace};

/// Marks the absence of an operation or a connection.
pub(super) const NONE: u32 = u32::MAX;

/// A FIFO from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    pub(super) src: RankId,
    pub(super) dst: RankId,
    pub(super) channel: ChannelId,
}

/// Place of an operation in the global order; operations of one key are told apart by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) level: u32,
    pub(super) burst: u32,
}

/// What the pass finds.
pub(super) struct Order {
    /// Flat chunk numbering of each rank.
    pub(super) layouts: Vec<RankLayout>,
    /// All connections in the order of first use.
    pub(super) connections: Vec<Connection>,
    /// Connection of each operation, `NONE` for one on a single rank.
    pub(super) connection_of: Vec<u32>,
    /// The operations between ranks, connection by connection, those of one in the global order.
    pub(super) messages: Vec<u32>,
    /// Key of each operation.
    pub(super) keys: Vec<Key>,
    /// For each operation that sends on exactly what another has just brought from another rank, and is the
    /// first to touch it: that other operation; else `NONE`.
    pub(super) forwards: Vec<u32>,
    /// Whether anything but the send that passes it on needs what an operation writes.
    pub(super) kept: Vec<bool>,
}

/// The levels of the last write of a chunk and of the reads since.
#[derive(Clone, Copy, Default)]
struct Cell {
    write_level: u32,
    read_level: u32,
}

pub(super) fn order(trace: &Trace) -> Order {
    let ranks = trace.collective.ranks();
    let layouts: Vec<RankLayout> = (0..ranks).map(|r| RankLayout::new(trace, RankId(r as u32))).collect();
    let mut base = Vec::with_capacity(ranks);
    let mut total = 0;
    for layout in &layouts {
        base.push(total);
        total += layout.cells();
    }
    let run = |ChunkRun { first, count }: ChunkRun<Slice>| {
        let from = base[first.rank.index()] + layouts[first.rank.index()].flat(first);
        from..from + count as usize
    };

    let mut connections = Vec::new();
    let mut connection_ids: FxHashMap<Connection, u32> = FxHashMap::default();
    let mut connection_of = Vec::with_capacity(trace.ops.len());
    let mut keys: Vec<Key> = Vec::with_capacity(trace.ops.len());
    let mut cells = vec![Cell::default(); total];
    // The level of each rank's last computation: the next one comes after it.
    let mut computed = vec![0; ranks];
    for op in &trace.ops {
        let read = trace.sources(op).flat_map(|src| &cells[run(src)]).map(|cell| cell.write_level);
        let written = trace.destinations(op).flat_map(|dst| &cells[run(dst)]);
        let written = written.map(|cell| cell.write_level.max(cell.read_level));
        let computes = matches!(op.kind, OpKind::Compute(_));
        let before = if computes { computed[op.src.rank.index()] } else { 0 };
        let level = 1 + read.chain(written).max().unwrap_or(0).max(before);
        for cell in trace.sources(op).flat_map(&run) {
            cells[cell].read_level = cells[cell].read_level.max(level);
        }
        for dst in trace.destinations(op) {
            cells[run(dst)].fill(Cell { write_level: level, read_level: 0 });
        }
        if computes {
            computed[op.src.rank.index()] = level;
        }
        keys.push(Key { level, burst: 0 });
        connection_of.push(if op.is_remote() {
            let key =
                Connection { src: op.src.rank, dst: op.dst.rank, channel: op.channel.unwrap_or_default() };
            *connection_ids.entry(key).or_insert_with(|| {
                connections.push(key);
                connections.len() as u32 - 1
            })
        } else {
            NONE
        });
    }
    drop(cells);
    let messages = messages(connections.len(), &connection_of, &keys);
    for pair in messages.windows(2) {
        let [before, here] = [pair[0] as usize, pair[1] as usize];
        if connection_of[before] == connection_of[here] && keys[before].level == keys[here].level {
            keys[here].burst = keys[before].burst + 1;
        }
    }

    // Who reads what who has written, now that it is known who comes first.
    let mut brought_by = vec![NONE; trace.ops.len()];
    let mut first_reader = vec![NONE; trace.ops.len()];
    let mut last_reader = vec![NONE; trace.ops.len()];
    let mut writers = vec![NONE; total];
    for (i, op) in (0..).zip(&trace.ops) {
        // Who brought exactly this run of chunks?
        if op.count > 0 {
            let src = run(ChunkRun { first: op.src, count: op.count });
            let writer = writers[src.start];
            if writer != NONE
                && trace.ops[writer as usize].dst == op.src
                && trace.ops[writer as usize].count == op.count
                && writers[src].iter().all(|other| *other == writer)
            {
                brought_by[i as usize] = writer;
            }
        }
        let key = keys[i as usize];
        let mut touch = |writer: u32| {
            if writer == NONE {
                return;
            }
            let first = &mut first_reader[writer as usize];
            if *first == NONE || (key, i) < (keys[*first as usize], *first) {
                *first = i;
            }
            let last = &mut last_reader[writer as usize];
            if *last == NONE || (key, i) > (keys[*last as usize], *last) {
                *last = i;
            }
        };
        trace.sources(op).flat_map(|src| &writers[run(src)]).for_each(|writer| touch(*writer));
        for dst in trace.destinations(op) {
            if op.kind == OpKind::Reduce {
                writers[run(dst)].iter().for_each(|writer| touch(*writer));
            }
            writers[run(dst)].fill(i);
        }
    }

    // Read by nobody but one send, which has passed it on.
    let mut kept: Vec<bool> =
        first_reader.iter().zip(&last_reader).map(|(first, last)| first != last || *first == NONE).collect();
    for (r, layout) in layouts.iter().enumerate() {
        let rank = RankId(r as u32);
        for index in 0..trace.collective.output_chunks_of(rank) as u32 {
            if trace.collective.wanted(rank, index).is_some() {
                let (space, index) = trace.collective.locate_output(rank, index);
                let writer = writers[base[r] + layout.flat(Slice { rank, space, index })];
                if writer != NONE {
                    kept[writer as usize] = true;
                }
            }
        }
    }

    let forwards = (0..trace.ops.len())
        .map(|i| {
            let from = brought_by[i];
            let fits = from != NONE
                && connection_of[i] != NONE
                && connection_of[from as usize] != NONE
                && first_reader[from as usize] == i as u32;
            if fits { from } else { NONE }
        })
        .collect();
    Order { layouts, connections, connection_of, messages, keys, forwards, kept }
}

/// The messages, connection by connection, those of one by level and then as in the program.
fn messages(connections: usize, connection_of: &[u32], keys: &[Key]) -> Vec<u32> {
    let remote = || (0..).zip(connection_of).filter(|(_, connection)| **connection != NONE);
    let mut begins = vec![0; connections + 1];
    remote().for_each(|(_, connection)| begins[*connection as usize + 1] += 1);
    (1..begins.len()).for_each(|i| begins[i] += begins[i - 1]);
    let mut messages = vec![0; begins[connections]];
    let mut next = begins.clone();
    for (i, connection) in remote() {
        let at: &mut usize = &mut next[*connection as usize];
        messages[*at] = i;
        *at += 1;
    }
    for bounds in begins.windows(2) {
        messages[bounds[0]..bounds[1]].sort_by_key(|i| keys[*i as usize].level);
    }
    messages
}
