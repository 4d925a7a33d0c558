//! Computations that are divided by the chunks of a collective, so that each part waits for one chunk of its output, or
//! makes one chunk of its input.

use std::cmp::Reverse;

use chakra_et::graph::{Op, RankGraph};
use rustc_hash::FxHashMap;

use super::algorithms::Prepared;
use super::program::NONE;
use crate::error::Overflow;

/// Why nothing is divided where a collective asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Undivided {
    NoComputation,
    OneChunk,
    Shared,
    Taken,
}

impl Undivided {
    /// The words, of the computations after a collective or before it.
    pub(super) fn words(self, after: bool) -> &'static str {
        match (self, after) {
            (Self::NoComputation, true) => "no computation depends on it directly",
            (Self::NoComputation, false) => "it depends on no computation directly",
            (Self::OneChunk, true) => "a rank's output is a single chunk",
            (Self::OneChunk, false) => "a rank's input is a single chunk",
            (Self::Shared, _) => "other nodes need all of the computation before it",
            (Self::Taken, true) => {
                "the computations that depend on it are divided by the chunks of another collective"
            }
            (Self::Taken, false) => {
                "the computation before it is divided into another number of chunks already"
            }
        }
    }
}

/// What became of a wish: the collective's node, whether it is for the computations after it, and why nothing is divided.
pub(super) type Fate = (u32, bool, Option<Undivided>);

/// How a computation is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// The collective whose chunks its parts wait for, or NONE.
    pub(super) waits_for: u32,
    /// The collective whose chunks its parts make, or NONE.
    pub(super) feeds: u32,
    /// By part, its chunk.
    pub(super) chunks: Vec<u32>,
}

/// A part of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// Which of how many parts.
    pub(super) index: u32,
    pub(super) of: u32,
    /// The collective of whose input it makes a chunk, or NONE, and the chunk.
    pub(super) feeds: u32,
    pub(super) chunk: u32,
}

/// The nodes of a rank after division.
pub(super) struct Divided {
    pub(super) ops: Vec<Op>,
    pub(super) deps: Vec<u32>,
    pub(super) ends: Vec<u32>,
    pub(super) numbers: Vec<u32>,
    pub(super) tiles: FxHashMap<u32, Tile>,
    pub(super) waiters: FxHashMap<u32, Vec<(u32, u32)>>,
    pub(super) feeders: FxHashMap<u32, Vec<(u32, u32)>>,
}

/// What a rank's part in a collective asks of the computations around it.
pub(super) struct Wish<'a> {
    pub(super) consumers: bool,
    pub(super) producers: bool,
    pub(super) algorithm: &'a Prepared,
    /// The rank's position.
    pub(super) position: usize,
}

/// Which computations of a rank are divided, and how; and what became of each wish. `wish` says what the collective of a node
/// wants, if that is one.
pub(super) fn splits<'a>(
    graph: &RankGraph,
    wish: impl Fn(u32) -> Option<Wish<'a>>,
) -> (FxHashMap<u32, Split>, Vec<Fate>) {
    let mut splits: FxHashMap<u32, Split> = FxHashMap::default();
    let is_comp = |node: u32| matches!(graph.op(node), Op::Comp { .. });
    // How many nodes wait for each, to find those for which only one does.
    let mut waiting = vec![0_u32; graph.len()];
    for node in 0..graph.len() as u32 {
        graph.deps(node).iter().for_each(|dep| waiting[*dep as usize] += 1);
    }
    for node in (0..graph.len() as u32).filter(|node| is_comp(*node)) {
        // Of several such collectives the first counts; the others are waited for as a whole.
        let found = graph.deps(node).iter().find_map(|dep| {
            let wish = wish(*dep).filter(|wish| wish.consumers)?;
            let count = wish.algorithm.algorithm.outputs().get(wish.position)?.len();
            (count > 1).then(|| (*dep, (0..count as u32).collect()))
        });
        if let Some((waits_for, chunks)) = found {
            splits.insert(node, Split { waits_for, feeds: NONE, chunks });
        }
    }
    let mut fates = fates_of_consumers(graph, &splits, &wish);
    for collective in 0..graph.len() as u32 {
        let Some(wish) = wish(collective).filter(|wish| wish.producers) else { continue };
        let Some(inputs) = wish.algorithm.algorithm.inputs().get(wish.position) else { continue };
        // One that is made chunk by chunk: of several, the last.
        let mut before = graph.deps(collective).iter().rev().filter(|dep| is_comp(**dep)).peekable();
        let has_computation = before.peek().is_some();
        let producer = before.find(|dep| waiting[**dep as usize] == 1);
        let fate = match producer {
            _ if !has_computation => Some(Undivided::NoComputation),
            _ if inputs.len() <= 1 => Some(Undivided::OneChunk),
            None => Some(Undivided::Shared),
            Some(&producer) => {
                let chunks = order_of_need(&wish, inputs);
                match splits.get_mut(&producer) {
                    Some(split) if split.chunks.len() != chunks.len() => Some(Undivided::Taken),
                    Some(split) => {
                        split.feeds = collective;
                        None
                    }
                    None => {
                        splits.insert(producer, Split { waits_for: NONE, feeds: collective, chunks });
                        None
                    }
                }
            }
        };
        fates.push((collective, false, fate));
    }
    (splits, fates)
}

