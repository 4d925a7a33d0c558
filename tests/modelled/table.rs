//! TE-CCL's published table, as far as schedules for it can be written, and those that its authors released.

/// A group of rows: one topology, one synthesizer, all-to-all.
pub(crate) struct Group {
    /// The heading in the documentation.
    pub(crate) name: &'static str,
    /// What is said of it there.
    pub(crate) about: &'static str,
    /// What runs.
    pub(crate) case: Case,
    /// Chunks that each link between the chassis carries, at 12.5 GB/s.
    pub(crate) chunks_a_link: u32,
    /// By falling size.
    pub(crate) rows: &'static [Row],
}

/// A topology, and the schedule on it.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    /// Two DGX-2, links as TE-CCL counts them.
    TecclDgx2,
    /// Four chassis of NDv2, links as TE-CCL counts them.
    TecclNdv2,
    /// So many chassis of NDv2, a connection sends one message after the other.
    TacclNdv2(usize),
}

pub(crate) struct Row {
    pub(crate) bytes: u64,
    /// Microseconds of the table: output buffer / algorithm bandwidth.
    pub(crate) published: f64,
    /// Microseconds of the schedule in `output_provided` of microsoft/TE-CCL (`4-Collective_Finish_Time`).
    pub(crate) released: Option<f64>,
    /// Whether ours is within one percent of the published, and not by chance.
    pub(crate) rebuilt: bool,
}

const fn row(bytes: u64, published: f64, rebuilt: bool) -> Row {
    Row { bytes, published, released: None, rebuilt }
}

const fn both(bytes: u64, published: f64, released: f64, rebuilt: bool) -> Row {
    Row { bytes, published, released: Some(released), rebuilt }
}

pub(crate) const GROUPS: [Group; 4] = [
    Group {
        name: "TE-CCL, two DGX-2 (32 V100)",
        about: "\
Between the chassis are eight links of 12.5 GB/s and 2.6 µs each way, from each odd GPU to an even one; inside, a switch with 125 GB/s
and 0.35 µs a link. Each link takes the 32 chunks of two GPUs: those of its sender, then those of its neighbour, first what its receiver keeps.
*Released* are the finish times of the schedules that TE-CCL's repository has for the same rows, made by a later version of the tool:
down to 64 KB ours take exactly as long. Below, the released schedules have longer epochs. The published times of
the five largest rows are those with one epoch less. At 64 KB the
published schedule is slower than the released one, and so than ours.",
        case: Case::TecclDgx2,
        chunks_a_link: 32,
        rows: &[
            both(1_000_000_000, 80250.0, 80500.0, true),
            both(256_000_000, 20544.0, 20608.0, true),
            both(64_000_000, 5152.0, 5168.0, true),
            both(16_000_000, 1288.0, 1292.0, true),
            both(4_000_000, 326.0, 327.0, true),
            both(1_000_000, 84.75, 84.25, true),
            both(256_000, 23.94, 24.0, true),
            both(64_000, 8.69, 8.464, false),
            both(16_000, 4.70, 4.704, true),
            both(4000, 4.20, 4.21, true),
            both(1000, 4.05, 4.06, true),
        ],
    },
    Group {
        name: "TE-CCL, four chassis of NDv2 (32 V100)",
        about: "\
GPU 0 of each chassis sends to a switch, which sends to GPU 1 of each: 12.5 GB/s and 1.3 µs a link, NVLinks of 25 or 50 GB/s and
0.7 µs inside. 192 chunks leave each chassis: those of GPU 0, of the GPUs with an NVLink to it, of the others; what GPU 1 keeps goes
before what it passes on. There are no released schedules. At 16 KB and 4 KB the published schedules are slower than ours: the
solver prefers early deliveries, not the earliest end.",
        case: Case::TecclNdv2,
        chunks_a_link: 192,
        rows: &[
            row(1_000_000_000, 483281.25, true),
            row(256_000_000, 123480.0, true),
            row(64_000_000, 30870.0, true),
            row(16_000_000, 7717.5, true),
            row(4_000_000, 1948.13, true),
            row(1_000_000, 490.78, true),
            row(256_000, 128.44, true),
            row(64_000, 35.01, true),
            row(16_000, 12.24, false),
            row(4000, 8.91, false),
            row(1000, 5.53, false),
        ],
    },
    Group {
        name: "TACCL, two chassis of NDv2 (16 V100)",
        about: "\
One link each way between the chassis, the NVLinks as above, and latencies as they are. The next message on a link starts when the last one
has arrived, so that each takes α + S/B; what the receiver keeps goes last, so that nothing has to be passed on after it. Ours sends each of the 64
chunks by itself: 64 · 1.3 = 83.2 µs of latency. TACCL may send chunks together; what the published times have beyond the bytes is 44.2 µs
or 34 latencies at 256 MB, 33.8 µs or 26 at 256 KB. How many messages it sends is not published, so rows where latency matters cannot be
rebuilt.",
        case: Case::TacclNdv2(2),
        chunks_a_link: 64,
        rows: &[
            row(1_000_000_000, 320049.4, true),
            row(256_000_000, 81964.2, true),
            row(64_000_000, 20532.0, true),
            row(16_000_000, 5164.4, true),
            row(4_000_000, 1324.2, false),
            row(1_000_000, 359.0, false),
            row(256_000, 115.72, false),
            row(64_000, 50.34, false),
            row(16_000, 35.76, false),
            row(4000, 32.11, false),
            row(1000, 36.80, false),
        ],
    },
    Group {
        name: "TACCL, four chassis of NDv2 (32 V100)",
        about: "\
As before, by the switch, which TACCL counts as one link of 2.6 µs. A chassis has three connections, of which one sends while another waits; TACCL's
times are those of 166 to 174 messages one after the other down to 4 MB, and how it puts chunks together is not
published either. That 4 KB comes out near is chance, as its neighbours show.",
        case: Case::TacclNdv2(4),
        chunks_a_link: 192,
        rows: &[
            row(1_000_000_000, 480452.4, true),
            row(256_000_000, 123316.8, true),
            row(64_000_000, 31154.2, true),
            row(16_000_000, 8127.2, false),
            row(4_000_000, 2351.2, false),
            row(256_000, 333.48, false),
            row(64_000, 228.32, false),
            row(16_000, 210.48, false),
            row(4000, 175.34, false),
            row(1000, 166.88, false),
        ],
    },
];
