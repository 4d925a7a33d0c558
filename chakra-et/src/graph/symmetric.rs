//! Graphs in which all ranks do the same: one rank stands for all.

use thiserror::Error;

use super::{CollectiveInfo, Graph, Op, RankGraph};

/// A group of relabellings of ranks, one for each rank r: it takes rank 0 to rank r.
///
/// All are translations: of a ring (x → x + r mod n), of a torus (each coordinate by itself), of a
/// hypercube (x → x XOR r, which is a torus of size 2 in each dimension).
///
/// ```
/// use chakra_et::graph::Symmetry;
///
/// let ring = Symmetry::rotation(10);
/// assert_eq!((ring.moved(9, 3), ring.back(3)), (2, 7));
/// let cube = Symmetry::xor(8)?;
/// assert_eq!((cube.moved(6, 3), cube.back(3)), (5, 3));
/// // Coordinate 0 counts fastest: rank 5 of a 3×4 torus is (2, 1), and (2, 1) + (1, 3) = (0, 0).
/// let torus = Symmetry::torus(&[3, 4])?;
/// assert_eq!((torus.moved(5, 10), torus.back(5)), (0, 10));
/// # Ok::<(), chakra_et::graph::SymmetryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    kind: Kind,
    ranks: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Rotation,
    Xor,
    Torus(Vec<Axis>),
}

/// A dimension of a torus, or several of size 2 after each other: they are a hypercube.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    size: u32,
    is_cube: bool,
}

impl Axis {
    fn of(sizes: &[u32]) -> Vec<Self> {
        let mut axes: Vec<Self> = Vec::new();
        for &size in sizes {
            match axes.last_mut() {
                Some(axis) if axis.is_cube && size == 2 => axis.size *= 2,
                _ => axes.push(Self { size, is_cube: size == 2 }),
            }
        }
        axes
    }

    /// Both must be below the size.
    #[inline]
    fn moved(&self, x: u32, by: u32) -> u32 {
        match self.is_cube {
            true => x ^ by,
            false => Symmetry::rotated(x, by, self.size),
        }
    }

    fn back(&self, x: u32) -> u32 {
        if self.is_cube || x == 0 { x } else { self.size - x }
    }
}

/// What is no symmetry, or no graph that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SymmetryError {
    /// XOR needs a power of two.
    #[error("x -> x XOR r relabels only a power of two of ranks, not {ranks}")]
    NoPowerOfTwo {
        /// Number of ranks.
        ranks: u32,
    },
    /// A torus without ranks, or with too many.
    #[error("the sizes of a torus have a product of at least 1 and at most {}", u32::MAX)]
    NoTorus,
    /// The node exchanges messages with a rank that there is not, or with its own.
    #[error("node {node} names the peer {peer}: expected another rank than 0 and below {ranks}")]
    NoSuchPeer {
        /// The node on rank 0.
        node: u64,
        /// The peer.
        peer: u32,
        /// Number of ranks.
        ranks: u32,
    },
}

impl Symmetry {
    /// The rotations of `ranks` ranks.
    #[must_use]
    pub fn rotation(ranks: u32) -> Self {
        Self { kind: Kind::Rotation, ranks }
    }

    /// x → x XOR r.
    ///
    /// # Errors
    /// [`SymmetryError::NoPowerOfTwo`].
    pub fn xor(ranks: u32) -> Result<Self, SymmetryError> {
        let is_cube = ranks.is_power_of_two();
        is_cube.then_some(Self { kind: Kind::Xor, ranks }).ok_or(SymmetryError::NoPowerOfTwo { ranks })
    }

    /// The translations of a torus; coordinate 0 counts fastest.
    ///
    /// # Errors
    /// [`SymmetryError::NoTorus`].
    pub fn torus(sizes: &[u32]) -> Result<Self, SymmetryError> {
        let product = sizes.iter().try_fold(1u32, |product, size| product.checked_mul(*size));
        let ranks = product.filter(|ranks| *ranks > 0).ok_or(SymmetryError::NoTorus)?;
        Ok(Self { kind: Kind::Torus(Axis::of(sizes)), ranks })
    }

    /// Number of ranks.
    #[must_use]
    pub fn rank_count(&self) -> u32 {
        self.ranks
    }

    /// Where the relabelling that takes rank 0 to rank `by` takes `rank`. Both must be below the number of ranks.
    #[inline]
    #[must_use]
    pub fn moved(&self, rank: u32, by: u32) -> u32 {
        match &self.kind {
            Kind::Rotation => Self::rotated(rank, by, self.ranks),
            Kind::Xor => rank ^ by,
            Kind::Torus(axes) => Self::by_coordinate(axes, rank, by, Axis::moved),
        }
    }

