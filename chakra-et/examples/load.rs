//! Writes a trace to measure with, or loads one and says what memory that took.
//!
//! ```text
//! cargo run --release -p chakra-et --example load -- write KIND RANKS NODES PREFIX   (KIND: plain, rich, shuffled)
//! cargo run --release -p chakra-et --example load -- PREFIX
//! cargo run --release -p chakra-et --example load -- write-workload RANKS LAYERS PREFIX   (9 nodes a layer and rank)
//! cargo run --release -p chakra-et --example load -- workload PREFIX
//! ```
//!
//! Two runs, as the memory that a process has used at most includes what it took to make the trace.

#[path = "../benches/generator/mod.rs"]
mod generator;

use std::convert::Infallible;
use std::error::Error;
use std::time::Instant;

use chakra_et::groups::Groups;
use chakra_et::{read_trace, workload, write_trace};
use generator::Kind;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", kind, ranks, nodes, prefix] => {
            let kind = Kind::from_name(kind).ok_or("the kind is none of plain, rich, shuffled")?;
            let (ranks, nodes) = (ranks.parse()?, nodes.parse()?);
            write_trace(prefix, ranks, |_| Ok::<_, Infallible>(kind.file(nodes)))?;
            Ok(())
        }
        ["write-workload", ranks, layers, prefix] => {
            let step = generator::training(ranks.parse()?, layers.parse()?)?;
            step.write(prefix)?;
            std::fs::write(format!("{prefix}.json"), step.groups_json()?)?;
            Ok(())
        }
        ["workload", prefix] => load_workload(prefix),
        [prefix] => load(prefix),
        _ => Err("give PREFIX, or: write KIND RANKS NODES PREFIX".into()),
    }
}

fn load(prefix: &str) -> Result<(), Box<dyn Error>> {
    let before = peak_memory()?;
    let start = Instant::now();
    let graph = read_trace(prefix)?;
    let seconds = start.elapsed().as_secs_f64();
    let used = peak_memory()? - before;
    let size: usize = graph.ranks().iter().map(|rank| rank.heap_size()).sum();
    let nodes = graph.node_count();
    println!(
        "{} ranks, {nodes} nodes in {seconds:.3} s: {:.2} M nodes/s",
        graph.rank_count(),
        nodes as f64 / seconds / 1e6
    );
    println!("graph: {size} bytes, {:.1} a node", size as f64 / nodes as f64);
    println!("most memory while loading: {used} bytes, {:.2} times the graph", used as f64 / size as f64);
    Ok(())
}

fn load_workload(prefix: &str) -> Result<(), Box<dyn Error>> {
    let json = format!("{prefix}.json");
    #[cfg(feature = "json")]
    let groups = std::fs::read_to_string(&json).ok().map(|text| Groups::from_json(&text)).transpose()?;
    #[cfg(not(feature = "json"))]
    let groups: Option<Groups> = None;
    let before = peak_memory()?;
    let start = Instant::now();
    let workload = workload::read(prefix, groups.as_ref())
        .map_err(|error| format!("{error} (groups are read from {json} with the feature `json`)"))?;
    let seconds = start.elapsed().as_secs_f64();
    let used = peak_memory()? - before;
    let nodes = workload.node_count();
    println!(
        "{} ranks, {nodes} nodes in {seconds:.3} s: {:.2} M nodes/s, {:.1} bytes a node at most",
        workload.rank_count(),
        nodes as f64 / seconds / 1e6,
        used as f64 / nodes as f64
    );
    let start = Instant::now();
    let collectives = workload.collectives()?;
    println!("{} collectives joined in {:.3} s", collectives.all.len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let findings = workload::check(&workload);
    println!("checked in {:.3} s:", start.elapsed().as_secs_f64());
    findings.iter().for_each(|finding| println!("{}: {finding}", finding.level));
    Ok(())
}

/// The most memory that this process has occupied so far, in bytes (Linux).
fn peak_memory() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("the system does not say")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("the system does not say")?.parse()?;
    Ok(kilobytes * 1024)
}
