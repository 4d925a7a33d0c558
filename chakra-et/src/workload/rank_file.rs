//! Reads the file of one rank of a workload.

use std::io::{Read, Seek};

use rustc_hash::FxHashMap;

use super::stated::{self, Stated};
use super::{CollectiveKind, NodeTraits, RankWorkload};
use crate::attr::AttrError;
use crate::diagnose::PendingRank;
use crate::error::{FileError, Place, Problem};
use crate::figures;
use crate::graph::assemble::{Assembler, Broken, permute};
use crate::graph::{Op, Origin, RankGraph, TooLarge};
use crate::groups::Groups;
use crate::hot::{HotNode, Unclear};
use crate::messages::{Messages, Schema, fail};
use crate::metadata;
use crate::node_reader::decode;
use crate::proto::{Node, NodeType};
use crate::rank::sort_without_duplicates;
use crate::view;
use crate::warning::{WarningKind, Warnings};

/// What one file contributes. The groups of its nodes are still those of the file.
pub(super) struct RankFile {
    pub(super) rank: RankWorkload,
    /// The groups that its nodes name: what [`NodeTraits::group`] counts from 1; 0 is that of all ranks.
    pub(super) groups: Vec<String>,
    /// The groups that its METADATA nodes describe.
    pub(super) process_groups: Groups,
    pub(super) version: String,
    pub(super) warnings: Warnings,
}

/// Reads a file. With `drop_dangling`, dependences on nothing and of nodes on themselves are left out.
///
/// The quick way through a file keeps nothing that only an error message would need. So when the nodes make no graph,
/// the file is read again, to say which and where, or to leave out what is wrong.
pub(super) fn read(
    mut input: impl Read + Seek,
    drop_dangling: bool,
    watch: bool,
) -> Result<RankFile, FileError> {
    let mut reader = Reader::open(&mut input, watch)?;
    if let Ok(file) = reader.quick(None)? {
        return Ok(file);
    }
    drop(reader);
    if drop_dangling {
        let ids = ids(Messages::open(rewound(&mut input)?)?)?;
        let mut reader = Reader::open(rewound(&mut input)?, watch)?;
        if let Ok(file) = reader.quick(Some(&ids))? {
            return Ok(file);
        }
    }
    thorough(Messages::open(rewound(&mut input)?)?, drop_dangling)?;
    let changed = std::io::Error::other("the file has changed while it was read");
    Err(fail(Place::default(), Problem::Io(changed)))
}

fn rewound<R: Read + Seek>(input: &mut R) -> Result<&mut R, FileError> {
    input.rewind().map_err(|error| fail(Place::default(), Problem::Io(error)))?;
    Ok(input)
}

struct Reader<R: Read> {
    messages: Messages<R>,
    watch: bool,
    nodes: Nodes,
    process_groups: Groups,
}

/// What is kept of the nodes beside their graph, in the order of the file.
#[derive(Default)]
struct Nodes {
    traits: Vec<NodeTraits>,
    names: String,
    name_ends: Vec<u32>,
    groups: Numbers<String>,
    /// Streams of the GPU (false) and threads of the CPU (true), as stated.
    streams: Numbers<(bool, i128)>,
}

/// Different values, numbered as they come.
struct Numbers<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn add(&mut self, value: T) -> u32 {
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}

impl<R: Read> Reader<R> {
    fn open(input: R, watch: bool) -> Result<Self, FileError> {
        let messages = Messages::open(input)?;
        Ok(Self { messages, watch, nodes: Nodes::default(), process_groups: Groups::default() })
    }

