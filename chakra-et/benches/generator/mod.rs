//! Traces to measure with. The benches and the example `load` use it.
// Not each of them uses all.
#![allow(dead_code)]

use chakra_et::graph::{Op, Origin, SourceRef, StepRef};
use chakra_et::proto::{GlobalMetadata, Node};
use chakra_et::workload::{BuildError, CollectiveKind, Cost, Workload, WorkloadBuilder};
use chakra_et::{RankWriter, attr, metadata, view};

/// What the nodes of a trace are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A ring with the attributes that a simulator needs: about 80 bytes a node.
    Plain,
    /// The same with all that this project's traces say of a step: about 270 bytes a node.
    Rich,
    /// As plain, but nodes in another order than their ids, which have gaps.
    Shuffled,
}

impl Kind {
    /// The kind of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "plain" => Self::Plain,
            "rich" => Self::Rich,
            "shuffled" => Self::Shuffled,
            _ => return None,
        })
    }

    /// The metadata of the trace.
    pub(crate) fn metadata(self) -> GlobalMetadata {
        let files = match self {
            Self::Rich => vec!["algorithms/ring.rs".to_owned()],
            Self::Plain | Self::Shuffled => vec![],
        };
        metadata::write(None, &files).expect("the metadata can be encoded")
    }

    /// A node: in turn a send, a receive and, where the ring reduces, a computation.
    pub(crate) fn node(self, number: u64) -> Node {
        let id = if self == Self::Shuffled { number * 3 } else { number };
        let scale = if self == Self::Shuffled { 3 } else { 1 };
        let deps = match number {
            0 => vec![],
            1 => vec![0],
            _ if number.is_multiple_of(3) => vec![(number - 1) * scale, (number - 2) * scale],
            _ => vec![(number - 1) * scale],
        };
        let (peer, tag, bytes) = (number as u32 % 8, number as u32 / 3 % 4, 131_072);
        let (word, op) = match number % 3 {
            0 => ("COMM_SEND_NODE", Op::Send { dst: peer, tag, bytes }),
            1 => ("COMM_RECV_NODE", Op::Recv { src: peer, tag, bytes }),
            _ if self == Self::Rich => ("COMP_NODE", Op::Comp { micros: 7, ops: 32_768, bytes }),
            _ => ("COMP_NODE", Op::Comp { micros: 7, ops: 0, bytes: 0 }),
        };
        let (thread_block, step) = (number as u32 / 3 % 16, number as u32 / 48);
        let origin = match self {
            Self::Rich => Origin {
                step: Some(StepRef { thread_block, step }),
                source: Some(SourceRef { file: 0, line: 10 + number as u32 % 30 }),
            },
            Self::Plain | Self::Shuffled => Origin::default(),
        };
        let name = format!("{word}_tb{thread_block}_step{step}");
        let mut node = view::node(id, name, op, deps, origin).expect("the node can be encoded");
        let attrs = &mut node.attr;
        if self != Self::Rich {
            match op {
                Op::Comp { .. } => attrs.clear(),
                _ => attrs.push(attr::bool("is_cpu_op", false)),
            }
            return node;
        }
        let chunk = number as i32 % 64;
        if !matches!(op, Op::Comp { .. }) {
            attrs.push(attr::int32("msg_chunk_cnt", 1));
            attrs.push(attr::int32("msg_chunk_idx", chunk));
            attrs.push(attr::int32("total_chunk_cnt", 64));
        }
        attrs.push(attr::string("step_type", "rrcs"));
        attrs.push(attr::string("src_buf", "i"));
        attrs.push(attr::int32("src_off", chunk));
        attrs.push(attr::string("dst_buf", "o"));
        attrs.push(attr::int32("dst_off", chunk));
        attrs.push(attr::int32("cnt", 1));
        attrs.push(attr::int32("data_chunk", chunk));
        node
    }

    /// That many nodes in the order of the file; of shuffled ones, whole thousands.
    pub(crate) fn nodes(self, count: u64) -> impl Iterator<Item = Node> {
        // Blocks of 1,000 nodes, each backwards: nearly all dependences point forward in the file.
        const BLOCK: u64 = 1000;
        let count = if self == Self::Shuffled { count / BLOCK * BLOCK } else { count };
        let place = move |i: u64| match self {
            Self::Shuffled => i / BLOCK * BLOCK + (BLOCK - 1 - i % BLOCK),
            Self::Plain | Self::Rich => i,
        };
        (0..count).map(move |i| self.node(place(i)))
    }

    /// The file of a rank with that many nodes.
    pub(crate) fn file(self, count: u64) -> Vec<u8> {
        let mut writer = RankWriter::new(&self.metadata()).expect("the metadata can be encoded");
        for node in self.nodes(count) {
            writer.node(&node).expect("the node can be encoded");
        }
        writer.finish()
    }
}

/// A training step with so many layers on ranks in tensor-parallel groups of 8: nine nodes a layer and rank.
pub(crate) fn training(ranks: u32, layers: u32) -> Result<Workload, BuildError> {
    let mut step = WorkloadBuilder::new(ranks);
    let tensor = 8.min(ranks);
    let name = |number: u32| (number + 1).to_string();
    for group in 0..ranks / tensor {
        step.group(name(group), group * tensor..(group + 1) * tensor)?;
    }
    for at in 0..tensor {
        step.group(name(ranks / tensor + at), (0..ranks / tensor).map(|group| group * tensor + at))?;
    }
    for rank in 0..ranks {
        let (tp, dp) = (rank / tensor + 1, ranks / tensor + rank % tensor + 1);
        let mut last: Vec<u32> = vec![];
        for layer in 0..layers {
            let name = |what: &str| format!("mb0.transformer.{layer}.{what}");
            let cost = Cost::operations(1 << 30, 1 << 20);
            let mut chain = |what: &str, group: Option<(u32, CollectiveKind)>, last: &mut Vec<u32>| {
                let added = match group {
                    None => step.compute(rank, name(what), cost, last),
                    Some((group, kind)) => step.collective(rank, name(what), kind, 1 << 20, group, last),
                };
                added.map(|node| *last = vec![node])
            };
            chain("gather", Some((tp, CollectiveKind::AllGather)), &mut last)?;
            for what in ["qkv", "attention", "out"] {
                chain(what, None, &mut last)?;
            }
            chain("scatter", Some((tp, CollectiveKind::ReduceScatter)), &mut last)?;
            for what in ["up", "activation", "down"] {
                chain(what, None, &mut last)?;
            }
            // The gradients overlap with the layers that follow.
            chain("gradients", Some((dp, CollectiveKind::AllReduce)), &mut last.clone())?;
        }
    }
    Ok(step.finish())
}
