//! H100 and H200: NVSwitch, and nodes of it.

use collective::Protocol::{Ll, Ll128, Simple};

use super::Basis::{NotFitted, OtherProgram};
use super::{ANY, GIB, KIB, MIB, Network, Run, Section, Series, band};
use crate::programs::{Program, What};

const NVLINK: &str = "450 GB/s";

/// As many channels as NCCL has on these machines.
const RING: &[Program] = &[Program {
    what: What::Library("allreduce_ring", &[("ranks", 8), ("channels", 24)]),
    protocols: &[Ll, Ll128, Simple],
}];

macro_rules! large {
    ($label:literal, $ranks:literal, $of:literal, $runs:expr) => {
        Series {
            label: $label,
            network: Network::Switch($ranks, NVLINK),
            programs: &[Program { what: What::Library($of, &[("ranks", $ranks)]), protocols: &[Simple] }],
            runs: $runs,
        }
    };
}

const fn nodes(nodes: u32, card: &'static str) -> Network {
    Network::Cluster { nodes, cards: 8, nvlink: NVLINK, card }
}

const GATHER_OF_TWO: &[Program] =
    &[Program { what: What::RotatedAllGather(16), protocols: &[Ll, Ll128, Simple] }];

pub(crate) const SECTIONS: &[Section] =
    &[H200_RINGS, H100_RINGS, P5_NODE, P5EN_NODE, P5EN_FOUR, MEGA, ULTRA, P5_NODES];

pub(crate) const H200_RINGS: Section = Section {
    title: "H200, rings on an NVSwitch",
    source: "network/README.md of github.com/stas00/ml-engineering: NCCL 2.27.7, p5en; times derived from bandwidths",
    about: "NCCL's ring, because NVLS was switched off or is not there for the collective. Ours are the library's rings on \
        one channel, since nothing limits what one copies; more of them take the same.",
    machine: "h100",
    series: &[
        large!("all-reduce, 8 ranks", 8, "allreduce_ring", &[(8 * GIB, &[41117.0, 81875.7])]),
        large!("all-reduce, 7 ranks", 7, "allreduce_ring", &[(8 * GIB, &[40266.9])]),
        large!("all-reduce, 6 ranks", 6, "allreduce_ring", &[(8 * GIB, &[39212.7])]),
        large!("all-reduce, 5 ranks", 5, "allreduce_ring", &[(8 * GIB, &[37716.5])]),
        large!("all-reduce, 4 ranks", 4, "allreduce_ring", &[(8 * GIB, &[35466.3])]),
        large!("all-gather, 8 ranks", 8, "allgather_ring", &[(16 * GIB, &[41594.9])]),
        large!("reduce-scatter, 8 ranks", 8, "reduce_scatter_ring", &[(16 * GIB, &[41422.9])]),
    ],
    bands: &[band(64 * KIB, ANY, NotFitted)],
};

pub(crate) const H100_RINGS: Section = Section {
    title: "H100, rings in the chart of ASTRA-sim",
    source: "the chart of ASTRA-sim's validation, docs validation/hardware: all-reduce on HGX-H100; read off the picture, to about 50 µs",
    about: "Rings, says ASTRA-sim, which states geometric mean errors of 9.69 %, 12.01 % and 20.63 % on 8, 4 and 2 GPUs for \
        its own simulation, over all sizes of the chart. At 128 MiB the 50 µs are 7 %.",
    machine: "h100",
    series: &[
        large!("8 ranks", 8, "allreduce_ring", &[(128 * MIB, &[713.0, 1352.0, 2593.0, 5187.0, 10128.0])]),
        large!("4 ranks", 4, "allreduce_ring", &[(2 * GIB, &[8675.0])]),
        large!("2 ranks", 2, "allreduce_ring", &[(2 * GIB, &[5895.0])]),
    ],
    bands: &[band(64 * KIB, ANY, NotFitted)],
};

const P5_NODE: Section = Section {
    title: "H100, one p5.48xlarge",
    source: "micro-benchmarks/nccl-tests/aws-batch/README.md of github.com/aws-samples/awsome-distributed-training: all-reduce, out of place, NCCL's choice",
    about: "Up to 1 MiB NCCL uses LL, and above NVLS, in which the switch adds: that is no ring, and a machine cannot say \
        what it takes. Ours is `allreduce_ring` on 24 channels, as fast as the best of the protocols. At 32 bytes the \
        measured time is an outlier: in place it is 13.34 µs.",
    machine: "h100",
    series: &[Series { label: "all-reduce", network: Network::Own, programs: RING, runs: P5 }],
    bands: &[
        band(0, 64 * KIB, NotFitted),
        band(64 * KIB, 2 * MIB, NotFitted),
        band(2 * MIB, ANY, OtherProgram),
    ],
};

const P5EN_NODE: Section = Section {
    title: "H200, one p5en",
    source: "network/README.md of github.com/stas00/ml-engineering: all-reduce, NCCL 2.27.7, NCCL's choice; times derived from bandwidths",
    about: "The same choices as on p5: LL up to 1 MiB, NVLS above. But the same program on the same links takes twice as \
        long here as there; what the nearly 40 µs are, whatever the size, is not known.",
    machine: "h100",
    series: &[Series { label: "all-reduce", network: Network::Own, programs: RING, runs: P5EN }],
    bands: &[
        band(0, 64 * KIB, NotFitted),
        band(64 * KIB, 2 * MIB, NotFitted),
        band(2 * MIB, ANY, OtherProgram),
    ],
};

