//! Algorithms on several levels, of building blocks that work among the ranks of a group.
//!
//! A cluster has levels: the GPUs of a node, the nodes of a pod, the pods. An algorithm on levels does one collective
//! among the ranks of each group of a level, then goes on with the piece that each rank has got to the next level. The
//! building blocks here are these collectives: each takes a group of ranks in order, and a run of chunks of one
//! buffer, the same on all ranks of the group. Which algorithm they use is a number, so that it can be a parameter:
//!
//! | number | | rounds of a reduce-scatter or an all-gather among n ranks | for |
//! |---|---|---|---|
//! | [`DIRECT`], 0 | everyone sends to everyone | 1, with n−1 messages a rank at once | any n |
//! | [`RING`], 1 | around a ring | n−1 | any n |
//! | [`HALVING_DOUBLING`], 2 | recursive halving, recursive doubling | log2 n | n a power of two |
//! | [`RECURSIVE_DOUBLING`], 3 | the whole data exchanged in each round: all-reduce alone | log2 n for the all-reduce | n a power of two |
//! | [`TREE`], 4 | up and down a binomial tree: all-reduce alone | 2·⌊log2 n⌋ for the all-reduce, with several messages of the root at once | any n |
//!
//! An algorithm of your own is put together from them, or from some of them and your own:
//!
//! ```
//! use collective::algorithms::levels::{self, DIRECT, RING};
//! use collective::prelude::*;
//!
//! /// Nodes whose GPUs differ in number: all sizes in `nodes` divide the vector's 12 chunks.
//! #[collective(all_reduce, in_place, chunks = 12)]
//! fn two_nodes(p: &Program, ranks: usize, first: usize) {
//!     let nodes: [Vec<usize>; 2] = [(0..first).collect(), (first..ranks).collect()];
//!     for node in &nodes {
//!         levels::reduce_scatter(p, DIRECT, node, Input, 0, 12 / node.len());
//!     }
//!     // The ranks that hold chunk k in the two nodes add it up.
//!     for k in 0..12 {
//!         let holders = [nodes[0][k * nodes[0].len() / 12], nodes[1][k * nodes[1].len() / 12]];
//!         let sum = p.chunk(holders[0], Input, k).reduce(p.chunk(holders[1], Input, k));
//!         sum.copy_to(holders[1], Input, k);
//!     }
//!     for node in &nodes {
//!         levels::all_gather(p, RING, node, Input, 0, 12 / node.len());
//!     }
//! }
//!
//! // A node of 4 GPUs and one of 3.
//! assert!(two_nodes::compile(7, 4).is_ok());
//! ```
//!
//! A function that is evaluated at build time sees only what stands in its own `#[collective] mod`: there, copy the
//! building blocks that it needs, which are short.

mod cost;

pub(super) use cost::{all_reduce_rounds, all_reduce_sent, half_choices, half_rounds, half_sent};
pub use programs::{
    DIRECT, HALVING_DOUBLING, RECURSIVE_DOUBLING, RING, TREE, all_gather, all_reduce, reduce_scatter,
};

/// The building blocks and the algorithms made of them: what is evaluated at build time stands in one module.
#[crate::collective]
pub(super) mod programs {
    use crate::prelude::*;

    /// Everyone sends to everyone at once.
    pub const DIRECT: usize = 0;
    /// Around a ring.
    pub const RING: usize = 1;
    /// Reduce-scatter by recursive halving, all-gather by recursive doubling.
    pub const HALVING_DOUBLING: usize = 2;
    /// All-reduce in which pairs exchange all their data in each round.
    pub const RECURSIVE_DOUBLING: usize = 3;
    /// All-reduce up a binomial tree and down again.
    pub const TREE: usize = 4;

    /// Whether a reduce-scatter or an all-gather among `n` ranks can use an algorithm; reports what is wrong.
    fn fits(p: &Program, algorithm: usize, n: usize) -> bool {
        p.require(
            algorithm <= HALVING_DOUBLING,
            "the algorithm of a level must be 0 (direct), 1 (ring) or 2 (recursive halving and doubling)",
        ) && p.require(
            algorithm != HALVING_DOUBLING || n.is_power_of_two(),
            "the number of ranks must be a power of two on a level of recursive halving and doubling (2); direct (0) and ring (1) take any",
        )
    }

