use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::workload::WorkloadSimulation;
use collective::workload::{Expander, Overlap, Rule, Rules};

fn example() -> Result<Vec<String>, Box<dyn Error>> {
    // Four ranks: a product of 800 µs, the sum of its parts, and a product with the sum.
    let mut step = WorkloadBuilder::new(4);
    for rank in 0..4 {
        let product = step.compute(rank, "product", Cost::micros(800), &[])?;
        let kind = CollectiveKind::ReduceScatter;
        let sum = step.collective(rank, "sum", kind, 40_000_000, 0, &[product])?;
        step.compute(rank, "next", Cost::micros(100), &[sum])?;
    }
    let workload = step.finish();

    let ring = Topology::new([Dimension::ring(4, "50 GB/s".parse()?, "1 us".parse()?)])?;
    let simulation = WorkloadSimulation::new(&ring);
    let mut lines = Vec::new();
    for overlap in [Overlap::None, Overlap::Producers] {
        let rules = Rules::new().rule(Rule::algorithm("reduce_scatter_ring").overlap(overlap));
        let report = simulation.run(&workload, &Expander::new(rules)?)?;
        let rank = report.ranks[0];
        let (exposed, overlapped) = (rank.exposed, rank.overlapped);
        lines.push(format!("{}: {exposed} exposed, {overlapped} overlapped", report.makespan));
    }
    Ok(lines)
}
