//! Same input, same results, to the bit: for one thread, two, or as many as you like.
//!
//! Everything that the project makes of an algorithm is made here with several numbers of threads: its traces, its XML, its graph, the
//! time at which every node ends under each model, and a sweep. Of each a hash is printed, which must be the same in a row. The hash is that of
//! Fowler, Noll and Vo (FNV-1a), so that rows can be compared between machines as well: figures in a paper can be checked by whoever has
//! the same version.
//!
//! `cargo run --release --example determinism_report`

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use collective::algorithms::{self, allreduce_hierarchical, alltoall_pairwise};
use collective::et::{self, EtOptions, NodeOrder};
use collective::msccl::{self, Target, XmlOptions};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::{Conventions, Model, Simulation};
use collective::sweep::{Network, Shard, Subject, Sweep};
use collective::{CollectiveKind, Schedule, Size};

/// FNV-1a in 64 bits.
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Hash::new();
    hash.add(bytes);
    hash.finish()
}

/// What is made, each by its name.
pub(crate) type Made = (&'static str, u64);

/// The hash of when each node of each rank ends.
fn end_times(schedule: &Schedule, model: Model, topology: &Topology) -> Result<u64, Box<dyn Error>> {
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(288 << 16)) };
    let graph = et::graph(schedule, &options)?;
    let (_, times) = Simulation::new(topology).model(model).run_with_times(&graph)?;
    let mut hash = Hash::new();
    times.iter().flatten().for_each(|time| hash.add(&time.0.to_le_bytes()));
    Ok(hash.finish())
}

/// A sweep of all all-reduces for 8 ranks on two networks: the hash of all times, in the order in which they are handed over.
fn sweep(threads: usize) -> Result<u64, Box<dyn Error>> {
    let switch = Topology::new([Dimension::switch(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    let ring = Topology::new([Dimension::ring(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    let network =
        |name: &str, topology| Network::new(name, Arc::new(topology), Model::Fluid, Conventions::Exact);
    let all_reduces = algorithms::all().filter(|algorithm| algorithm.def.kind == CollectiveKind::AllReduce);
    let sizes = [1 << 12, 1 << 20, 1 << 28].map(Size::bytes);
    let networks = [network("switch", switch), network("ring", ring)];
    let sweep = Sweep::new(all_reduces.map(Subject::library), [8], sizes, networks)?;
    let mut hash = Hash::new();
    sweep.run(Shard::WHOLE, 0, threads, &|| false, |point, outcome| {
        let time = outcome.map_or_else(|none| none.why.name().to_owned(), |figures| figures.time.to_string());
        hash.add(format!("{} {} {time}\n", sweep.unit_label(point.unit), point.network).as_bytes());
        Ok::<(), std::convert::Infallible>(())
    })?;
    Ok(hash.finish())
}

/// Everything once, with so many threads.
pub(crate) fn made(threads: usize) -> Result<Vec<Made>, Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    // An error goes from thread to thread as text.
    Ok(pool.install(|| everything(threads).map_err(|error| error.to_string()))?)
}

fn everything(threads: usize) -> Result<Vec<Made>, Box<dyn Error>> {
    let levels = allreduce_hierarchical::compile(64, 8, 0, 1)?;
    // Large enough to be divided among threads.
    let pairs = alltoall_pairwise::compile(288)?;
    let nodes = |nodes: u32| -> Result<Topology, Box<dyn Error>> {
        Ok(Topology::new([
            Dimension::switch(8, "450 GB/s".parse()?, "250 ns".parse()?),
            Dimension::switch(nodes, "50 GB/s".parse()?, "1500 ns".parse()?),
        ])?)
    };
    let bytes = et::bytes(&levels, &EtOptions::new(Size::bytes(1 << 20)))?;
    let graph = format!("{:?}", et::graph(&levels, &EtOptions::new(Size::bytes(1 << 20)))?);
    let xml = msccl::write(&levels, &XmlOptions::new(Target::Msccl))?;
    Ok(vec![
        ("schedule, packed", hash(&collective::pack(&levels))),
        ("MSCCL XML", hash(xml.as_bytes())),
        ("traces of 64 ranks", hash(&bytes.ranks().concat())),
        ("graph", hash(graph.as_bytes())),
        ("ends, analytical", end_times(&pairs, Model::Analytical, &nodes(36)?)?),
        ("ends, link-queue", end_times(&pairs, Model::LinkQueue, &nodes(36)?)?),
        ("ends, fluid", end_times(&pairs, Model::Fluid, &nodes(36)?)?),
        ("ends, fluid, all-reduce", end_times(&levels, Model::Fluid, &nodes(8)?)?),
        ("sweep of all all-reduces", sweep(threads)?),
    ])
}

pub(crate) fn show(out: &mut dyn Write, threads: &[usize]) -> Result<(), Box<dyn Error>> {
    let columns: Vec<Vec<Made>> = threads.iter().map(|threads| made(*threads)).collect::<Result<_, _>>()?;
    let heads: Vec<String> = threads
        .iter()
        .map(|threads| {
            format!(
                "{:>16}",
                if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
            )
        })
        .collect();
    writeln!(out, "{:<26} {}", "", heads.join(" "))?;
    let mut differ = 0;
    for row in 0..columns[0].len() {
        let hashes: Vec<u64> = columns.iter().map(|column| column[row].1).collect();
        let is_same = hashes.iter().all(|hash| *hash == hashes[0]);
        differ += usize::from(!is_same);
        let cells: Vec<String> = hashes.iter().map(|hash| format!("{hash:016x}")).collect();
        writeln!(
            out,
            "{:<26} {}  {}",
            columns[0][row].0,
            cells.join(" "),
            if is_same { "same" } else { "DIFFERENT" }
        )?;
    }
    match differ {
        0 => writeln!(out, "\nAll the same, to the bit.")?,
        _ => return Err(format!("{differ} of {} rows differ", columns[0].len()).into()),
    }
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock(), &[1, 2, 3, 8])
}
