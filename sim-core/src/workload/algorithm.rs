//! What a collective of a workload becomes: an algorithm that somebody supplies.

use std::error::Error;
use std::sync::Arc;

use chakra_et::graph::Graph;
use chakra_et::workload::{CollectiveKind, Group};

/// Supplies the algorithms by which the collectives of a workload are carried out.
///
/// Asked once for each collective before the run. The simulator keeps one copy of an algorithm for all uses, so an
/// implementation gives clones of one [`Arc`] where the algorithm, the number of ranks and the size are the same.
///
/// ```
/// use std::error::Error;
/// use std::sync::Arc;
///
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
/// use sim_core::workload::{Algorithm, Algorithms, Choice, Use};
///
/// /// Everybody sends everything to everybody.
/// struct Direct;
///
/// impl Algorithms for Direct {
///     fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
///         let (n, bytes) = (collective.ranks(), collective.bytes);
///         let rank = |rank: u32| {
///             let mut nodes = RankGraph::builder();
///             for peer in (0..n).filter(|peer| *peer != rank) {
///                 nodes.push(Op::Send { dst: peer, tag: 0, bytes }, [], Origin::default())?;
///                 nodes.push(Op::Recv { src: peer, tag: 0, bytes }, [], Origin::default())?;
///             }
///             Ok(nodes.finish())
///         };
///         let ranks = (0..n).map(rank).collect::<Result<_, chakra_et::graph::TooLarge>>()?;
///         Ok(Choice::new(Arc::new(Algorithm::new("direct", Graph::new(ranks)))))
///     }
/// }
/// ```
pub trait Algorithms: Sync {
    /// The algorithm for a collective.
    ///
    /// # Errors
    ///
    /// There is none for it; the text becomes part of the simulation's error, which names the collective.
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>>;
}

/// A collective for which an algorithm is wanted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Use<'a> {
    /// What it does.
    pub kind: CollectiveKind,
    /// Its `comm_size`: of an all-gather and a gather the input of one rank, else the buffer of one rank.
    pub bytes: u64,
    /// The position of its root in the group; 0 where it has none.
    pub root: u32,
    /// Its group. Rank i of the algorithm is the i-th member.
    pub group: &'a Group,
    /// The id of the first member's node.
    pub node: u64,
    /// The name of the first member's node.
    pub name: &'a str,
}

impl<'a> Use<'a> {
    /// A collective as [`Algorithms`] are asked for one, without a node.
    #[must_use]
    pub fn new(kind: CollectiveKind, bytes: u64, root: u32, group: &'a Group) -> Self {
        Self { kind, bytes, root, group, node: 0, name: "" }
    }

    /// The same for a node of a workload.
    #[must_use]
    pub fn of_node(self, node: u64, name: &'a str) -> Self {
        Self { node, name, ..self }
    }

    /// Number of ranks that take part.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.group.members.len() as u32
    }
}

/// An algorithm, and how the workload is connected with it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Arc<Algorithm>,
    /// Whether computations that depend on the collective are split by its chunks: as many parts, each of which waits for
    /// one chunk of the output instead of all. The algorithm must say which nodes make its chunks.
    pub split_consumers: bool,
    /// Whether computations on which only the collective depends are split by its chunks: as many parts, for each
    /// of which only the nodes wait that read its chunk of the input.
    pub split_producers: bool,
}

impl Choice {
    /// An algorithm that begins and ends as a whole.
    #[must_use]
    pub fn new(algorithm: Arc<Algorithm>) -> Self {
        Self { algorithm, split_consumers: false, split_producers: false }
    }
}

/// An algorithm for a number of ranks and a size.
#[derive(Clone, Debug)]
pub struct Algorithm {
    pub(crate) name: String,
    pub(crate) graph: Graph,
    pub(crate) inputs: Chunks,
    pub(crate) outputs: Chunks,
}

/// By rank and chunk of a buffer, the nodes that read or write the chunk.
pub type Chunks = Vec<Vec<Vec<u32>>>;

impl Algorithm {
    /// An algorithm from its graph: SENDs, RECVs and COMPs of as many ranks as the group has.
    #[must_use]
    pub fn new(name: impl Into<String>, graph: Graph) -> Self {
        Self { name: name.into(), graph, inputs: Vec::new(), outputs: Vec::new() }
    }

    /// With the nodes that are first to read each chunk of a rank's input, and those that must have finished before
    /// each chunk of its output is what it will be. Both by rank and chunk, and node numbers of the graph; a chunk without
    /// nodes is read by nobody, or there from the beginning.
    #[must_use]
    pub fn with_chunks(self, inputs: Chunks, outputs: Chunks) -> Self {
        Self { inputs, outputs, ..self }
    }

    /// Its name, as it appears in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The nodes that are first to read each chunk, by rank and chunk; empty if that is not known.
    #[must_use]
    pub fn inputs(&self) -> &Chunks {
        &self.inputs
    }

    /// The nodes that must have finished before each chunk of the output is there, likewise.
    #[must_use]
    pub fn outputs(&self) -> &Chunks {
        &self.outputs
    }
}
