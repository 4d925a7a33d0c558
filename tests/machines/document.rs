//! The page `docs/accuracy-machines.md`.

use std::fmt::Write as _;
use std::path::Path;

use crate::measured::{ANY, Band, Basis, GIB, KIB, MIB, Section, sections};
use crate::programs::Outcome;

const HEAD: &str = "\
# Machines and measured times

How far the machines that are built in are from times that others measured and published: `dgx-spark`, `h100`, `h100-cluster`, `a100` and `v100`.
What a machine is, and how its figures come together, is on [its page](machines.md). This page is written by a test (`BLESS=1 cargo test --test machines`).
The programs are the library's, or in `tests/machines/`.

*Fitted* are times that figures of the machine were fitted to. Of those *not fitted* nothing went into the machine: what is said of them is a prediction. *Other
program* are those of which the measured program is known to be another than ours, or is not known at all; they show what the
machine is of no use for. Errors are ours / measured − 1; the mean is that of their absolute values.
";

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy-machines.md");
    let text = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(stored.lines()).find(|(ours, stored)| ours != stored);
    assert!(text == stored, "docs/accuracy-machines.md is out of date (BLESS=1 rewrites it): {differs:?}");
}

fn page() -> String {
    let all: Vec<_> = sections().map(|section| (section, section.outcomes())).collect();
    let mut text = HEAD.to_owned();
    text.push_str(
        "\n| times | machine | sizes | | points | mean error | worst |\n|---|---|---|---|--:|--:|--:|\n",
    );
    for (section, outcomes) in &all {
        for band in section.bands {
            summary(&mut text, section, band, outcomes);
        }
    }
    for (section, outcomes) in &all {
        detail(&mut text, section, outcomes);
    }
    text
}

fn summary(text: &mut String, section: &Section, band: &Band, outcomes: &[Outcome]) {
    let inside: Vec<_> = outcomes.iter().filter(|it| (band.from..band.to).contains(&it.bytes)).collect();
    let largest = inside.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    let Some(largest) = largest else { return };
    let sizes = match (band.from, band.to) {
        (0, to) => format!("below {}", size(to)),
        (from, ANY) => format!("from {}", size(from)),
        (from, to) => format!("{} to below {}", size(from), size(to)),
    };
    let basis = match band.basis {
        Basis::Fitted => "fitted",
        Basis::NotFitted => "not fitted",
        Basis::OtherProgram => "other program",
    };
    let sum: f64 = inside.iter().map(|it| it.error().abs()).sum();
    let mean = 100.0 * sum / inside.len() as f64;
    let label = if section.series.len() > 1 { format!(" ({})", largest.label) } else { String::new() };
    let _ = writeln!(
        text,
        "| [{}](#{}) | `{}` | {sizes} | {basis} | {} | {mean:.1} % | {} at {}{label} |",
        section.title,
        anchor(section.title),
        section.machine,
        inside.len(),
        percent(largest.error()),
        size(largest.bytes),
    );
}

fn detail(text: &mut String, section: &Section, outcomes: &[Outcome]) {
    let _ = write!(text, "\n## {}\n\nMeasured: {}.\n\n{}\n\n", section.title, section.source, section.about);
    let several = section.series.len() > 1;
    let (head, line) = if several { ("| ", "|---") } else { ("", "") };
    let _ =
        writeln!(text, "{head}| size | measured, µs | ours, µs | by | error |\n{line}|--:|--:|--:|---|--:|");
    for outcome in outcomes {
        if several {
            let _ = write!(text, "| {} ", outcome.label);
        }
        let bold = if section.basis(outcome.bytes) == Basis::OtherProgram { "**" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {bold}{}{bold} |",
            size(outcome.bytes),
            outcome.measured,
            rounded(outcome.ours),
            outcome.how,
            percent(outcome.error())
        );
    }
}

/// To a tenth of a microsecond, or whole ones from a thousand on.
fn rounded(micros: f64) -> String {
    if micros < 1000.0 { format!("{micros:.1}") } else { format!("{micros:.0}") }
}

fn percent(error: f64) -> String {
    // Not −0.0.
    let tenths = (1000.0 * error).round() + 0.0;
    format!("{:+.1} %", tenths / 10.0)
}

/// As renderers of Markdown make it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-'));
    kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= GIB => format!("{} GiB", bytes / GIB),
        bytes if bytes >= MIB => format!("{} MiB", bytes / MIB),
        bytes if bytes >= KIB => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} B"),
    }
}