    /// Whether an all-reduce among `n` ranks can use an algorithm; reports what is wrong.
    fn fits_all_reduce(p: &Program, algorithm: usize, n: usize) -> bool {
        p.require(
            algorithm <= TREE,
            "the algorithm between groups must be 0 (direct), 1 (ring), 2 (recursive halving and doubling), 3 (recursive doubling) or 4 (tree)",
        ) && p.require(
            !(HALVING_DOUBLING..=RECURSIVE_DOUBLING).contains(&algorithm) || n.is_power_of_two(),
            "the number of ranks must be a power of two on a level of recursive doubling (2, 3); direct (0), ring (1) and tree (4) take any",
        )
    }

    /// Reduce-scatter among the n ranks of a group: of the chunks `first .. first + n·piece` of a buffer, the i-th
    /// rank ends with the sum of the i-th `piece` chunks, in the same place; the others hold no sums.
    ///
    /// The algorithm is [`DIRECT`], [`RING`] or [`HALVING_DOUBLING`].
    pub fn reduce_scatter(
        p: &Program,
        algorithm: usize,
        group: &[usize],
        buffer: Buffer<'_>,
        first: usize,
        piece: usize,
    ) {
        let n = group.len();
        if !fits(p, algorithm, n) {
            return;
        }
        if algorithm == HALVING_DOUBLING {
            // In the round of bit `distance` a rank keeps the half of its chunks with its own number.
            let mut distance = n / 2;
            while distance > 0 {
                for i in 0..n {
                    let (kept, count) = (first + i / distance * distance * piece, distance * piece);
                    let given = p.chunks(group[i ^ distance], buffer, kept, count);
                    p.chunks(group[i], buffer, kept, count).reduce(given);
                }
                distance /= 2;
            }
            return;
        }
        for i in 0..n {
            let at = first + i * piece;
            if algorithm == DIRECT {
                let mut sum = p.chunks(group[i], buffer, at, piece);
                for distance in 1..n {
                    sum = sum.reduce(p.chunks(group[(i + distance) % n], buffer, at, piece));
                }
            } else {
                // It starts behind its owner, and collects on its way around.
                let mut sum = p.chunks(group[(i + 1) % n], buffer, at, piece);
                for step in 2..=n {
                    sum = p.chunks(group[(i + step) % n], buffer, at, piece).reduce(sum);
                }
            }
        }
    }

    /// All-gather among the n ranks of a group: of the chunks `first .. first + n·piece` of a buffer, the i-th rank
    /// holds the i-th `piece` chunks, and all end with all of them, in the same places.
    ///
    /// The algorithm is [`DIRECT`], [`RING`] or [`HALVING_DOUBLING`].
    pub fn all_gather(
        p: &Program,
        algorithm: usize,
        group: &[usize],
        buffer: Buffer<'_>,
        first: usize,
        piece: usize,
    ) {
        let n = group.len();
        if !fits(p, algorithm, n) {
            return;
        }
        if algorithm == HALVING_DOUBLING {
            let mut distance = 1;
            while distance < n {
                for i in 0..n {
                    let held = first + i / distance * distance * piece;
                    p.chunks(group[i], buffer, held, distance * piece).copy_to(
                        group[i ^ distance],
                        buffer,
                        held,
                    );
                }
                distance *= 2;
            }
            return;
        }
        for i in 0..n {
            let at = first + i * piece;
            let own = p.chunks(group[i], buffer, at, piece);
            let mut data = own;
            for step in 1..n {
                if algorithm == DIRECT {
                    own.copy_to(group[(i + n - step) % n], buffer, at);
                } else {
                    data = data.copy_to(group[(i + step) % n], buffer, at);
                }
            }
        }
    }

