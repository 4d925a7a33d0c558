//! The figures of the reference compiler's schedules, and its verdicts.

use std::fmt;

use collective_dsl::Protocol::{self, Ll, Ll128, Simple};

/// What became of a program there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The schedule is right.
    Right,
    /// The program is right, but its schedule is not.
    Miscompiled,
    /// The program itself is wrong.
    Wrong,
}
use Verdict::{Miscompiled, Right, Wrong};

/// A schedule in numbers, over all ranks.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) blocks: u64,
    /// With the nops that steps with several dependences need.
    pub(crate) steps: u64,
    pub(crate) channels: u64,
    pub(crate) messages: u64,
    /// Chunks sent.
    pub(crate) sent: u64,
    /// Chunks into which the data are divided.
    pub(crate) chunks: u64,
}

/// A program with its parameters.
pub(crate) struct Row {
    pub(crate) program: &'static str,
    pub(crate) args: &'static [usize],
    /// What the reference calls an option; empty for none.
    pub(crate) variant: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) ranks: usize,
    pub(crate) verdict: Verdict,
    pub(crate) reference: Figures,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
        if self.variant.is_empty() { Ok(()) } else { write!(f, " {}", self.variant) }
    }
}

const fn row(
    program: &'static str,
    args: &'static [usize],
    variant: &'static str,
    protocol: Protocol,
    ranks: usize,
    verdict: Verdict,
    figures: [u64; 6],
) -> Row {
    let [blocks, steps, channels, messages, sent, chunks] = figures;
    let reference = Figures { blocks, steps, channels, messages, sent, chunks };
    Row { program, args, variant, protocol, ranks, verdict, reference }
}

