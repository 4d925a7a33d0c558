//! What a collective gets for which there is no rule: what NCCL would choose, as far as the library has it.
//!
//! NCCL's tuner (`src/graph/tuning.cc` of NCCL 2.30) estimates latency + bytes / bandwidth for each algorithm with each protocol and takes
//! the least. The constants here are its own, in microseconds, for NVLink within a machine and a network between machines.

use chakra_et::workload::CollectiveKind;

use super::shape::Shape;

/// What NCCL would choose for a collective of a size, by the [convention of nccl-tests](CollectiveKind::size), in a group of so many ranks
/// on so many machines: the name of an algorithm of the library, and the parameters that are not its first choice.
///
/// | collective | default | why |
/// |---|---|---|
/// | all_reduce | `allreduce_ring` on one machine, else that or `allreduce_double_binary_tree` | the lesser estimate |
/// | all_gather | `allgather_ring`; with one rank a machine that or `allgather_pat` | the lesser estimate; PAT since NCCL 2.23 |
/// | reduce_scatter, reduce_scatter_block | `reduce_scatter_ring`; with one rank a machine that or `reduce_scatter_pat` | likewise |
/// | broadcast | `broadcast_chain` | NCCL's ring, pipelined; it has no other |
/// | reduce | `reduce_chain` | likewise |
/// | all_to_all | `alltoall_direct` | grouped sends and receives |
/// | gather | `gather_linear` | grouped sends and receives |
/// | scatter | `scatter_linear` | likewise |
/// | barrier | that of an all_reduce of one element | so PyTorch makes one of NCCL |
///
/// The table is what is known of the number of machines only. Where a topology says that every rank of a machine has a network card of its own
/// ([`Expander::on`](super::Expander::on)), and the group has the same number of consecutive members on each machine, the all-reduce's ring is
/// `allreduce_rotated_rings`: a ring for each card, as NCCL lays them.
///
/// Segments, where an algorithm has some, are of 512 KiB, a step of NCCL's buffer (4 MiB in 8 steps), but never more than 64.
/// Within a machine NCCL's tree is a chain, which the tree of the library is not: so there it is the ring. NVLS and
/// CollNet, which compute in switches, are not among the candidates.
///
/// The estimates for n ranks on m machines, g = ⌈n/m⌉ ranks each, in µs, with bandwidth B of 370 GB/s on one machine (NVLink) and
/// min(370, 50·g) GB/s on several (a network card of 400 Gb/s for each rank):
///
/// | | LL | LL128 | Simple |
/// |---|---|---|---|
/// | ring, base | 6.6 | 14 | 8.4 |
/// | hop within a machine, between machines | 0.6, 2.7 | 1.9, 4 | 3.4, 14 |
/// | tree, base | 6.8 | 14 | 8.4 |
/// | hop within a machine, between machines | 0.6, 5 | 1.25, 8.5 | 4, 14 |
/// | share of B | 0.5, at most 141, 45 or 35 GB/s on 1, 2 or more machines | 0.92 | 1 |
///
/// * ring: base + k·((n−m) hops within + (m−1) between; on one machine n−1 within) + k·S·(n−1)/n / B, where k = 2 for the all-reduce, else 1;
/// * tree: base + 2·((g−1) hops within + ⌊log2 m⌋ between) + 2·S / (0.92·B);
/// * PAT: 8 + ⌊log2 n⌋·14/3.5 + 2.8·n + S·(n−1)/n / (0.75·B).
///
/// ```
/// use chakra_et::workload::CollectiveKind::{AllReduce, Broadcast};
/// use collective::workload::default_choice;
///
/// // 16 machines of 8: a tree up to some size, then the ring. One machine: the ring.
/// assert_eq!(default_choice(AllReduce, 1 << 20, 128, 16).algorithm, "allreduce_double_binary_tree");
/// assert_eq!(default_choice(AllReduce, 8 << 30, 128, 16).algorithm, "allreduce_ring");
/// assert_eq!(default_choice(AllReduce, 1 << 20, 8, 1).algorithm, "allreduce_ring");
/// // 4 MiB in 8 segments.
/// assert_eq!(default_choice(Broadcast, 4 << 20, 8, 1).set, [("segments", 8)]);
/// ```
#[must_use]
pub fn default_choice(kind: CollectiveKind, size: u64, ranks: u32, machines: u32) -> DefaultChoice {
    let plain = |algorithm| DefaultChoice { algorithm, set: Vec::new() };
    let segmented =
        |algorithm, bytes: u64| DefaultChoice { algorithm, set: vec![("segments", segments(bytes))] };
    let group = Cluster { ranks: f64::from(ranks), machines: f64::from(machines.max(1)) };
    let alone = machines == ranks;
    match kind {
        // The element of PyTorch's barrier.
        CollectiveKind::Barrier => default_choice(CollectiveKind::AllReduce, size.max(4), ranks, machines),
        CollectiveKind::AllReduce if machines > 1 && group.tree(size) < group.ring(size, 2.0) => {
            // Each tree has a half.
            segmented("allreduce_double_binary_tree", size.div_ceil(2))
        }
        CollectiveKind::AllReduce => plain("allreduce_ring"),
        CollectiveKind::AllGather if alone && group.pat(size) < group.ring(size, 1.0) => {
            plain("allgather_pat")
        }
        CollectiveKind::AllGather => plain("allgather_ring"),
        CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock => {
            let pat = alone && group.pat(size) < group.ring(size, 1.0);
            plain(if pat { "reduce_scatter_pat" } else { "reduce_scatter_ring" })
        }
        CollectiveKind::Broadcast => segmented("broadcast_chain", size),
        CollectiveKind::Reduce => segmented("reduce_chain", size),
        CollectiveKind::AllToAll => plain("alltoall_direct"),
        CollectiveKind::Gather => plain("gather_linear"),
        // A scatter: there are no other kinds.
        _ => plain("scatter_linear"),
    }
}

