//! Pass 3: one global order of all operations.
//!
//! The *level* of an operation is the length of the longest chain of data hazards (read after write, write
//! after read, write after write) that leads to it, sending and receiving end taken as one. The order is
//! by level, so operations run as early as the data allow, whatever the order of loops in the program. Within
//! a level the messages of one connection are told apart by their *burst* number, and a rank's sends come
//! before its receives: then a thread block that does both can use the link in both directions, and each send
//! finds the slot that the receive of the burst before has freed.

use rustc_hash::FxHashMap;

use super::layout::RankLayout;
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
    /// Key of each operation.
    pub(super) keys: Vec<Key>,
    /// For each operation that sends on exactly what another has just brought from another rank, and is the
    /// first to touch it: that other operation; else `NONE`.
    pub(super) forwards: Vec<u32>,
    /// Whether anything but the send that passes it on needs what an operation writes.
    pub(super) kept: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Cell {
    writer: u32,
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
    let mut cells = vec![Cell { writer: NONE, write_level: 0, read_level: 0 }; total];

    let mut connections = Vec::new();
    let mut connection_ids: FxHashMap<Connection, u32> = FxHashMap::default();
    // Messages so far in a level of a connection.
    let mut bursts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut connection_of = Vec::with_capacity(trace.ops.len());
    let mut keys: Vec<Key> = Vec::with_capacity(trace.ops.len());
    let mut brought_by = vec![NONE; trace.ops.len()];
    let mut first_reader = vec![NONE; trace.ops.len()];
    let mut last_reader = vec![NONE; trace.ops.len()];

    for (i, op) in trace.ops.iter().enumerate() {
        let i = i as u32;
        let count = op.count as usize;
        let src = base[op.src.rank.index()] + layouts[op.src.rank.index()].flat(op.src);
        let dst = base[op.dst.rank.index()] + layouts[op.dst.rank.index()].flat(op.dst);
        let read = cells[src..src + count].iter().map(|cell| cell.write_level);
        let written = cells[dst..dst + count].iter().map(|cell| cell.write_level.max(cell.read_level));
        let level = 1 + read.chain(written).max().unwrap_or(0);

        let connection = if op.is_remote() {
            let key =
                Connection { src: op.src.rank, dst: op.dst.rank, channel: op.channel.unwrap_or_default() };
            *connection_ids.entry(key).or_insert_with(|| {
                connections.push(key);
                connections.len() as u32 - 1
            })
        } else {
            NONE
        };
        connection_of.push(connection);
        let burst = if connection == NONE {
            0
        } else {
            let seen = bursts.entry((connection, level)).or_insert(0);
            *seen += 1;
            *seen - 1
        };
        let key = Key { level, burst };
        keys.push(key);

        // Who brought exactly this run of chunks?
        let writer = cells[src].writer;
        if writer != NONE
            && trace.ops[writer as usize].dst == op.src
            && trace.ops[writer as usize].count == op.count
            && cells[src..src + count].iter().all(|cell| cell.writer == writer)
        {
            brought_by[i as usize] = writer;
        }
        let mut touch = |cell: &Cell| {
            if cell.writer == NONE {
                return;
            }
            let first = &mut first_reader[cell.writer as usize];
            if *first == NONE || (key, i) < (keys[*first as usize], *first) {
                *first = i;
            }
            let last = &mut last_reader[cell.writer as usize];
            if *last == NONE || (key, i) > (keys[*last as usize], *last) {
                *last = i;
            }
        };
        for cell in &mut cells[src..src + count] {
            touch(cell);
            cell.read_level = cell.read_level.max(level);
        }
        for cell in &mut cells[dst..dst + count] {
            if op.kind == OpKind::Reduce {
                touch(cell);
            }
            *cell = Cell { writer: i, write_level: level, read_level: 0 };
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
                let cell = &cells[base[r] + layout.flat(Slice { rank, space, index })];
                if cell.writer != NONE {
                    kept[cell.writer as usize] = true;
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
    Order { layouts, connections, connection_of, keys, forwards, kept }
}