/// Thread blocks, steps, channels, messages, chunks sent, chunks.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row("allgather_a100_pcie", &[4, 4], "", Ll128, 4, Right, [48, 80, 4, 48, 48, 16]),
    row("allgather_a100_pcie", &[4, 1], "", Ll, 4, Right, [12, 20, 1, 12, 12, 4]),
    row("allgather_a100_pcie", &[2, 1], "", Ll128, 2, Right, [4, 8, 1, 4, 4, 2]),
    row("allgather_allpairs", &[2, 1], "", Ll128, 2, Right, [2, 4, 1, 2, 2, 2]),
    row("allgather_allpairs", &[3, 1], "", Ll128, 3, Right, [6, 12, 1, 6, 6, 3]),
    row("allgather_allpairs", &[4, 1], "", Ll128, 4, Right, [12, 24, 1, 12, 12, 4]),
    row("allgather_allpairs", &[8, 1], "", Ll128, 8, Right, [56, 112, 1, 56, 56, 8]),
    row("allgather_allpairs", &[16, 1], "", Ll128, 16, Right, [240, 480, 1, 240, 240, 16]),
    row("allgather_allpairs", &[32, 1], "", Ll128, 32, Right, [992, 1984, 1, 992, 992, 32]),
    row("allgather_recursive_doubling", &[2, 1], "", Simple, 2, Right, [2, 4, 1, 2, 2, 2]),
    row("allgather_recursive_doubling", &[8, 2], "", Simple, 8, Miscompiled, [48, 112, 2, 48, 112, 16]),
    row("allgather_recursive_doubling", &[16, 2], "", Ll, 16, Miscompiled, [128, 352, 2, 128, 480, 32]),
    row("allgather_ring", &[2, 1, 1], "", Ll128, 2, Right, [2, 4, 1, 2, 2, 2]),
    row("allgather_ring", &[3, 1, 1], "", Ll128, 3, Right, [3, 9, 1, 6, 6, 3]),
    row("allgather_ring", &[8, 1, 1], "", Ll128, 8, Right, [8, 64, 1, 56, 56, 8]),
    row("allgather_ring", &[16, 1, 1], "", Ll128, 16, Right, [16, 256, 1, 240, 240, 16]),
    row("allgather_ring", &[32, 1, 1], "", Ll128, 32, Right, [32, 1024, 1, 992, 992, 32]),
    row("allgather_ring", &[64, 1, 1], "", Ll128, 64, Right, [64, 4096, 1, 4032, 4032, 64]),
    row("allgather_ring", &[8, 4, 1], "", Ll128, 8, Right, [32, 64, 4, 56, 56, 8]),
    row("allgather_ring", &[8, 8, 1], "", Ll128, 8, Right, [64, 64, 8, 56, 56, 8]),
    row("allgather_ring", &[8, 4, 2], "", Ll128, 8, Right, [64, 128, 8, 112, 112, 16]),
    row("allgather_ring", &[8, 8, 4], "", Ll128, 8, Right, [256, 256, 32, 224, 224, 32]),
    row("allgather_ring", &[16, 4, 2], "", Simple, 16, Right, [128, 512, 8, 480, 480, 32]),
    row("allreduce_1step", &[4, 1], "", Ll, 4, Right, [16, 116, 1, 12, 48, 4]),
    row("allreduce_1step", &[8, 1], "", Ll, 8, Right, [64, 1224, 1, 56, 448, 8]),
    row("allreduce_1step", &[16, 1], "", Ll, 16, Right, [256, 11024, 1, 240, 3840, 16]),
    row("allreduce_1step", &[4, 4], "", Simple, 4, Right, [64, 464, 4, 48, 192, 16]),
    row("allreduce_a100_allpairs", &[2, 1], "", Ll, 2, Right, [4, 12, 1, 4, 8, 4]),
    row("allreduce_a100_allpairs", &[4, 1], "", Ll, 4, Right, [16, 140, 1, 24, 96, 16]),
    row("allreduce_a100_allpairs", &[6, 1], "", Ll, 6, Right, [36, 534, 1, 60, 360, 36]),
    row("allreduce_a100_allpairs", &[16, 1], "", Ll, 16, Right, [256, 11504, 1, 480, 7680, 256]),
    row("allreduce_a100_allpairs", &[4, 4], "", Ll128, 4, Right, [64, 560, 4, 96, 384, 64]),
    row("allreduce_a100_allpairs_v2", &[16, 1], "", Ll, 16, Right, [248, 1284, 1, 480, 480, 16]),
    row("allreduce_a100_multinode_allpairs", &[2, 1], "", Ll, 4, Right, [16, 40, 2, 12, 24, 4]),
    row("allreduce_a100_multinode_allpairs", &[4, 1], "", Ll, 8, Right, [48, 280, 2, 56, 224, 16]),
    row("allreduce_a100_multinode_allpairs", &[3, 1], "", Ll, 6, Right, [30, 120, 2, 30, 90, 9]),
    row("allreduce_a100_ncv4", &[4, 2], "", Ll, 4, Right, [24, 56, 4, 24, 24, 4]),
    row("allreduce_a100_ncv4", &[4, 4], "", Ll, 4, Right, [48, 112, 8, 48, 48, 8]),
    row("allreduce_a100_ncv4", &[2, 1], "", Ll, 2, Wrong, [6, 12, 2, 4, 4, 2]),
    row("allreduce_a100_ncv4_v2", &[4, 1], "", Ll, 4, Right, [16, 16, 2, 12, 12, 2]),
    row("allreduce_a100_ncv4_v2", &[4, 2], "", Ll, 4, Right, [32, 32, 4, 24, 24, 4]),
    row("allreduce_a100_pcie_hierarchical", &[6, 1], "", Ll, 6, Wrong, [72, 429, 1, 36, 360, 36]),
    row("allreduce_a100_pcie_hierarchical", &[2, 1], "", Ll, 2, Right, [4, 12, 1, 4, 8, 4]),
    row("allreduce_a100_ring", &[2, 1, 1], "", Ll128, 2, Right, [2, 6, 1, 4, 4, 2]),
    row("allreduce_a100_ring", &[3, 1, 1], "", Ll128, 3, Right, [3, 15, 1, 12, 12, 3]),
    row("allreduce_a100_ring", &[16, 1, 1], "", Ll128, 16, Right, [16, 496, 1, 480, 480, 16]),
    row("allreduce_a100_ring", &[64, 1, 1], "", Ll128, 64, Right, [64, 8128, 1, 8064, 8064, 64]),
    row("allreduce_a100_ring", &[8, 2, 1], "", Ll128, 8, Right, [16, 120, 2, 112, 112, 8]),
    row("allreduce_a100_ring", &[8, 4, 1], "", Ll128, 8, Right, [32, 120, 4, 112, 112, 8]),
    row("allreduce_a100_ring", &[8, 4, 2], "", Ll128, 8, Right, [64, 240, 8, 224, 224, 16]),
    row("allreduce_a100_ring", &[8, 1, 24], "", Ll128, 8, Right, [192, 2880, 24, 2688, 2688, 192]),
    row("allreduce_a100_ring", &[8, 4, 8], "", Ll128, 8, Right, [256, 960, 32, 896, 896, 64]),
    row("allreduce_a100_ring", &[16, 4, 2], "", Simple, 16, Right, [128, 992, 8, 960, 960, 32]),
    row("allreduce_recursive_doubling_halving", &[2, 1], "", Ll, 2, Right, [2, 6, 1, 4, 4, 2]),
    row("allreduce_recursive_doubling_halving", &[4, 1], "", Ll, 4, Right, [8, 32, 1, 16, 24, 4]),
    row("allreduce_recursive_doubling_halving", &[16, 1], "", Ll, 16, Right, [64, 304, 1, 128, 480, 16]),
    row("alltoall_a100_three_step", &[2, 2, 1], "", Simple, 4, Right, [18, 36, 2, 12, 20, 4]),
    row("alltoall_a100_three_step", &[3, 2, 1], "", Simple, 6, Right, [36, 90, 2, 30, 54, 6]),
    row("alltoall_a100_three_step", &[4, 2, 1], "", Simple, 8, Right, [56, 168, 2, 56, 104, 8]),
    row("alltoall_a100_three_step", &[3, 4, 1], "", Simple, 12, Right, [120, 324, 2, 132, 276, 12]),
    row("alltoall_a100_three_step", &[9, 8, 1], "", Simple, 72, Right, [2160, 11448, 2, 5112, 13176, 72]),
    row("alltoall_a100_three_step", &[2, 2, 2], "", Simple, 4, Right, [36, 72, 4, 24, 40, 8]),
    row("alltoall_a100_three_step", &[4, 4, 2], "", Simple, 16, Right, [384, 1184, 4, 480, 1056, 32]),
    row("alltoall_a100_three_step", &[4, 4, 2], "ib_connections 1", Simple, 16, Right, [288, 836, 3, 324, 1056, 32]),
    row("alltoall_a100_three_step", &[3, 2, 3], "", Simple, 6, Right, [108, 270, 6, 90, 162, 18]),
    row("alltoall_a100_two_step", &[2, 2], "", Simple, 4, Right, [16, 36, 6, 12, 16, 4]),
    row("alltoall_a100_two_step", &[2, 4], "", Simple, 8, Right, [64, 152, 6, 56, 80, 8]),
    row("alltoall_a100_two_step", &[8, 8], "", Simple, 64, Right, [1792, 11712, 18, 4032, 7168, 64]),
    row("alltoall_a100_two_step", &[3, 2], "", Simple, 6, Right, [36, 90, 6, 30, 42, 6]),
    row("alltoall_a100_two_step", &[2, 8], "", Ll128, 16, Right, [256, 624, 6, 240, 352, 16]),
    row("alltoall_allpairs", &[2, 1], "", Simple, 2, Right, [4, 6, 1, 2, 2, 2]),
    row("alltoall_allpairs", &[4, 1], "", Simple, 4, Right, [24, 28, 1, 12, 12, 4]),
    row("alltoall_allpairs", &[8, 1], "", Simple, 8, Right, [112, 120, 1, 56, 56, 8]),
    row("alltoall_allpairs", &[16, 1], "", Simple, 16, Right, [480, 496, 1, 240, 240, 16]),
    row("alltonext_forward", &[1, 1], "", Simple, 8, Right, [14, 14, 2, 7, 56, 8]),
    row("alltonext_backward", &[2, 1], "", Simple, 16, Right, [66, 66, 2, 36, 134, 8]),
    row("alltonext_backward", &[4, 1], "", Simple, 32, Miscompiled, [170, 170, 2, 94, 290, 8]),
    row("alltonext_forward", &[8, 1], "", Simple, 64, Miscompiled, [378, 378, 2, 210, 602, 8]),
    row("alltonext_forward", &[2, 2], "", Simple, 16, Right, [132, 132, 4, 72, 268, 16]),
    row("hierarchical_allreduce", &[4, 2, 1], "", Simple, 8, Right, [112, 144, 12, 112, 112, 8]),
    row("hierarchical_allreduce", &[4, 4, 1], "", Simple, 16, Right, [288, 608, 14, 480, 480, 16]),
    row("hierarchical_allreduce", &[8, 2, 1], "", Simple, 16, Right, [416, 544, 24, 480, 480, 16]),
    row("hierarchical_allreduce", &[3, 3, 1], "", Simple, 9, Right, [117, 198, 10, 144, 144, 9]),
    row("hierarchical_allreduce", &[4, 2, 1], "manual", Simple, 8, Right, [48, 160, 6, 112, 112, 8]),
    row("hierarchical_allreduce", &[4, 4, 1], "manual", Simple, 16, Right, [144, 640, 10, 480, 480, 16]),
    row("hierarchical_allreduce", &[8, 4, 1], "manual", Simple, 32, Right, [288, 2304, 10, 1984, 1984, 32]),
    row("hierarchical_allreduce", &[4, 2, 2], "manual", Simple, 8, Right, [96, 320, 12, 224, 224, 16]),
    row("pipeline_a100_allpairs", &[4, 1], "", Ll, 8, Wrong, [36, 136, 2, 28, 112, 16]),
    row("pipeline_a100_ring", &[2, 1, 1], "", Ll128, 4, Wrong, [8, 12, 2, 6, 6, 2]),
    row("pipeline_a100_ring", &[4, 1, 1], "", Ll128, 8, Wrong, [16, 40, 2, 28, 28, 4]),
    row("pipeline_a100_ring", &[8, 4, 8], "", Ll128, 16, Wrong, [640, 1152, 32, 960, 960, 64]),
    row("pipeline_a100_ring", &[32, 1, 1], "", Ll128, 64, Wrong, [128, 2112, 2, 2016, 2016, 32]),
    row("simple_allreduce_ring", &[2, 1], "", Simple, 2, Right, [2, 6, 1, 4, 4, 2]),
    row("simple_allreduce_ring", &[16, 1], "", Simple, 16, Right, [16, 496, 1, 480, 480, 16]),
    row("simple_allreduce_ring", &[32, 1], "", Simple, 32, Right, [32, 2016, 1, 1984, 1984, 32]),
    row("simple_allreduce_ring", &[64, 1], "", Simple, 64, Right, [64, 8128, 1, 8064, 8064, 64]),
    row("simple_custom_collective", &[], "star", Simple, 3, Right, [4, 4, 2, 2, 2, 1]),
    row("simple_custom_collective", &[], "chain", Simple, 3, Right, [4, 4, 2, 2, 2, 1]),
    row("programs_allreduce_a100_ring", &[8, 4, 8], "", Ll, 8, Right, [256, 960, 32, 896, 896, 64]),
    row("programs_allreduce_allpairs", &[8, 4], "", Ll, 8, Right, [256, 5344, 4, 448, 3584, 256]),
    row("programs_alltoall_a100_yifan", &[2, 8], "", Ll128, 16, Right, [256, 624, 6, 240, 352, 16]),
    row("programs_alltoall_a100_8kp1", &[3, 2], "", Simple, 6, Right, [36, 90, 2, 30, 54, 6]),
    row("programs_alltoall_a100_8kp1", &[9, 8], "", Simple, 72, Right, [2160, 11448, 2, 5112, 13176, 72]),
    row("allreduce_a100_ring", &[8, 4, 2], "unfused", Ll128, 8, Right, [64, 448, 8, 224, 224, 16]),
    row("allgather_ring", &[8, 1, 1], "unfused", Ll128, 8, Right, [8, 112, 1, 56, 56, 8]),
    row("hierarchical_allreduce", &[4, 2, 1], "unfused", Simple, 8, Right, [32, 224, 1, 112, 112, 8]),
    row("alltoall_a100_three_step", &[3, 2, 1], "unfused", Simple, 6, Right, [36, 90, 2, 30, 54, 6]),
];
