//! A100: NVSwitch, and nodes of it.

use collective::Protocol::{Ll, Ll128, Simple};

use super::Basis::{NotFitted, OtherProgram};
use super::{ANY, Band, GIB, KIB, MIB, Network, Run, Section, Series, band};
use crate::programs::{Program, What};

const RING_OF_EIGHT: What = What::Library("allreduce_ring", &[("ranks", 8), ("channels", 24)]);
const RING: &[Program] = &[Program { what: RING_OF_EIGHT, protocols: &[Ll, Ll128, Simple] }];
const HALVES: &[Band] = &[band(0, 64 * KIB, NotFitted), band(64 * KIB, ANY, NotFitted)];

pub(crate) const SECTIONS: &[Section] = &[ONE, CHOSEN, CUSTOM, TWO, PAT];

const ONE: Section = Section {
    title: "A100, one node",
    source: "network/README.md of github.com/stas00/ml-engineering: all-reduce, NCCL's choice; times derived from bandwidths",
    about: "Which algorithms NCCL chose is not said; large sizes come to 235 GB/s, near the 240 GB/s of a ring by its \
        constants. Ours is `allreduce_ring` on 24 channels, as fast as the best of the protocols. At 32 KiB the \
        measured time is 2.8 times what NCCL's constants say, and between 16 and 256 MiB it is a fifth to a half more: \
        of no use below 512 MiB.",
    machine: "a100",
    series: &[Series { label: "all-reduce", network: Network::Own, programs: RING, runs: DEFAULT }],
    bands: HALVES,
};

const CHOSEN: Section = Section {
    title: "A100, one NDv4, NCCL",
    source: "data/1xNDv4/Allreduce-inplace/msccl.txt of github.com/microsoft/msccl-leaderboard, out of place: NCCL's choice",
    about: "As before. To 512 bytes the constants hold within 9 %; from there on the measured times grow as no ring under \
        LL does.",
    machine: "a100",
    series: &[Series { label: "all-reduce", network: Network::Own, programs: RING, runs: NDV4_NCCL }],
    bands: HALVES,
};

const CUSTOM: Section = Section {
    title: "A100, one NDv4, MSCCL",
    source: "the same file, in place: MSCCL's algorithms",
    about: "All-pairs for small sizes and rings for large ones; which, with how many channels and up to which size is not \
        in the table. Ours is the faster of `allreduce_allpairs_two_shot` under LL and `allreduce_ring` on 24 channels. \
        NCCL's latencies are those of rings, and all-pairs have but two rounds of them: they come out too fast.",
    machine: "a100",
    series: &[Series {
        label: "all-reduce",
        network: Network::Own,
        programs: &[
            Program { what: What::Library("allreduce_allpairs_two_shot", &[("ranks", 8)]), protocols: &[Ll] },
            Program { what: RING_OF_EIGHT, protocols: &[Ll, Ll128, Simple] },
        ],
        runs: NDV4_MSCCL,
    }],
    bands: HALVES,
};

const TWO: Section = Section {
    title: "A100, two p4de",
    source: "micro-benchmarks/nccl-tests/README.md of github.com/aws-samples/awsome-distributed-training: all-reduce, out of place, NCCL's choice over EFA, 4 cards of 100 Gb/s a node",
    about: "Large sizes come to 78 GB/s, where 50 GB/s of cards allow a ring no more than 50: so it was none. Ours is the \
        faster of `allreduce_hierarchical` and `allreduce_rotated_rings`.",
    machine: "a100",
    series: &[Series {
        label: "all-reduce",
        network: Network::Cluster { nodes: 2, cards: 4, nvlink: "300 GB/s", card: "100 Gb/s" },
        programs: &[
            Program {
                what: What::Library("allreduce_hierarchical", &[("ranks", 16), ("gpus", 8)]),
                protocols: &[Ll, Simple],
            },
            Program {
                what: What::Library("allreduce_rotated_rings", &[("ranks", 16), ("gpus", 8)]),
                protocols: &[Ll, Simple],
            },
        ],
        runs: P4DE,
    }],
    bands: &[band(0, 64 * KIB, OtherProgram), band(64 * KIB, ANY, OtherProgram)],
};

const PAT: Section = Section {
    title: "A100, PAT on Leonardo",
    source: "\"Bine AllGather - benchmark results\": all-gather by PAT of NCCL 2.30 on 2 channels, one GPU a node, two InfiniBand HDR100 a node; times derived from bandwidths",
    about: "Ours is `allgather_pat` under Simple, on a switch with 25 GB/s for each node. NCCL's PAT comes to 10 and 7.5 \
        GB/s of them; what holds it is not in NCCL's constants: its own tuner takes three quarters of the links for \
        it.",
    machine: "a100",
    series: &[
        Series {
            label: "32 nodes",
            network: Network::OneSwitch(32, "200 Gb/s"),
            programs: &[Program {
                what: What::Library("allgather_pat", &[("ranks", 32)]),
                protocols: &[Simple],
            }],
            runs: LEONARDO_32,
        },
        Series {
            label: "64 nodes",
            network: Network::OneSwitch(64, "200 Gb/s"),
            programs: &[Program {
                what: What::Library("allgather_pat", &[("ranks", 64)]),
                protocols: &[Simple],
            }],
            runs: LEONARDO_64,
        },
    ],
    bands: &[band(64 * KIB, ANY, NotFitted)],
};

const DEFAULT: &[Run] = &[(
    32 * KIB,
    &[
        43.83, 46.80, 51.76, 61.38, 80.40, 101.9, 101.4, 101.5, 133.5, 276.6, 424.0, 684.6, 1327.6, 2420.6,
        4218.4, 8203.9, 16240.0, 32136.0, 64074.0, 127997.0,
    ],
)];

const NDV4_NCCL: &[Run] = &[(
    128,
    &[
        15.08, 15.90, 16.48, 17.43, 19.03, 22.00, 22.48, 24.84, 32.00, 36.21, 38.77, 43.94, 55.44, 71.60,
        92.11, 108.6, 161.7, 259.0, 379.5,
    ],
)];

const NDV4_MSCCL: &[Run] = &[(
    128,
    &[
        15.06, 15.64, 16.30, 16.18, 16.40, 17.41, 17.44, 17.73, 18.57, 19.91, 21.43, 25.33, 32.16, 38.08,
        57.55, 81.79, 126.8, 215.0, 378.4,
    ],
)];

const P4DE: &[Run] = &[(
    8,
    &[
        164.3, 161.4, 161.5, 161.0, 161.2, 161.8, 162.3, 165.0, 177.6, 169.4, 175.9, 193.4, 224.6, 227.4,
        229.7, 238.2, 260.3, 309.4, 432.6, 533.9, 762.8, 1191.8, 1540.2, 2644.6, 3912.9, 7201.7, 13552.0,
        26217.0, 51406.0,
    ],
)];

const LEONARDO_32: &[Run] = &[
    (MIB, &[214.3, 306.9, 496.1, 928.7, 1730.9]),
    (64 * MIB, &[6901.5]),
    (256 * MIB, &[26589.7]),
    (GIB, &[105495.7]),
];

const LEONARDO_64: &[Run] =
    &[(512 * KIB, &[333.0, 433.7, 372.0]), (8 * MIB, &[1549.3, 2752.5, 5234.6, 9437.2, 17476.3, 35708.3])];