    /// All-reduce among the n ranks of a group of the chunks `first .. first + n·piece` of a buffer.
    ///
    /// The algorithm is [`DIRECT`] (two rounds), [`RING`], [`HALVING_DOUBLING`], [`RECURSIVE_DOUBLING`] or
    /// [`TREE`]. Recursive doubling uses the scratch buffer `exchange`.
    pub fn all_reduce(
        p: &Program,
        algorithm: usize,
        group: &[usize],
        buffer: Buffer<'_>,
        first: usize,
        piece: usize,
    ) {
        let n = group.len();
        if !fits_all_reduce(p, algorithm, n) {
            return;
        }
        if algorithm == RING {
            // A chunk goes on as soon as it is summed.
            for i in 0..n {
                let at = first + i * piece;
                let mut sum = p.chunks(group[i], buffer, at, piece);
                for step in 1..n {
                    sum = p.chunks(group[(i + step) % n], buffer, at, piece).reduce(sum);
                }
                for step in 0..n - 1 {
                    sum = sum.copy_to(group[(i + step) % n], buffer, at);
                }
            }
        } else if algorithm == RECURSIVE_DOUBLING {
            let mut distance = 1;
            while distance < n {
                // Both of a pair need what the other has had.
                for i in 0..n {
                    p.chunks(group[i ^ distance], buffer, first, n * piece).copy_to(
                        group[i],
                        Scratch("exchange"),
                        0,
                    );
                }
                for rank in group {
                    let given = p.chunks(*rank, Scratch("exchange"), 0, n * piece);
                    p.chunks(*rank, buffer, first, n * piece).reduce(given);
                }
                distance *= 2;
            }
        } else if algorithm == TREE {
            // The parent of a member is the one whose number lacks its lowest bit; the first is the root.
            let mut distance = 1;
            while distance < n {
                for i in (0..n - distance).step_by(2 * distance) {
                    let given = p.chunks(group[i + distance], buffer, first, n * piece);
                    p.chunks(group[i], buffer, first, n * piece).reduce(given);
                }
                distance *= 2;
            }
            while distance > 1 {
                distance /= 2;
                for i in (0..n - distance).step_by(2 * distance) {
                    let sum = p.chunks(group[i], buffer, first, n * piece);
                    sum.copy_to(group[i + distance], buffer, first);
                }
            }
        } else {
            reduce_scatter(p, algorithm, group, buffer, first, piece);
            all_gather(p, algorithm, group, buffer, first, piece);
        }
    }

    /// The ranks of a node.
    fn node_of(node: usize, gpus: usize) -> Vec<usize> {
        (0..gpus).map(|gpu| node * gpus + gpu).collect()
    }

    /// The GPUs of one number of all nodes: a rail.
    fn rail_of(gpu: usize, nodes: usize, gpus: usize) -> Vec<usize> {
        (0..nodes).map(|node| node * gpus + gpu).collect()
    }

