//! V100: the hybrid cube mesh.

use collective::Protocol::Simple;

use super::Basis::{Fitted, NotFitted};
use super::{ANY, KIB, MIB, Network, Section, Series, band};
use crate::programs::{Program, What};

const CHART: &str = "the chart of ASTRA-sim's validation, docs validation/hardware: all-reduce on an HPE ProLiant with V100; read off the picture, to about 50 µs";

pub(crate) const SECTIONS: &[Section] = &[TWO, MORE];

const TWO: Section = Section {
    title: "V100, 2 ranks",
    source: CHART,
    about: "The time is that of one NVLink; the bandwidth of NVLinks is fitted to it.",
    machine: "v100",
    series: &[Series {
        label: "2 ranks",
        network: Network::Text(PAIR),
        programs: &[Program { what: What::AllReduceRings(&[&[0, 1]]), protocols: &[Simple] }],
        runs: &[(512 * MIB, &[23729.0])],
    }],
    bands: &[band(64 * KIB, ANY, Fitted)],
};

pub(crate) const MORE: Section = Section {
    title: "V100, 4 and 8 ranks",
    source: CHART,
    about: "Ours are as many rings as the NVLinks make, in both directions: on 8 GPUs one of the single links and two of the double ones, on GPUs 0 to 3 \
        two. NCCL searches for such rings; which it found is not said.",
    machine: "v100",
    series: &[
        Series {
            label: "8 ranks",
            network: Network::Own,
            programs: &[Program { what: What::AllReduceRings(EIGHT), protocols: &[Simple] }],
            runs: &[(512 * MIB, &[6960.0])],
        },
        Series {
            label: "4 ranks",
            network: Network::Text(QUAD),
            programs: &[Program { what: What::AllReduceRings(FOUR), protocols: &[Simple] }],
            runs: &[(512 * MIB, &[9435.0])],
        },
    ],
    bands: &[band(64 * KIB, ANY, NotFitted)],
};

/// The first two of all single NVLinks, the others of all double ones.
const EIGHT: &[&[usize]] = &[
    &[0, 1, 3, 7, 5, 4, 6, 2],
    &[2, 6, 4, 5, 7, 3, 1, 0],
    &[0, 3, 2, 1, 5, 6, 7, 4],
    &[4, 7, 6, 5, 1, 2, 3, 0],
    &[0, 3, 2, 1, 5, 6, 7, 4],
    &[4, 7, 6, 5, 1, 2, 3, 0],
];

/// GPUs 0 to 3 of the cube mesh.
const FOUR: &[&[usize]] = &[&[0, 1, 2, 3], &[3, 2, 1, 0], &[0, 2, 1, 3], &[3, 1, 2, 0]];

const PAIR: &str = r#"
[[dimension]]
kind = "links"
ranks = 2
bandwidth = "22.64 GB/s"
latency = "0 ns"
[[dimension.link]]
between = [0, 1]
link = "nvlink"
"#;

const QUAD: &str = r#"
[[dimension]]
kind = "links"
ranks = 4
bandwidth = "22.64 GB/s"
latency = "0 ns"
[[dimension.link]]
between = [0, 1]
link = "nvlink"
[[dimension.link]]
between = [0, 2]
link = "nvlink"
[[dimension.link]]
between = [1, 3]
link = "nvlink"
[[dimension.link]]
between = [0, 3]
bandwidth = "45.28 GB/s"
link = "nvlink"
[[dimension.link]]
between = [1, 2]
bandwidth = "45.28 GB/s"
link = "nvlink"
[[dimension.link]]
between = [2, 3]
bandwidth = "45.28 GB/s"
link = "nvlink"
"#;