const P5EN_FOUR: Section = Section {
    title: "H200, four p5en",
    source: "network/README.md of github.com/stas00/ml-engineering: NCCL 2.27.7, all-reduce by rings, by NCCL's choice and forced; 400 Gb/s EFA for each GPU",
    about: "Ours is `allreduce_rotated_rings`: eight rings over all cards.",
    machine: "h100-cluster",
    series: &[
        Series {
            label: "NCCL's choice",
            network: Network::Own,
            programs: ROTATED,
            runs: &[(4 * GIB, &[22806.8])],
        },
        Series { label: "forced", network: Network::Own, programs: ROTATED, runs: &[(4 * GIB, &[22820.5])] },
    ],
    bands: &[band(64 * KIB, ANY, NotFitted)],
};

const ROTATED: &[Program] = &[Program {
    what: What::Library("allreduce_rotated_rings", &[("ranks", 32), ("gpus", 8)]),
    protocols: &[Simple],
}];

const MEGA: Section = Section {
    title: "H100, two A3 Mega",
    source: "examples/gke-a3-megagpu/README.md of github.com/GoogleCloudPlatform/cluster-toolkit: all-gather, out of place, NCCL's choice over TCPXO; 8 cards of 200 Gb/s a node",
    about: "Which algorithm NCCL chose is not said. Ours are eight rings over all cards, of which each leaves the nodes at \
        another GPU. TCPXO is not InfiniBand, for which NCCL's latencies are, and the small sizes show it.",
    machine: "h100-cluster",
    series: &[Series {
        label: "all-gather",
        network: nodes(2, "200 Gb/s"),
        programs: GATHER_OF_TWO,
        runs: A3_MEGA,
    }],
    bands: &[band(0, 64 * KIB, NotFitted), band(64 * KIB, ANY, NotFitted)],
};

const ULTRA: Section = Section {
    title: "H200, two A3 Ultra",
    source: "examples/gke-consumption-options/dws-flex-start/README.md of github.com/GoogleCloudPlatform/cluster-toolkit: all-gather, out of place, NCCL's choice; 8 cards of 400 Gb/s a node",
    about: "As before, with cards twice as fast. Large sizes come to 329 GB/s, less than NVLinks and cards give; why is not \
        known.",
    machine: "h100-cluster",
    series: &[Series {
        label: "all-gather",
        network: nodes(2, "400 Gb/s"),
        programs: GATHER_OF_TWO,
        runs: A3_ULTRA,
    }],
    bands: &[band(0, 64 * KIB, NotFitted), band(64 * KIB, ANY, NotFitted)],
};

const P5_NODES: Section = Section {
    title: "H100, two p5.48xlarge",
    source: "micro-benchmarks/nccl-tests/README.md of github.com/aws-samples/awsome-distributed-training: all-reduce, out of place, NCCL's choice over EFA, 32 cards of 100 Gb/s a node",
    about: "NCCL chooses trees for small sizes and NVLSTree for large ones: 487 GB/s, more than a ring can have. Ours is \
        `allreduce_rotated_rings` all the same, on cards of 400 Gb/s for each GPU; what it shows is what trees and the \
        switch are worth.",
    machine: "h100-cluster",
    series: &[Series {
        label: "all-reduce",
        network: nodes(2, "400 Gb/s"),
        programs: &[Program {
            what: What::Library("allreduce_rotated_rings", &[("ranks", 16), ("gpus", 8)]),
            protocols: &[Ll, Ll128, Simple],
        }],
        runs: P5_TWO,
    }],
    bands: &[band(0, 64 * KIB, OtherProgram), band(64 * KIB, ANY, OtherProgram)],
};

const P5: &[Run] = &[(
    8,
    &[
        12.90, 12.88, 22.25, 14.48, 15.47, 15.72, 16.19, 16.43, 16.62, 16.76, 16.85, 17.46, 18.78, 19.09,
        19.37, 20.27, 21.17, 28.56, 43.45, 55.44, 84.29, 124.0, 198.6, 326.6, 592.8, 1121.4, 2165.3, 4253.0,
        8463.7, 15791.0, 31289.0, 62239.0,
    ],
)];

const P5EN: &[Run] = &[(
    32 * KIB,
    &[
        39.8, 39.1, 40.0, 39.1, 38.3, 46.0, 56.9, 68.5, 94.4, 133.5, 212.9, 338.9, 584.4, 1077.1, 2086.5,
        4053.3, 8010.1, 15887.1, 31484.7, 62341.4,
    ],
)];

const A3_MEGA: &[Run] = &[(
    256,
    &[
        86.95, 85.70, 85.27, 84.50, 85.55, 84.25, 84.41, 92.99, 96.98, 98.33, 129.67, 126.01, 133.87, 136.34,
        148.45, 166.11, 197.88, 290.54, 517.87, 806.59, 1510.98, 2880.08, 5531.01, 10820.2, 21430.5, 42668.7,
    ],
)];

const A3_ULTRA: &[Run] = &[(
    KIB,
    &[
        54.07, 55.46, 55.59, 56.05, 57.08, 57.49, 59.20, 59.58, 63.87, 64.83, 79.74, 78.41, 83.21, 94.35,
        122.9, 184.2, 294.7, 495.4, 877.5, 1589.8, 3105.7, 6161.7, 12305.0, 24489.0,
    ],
)];

const P5_TWO: &[Run] = &[(
    8,
    &[
        69.12, 72.64, 74.06, 65.48, 74.92, 74.12, 69.50, 69.24, 72.22, 78.58, 81.44, 94.36, 111.7, 135.1,
        108.9, 128.0, 123.7, 123.2, 147.2, 168.6, 204.8, 298.1, 439.7, 601.5, 870.3, 1468.2, 2559.2, 4607.6,
        9074.5, 17286.0, 33605.0, 66132.0,
    ],
)];
