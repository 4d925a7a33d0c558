//! DGX Spark: rings of cables.

use collective::Protocol::Simple;

use super::Basis::{Fitted, NotFitted, OtherProgram};
use super::{ANY, Band, KIB, MIB, Network, Run, Section, Series, band};
use crate::programs::{Program, What};

/// As the machine's topology has it.
const CABLE: &str = "24.4 GB/s";
/// From where the library behind the measurements uses rings.
pub(crate) const RINGS_FROM: u64 = 8 * MIB;

const fn ring(of: &'static str, ranks: &'static [(&'static str, usize)]) -> [Program; 1] {
    [Program { what: What::Library(of, ranks), protocols: &[Simple] }]
}

const FOUR: &[(&str, usize)] = &[("ranks", 4)];
const EIGHT: &[(&str, usize)] = &[("ranks", 8)];

const fn bands(basis: super::Basis) -> [Band; 3] {
    [band(0, 64 * KIB, OtherProgram), band(64 * KIB, RINGS_FROM, OtherProgram), band(RINGS_FROM, ANY, basis)]
}

pub(crate) const SECTIONS: &[Section] = &[FITTED, FORETOLD, FORCED, ALL_TO_ALL, BROADCAST];

pub(crate) const FITTED: Section = Section {
    title: "DGX Spark, 4 ranks",
    source: "gate report ring-a of github.com/FujitsuPolycom/sparkring: 4 DGX Spark in a ring of 200 Gb/s ConnectX-7 cables, library libsircl",
    about: "The library uses a ring from 8 MiB on, and for less other schedules, which are not published. Ours are `allreduce_ring` and \
        `allgather_ring`, in which all of a chunk moves at once. Launch, latency and bandwidth of the machine are fitted to the times here from 8 MiB on.",
    machine: "dgx-spark",
    series: &[
        Series {
            label: "all-reduce",
            network: Network::Ring(4, CABLE),
            programs: &ring("allreduce_ring", FOUR),
            runs: ALL_REDUCE_4,
        },
        Series {
            label: "all-gather",
            network: Network::Ring(4, CABLE),
            programs: &ring("allgather_ring", FOUR),
            runs: ALL_GATHER_4,
        },
    ],
    bands: &bands(Fitted),
};

pub(crate) const FORETOLD: Section = Section {
    title: "DGX Spark, 8 ranks",
    source: "gate report gate-ring8 of the same repository: 8 DGX Spark",
    about: "Foretold from 4 ranks: no figure of the machine comes from these times. Ours are `allreduce_ring` and `reduce_scatter_ring`.",
    machine: "dgx-spark",
    series: &[
        Series {
            label: "all-reduce",
            network: Network::Own,
            programs: &ring("allreduce_ring", EIGHT),
            runs: ALL_REDUCE_8,
        },
        Series {
            label: "reduce-scatter",
            network: Network::Own,
            programs: &ring("reduce_scatter_ring", EIGHT),
            runs: REDUCE_SCATTER_8,
        },
    ],
    bands: &bands(NotFitted),
};

const FORCED: Section = Section {
    title: "DGX Spark, ring forced",
    source: "the same gate reports: all-reduce with the ring forced, by the reports' own timing",
    about: "Below 8 MiB the forced ring does not have the 100 µs that it takes to begin from there on: it is another way of sending, of which \
        the machine has nothing.",
    machine: "dgx-spark",
    series: &[
        Series {
            label: "4 ranks",
            network: Network::Ring(4, CABLE),
            programs: &ring("allreduce_ring", FOUR),
            runs: FORCED_4,
        },
        Series {
            label: "8 ranks",
            network: Network::Own,
            programs: &ring("allreduce_ring", EIGHT),
            runs: FORCED_8,
        },
    ],
    bands: &bands(NotFitted),
};

const ALL_TO_ALL: Section = Section {
    title: "DGX Spark, all-to-all",
    source: "gate report gate-ring8: 8 ranks, point-to-point channels",
    about: "Which way the library sends is not published. Ours is `alltoall_direct`, the shorter way round; half way round all of it goes the same way, so that \
        a link carries 10 of the 8-th parts where 8 would do.",
    machine: "dgx-spark",
    series: &[Series {
        label: "all-to-all",
        network: Network::Own,
        programs: &ring("alltoall_direct", EIGHT),
        runs: ALL_TO_ALL_8,
    }],
    bands: &[band(0, 64 * KIB, OtherProgram), band(64 * KIB, ANY, OtherProgram)],
};

const BROADCAST: Section = Section {
    title: "DGX Spark, broadcast",
    source: "gate report gate-ring8: 8 ranks",
    about: "Measured are 1.93 GB/s, a thirteenth of what a cable carries: what limits it is not known. Ours is `broadcast_chain` in 64 segments.",
    machine: "dgx-spark",
    series: &[Series {
        label: "broadcast",
        network: Network::Own,
        programs: &ring("broadcast_chain", &[("ranks", 8), ("segments", 64)]),
        runs: BROADCAST_8,
    }],
    bands: &[band(0, 64 * KIB, OtherProgram), band(64 * KIB, ANY, OtherProgram)],
};

const ALL_REDUCE_4: &[Run] = &[
    (4 * KIB, &[19.95, 17.25, 19.76, 23.78, 28.84, 46.48, 51.55]),
    (MIB, &[127.67, 227.81, 415.79, 621.96, 1141.97, 2166.13, 4231.19, 8350.46, 16555.7]),
];

const ALL_GATHER_4: &[Run] = &[
    (4 * KIB, &[20.66, 18.5, 19.38, 24.25, 23.62, 28.39, 38.37]),
    (MIB, &[75.95, 126.74, 220.15, 358.98, 623.26, 1135.61, 2167.34, 4232.04, 8334.84]),
];

const ALL_REDUCE_8: &[Run] = &[
    (4 * KIB, &[23.19, 27.02, 30.84, 33.59, 62.47, 95.59, 63.96]),
    (MIB, &[169.44, 309.02, 577.84, 782.95, 1327.09, 2510.56, 4908.07, 9702.5, 19301.6]),
];

const REDUCE_SCATTER_8: &[Run] = &[
    (4 * KIB, &[29.39, 20.88, 25.89, 32.75, 27.4, 29.29, 41.22]),
    (MIB, &[109.18, 182.83, 323.79, 416.97, 708.61, 1316.74, 2526.38, 4909.74, 9819.39]),
];

const FORCED_4: &[Run] = &[
    (4 * KIB, &[11.61, 12.48, 14.36, 17.74, 24.35, 38.12, 45.03]),
    (MIB, &[112.1, 202.0, 372.1, 611.5, 1128.6, 2158.4, 4215.1, 8325.0, 16542.9]),
];

const FORCED_8: &[Run] = &[
    (4 * KIB, &[18.45, 19.87, 23.65, 30.66, 48.78, 77.11, 58.51]),
    (MIB, &[155.1, 286.9, 612.7, 774.5, 1305.0, 2506.2, 4910.4, 9698.7, 19289.5]),
];

const ALL_TO_ALL_8: &[Run] = &[
    (4 * KIB, &[137.04, 141.52, 136.27, 133.35, 129.1, 110.28, 95.97]),
    (MIB, &[141.34, 221.12, 357.81, 672.73, 1279.86, 2259.17, 4229.48, 8351.24, 16953.1]),
];

const BROADCAST_8: &[Run] = &[
    (4 * KIB, &[24.51, 33.2, 39.46, 45.71, 58.58, 89.6, 150.37]),
    (MIB, &[542.69, 1103.75, 2184.14, 4354.25, 8703.24, 17370.7, 34770.2, 69490.3, 139020.0]),
];
