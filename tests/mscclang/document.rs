//! The table in `docs/mscclang.md`.

use std::fmt::Write as _;
use std::path::Path;

use crate::figures::{Figures, ROWS, Row, Verdict};
use crate::{compiled, figures, volume};

const HEAD: &str = "\
# The example programs of MSCCLang

Every example program of the MSCCLang repository (`microsoft/msccl-tools`), written in this language: the source is
in `tests/mscclang/`, one file a program. The table compares the schedules with those of the reference compiler; a
test holds that none is worse, and writes this page (`BLESS=1 cargo test --test mscclang`).

Each column has ours / the reference's, over all ranks. *Steps* include the nops that a runtime needs where a step
waits for more than one other. *Volume* is what is sent, in units of one rank's whole buffer. Rows marked *unfused* are
compiled without fusion on both sides. Every schedule below is verified against the definition of its collective, and
those of fewer than 1,500 steps are also executed on numbers with their thread blocks in random order.

| program | ranks | thread blocks | steps | channels | messages | volume | where ours differs |
|---|--:|--:|--:|--:|--:|--:|---|
";

const WRONG: &str = "
## Programs that are wrong

These do not achieve their collective. The reference compiler emits a schedule all the same, unless the user asks for
a check; here they are refused:

";

#[test]
fn the_table_in_the_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/mscclang.md");
    let text = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(stored.lines()).find(|(ours, stored)| ours != stored);
    assert!(text == stored, "docs/mscclang.md is out of date (BLESS=1 rewrites it): {differs:?}");
}

fn page() -> String {
    let mut text = HEAD.to_owned();
    for row in ROWS.iter().filter(|row| row.verdict != Verdict::Wrong) {
        let schedule = compiled(row).unwrap_or_else(|error| panic!("{row}: {error}"));
        let (ours, theirs) = (figures(&schedule), row.reference);
        let pair = |ours: u64, theirs: u64| {
            if ours == theirs { ours.to_string() } else { format!("**{ours}** / {theirs}") }
        };
        let same = volume(&ours, &theirs) == volume(&theirs, &ours);
        let sent =
            if same { buffers(&ours) } else { format!("**{}** / {}", buffers(&ours), buffers(&theirs)) };
        let _ = writeln!(
            text,
            "| {row} | {} | {} | {} | {} | {} | {sent} | {} |",
            row.ranks,
            pair(ours.blocks, theirs.blocks),
            pair(ours.steps, theirs.steps),
            pair(ours.channels, theirs.channels),
            pair(ours.messages, theirs.messages),
            why(row, &ours),
        );
    }
    text.push_str(WRONG);
    for row in ROWS.iter().filter(|row| row.verdict == Verdict::Wrong) {
        let first = compiled(row).unwrap_err().findings.swap_remove(0);
        let _ = writeln!(text, "* {row}: {}", first.message);
    }
    text
}

/// What is sent, in units of a rank's buffer.
fn buffers(figures: &Figures) -> String {
    let hundredths = (100 * figures.sent).div_ceil(figures.chunks);
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:02}"),
    }
}

/// Why the figures differ.
fn why(row: &Row, ours: &Figures) -> &'static str {
    let theirs = &row.reference;
    let equal = (ours.blocks, ours.steps, ours.channels, ours.messages)
        == (theirs.blocks, theirs.steps, theirs.channels, theirs.messages);
    if row.verdict == Verdict::Miscompiled {
        return match row.program {
            "allgather_recursive_doubling" => {
                "the reference's is wrong: instances mix the chunks of one operation; ours is one operation a chunk"
            }
            _ => {
                "the reference's is wrong: relays store at the next rank's scratch offset; ours fuses all relays"
            }
        };
    }
    if equal {
        return "";
    }
    match row.program {
        "allgather_a100_pcie" => "between two ranks the partner is the neighbour: sent once, not twice",
        "allreduce_1step" | "allreduce_a100_allpairs" | "programs_allreduce_allpairs" => {
            "sums are made beside the receive that brings the data: no thread block for them alone, fewer waits"
        }
        "allreduce_a100_allpairs_v2"
        | "allreduce_a100_multinode_allpairs"
        | "allreduce_a100_pcie_hierarchical" => {
            "sums are made beside the receive that brings the data: no thread block for them alone"
        }
        "allreduce_a100_ncv4_v2" => "the end of a line adds and sends back in one step",
        "allreduce_recursive_doubling_halving" => {
            "the last sum is made and sent back in one step; waits that others imply are left out"
        }
        "alltoall_a100_three_step" | "programs_alltoall_a100_8kp1" if ours.messages < theirs.messages => {
            "parts that lie side by side are handed out in one message"
        }
        "alltoall_a100_three_step" | "programs_alltoall_a100_8kp1" => "one more wait is implied by others",
        "alltoall_a100_two_step" | "programs_alltoall_a100_yifan" => {
            "no channels of its own for each pair of nodes"
        }
        "alltonext_forward" | "alltonext_backward" => "relays into the output are fused too",
        "hierarchical_allreduce" if row.variant == "manual" => "more receives and sends share a step",
        "hierarchical_allreduce" => "a channel only where it lets one more receive and send share a step",
        _ => "",
    }
}