/// An algorithm of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefaultChoice {
    /// Its name.
    pub algorithm: &'static str,
    /// Parameters with values other than the library's first choice.
    pub set: Vec<(&'static str, usize)>,
}

/// In how many segments so many bytes go through a pipeline.
fn segments(bytes: u64) -> usize {
    const STEP: u64 = 512 << 10;
    const MOST: u64 = 64;
    // Powers of two, so that many sizes share a few schedules.
    bytes.div_ceil(STEP).clamp(1, MOST).next_power_of_two() as usize
}

/// Microseconds of a protocol: before the first hop, of a hop within a machine, and of one between machines.
type Latencies = [f64; 3];

/// LL, LL128, Simple.
const RING: [Latencies; 3] = [[6.6, 0.6, 2.7], [14.0, 1.9, 4.0], [8.4, 3.4, 14.0]];
const TREE: [Latencies; 3] = [[6.8, 0.6, 5.0], [14.0, 1.25, 8.5], [8.4, 4.0, 14.0]];
/// The share of the bandwidth that a protocol leaves for data.
const EFFICIENCY: [f64; 3] = [0.5, 0.92, 1.0];

/// Bytes per microsecond: GB/s in thousands.
const NVLINK: f64 = 370e3;
const NETWORK_CARD: f64 = 50e3;

struct Cluster {
    ranks: f64,
    machines: f64,
}

impl Cluster {
    /// Ranks on a machine.
    fn each(&self) -> f64 {
        (self.ranks / self.machines).ceil()
    }

    /// The bandwidth of a protocol.
    fn bandwidth(&self, protocol: usize) -> f64 {
        let link = if self.machines > 1.0 { NVLINK.min(NETWORK_CARD * self.each()) } else { NVLINK };
        let all = link * EFFICIENCY[protocol];
        let most_of_ll = match self.machines as u64 {
            0..=1 => 141e3,
            2 => 45e3,
            _ => 35e3,
        };
        if protocol == 0 { all.min(most_of_ll) } else { all }
    }

    /// Bytes that each rank sends in one round around the ring, or along PAT's trees.
    fn sent(&self, size: u64) -> f64 {
        size as f64 * (self.ranks - 1.0) / self.ranks
    }

    fn ring(&self, size: u64, rounds: f64) -> f64 {
        let between = self.machines - 1.0;
        let within = self.ranks - 1.0 - between;
        least(|protocol| {
            let [base, hop, far_hop] = RING[protocol];
            base + rounds * (within * hop + between * far_hop + self.sent(size) / self.bandwidth(protocol))
        })
    }

    fn tree(&self, size: u64) -> f64 {
        /// What NCCL reckons with of a tree's bandwidth.
        const SHARE: f64 = 0.92;
        least(|protocol| {
            let [base, hop, far_hop] = TREE[protocol];
            let hops = (self.each() - 1.0) * hop + self.machines.log2().floor() * far_hop;
            base + 2.0 * (hops + size as f64 / (SHARE * self.bandwidth(protocol)))
        })
    }

    fn pat(&self, size: u64) -> f64 {
        const SIMPLE: usize = 2;
        let latency = 8.0 + self.ranks.log2().floor() * RING[SIMPLE][2] / 3.5 + 2.8 * self.ranks;
        latency + self.sent(size) / (0.75 * self.bandwidth(SIMPLE))
    }
}

/// The time of the fastest protocol.
fn least(time: impl Fn(usize) -> f64) -> f64 {
    (0..3).map(time).fold(f64::INFINITY, f64::min)
}

impl DefaultChoice {
    /// Whether it is one ring through several machines with several members each.
    pub(super) fn is_one_ring_across(&self, shape: Shape) -> bool {
        let is_ring = ["allreduce_ring", "allgather_ring", "reduce_scatter_ring"].contains(&self.algorithm);
        is_ring && shape.machines > 1 && shape.each.is_some_and(|each| each > 1)
    }
}

