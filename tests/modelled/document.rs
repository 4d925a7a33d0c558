//! The page `docs/modelled-table.md`.

use std::fmt::Write as _;
use std::path::Path;

use crate::table::{GROUPS, Group};
use crate::{Row, outcomes};

const HEAD: &str = "\
# TE-CCL's published table

The authors of TE-CCL (Liu et al., \"Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow Problem\", SIGCOMM
2024) publish the algorithm bandwidths of schedules by two synthesizers, theirs and TACCL (Shah et al., NSDI 2023), for 1 KB to 1 GB of output buffer.
Nothing there was measured: the times are those of a model of links with latency α and bandwidth B, so a schedule of the same kind must take the same
time in a simulator. The schedules themselves are not in the table. Of its 84 rows this page rebuilds those for which topology, chunks and order can
be taken from the tools; the programs are in `tests/modelled/`, verified, and this page is written by a test (`BLESS=1 cargo test --test modelled`),
which holds the figures.

Chunks: output buffer / ranks for each pair of ranks. TE-CCL's time is counted in epochs: an epoch is what a chunk takes on the fastest
link (four times that up to 4 KB), and latencies are rounded up to whole epochs, or left out where they are up to a tenth of one. That is in its code, and
is how links are declared here. TE-CCL hands a chunk on after it has come in, by switches too, so its rows run under `link-queue`; TACCL counts a way by
a switch as one link, so its rows run under `fluid`. Nodes wait in the order `dataflow`. Differences in bold are of rows that are not rebuilt. 1 KB does not divide
into whole bytes a chunk: ours moves 1,024 bytes on 32 ranks and 1,008 on 16.
";

const REST: &str = "
## Rows that are not rebuilt

* **TACCL, all-gather on two DGX-2** (11 rows). Three of them, 1 GB, 256 MB and 64 MB, are 2 · (2.6 µs + S/12.5 GB/s) + 17 · (0.7 µs + S/125 GB/s) to the last
  digit, S being a chunk: two messages between the chassis, then 17 by the switch. Handing a chunk to the other 15 GPUs takes 15. The two
  more are the solver's, and no rule for them is stated.
* **TACCL, all-gather on NDv2** (20 rows). On two chassis the link between them is busy for 40,000 µs of 53,767 at 1 GB, on four for 15,360 µs of 16,379 at
  256 MB. The rest is how the solver spreads what comes in, which is not published.
* **TACCL, all-to-all on two DGX-2** (10 rows). The links between the chassis are busy for 80,000 µs of 89,853 at 1 GB; the rest is the solver's.
";

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/modelled-table.md");
    let text = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(stored.lines()).find(|(ours, stored)| ours != stored);
    assert!(text == stored, "docs/modelled-table.md is out of date (BLESS=1 rewrites it): {differs:?}");
}

fn page() -> String {
    let mut text = HEAD.to_owned();
    let rows = GROUPS.iter().flat_map(|group| group.rows);
    let rebuilt = rows.clone().filter(|row| row.rebuilt).count();
    let _ = writeln!(text, "\nOf the {} rows below {rebuilt} are rebuilt, within one percent.", rows.count());
    for group in &GROUPS {
        section(&mut text, group);
    }
    text.push_str(REST);
    text
}

fn section(text: &mut String, group: &Group) {
    let released = group.rows[0].released.is_some();
    let (head, line) = if released { (" released, µs |", "--:|") } else { ("", "") };
    let _ = write!(
        text,
        "\n## All-to-all: {}\n\n{}\n\n| output | published, µs |{head} ours, µs | difference |\n|--:|--:|{line}--:|--:|\n",
        group.name, group.about
    );
    for (row, took, more) in outcomes(group) {
        let _ = write!(text, "| {} | {} |", size(row), row.published);
        if let Some(released) = row.released {
            let _ = write!(text, " {released} |");
        }
        let bold = if row.rebuilt { "" } else { "**" };
        let _ =
            writeln!(text, " {} | {bold}{:+.2} %{bold} |", (1000.0 * took).round() / 1000.0, 100.0 * more);
    }
}

fn size(row: &Row) -> String {
    match row.bytes {
        bytes if bytes >= 1_000_000_000 => format!("{} GB", bytes / 1_000_000_000),
        bytes if bytes >= 1_000_000 => format!("{} MB", bytes / 1_000_000),
        bytes => format!("{} KB", bytes / 1000),
    }
}