    /// x + by modulo size, without overflow.
    #[inline]
    fn rotated(x: u32, by: u32, size: u32) -> u32 {
        let left = size - by;
        if x >= left { x - left } else { x + by }
    }

    /// Which rank is taken to rank 0 by the relabelling that takes rank 0 to `rank`.
    #[must_use]
    pub fn back(&self, rank: u32) -> u32 {
        match &self.kind {
            Kind::Rotation => Axis { size: self.ranks, is_cube: false }.back(rank),
            Kind::Xor => rank,
            Kind::Torus(axes) => Self::by_coordinate(axes, rank, 0, |axis, x, _| axis.back(x)),
        }
    }

    #[inline]
    fn by_coordinate(axes: &[Axis], mut a: u32, mut b: u32, f: impl Fn(&Axis, u32, u32) -> u32) -> u32 {
        let (mut rank, mut stride) = (0, 1);
        for axis in axes {
            let size = axis.size;
            rank += stride * f(axis, a % size, b % size);
            (a, b) = (a / size, b / size);
            stride *= size;
        }
        rank
    }

    /// Whether every rank of the graph does what rank 0 does, relabelled: every node and dependence is compared.
    ///
    /// Ids, origins and the numbers in COMPs that cost no time may differ.
    #[must_use]
    pub fn holds_for(&self, graph: &Graph) -> bool {
        let Some((first, others)) = graph.ranks().split_first() else { return false };
        graph.rank_count() == self.ranks as usize
            && others.iter().zip(1..).all(|(rank, by)| {
                rank.dep_end == first.dep_end
                    && rank.deps == first.deps
                    && first.ops.len() == rank.ops.len()
                    && first.ops.iter().zip(&rank.ops).all(|(of_first, op)| self.same(*of_first, *op, by))
            })
    }

    fn same(&self, of_first: Op, op: Op, by: u32) -> bool {
        match (of_first, op) {
            (Op::Comp { micros, .. }, Op::Comp { micros: of_op, .. }) => micros == of_op,
            _ => self.moved_op(of_first, by) == Some(op),
        }
    }

    /// The node of the rank `by` that a node of rank 0 stands for; None if its peer does not exist.
    fn moved_op(&self, op: Op, by: u32) -> Option<Op> {
        let moved = |peer: u32| (peer < self.ranks).then(|| self.moved(peer, by));
        Some(match op {
            Op::Send { dst, tag, bytes } => Op::Send { dst: moved(dst)?, tag, bytes },
            Op::Recv { src, tag, bytes } => Op::Recv { src: moved(src)?, tag, bytes },
            other => other,
        })
    }
}

/// A graph in which every rank does what rank 0 does, relabelled: in the memory of one rank.
///
/// ```
/// use chakra_et::graph::{Op, Origin, RankGraph, SymmetricGraph, Symmetry};
///
/// // Everybody sends to the next rank of a ring of a million.
/// let mut rank = RankGraph::builder();
/// rank.push(Op::Send { dst: 1, tag: 0, bytes: 8 }, [], Origin::default())?;
/// rank.push(Op::Recv { src: 999_999, tag: 0, bytes: 8 }, [], Origin::default())?;
/// let graph = SymmetricGraph::new(Symmetry::rotation(1_000_000), rank.finish())?;
/// assert_eq!(graph.expand().rank(999_999).op(0), Op::Send { dst: 0, tag: 0, bytes: 8 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymmetricGraph {
    symmetry: Symmetry,
    /// Rank 0 alone, with the source files and the collective of all.
    first: Graph,
}

impl SymmetricGraph {
    /// A graph of which `rank` is rank 0.
    ///
    /// # Errors
    /// [`SymmetryError::NoSuchPeer`].
    pub fn new(symmetry: Symmetry, rank: RankGraph) -> Result<Self, SymmetryError> {
        let ranks = symmetry.rank_count();
        for (node, op) in (0..).zip(rank.ops()) {
            if let Op::Send { dst: peer, .. } | Op::Recv { src: peer, .. } = *op
                && !(1..ranks).contains(&peer)
            {
                return Err(SymmetryError::NoSuchPeer { node: rank.id(node), peer, ranks });
            }
        }
        Ok(Self { symmetry, first: Graph::new(vec![rank]) })
    }

    /// With what is known of the collective.
    #[must_use]
    pub fn with_info(mut self, info: CollectiveInfo) -> Self {
        self.first.info = Some(info);
        self
    }

    /// How the ranks are relabelled.
    #[must_use]
    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// Rank 0, as a graph of its own: its peers are those that it has among all ranks.
    #[must_use]
    pub fn first(&self) -> &Graph {
        &self.first
    }

    /// The collective that the graph implements, where known.
    #[must_use]
    pub fn info(&self) -> Option<&CollectiveInfo> {
        self.first.info.as_ref()
    }

