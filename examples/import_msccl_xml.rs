//! An algorithm that somebody else has written, as MSCCL XML: is it right, how long does it take, and how does it go on from here?
//!
//! `ring_of_four.xml` is a file as other tools write them: attributes in an order of their own, some that nobody else knows, comments. It is
//! read and judged by every rule of the verifier. Then it is spoiled in four ways that a runtime would not notice
//! until it hangs or gives wrong results, and the verifier says what it finds, and in which line. At last the right file is simulated, and
//! turned into Chakra execution traces.
//!
//! `cargo run --release --example import_msccl_xml`, or with a file of yours: `… --example import_msccl_xml -- FILE.xml`

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use collective::chakra_et::read_trace;
use collective::et::{self, EtOptions};
use collective::msccl::{self, Imported};
use collective::sim::report::algbw_gb_per_s;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Bytes;
use collective::sim::{Model, Simulation};
use collective::verify::{self, Report, Settings};
use collective::{Schedule, Severity, Size};

pub(crate) const FILE: &str = "examples/ring_of_four.xml";
pub(crate) const TEXT: &str = include_str!("ring_of_four.xml");

/// What is done to the file, what stands there, and what instead.
pub(crate) const FAULTS: [(&str, &str, &str); 4] = [
    (
        "GPU 2 sends its own chunk twice",
        r#"srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="1" deps="0" hasdep="0" algostep="1""#,
        r#"srcoff="2" dstbuf="o" dstoff="1" cnt="1" depid="1" deps="0" hasdep="0" algostep="1""#,
    ),
    (
        "GPU 2 does not wait for what it sends on",
        r#"srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="1" deps="0" hasdep="0" algostep="1""#,
        r#"srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0" algostep="1""#,
    ),
    (
        "GPU 3 leaves its last receive out",
        r#"<step s="2" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0" algostep="2" />"#,
        "",
    ),
    (
        "every GPU waits for its last chunk before it sends one",
        r#"depid="-1" deps="-1" hasdep="0" algostep="0""#,
        r#"depid="1" deps="2" hasdep="0" algostep="0""#,
    ),
];

/// Reads a text and judges the schedule in it.
pub(crate) fn judge(text: &str, file: &str) -> Result<(Imported, Report), Box<dyn Error>> {
    let imported = msccl::read(text, file)?;
    let mut report = verify::check(&imported.schedule, &Settings::default());
    report.add(verify::unflagged(&imported));
    Ok((imported, report))
}

/// What the verifier finds wrong, each finding with its line.
fn findings(out: &mut dyn Write, text: &str, report: &Report) -> io::Result<()> {
    for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        writeln!(out, "    {}: {}", finding.rule.name(), finding.message)?;
        let related = finding.related.iter().map(|(site, what)| (Some(*site), what.as_str()));
        for (site, what) in std::iter::once((finding.site, "")).chain(related) {
            let Some(site) = site.and_then(|site| report.sites.get(site)) else { continue };
            let line = text.lines().nth(site.line as usize - 1).unwrap_or("").trim();
            writeln!(out, "      {} | {line}{}{what}", site.line, if what.is_empty() { "" } else { "  " })?;
        }
    }
    Ok(())
}

fn times(out: &mut dyn Write, schedule: &Schedule) -> Result<(), Box<dyn Error>> {
    let ranks = u32::try_from(schedule.ranks.len())?;
    let ring = Topology::new([Dimension::ring(ranks, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    let switch = Topology::new([Dimension::switch(ranks, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    writeln!(out, "\n{:>8} | {:^22} | {:^22}", "", "ring", "switch")?;
    writeln!(out, "{:>8} | {:>12} {:>9} | {:>12} {:>9}", "size", "time us", "algbw", "time us", "algbw")?;
    for exponent in [14, 20, 26] {
        let size = Bytes(1 << exponent);
        let graph = et::graph(schedule, &EtOptions::new(Size::bytes(size.0)))?;
        let mut cells = Vec::new();
        for topology in [&ring, &switch] {
            let time = Simulation::new(topology).model(Model::Fluid).run(&graph)?.makespan;
            let algbw = algbw_gb_per_s(size, time).map_or("-".to_owned(), |value| format!("{value:.3}"));
            cells.push(format!("{:>12.3} {algbw:>9}", time.as_ns() / 1000.0));
        }
        writeln!(out, "{:>8} | {}", size.to_string(), cells.join(" | "))?;
    }
    Ok(())
}

/// All of it for one file; the faults are those of `ring_of_four.xml`. Traces are written with the given prefix.
pub(crate) fn show(out: &mut dyn Write, text: &str, file: &str, prefix: &Path) -> Result<(), Box<dyn Error>> {
    let (imported, report) = judge(text, file)?;
    let (schedule, header) = (&imported.schedule, &imported.header);
    writeln!(out, "{file}: {}, {} ranks", schedule.collective.kind(), schedule.ranks.len())?;
    writeln!(
        out,
        "  {} steps, {} messages, {} channel(s), protocol {}",
        schedule.step_count(),
        schedule.message_count(),
        schedule.channel_count(),
        schedule.protocol
    )?;
    let sizes = (header.min_bytes.unwrap_or(0), header.max_bytes.unwrap_or(0));
    let up_to = if sizes.1 == 0 { "any size".to_owned() } else { Bytes(sizes.1).to_string() };
    writeln!(out, "  meant for {} to {up_to}", Bytes(sizes.0))?;
    for (name, value) in &header.extras.algorithm {
        writeln!(out, "  kept, though not understood: {name}=\"{value}\"")?;
    }
    for warning in &imported.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    let slots = report.slots.map_or("unlimited".to_owned(), |slots| slots.to_string());
    let least =
        report.min_slots.map_or("no number is enough".to_owned(), |least| format!("{least} would do"));
    writeln!(
        out,
        "  verdict: {}; post-condition {}; with {slots} slots a connection ({least})",
        report.verdict(),
        report.post_condition.name()
    )?;
    findings(out, text, &report)?;
    if report.errors().is_some() {
        return Ok(());
    }

    if text == TEXT {
        writeln!(out, "\nSpoiled:")?;
        for (what, right, wrong) in FAULTS {
            let spoiled = text.replace(right, wrong);
            let (_, report) = judge(&spoiled, file)?;
            writeln!(out, "\n  {what}: {}", report.verdict())?;
            findings(out, &spoiled, &report)?;
        }
    }

    times(out, schedule)?;

    let size = Size::bytes(1 << 20);
    et::bytes(schedule, &EtOptions::new(size))?.write(prefix)?;
    let graph = read_trace(prefix)?;
    let prefix = prefix.display();
    writeln!(
        out,
        "\nWritten for 1 MiB: {prefix}.0.et and so on, {} nodes. Any reader of Chakra traces takes them; here:",
        graph.node_count()
    )?;
    writeln!(out, "  collective inspect {prefix}")?;
    writeln!(out, "  collective verify {prefix}     # they hold the whole schedule")?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let prefix = Path::new("target/out/import/ring_of_four");
    let mut out = io::stdout().lock();
    match std::env::args().nth(1) {
        Some(file) => show(&mut out, &std::fs::read_to_string(&file)?, &file, prefix),
        None => show(&mut out, TEXT, FILE, prefix),
    }
}