    /// All-reduce on two levels: add up inside each node, all-reduce between nodes, hand out inside each node.
    ///
    /// The data are cut into one piece a GPU of a node. Inside a node every GPU collects its piece from all
    /// others (a reduce-scatter, by the algorithm `inner`); the GPUs of the same number then all-reduce
    /// their piece between nodes (by the algorithm `outer`); at last every GPU gives its piece to the others of its
    /// node (an all-gather, `inner`).
    ///
    /// | | 0 | 1 | 2 | 3 | 4 |
    /// |---|---|---|---|---|---|
    /// | `inner` | direct (unless said) | ring | recursive halving and doubling | | |
    /// | `outer` | direct | ring (unless said) | recursive halving and doubling | recursive doubling | tree |
    ///
    /// Choose it where nodes are fast inside and slow between: each network card carries only
    /// 2·S·(nodes−1)/(nodes·gpus) bytes (with an `outer` of 0, 1 or 2), and all of it between GPUs of one number, so that on
    /// a rail-optimised cluster nothing crosses the spine. The outer ring needs the fewest bytes and neighbours alone; recursive halving and
    /// doubling as few bytes in 2·log2 nodes rounds, for middle sizes; recursive doubling the fewest rounds, for small
    /// sizes; a tree few rounds for any number of nodes.
    ///
    /// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. On a level of
    /// 2 or 3 the number of members must be a power of two.
    /// Rounds, with g GPUs a node and m nodes: inside 2 (direct, with g−1 messages a GPU at once), 2(g−1) (ring) or 2·log2 g;
    /// between nodes 2, 2(m−1), 2·log2 m, log2 m or (tree) 2·⌊log2 m⌋. Bytes sent by each rank: 2·S·(n−1)/n; with recursive
    /// doubling, and by the root of a tree, 2·S·(g−1)/g + ⌈log2 m⌉·S/g. Time, with links of latency α and bandwidth B
    /// between any two, by default: 2·(α + S/(g·B)) + 2(m−1)·(α + S/(n·B)).
    ///
    /// Source: Cho et al., "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network
    /// Hierarchy", MLSys 2019; Cowan et al., "MSCCLang", ASPLOS 2023 (hierarchical all-reduce); the component `cl/hier` of
    /// UCC (`split_rail`), which too takes any algorithm between nodes.
    ///
    /// ```text
    ///   node 0    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       reduce-scatter, at the end all-gather
    ///               │         │         │
    ///               ▼         ▼         ▼         an all-reduce over the nodes for each piece
    ///   node 1    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, allreduce_hierarchical};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(allreduce_hierarchical, ranks = 8, gpus = 8, inner = 0, outer = 1);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("allreduce_hierarchical").unwrap().cost(&[8, 8, 0, 1]).rounds(), 2);
    /// ```
    #[collective(
        all_reduce,
        in_place,
        defaults(gpus = 8, inner = 0, outer = 1),
        build(ranks = 8, gpus = 4),
        build(ranks = 8, gpus = 2, inner = 1, outer = 3)
    )]
    pub fn allreduce_hierarchical(p: &Program, ranks: usize, gpus: usize, inner: usize, outer: usize) {
        if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
            return;
        }
        let nodes = ranks / gpus;
        if !fits(p, inner, gpus) || !fits_all_reduce(p, outer, nodes) {
            return;
        }
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
        }
        // Piece g of the data is the chunks g·nodes .. (g + 1)·nodes.
        for node in 0..nodes {
            reduce_scatter(p, inner, &node_of(node, gpus), Output, 0, nodes);
        }
        for gpu in 0..gpus {
            all_reduce(p, outer, &rail_of(gpu, nodes, gpus), Output, gpu * nodes, 1);
        }
        for node in 0..nodes {
            all_gather(p, inner, &node_of(node, gpus), Output, 0, nodes);
        }
    }

    /// All-reduce on three levels: GPUs of a node, nodes of a pod, pods.
    ///
    /// Inside a node every GPU collects its piece of the data (a reduce-scatter by the algorithm `inner`); the GPUs of the
    /// same number in a pod's nodes each collect their part of that piece (`middle`); the GPUs of the same place
    /// in all pods all-reduce that part (`outer`). All-gathers hand the sums out on the way back.
    ///
    /// | | 0 | 1 | 2 | 3 | 4 |
    /// |---|---|---|---|---|---|
    /// | `inner` | direct (unless said) | ring | recursive halving and doubling | | |
    /// | `middle` | direct | ring (unless said) | recursive halving and doubling | | |
    /// | `outer` | direct | ring (unless said) | recursive halving and doubling | recursive doubling | tree |
    ///
    /// Choose it where pods, or racks, are joined by fewer links than they have inside: what a GPU sends out of its pod
    /// is only 2·S·(pods−1)/n bytes, and what it sends out of its node beside that 2·S·(nodes−1)/(gpus·nodes).
    ///
    /// Any number of ranks that is a multiple of `gpus` times `nodes`, the GPUs of a node and the nodes of a pod;
    /// rank = (pod·nodes + node)·gpus + GPU. On a level of 2 or 3 the number of members must be a power of two.
    /// Rounds, with g GPUs a node, m nodes a pod and k pods: on the two inner levels 2 (direct, with g−1 or m−1 messages a GPU
    /// at once), 2(g−1) and 2(m−1) (ring), or 2·log2; between pods 2, 2(k−1), 2·log2 k, log2 k or (tree) 2·⌊log2 k⌋.
    /// Bytes sent by each rank: 2·S·(n−1)/n; with recursive doubling, and by the root of a tree,
    /// 2·S·(g·m−1)/(g·m) + ⌈log2 k⌉·S/(g·m). Time, with links of latency α and bandwidth B between any two, by default:
    /// 2·(α + S/(g·B)) + 2(m−1)·(α + S/(g·m·B)) + 2(k−1)·(α + S/(n·B)).
    ///
    /// Source: Cho et al., "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network
    /// Hierarchy", MLSys 2019, which decomposes for any number of levels.
    ///
    /// ```text
    ///   pod 0  ┌ node 0   0 ◀─▶ 1          ┌ 4 ◀─▶ 5   pod 1      1. and 5. inside the nodes
    ///          │          ▲     ▲          │ ▲     ▲
    ///          │          ▼     ▼          │ ▼     ▼              2. and 4. between the nodes of a pod
    ///          └ node 1   2 ◀─▶ 3          └ 6 ◀─▶ 7
    ///                     0 ◀──────────────▶ 4                    3. between pods
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, allreduce_hierarchical_three_level};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(allreduce_hierarchical_three_level, ranks = 8, gpus = 8, nodes = 1, inner = 0, middle = 1, outer = 1);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("allreduce_hierarchical_three_level").unwrap().cost(&[8, 8, 1, 0, 1, 1]).rounds(), 2);
    /// ```
    #[collective(
        all_reduce,
        in_place,
        defaults(gpus = 8, nodes = 4, inner = 0, middle = 1, outer = 1),
        build(ranks = 8, gpus = 2, nodes = 2)
    )]
    pub fn allreduce_hierarchical_three_level(
        p: &Program,
        ranks: usize,
        gpus: usize,
        nodes: usize,
        inner: usize,
        middle: usize,
        outer: usize,
    ) {
        if !p.require(
            gpus.checked_mul(nodes).is_some_and(|pod| ranks.is_multiple_of(pod)),
            "the number of ranks must be a multiple of `gpus` times `nodes`",
        ) {
            return;
        }
        let pod_size = gpus * nodes;
        let pods = ranks / pod_size;
        if !fits(p, inner, gpus) || !fits(p, middle, nodes) || !fits_all_reduce(p, outer, pods) {
            return;
        }
        // The GPUs of one number of the nodes of a pod.
        fn rail_in_pod(pod: usize, gpu: usize, nodes: usize, gpus: usize) -> Vec<usize> {
            (0..nodes).map(|node| (pod * nodes + node) * gpus + gpu).collect()
        }
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
        }
        // Piece g of the data is nodes·pods chunks long, and part m of it pods chunks.
        for node in 0..ranks / gpus {
            reduce_scatter(p, inner, &node_of(node, gpus), Output, 0, nodes * pods);
        }
        for pod in 0..pods {
            for gpu in 0..gpus {
                let rail = rail_in_pod(pod, gpu, nodes, gpus);
                reduce_scatter(p, middle, &rail, Output, gpu * nodes * pods, pods);
            }
        }
        for gpu in 0..gpus {
            for node in 0..nodes {
                let places = rail_of(node * gpus + gpu, pods, pod_size);
                all_reduce(p, outer, &places, Output, (gpu * nodes + node) * pods, 1);
            }
        }
        for pod in 0..pods {
            for gpu in 0..gpus {
                let rail = rail_in_pod(pod, gpu, nodes, gpus);
                all_gather(p, middle, &rail, Output, gpu * nodes * pods, pods);
            }
        }
        for node in 0..ranks / gpus {
            all_gather(p, inner, &node_of(node, gpus), Output, 0, nodes * pods);
        }
    }

    /// All-gather on two levels: between nodes first, then inside each node.
    ///
    /// The GPUs of the same number gather what they have between nodes (by the algorithm `outer`); then every GPU gives
    /// these to the others of its node (`inner`), all in one message. For that a column, the data of the GPUs of one
    /// number, lies together in scratch; each rank puts it in order at the end.
    ///
    /// `inner` and `outer` are 0 (direct), 1 (ring) or 2 (recursive doubling); unless said, direct inside and a ring between.
    ///
    /// Choose it where nodes are fast inside and slow between: every GPU's data enters each other node once, over the
    /// card of the same number.
    ///
    /// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. On a level
    /// of 2 the number of members must be a power of two. S is the gathered size. Rounds, with g GPUs a node and m nodes:
    /// between nodes 1 (direct, with m−1 messages a GPU at once), m−1 (ring) or log2 m, then inside 1, g−1 or log2 g.
    /// Bytes sent by each rank: S·(n−1)/n, of these over its card S·(m−1)/n. Time, with links of latency α
    /// and bandwidth B between any two, by default: (m−1)·(α + S/(n·B)) + α + S/(g·B).
    ///
    /// Source: Träff, "Efficient allgather for regular SMP-clusters", EuroPVM/MPI 2006, here with every GPU at work between
    /// nodes, as Cho et al., "BlueConnect", MLSys 2019, have it.
    ///
    /// ```text
    ///   node 0    GPU 0     GPU 1     GPU 2
    ///               ▲         ▲         ▲         1. each number gathers its column
    ///               ▼         ▼         ▼
    ///   node 1    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       2. columns are exchanged inside a node
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, allgather_hierarchical};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(allgather_hierarchical, ranks = 8, gpus = 8, inner = 0, outer = 1);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("allgather_hierarchical").unwrap().cost(&[8, 8, 0, 1]).rounds(), 1);
    /// ```
    #[collective(all_gather, in_place, defaults(gpus = 8, inner = 0, outer = 1), build(ranks = 8, gpus = 4))]
    pub fn allgather_hierarchical(p: &Program, ranks: usize, gpus: usize, inner: usize, outer: usize) {
        if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
            return;
        }
        let nodes = ranks / gpus;
        if !fits(p, inner, gpus) || !fits(p, outer, nodes) {
            return;
        }
        // Column g is the chunks g·nodes .. (g + 1)·nodes of the scratch buffer.
        for rank in 0..ranks {
            let place = rank % gpus * nodes + rank / gpus;
            p.chunk(rank, Input, 0).copy_to(rank, Scratch("columns"), place);
        }
        for gpu in 0..gpus {
            all_gather(p, outer, &rail_of(gpu, nodes, gpus), Scratch("columns"), gpu * nodes, 1);
        }
        for node in 0..nodes {
            all_gather(p, inner, &node_of(node, gpus), Scratch("columns"), 0, nodes);
        }
        for rank in 0..ranks {
            for owner in 0..ranks {
                let place = owner % gpus * nodes + owner / gpus;
                p.chunk(rank, Scratch("columns"), place).copy_to(rank, Output, owner);
            }
        }
    }

    /// Reduce-scatter on two levels: inside each node first, then between nodes.
    ///
    /// Every rank puts the parts for the GPUs of one number, a column, together in scratch. Inside a node every GPU
    /// collects the column of its number from all others (by the algorithm `inner`), each in one message;
    /// then the GPUs of the same number share their column out between nodes (`outer`).
    ///
    /// `inner` and `outer` are 0 (direct), 1 (ring) or 2 (recursive halving); unless said, direct inside and a ring between.
    ///
    /// Choose it where nodes are fast inside and slow between: what leaves a node is summed over its GPUs before.
    ///
    /// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. On a level
    /// of 2 the number of members must be a power of two. S is the input of a rank. Rounds, with g GPUs a node and m nodes:
    /// inside 1 (direct, with g−1 messages a GPU at once), g−1 (ring) or log2 g, then between nodes 1, m−1 or log2 m.
    /// Bytes sent by each rank: S·(n−1)/n, of these over its card S·(m−1)/n. Time, with links of latency α
    /// and bandwidth B between any two, by default: α + S/(g·B) + (m−1)·(α + S/(n·B)).
    ///
    /// Source: Cho et al., "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network
    /// Hierarchy", MLSys 2019 (the first half of the all-reduce).
    ///
    /// ```text
    ///   node 0    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       1. each number collects its column inside a node
    ///               ▲         ▲         ▲
    ///               ▼         ▼         ▼         2. columns are shared out between nodes
    ///   node 1    GPU 0     GPU 1     GPU 2
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, reduce_scatter_hierarchical};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(reduce_scatter_hierarchical, ranks = 8, gpus = 8, inner = 0, outer = 1);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("reduce_scatter_hierarchical").unwrap().cost(&[8, 8, 0, 1]).rounds(), 1);
    /// ```
    #[collective(
        reduce_scatter,
        in_place,
        defaults(gpus = 8, inner = 0, outer = 1),
        build(ranks = 8, gpus = 4)
    )]
    pub fn reduce_scatter_hierarchical(p: &Program, ranks: usize, gpus: usize, inner: usize, outer: usize) {
        if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
            return;
        }
        let nodes = ranks / gpus;
        if !fits(p, inner, gpus) || !fits(p, outer, nodes) {
            return;
        }
        // Column g is the chunks g·nodes .. (g + 1)·nodes of the scratch buffer.
        for rank in 0..ranks {
            for owner in 0..ranks {
                let place = owner % gpus * nodes + owner / gpus;
                p.chunk(rank, Input, owner).copy_to(rank, Scratch("columns"), place);
            }
        }
        for node in 0..nodes {
            reduce_scatter(p, inner, &node_of(node, gpus), Scratch("columns"), 0, nodes);
        }
        for gpu in 0..gpus {
            reduce_scatter(p, outer, &rail_of(gpu, nodes, gpus), Scratch("columns"), gpu * nodes, 1);
        }
        for rank in 0..ranks {
            let place = rank % gpus * nodes + rank / gpus;
            p.chunk(rank, Scratch("columns"), place).copy_to(rank, Output, 0);
        }
    }
}