/// The default for a group of a shape, on machines of which each rank may be known to have a network card of its own.
pub(super) fn default_for(
    kind: CollectiveKind,
    size: u64,
    ranks: u32,
    shape: Shape,
    card_each: bool,
) -> DefaultChoice {
    /// Rings through more ranks than that are many steps to compile, and their messages small.
    const MOST: u64 = 1 << 22;
    /// More cards than that no machine has.
    const CARDS: u32 = 16;
    let choice = default_choice(kind, size, ranks, shape.machines);
    match shape.each {
        Some(each)
            if card_each
                && choice.algorithm == "allreduce_ring"
                && choice.is_one_ring_across(shape)
                && each <= CARDS
                && u64::from(ranks).pow(2).saturating_mul(each.into()) <= MOST =>
        {
            DefaultChoice { algorithm: "allreduce_rotated_rings", set: vec![("gpus", each as usize)] }
        }
        _ => choice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(size: u64, ranks: u32, machines: u32) -> bool {
        default_choice(CollectiveKind::AllReduce, size, ranks, machines).algorithm
            == "allreduce_double_binary_tree"
    }

    #[test]
    fn the_tuners_figures_come_out() {
        // Published: a ring of 8 GPUs with LL 15.0 µs, a tree on 2 and 4 machines of 8 25.2 and 35.2 µs, PAT on 16 machines 68.8 µs.
        let cluster = |ranks, machines| Cluster { ranks, machines };
        assert!((cluster(8.0, 1.0).ring(0, 2.0) - 15.0).abs() < 1e-9);
        assert!((cluster(16.0, 2.0).tree(0) - 25.2).abs() < 1e-9);
        assert!((cluster(32.0, 4.0).tree(0) - 35.2).abs() < 1e-9);
        assert!((cluster(16.0, 16.0).pat(0) - 68.8).abs() < 1e-9);
    }

    #[test]
    fn trees_are_for_many_machines_and_not_for_large_sizes() {
        // By hand, 16 machines of one rank, LL128: 82 + S/21160 against 134 + S/24533, equal at 8.0 MB.
        assert!(tree(7_900_000, 16, 16) && !tree(8_200_000, 16, 16));
        // The table of the documentation.
        for (machines, each, bound) in
            [(2, 8, 30e6), (4, 8, 130e6), (16, 8, 2e9), (8, 1, 450e3), (64, 1, 390e6)]
        {
            assert!(tree((bound * 0.96) as u64, machines * each, machines), "{machines} × {each}");
            assert!(!tree((bound * 1.04) as u64, machines * each, machines), "{machines} × {each}");
        }
        assert!((0..40).all(|log| [1, 2, 4].iter().all(|ranks| !tree(1 << log, *ranks, *ranks))));
        assert!((0..40).all(|log| !tree(1 << log, 8, 1)));
    }

    #[test]
    fn pat_is_for_many_machines_of_one_rank() {
        let pat = |size, ranks, machines| {
            let gather =
                default_choice(CollectiveKind::AllGather, size, ranks, machines).algorithm == "allgather_pat";
            let scatter = default_choice(CollectiveKind::ReduceScatter, size, ranks, machines).algorithm;
            assert_eq!(gather, scatter == "reduce_scatter_pat");
            gather
        };
        assert!(pat(5 << 20, 64, 64) && !pat(1 << 20, 64, 64) && !pat(20 << 20, 64, 64));
        assert!(pat(20 << 20, 256, 256) && (0..40).all(|log| !pat(1 << log, 16, 16)));
        assert!((0..40).all(|log| !pat(1 << log, 512, 64)));
    }

    #[test]
    fn rings_are_one_a_card_where_each_rank_has_one() {
        let choice = |size, ranks, machines, each, card_each| {
            let choice =
                default_for(CollectiveKind::AllReduce, size, ranks, Shape { machines, each }, card_each);
            (choice.algorithm, choice.set)
        };
        let rotated = |gpus| ("allreduce_rotated_rings", vec![("gpus", gpus)]);
        assert_eq!(choice(8 << 30, 16, 2, Some(8), true), rotated(8));
        assert_eq!(choice(8 << 30, 8, 2, Some(4), true), rotated(4));
        // Not known, uneven, one a machine, one machine, or too many ranks.
        for (ranks, machines, each, card_each) in
            [(16, 2, Some(8), false), (15, 2, None, true), (2, 2, Some(1), true), (8, 1, Some(8), true)]
        {
            assert_eq!(choice(8 << 30, ranks, machines, each, card_each).0, "allreduce_ring", "{ranks}");
        }
        assert_eq!(choice(1 << 40, 1024, 128, Some(8), true).0, "allreduce_ring");
        // The tree stays where it is the lesser estimate.
        assert_eq!(choice(1 << 20, 16, 2, Some(8), true).0, "allreduce_double_binary_tree");
    }

    #[test]
    fn pipelines_have_segments_of_half_a_mebibyte() {
        let segments = |size| default_choice(CollectiveKind::Reduce, size, 4, 1).set[0].1;
        assert_eq!([0, 1, 1 << 19, (1 << 19) + 1, 3 << 19, 1 << 40].map(segments), [1, 1, 1, 2, 4, 64]);
    }
}