    /// Reads the nodes; `ids` are those of all nodes if other dependences are to be left out.
    fn quick(&mut self, ids: Option<&[u64]>) -> Result<Result<RankFile, Broken>, FileError> {
        let (schema, watch) = (self.messages.schema(), self.watch);
        let collective_size = metadata::collective_size(self.messages.metadata());
        let mut assembler = Assembler::default();
        let mut hot = HotNode::default();
        let mut id_0_taken = false;
        while let Some((mut place, message)) = self.messages.next()? {
            if message.is_empty() && id_0_taken {
                return Ok(Err(Broken));
            }
            let clear = match schema {
                Schema::Current => hot.decode(&message, watch),
                Schema::V0_0_1 => Err(Unclear),
            };
            let quick = clear.and_then(|()| {
                let op = figures::op(hot.node_type, hot.micros, &hot.slots, collective_size)?;
                Ok((known_kind(op).ok_or(Unclear)?, Stated::quick(&message, op)?))
            });
            let slow = match quick {
                Ok(_) => None,
                Err(Unclear) => Some(decode(schema, &message).map_err(|problem| fail(place, problem))?),
            };
            let (op, stated) = match (quick, &slow) {
                (_, Some(node)) => {
                    place.id = Some(node.id);
                    hot.id = node.id;
                    hot.node_type = node.r#type;
                    hot.deps.clear();
                    hot.deps.extend([&node.data_deps[..], &node.ctrl_deps].into_iter().flatten());
                    let meaning = op_of(node, collective_size);
                    let meaning = meaning.and_then(|op| Ok((op, Stated::of(node, op)?)));
                    meaning.map_err(|error| fail(place, Problem::Attr(Box::new(error))))?
                }
                (Ok(meaning), None) => meaning,
                (Err(Unclear), None) => return Ok(Err(Broken)),
            };
            place.id = Some(hot.id);
            let too_large = |error| fail(place, Problem::TooLarge(error));
            self.nodes.push(&stated).map_err(too_large)?;
            let partial = stated.partial;
            let repeated = sort_without_duplicates(&mut hot.deps);
            let node_type = NodeType::try_from(hot.node_type);
            let is_odd = watch && (repeated || hot.odd_attr || node_type.is_err());
            let node = match slow {
                None if is_odd || node_type == Ok(NodeType::MetadataNode) => {
                    Some(decode(schema, &message).map_err(|problem| fail(place, problem))?)
                }
                slow => slow,
            };
            let warnings = &mut self.messages.warnings;
            if partial {
                warnings.add(Some(place), WarningKind::InvolvedDim);
            }
            if let Some(node) = &node {
                if stated::is_host_side(node) {
                    warnings.add(Some(place), WarningKind::HostCollective);
                }
                if watch {
                    warnings.node(place, node);
                }
                if node_type == Ok(NodeType::MetadataNode) {
                    self.process_groups.add_missing(&Groups::from_node(node));
                }
            }
            if let Some(ids) = ids {
                let id = hot.id;
                hot.deps.retain(|&dep| {
                    let kept = dep != id && ids.binary_search(&dep).is_ok();
                    if !kept {
                        warnings.add(Some(place), WarningKind::DroppedDep { dep });
                    }
                    kept
                });
            }
            id_0_taken |= hot.id == 0;
            self.messages.decoded(hot.id);
            let origin = Origin::default();
            assembler.push(hot.id, op, &hot.deps, origin).map_err(too_large)?;
        }
        let nodes = &mut self.nodes;
        let graph = assembler.finish_with(|order| nodes.permute(order));
        Ok(graph.map(|graph| self.finish(graph)))
    }

    fn finish(&mut self, graph: RankGraph) -> RankFile {
        let nodes = std::mem::take(&mut self.nodes);
        let streams = numbered_streams(&nodes.streams.values);
        let Nodes { mut traits, mut names, mut name_ends, groups, .. } = nodes;
        for of_node in &mut traits {
            of_node.stream = streams.get(of_node.stream as usize).copied().unwrap_or(0);
        }
        traits.shrink_to_fit();
        names.shrink_to_fit();
        name_ends.shrink_to_fit();
        RankFile {
            rank: RankWorkload { graph, traits, names, name_ends },
            groups: groups.values,
            process_groups: std::mem::take(&mut self.process_groups),
            version: self.messages.metadata().version.clone(),
            warnings: std::mem::take(&mut self.messages.warnings),
        }
    }
}

/// In the place of a stream's number, of a node that is no computation.
const NO_STREAM: u32 = u32::MAX;

impl Nodes {
    fn push(&mut self, stated: &Stated<'_>) -> Result<(), TooLarge> {
        let end = u32::try_from(self.names.len() + stated.name.len()).map_err(|_| TooLarge)?;
        self.names.push_str(&stated.name);
        self.name_ends.push(end);
        let group = match &stated.group {
            None => 0,
            Some(name) => match self.groups.numbers.get(name.as_ref()) {
                Some(&number) => number + 1,
                None => self.groups.add(name.clone().into_owned()) + 1,
            },
        };
        let stream = match stated.stream.map(|stream| (stated.on_cpu, stream)) {
            None => NO_STREAM,
            Some(stream) => match self.streams.numbers.get(&stream) {
                Some(&number) => number,
                None => self.streams.add(stream),
            },
        };
        let Stated { root, on_cpu, remote, .. } = *stated;
        self.traits.push(NodeTraits { group, root, stream, on_cpu, remote });
        Ok(())
    }

