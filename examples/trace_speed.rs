//! Messages a second from lean execution traces on disk to the simulated time: reading, checking and simulating.
//!
//! ```text
//! cargo run --release --example trace_speed -- 1024
//! ```
//!
//! Writes a ring all-reduce of so many ranks into a temporary folder, with no more than what a simulator needs.

use std::error::Error;
use std::time::Instant;

use chakra_et::graph::{Op, Origin};
use chakra_et::{RankWriter, metadata, read_trace, view, write_trace};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::{Model, Simulation};

fn main() -> Result<(), Box<dyn Error>> {
    let ranks: u32 = std::env::args().nth(1).ok_or("give the number of ranks")?.parse()?;
    let folder = std::env::temp_dir().join(format!("trace_speed_{}", std::process::id()));
    write_trace(folder.join("ring"), ranks as usize, |rank| file(rank as u32, ranks))?;
    let topology = Topology::new([Dimension::ring(ranks, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    for threads in [1, 2].into_iter().cycle().take(10) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let start = Instant::now();
        let report = pool.install(|| -> Result<_, Box<dyn Error + Send + Sync>> {
            let graph = read_trace(folder.join("ring"))?;
            Ok(Simulation::new(&topology).model(Model::Analytical).fold(false).run(&graph)?)
        });
        let report = report.map_err(|error| error.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        let millions = report.messages as f64 / 1e6;
        println!(
            "{threads} threads: {millions:.2} million messages in {seconds:.3} s, {:.2} million a second",
            millions / seconds
        );
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// The trace of a rank: in one chain send, receive and, in the first half, reduce.
fn file(rank: u32, ranks: u32) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
    let mut id = 0;
    let mut push = |op| {
        let deps = if id == 0 { vec![] } else { vec![id - 1] };
        let node = view::node(id, format!("n{id}"), op, deps, Origin::default())?;
        id += 1;
        writer.node(&node).map_err(Box::<dyn Error + Send + Sync>::from)
    };
    let bytes = 65_536;
    for step in 0..2 * (ranks - 1) {
        push(Op::Send { dst: (rank + 1) % ranks, tag: 0, bytes })?;
        push(Op::Recv { src: (rank + ranks - 1) % ranks, tag: 0, bytes })?;
        if step < ranks - 1 {
            push(Op::Comp { micros: 0, ops: 0, bytes })?;
        }
    }
    Ok(writer.finish())
}