/// What became of the wishes of collectives for the computations after them.
fn fates_of_consumers<'a>(
    graph: &RankGraph,
    splits: &FxHashMap<u32, Split>,
    wish: &impl Fn(u32) -> Option<Wish<'a>>,
) -> Vec<Fate> {
    // Of each collective, whether a computation depends on it, and whether one is divided by it.
    let mut after: FxHashMap<u32, bool> = FxHashMap::default();
    for node in 0..graph.len() as u32 {
        if !matches!(graph.op(node), Op::Comp { .. }) {
            continue;
        }
        for dep in graph.deps(node) {
            let divided = splits.get(&node).is_some_and(|split| split.waits_for == *dep);
            *after.entry(*dep).or_default() |= divided;
        }
    }
    let fate = |collective: u32| {
        let wish = wish(collective).filter(|wish| wish.consumers)?;
        let outputs = wish.algorithm.algorithm.outputs().get(wish.position);
        let fate = match (after.get(&collective), outputs.map_or(0, Vec::len)) {
            (None, _) => Some(Undivided::NoComputation),
            (Some(true), _) => None,
            (Some(false), 0 | 1) => Some(Undivided::OneChunk),
            (Some(false), _) => Some(Undivided::Taken),
        };
        Some((collective, true, fate))
    };
    (0..graph.len() as u32).filter_map(fate).collect()
}

/// The chunks in the order in which an algorithm needs them: first what the longest chain of messages waits for. (In order of when a
/// node could first read them, a ring of several tiles a part would get some too early that it only passes on later.)
fn order_of_need(wish: &Wish<'_>, inputs: &[Vec<u32>]) -> Vec<u32> {
    let urgencies = wish.algorithm.urgencies(wish.position);
    let urgency =
        |chunk: u32| inputs[chunk as usize].iter().filter_map(|node| urgencies.get(*node as usize)).max();
    let mut chunks: Vec<u32> = (0..inputs.len() as u32).collect();
    // What nobody reads comes last.
    chunks.sort_by_key(|chunk| Reverse(urgency(*chunk)));
    chunks
}

/// Divides nodes. Whoever waits for a divided one waits for all its parts, but a collective that is fed by it only for the
/// first: the others hold up single nodes of its algorithm.
pub(super) fn divide(graph: &RankGraph, splits: &FxHashMap<u32, Split>) -> Result<Divided, Overflow> {
    let parts = |node: u32| splits.get(&node).map_or(1, |split| split.chunks.len() as u32);
    let mut first = Vec::with_capacity(graph.len() + 1);
    let mut next = 0_u32;
    for node in 0..graph.len() as u32 {
        first.push(next);
        next = next.checked_add(parts(node)).ok_or(Overflow::DEPENDENCES)?;
    }
    let mut divided = Divided {
        ops: Vec::with_capacity(next as usize),
        deps: Vec::new(),
        ends: Vec::with_capacity(next as usize),
        numbers: Vec::with_capacity(next as usize),
        tiles: FxHashMap::default(),
        waiters: FxHashMap::default(),
        feeders: FxHashMap::default(),
    };
    for node in 0..graph.len() as u32 {
        let split = splits.get(&node);
        for index in 0..parts(node) {
            let number = first[node as usize] + index;
            for dep in graph.deps(node) {
                let begin = first[*dep as usize];
                if let Some(split) = split
                    && split.waits_for == *dep
                {
                    let chunk = split.chunks[index as usize];
                    divided.waiters.entry(begin).or_default().push((chunk, number));
                    continue;
                }
                let fed = splits.get(dep).is_some_and(|split| split.feeds == node);
                let end = begin + if fed { 1 } else { parts(*dep) };
                divided.deps.extend(begin..end);
            }
            if let Some(split) = split {
                let feeds = if split.feeds == NONE { NONE } else { first[split.feeds as usize] };
                let (of, chunk) = (split.chunks.len() as u32, split.chunks[index as usize]);
                if feeds != NONE {
                    divided.feeders.entry(feeds).or_default().push((chunk, number));
                }
                divided.tiles.insert(number, Tile { index, of, feeds, chunk });
            }
            divided.ops.push(graph.op(node));
            divided.numbers.push(node);
            divided.ends.push(u32::try_from(divided.deps.len()).map_err(|_| Overflow::DEPENDENCES)?);
        }
    }
    divided.waiters.values_mut().for_each(|waiters| waiters.sort_unstable());
    Ok(divided)
}