    /// Number of ranks.
    #[must_use]
    pub fn rank_count(&self) -> u32 {
        self.symmetry.rank_count()
    }

    /// Number of nodes of all ranks together.
    #[must_use]
    pub fn node_count(&self) -> u64 {
        // Both are below 2^32.
        self.first.node_count() as u64 * u64::from(self.rank_count())
    }

    /// All ranks, each with its own nodes: as many times the memory as there are ranks.
    #[must_use]
    pub fn expand(&self) -> Graph {
        let rank = |by| {
            let mut rank = self.first.rank(0).clone();
            for op in &mut rank.ops {
                // Peers were checked when the graph was made.
                *op = self.symmetry.moved_op(*op, by).unwrap_or(*op);
            }
            rank
        };
        Graph { ranks: (0..self.rank_count()).map(rank).collect(), ..self.first.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;

    fn symmetries() -> Vec<Symmetry> {
        let mut all = vec![Symmetry::rotation(1), Symmetry::rotation(12), Symmetry::xor(16).unwrap()];
        all.extend(
            [&[3, 4][..], &[2, 3, 2], &[5], &[1, 4, 1], &[3, 2, 2, 2, 3]]
                .map(|sizes| Symmetry::torus(sizes).unwrap()),
        );
        all
    }

    #[test]
    fn relabellings_form_a_group_that_reaches_each_rank_once() {
        for symmetry in symmetries() {
            let ranks = 0..symmetry.rank_count();
            for a in ranks.clone() {
                assert_eq!([symmetry.moved(0, a), symmetry.moved(a, 0)], [a, a], "{symmetry:?}");
                assert_eq!(symmetry.moved(symmetry.back(a), a), 0, "{symmetry:?}");
                for b in ranks.clone() {
                    let both = symmetry.moved(b, a);
                    for x in ranks.clone() {
                        assert_eq!(symmetry.moved(symmetry.moved(x, b), a), symmetry.moved(x, both));
                    }
                }
            }
        }
    }

    #[test]
    fn a_hypercube_is_a_torus_of_twos_and_a_ring_one_of_one_dimension() {
        let (cube, twos) = (Symmetry::xor(8).unwrap(), Symmetry::torus(&[2, 2, 2]).unwrap());
        let (ring, torus) = (Symmetry::rotation(8), Symmetry::torus(&[8]).unwrap());
        for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
            assert_eq!(cube.moved(a, b), twos.moved(a, b));
            assert_eq!(ring.moved(a, b), torus.moved(a, b));
        }
    }

    #[test]
    fn large_rings_do_not_overflow() {
        let ring = Symmetry::rotation(u32::MAX);
        assert_eq!(ring.moved(u32::MAX - 1, u32::MAX - 1), u32::MAX - 2);
        assert_eq!(Symmetry::torus(&[1 << 16, 1 << 16]), Err(SymmetryError::NoTorus));
        assert_eq!(Symmetry::torus(&[3, 0]), Err(SymmetryError::NoTorus));
        assert_eq!(Symmetry::xor(12), Err(SymmetryError::NoPowerOfTwo { ranks: 12 }));
    }

    #[test]
    fn what_was_expanded_has_the_symmetry_and_one_changed_edge_breaks_it() {
        for symmetry in symmetries().into_iter().filter(|symmetry| symmetry.rank_count() > 2) {
            let mut rank = RankGraph::builder();
            let send = rank.push(Op::Send { dst: 1, tag: 3, bytes: 8 }, [], Origin::default()).unwrap();
            let src = symmetry.back(1);
            rank.push(Op::Recv { src, tag: 3, bytes: 8 }, [send], Origin::default()).unwrap();
            let graph = SymmetricGraph::new(symmetry.clone(), rank.finish()).unwrap().expand();
            assert!(symmetry.holds_for(&graph), "{symmetry:?}");
            assert!(!Symmetry::rotation(symmetry.rank_count() + 1).holds_for(&graph));

            let mut other = graph.clone();
            other.ranks[2].ops[0] = Op::Send { dst: 0, tag: 4, bytes: 8 };
            assert!(!symmetry.holds_for(&other));
            let mut other = graph;
            other.ranks[1].deps.clear();
            other.ranks[1].dep_end[1] = 0;
            assert!(!symmetry.holds_for(&other));
        }
    }

    #[test]
    fn a_peer_that_does_not_exist_is_refused() {
        for peer in [0, 4] {
            let mut rank = RankGraph::builder();
            rank.push(Op::Send { dst: peer, tag: 0, bytes: 8 }, [], Origin::default()).unwrap();
            let error = SymmetricGraph::new(Symmetry::rotation(4), rank.finish()).unwrap_err();
            assert_eq!(error, SymmetryError::NoSuchPeer { node: 0, peer, ranks: 4 });
        }
    }
}
