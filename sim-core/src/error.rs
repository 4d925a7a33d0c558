//! Why a simulation gives no result.

use thiserror::Error;

use crate::model::{Conventions, Model};
use crate::progress::PartialReport;
use crate::stuck::StuckReport;
use crate::topology::PlacementError;
use crate::units::Bytes;

/// Why a simulation gives no result. Nodes are named by their ids in the trace.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SimError {
    /// The graph and the topology are for different numbers of ranks.
    #[error("the graph has {graph} ranks but the topology has {topology}")]
    RankCount {
        /// Ranks of the graph.
        graph: usize,
        /// Ranks of the topology.
        topology: u32,
    },
    /// ASTRA-sim's link queues know one dimension.
    #[error(
        "link-queue under the astra-sim conventions takes a topology of 1 dimension, but it has \
         {dimensions}: choose `--conventions exact` or the model analytical"
    )]
    OneDimensionOnly {
        /// Dimensions of the topology.
        dimensions: usize,
    },
    /// A model without what it needs.
    #[error("the model {model} needs a topology")]
    NoTopology {
        /// The model.
        model: Model,
    },
    /// What the model loggp has rules of its own for, or cannot tell.
    #[error(
        "the model loggp has its own rules for what a rank does at once: it cannot be combined with {what}"
    )]
    NotWithLogGp {
        /// The other rules or figures.
        what: String,
    },
    /// The model machine without the figures of one.
    #[error("the model machine needs the figures of a machine")]
    NoMachine,
    /// What the model machine does not have.
    #[error(
        "the model machine executes one collective by its thread blocks: it cannot be combined with {what}"
    )]
    NotWithMachine {
        /// The other rules or figures.
        what: String,
    },
    /// A node of which is not known which thread block executes it.
    #[error(
        "rank {rank}, node {node} states no thread block and step: the model machine executes thread blocks, so the trace must be \
         one of a compiled algorithm"
    )]
    NoThreadBlock {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
    },
    /// A step that no thread block can execute.
    #[error("rank {rank}, thread block {thread_block}, step {step} {what}")]
    BadStep {
        /// The rank.
        rank: u32,
        /// The thread block.
        thread_block: u32,
        /// The step.
        step: u32,
        /// What is wrong with it.
        what: String,
    },
    /// The machine has no figures for the protocol of the algorithm.
    #[error("the machine {machine} has no figures for the protocol {protocol}: it has {known}")]
    NoCosts {
        /// The machine.
        machine: String,
        /// The protocol.
        protocol: String,
        /// The protocols that it knows.
        known: String,
    },
    /// All ranks do the same, but one cannot stand for them, and together they are too many.
    #[error(
        "one rank cannot stand for all: that is so under the models analytical, loggp and machine (here: {model}), unless folding \
         is switched off or ranks differ in start or speed, on topologies that look the same from every rank, under machine \
         also to messages that share links; and unfolded the graph has {nodes} nodes, more than {limit}"
    )]
    CannotFold {
        /// The model.
        model: Model,
        /// Nodes of all ranks together.
        nodes: u64,
        /// The largest number that is expanded.
        limit: u64,
    },
    /// A model that a simulator does not have, under its conventions.
    #[error(
        "{model} has no meaning under the {conventions} conventions: choose `--conventions exact`, or the model \
         analytical or link-queue"
    )]
    ExactOnly {
        /// The model.
        model: Model,
        /// The conventions.
        conventions: Conventions,
    },
    /// A setting that ASTRA-sim does not have.
    #[error("{what} has no meaning under the astra-sim conventions: choose `--conventions exact`")]
    ExactOption {
        /// The setting.
        what: &'static str,
    },
    /// A straggler that is no rank.
    #[error("there is no rank {rank} to be a straggler: expected a rank below {ranks}")]
    NoSuchStraggler {
        /// The rank that there is not.
        rank: u32,
        /// Ranks of the topology.
        ranks: u32,
    },
    /// Two stragglers of one rank.
    #[error(
        "rank {rank} is named as a straggler twice: give its delay and its factor together, such as {rank}=+10us,x1.5"
    )]
    StragglerTwice {
        /// The rank.
        rank: u32,
    },
    /// A part of the topology that ASTRA-sim does not have.
    #[error(
        "the astra-sim conventions know Ring, Switch and FullyConnected, but the topology has a {part}: choose \
         `--conventions exact`"
    )]
    UnknownToAstraSim {
        /// What the part is.
        part: String,
    },
    /// The ranks cannot be placed.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A node that the engine cannot execute.
    #[error("rank {rank}, node {node} is {what}: supported are COMM_SEND, COMM_RECV and COMP nodes")]
    Unsupported {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
        /// What the node is.
        what: String,
    },
    /// A message to oneself.
    #[error("rank {rank}, node {node} exchanges a message with its own rank: a copy within a rank is a COMP")]
    SelfMessage {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
    },
    /// A message to or from a rank that there is not.
    #[error("rank {rank}, node {node} names the peer {peer}: expected a rank below {ranks}")]
    NoSuchPeer {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
        /// The rank that there is not.
        peer: u32,
        /// Ranks of the graph.
        ranks: usize,
    },
    /// A dependence on a node that there is not.
    #[error("rank {rank}, node {node} depends on the {dependence}-th node of its rank, which does not exist")]
    MissingDependence {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
        /// The number, counted from 0, of the node that there is not.
        dependence: u32,
    },
    /// A SEND and a RECV match by source, destination, tag and order, but not in size.
    #[error(
        "rank {sender}, node {send} sends {} bytes but its receive, rank {receiver}, node {recv}, expects {} bytes (tag {tag})",
        sent.0, wanted.0
    )]
    SizeMismatch {
        /// The sending rank.
        sender: u32,
        /// The SEND.
        send: u64,
        /// Size of the SEND.
        sent: Bytes,
        /// The receiving rank.
        receiver: u32,
        /// The RECV.
        recv: u64,
        /// Size of the RECV.
        wanted: Bytes,
        /// Tag of both.
        tag: u32,
    },
    /// A figure does not fit its integer.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// The observer ended the run.
    #[error(
        "stopped at {} with {} of {} nodes finished", .0.progress.time, .0.progress.finished, .0.progress.nodes
    )]
    Stopped(Box<PartialReport>),
    /// Nodes are left that can never run.
    #[error("{0}")]
    Stuck(StuckReport),
}

/// A figure that does not fit its integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what}: expected {limit}")]
pub struct Overflow {
    what: &'static str,
    limit: &'static str,
}

impl Overflow {
    const fn new(what: &'static str, limit: &'static str) -> Self {
        Self { what, limit }
    }

    pub(crate) const TIME: Self =
        Self::new("the simulated time is too long", "fewer than 2^64 picoseconds (213 days)");
    pub(crate) const BYTES: Self = Self::new("the messages are too large", "fewer than 2^64 bytes in all");
    pub(crate) const MESSAGES: Self = Self::new("too many messages are under way at once", "fewer than 2^32");
    pub(crate) const CONNECTIONS: Self =
        Self::new("the graph has too many connections (source, destination, tag)", "fewer than 2^31");
    pub(crate) const DEPENDENCES: Self =
        Self::new("a rank has too many nodes or dependences", "fewer than 2^31");
    pub(crate) const RANKS: Self = Self::new("the graph has too many ranks", "fewer than 2^30");
    pub(crate) const ROUTES: Self = Self::new(
        "the routes are too long together or use too many links",
        "fewer than 2^32 hops, 2^30 links",
    );
}