    /// Brings the node at `order[i]` of the file to i.
    fn permute(&mut self, order: &[u32]) {
        permute(&mut self.traits, order);
        let mut names = String::with_capacity(self.names.len());
        let mut ends = Vec::with_capacity(order.len());
        for &from in order {
            let begin = if from == 0 { 0 } else { self.name_ends[from as usize - 1] };
            names.push_str(&self.names[begin as usize..self.name_ends[from as usize] as usize]);
            ends.push(names.len() as u32);
        }
        self.names = names;
        self.name_ends = ends;
    }
}

/// The number of each stream: as stated if all of its kind fit 32 bits, else by their order.
fn numbered_streams(stated: &[(bool, i128)]) -> Vec<u32> {
    let numbered = |on_cpu: bool| {
        let mut values: Vec<i128> =
            stated.iter().filter(|stream| stream.0 == on_cpu).map(|stream| stream.1).collect();
        values.sort_unstable();
        let as_stated = values.iter().all(|&value| u32::try_from(value).is_ok());
        move |value: i128| match u32::try_from(value) {
            Ok(value) if as_stated => value,
            _ => values.binary_search(&value).map_or(0, |number| number as u32),
        }
    };
    let (gpu, cpu) = (numbered(false), numbered(true));
    stated.iter().map(|&(on_cpu, value)| if on_cpu { cpu(value) } else { gpu(value) }).collect()
}

/// What a node does. A collective must be of a kind that the format defines.
fn op_of(node: &Node, collective_size: Option<u64>) -> Result<Op, AttrError> {
    if stated::is_host_side(node) {
        return Ok(Op::Comp { micros: node.duration_micros, ops: 0, bytes: 0 });
    }
    let op = view::op(node, collective_size)?;
    if let Op::Coll { .. } = op {
        let most = CollectiveKind::ALL.len() as u32 - 1;
        crate::attr::find_at_most(&node.attr, "comm_type", most, "a kind of the format, 0 to 9,")?;
    }
    Ok(op)
}

fn known_kind(op: Op) -> Option<Op> {
    match op {
        Op::Coll { kind, .. } => CollectiveKind::from_wire(kind).map(|_| op),
        _ => Some(op),
    }
}

/// The ids of all nodes, ascending.
fn ids<R: Read>(mut messages: Messages<R>) -> Result<Vec<u64>, FileError> {
    let schema = messages.schema();
    let mut hot = HotNode::default();
    let mut ids = Vec::new();
    while let Some((place, message)) = messages.next()? {
        let id = match schema {
            Schema::Current if hot.decode(&message, false).is_ok() => hot.id,
            _ => decode(schema, &message).map_err(|problem| fail(place, problem))?.id,
        };
        messages.decoded(id);
        ids.push(id);
    }
    ids.sort_unstable();
    Ok(ids)
}

/// Reads the nodes with a record of each, for the error that says what keeps them from being a graph.
fn thorough<R: Read>(mut messages: Messages<R>, drop_dangling: bool) -> Result<(), FileError> {
    let schema = messages.schema();
    let collective_size = metadata::collective_size(messages.metadata());
    let mut pending = PendingRank::new(collective_size, 0);
    while let Some((mut place, message)) = messages.next()? {
        let mut node = decode(schema, &message).map_err(|problem| fail(place, problem))?;
        place.id = Some(node.id);
        if drop_dangling {
            // Only the ids can be at fault then.
            node.data_deps.clear();
            node.ctrl_deps.clear();
        }
        pending.push_op(place, &node, op_of(&node, collective_size), message.is_empty())?;
        drop(message);
        messages.decoded(node.id);
    }
    pending.finish().map(drop)
}

/// A node that is named in an error: its id and name.
pub(super) fn label(rank: &RankWorkload, node: u32) -> String {
    crate::validate::named(rank.graph.id(node), rank.name(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_fit_keep_their_numbers_and_others_their_order() {
        let stated = [(false, 7), (true, 7), (false, 0), (false, 20)];
        assert_eq!(numbered_streams(&stated), [7, 7, 0, 20]);
        let stated = [(false, 7), (true, 139_000_000_000_000), (true, -5), (false, 0), (true, 1)];
        assert_eq!(numbered_streams(&stated), [7, 2, 0, 0, 1]);
    }
}
