//! What is the choice of collective algorithms worth in a training step?
//!
//! A transformer on 16 GPUs, four nodes of four: two ranks share each layer (tensor parallelism, with the sequence divided between
//! products), eight have a share of the batch each (data parallelism). The step is built here node by node, with the operations and bytes
//! of real layers, and simulated with its collectives carried out message by message while the GPUs compute: with one ring,
//! with rings over all network cards, with two levels, and with products that begin and end tile by tile.
//!
//! `cargo run --release --example training_step`; with `-- --write target/out/step` behind it, it also writes the step as Chakra
//! execution traces, with its groups, rules and cluster, for `collective simulate --workload`.

use std::error::Error;

use chakra_et::workload::{BuildError, CollectiveKind, Cost, NodeId, Workload, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::topology::{CardOrder, Cluster, Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::workload::{Roofline, WorkloadReport, WorkloadSimulation};
use collective::workload::{Expander, Overlap, Rule, Rules};

/// Ranks that share a layer, and that share the batch: rank = data · TENSOR + tensor.
const TENSOR: u32 = 2;
const DATA: u32 = 8;
/// GPUs of a node.
const GPUS: u32 = 4;
const LAYERS: u32 = 8;
/// The width of the model, and the tokens of one sequence, which is what a rank has of the batch.
const HIDDEN: u64 = 4096;
const TOKENS: u64 = 4096;
/// Bytes of a number in activations, weights and gradients: bf16.
const BYTES: u64 = 2;
/// Parameters of a layer on one rank: 4 h² of attention and 8 h² of the feed-forward part, divided.
const PARAMETERS: u64 = 12 * HIDDEN * HIDDEN / TENSOR as u64;

/// What an H100 sustains in products of this size, in operations a second, and its memory.
const PEAK: f64 = 400e12;
const MEMORY: &str = "3350 GB/s";

/// A product of an m × k by a k × n matrix: 2·m·n·k operations; both are read and the result is written.
fn product(m: u64, n: u64, k: u64) -> Cost {
    Cost::operations(2 * m * n * k, (m * k + k * n + m * n) * BYTES)
}

/// The products of a layer on one rank (m, n, k); together with [`attention`] that is 24·s·h² + 4·s²·h operations, divided by the
/// ranks (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021).
const QKV: [u64; 3] = [TOKENS, 3 * HIDDEN / TENSOR as u64, HIDDEN];
const PROJECTION: [u64; 3] = [TOKENS, HIDDEN, HIDDEN / TENSOR as u64];
const UP: [u64; 3] = [TOKENS, 4 * HIDDEN / TENSOR as u64, HIDDEN];
const DOWN: [u64; 3] = [TOKENS, HIDDEN, 4 * HIDDEN / TENSOR as u64];

/// Scores and values of the rank's heads, 2·s²·h operations each; queries, keys, values and the result go through the memory once.
fn attention() -> Cost {
    let width = HIDDEN / u64::from(TENSOR);
    Cost::operations(4 * TOKENS * TOKENS * width, 4 * TOKENS * width * BYTES)
}

/// Backward: five products for the two of forward, since the scores are computed again.
fn attention_backward() -> Cost {
    let Cost { ops, bytes, .. } = attention();
    Cost::operations(ops / 2 * 5, 2 * bytes)
}

/// One update by Adam in 32 bits: gradient (2 bytes), weight and both moments are read, the latter three and the weight in bf16 (2)
/// written. About twelve operations a parameter.
fn update() -> Cost {
    let parameters = u64::from(LAYERS) * PARAMETERS;
    Cost::operations(12 * parameters, (2 + 3 * 4 + 3 * 4 + 2) * parameters)
}

/// The nodes of one rank.
struct Rank<'a> {
    step: &'a mut WorkloadBuilder,
    rank: u32,
    /// Its groups.
    tensor: u32,
    data: u32,
}

impl Rank<'_> {
    fn compute(&mut self, name: String, cost: Cost, after: NodeId) -> Result<NodeId, BuildError> {
        self.step.compute(self.rank, name, cost, &[after])
    }

    fn product(&mut self, name: String, [m, n, k]: [u64; 3], after: NodeId) -> Result<NodeId, BuildError> {
        self.compute(name, product(m, n, k), after)
    }

    /// Each rank has the activations of its part of the sequence, and gets those of all.
    fn gather(&mut self, name: String, after: NodeId) -> Result<NodeId, BuildError> {
        let own = TOKENS * HIDDEN * BYTES / u64::from(TENSOR);
        self.step.collective(self.rank, name, CollectiveKind::AllGather, own, self.tensor, &[after])
    }

    /// Each rank has a summand of all activations, and gets the sum of its part.
    fn scatter(&mut self, name: String, after: NodeId) -> Result<NodeId, BuildError> {
        let all = TOKENS * HIDDEN * BYTES;
        self.step.collective(self.rank, name, CollectiveKind::ReduceScatter, all, self.tensor, &[after])
    }

    fn forward(&mut self, layer: u32, input: NodeId) -> Result<NodeId, BuildError> {
        let name = |what: &str| format!("layer {layer} {what}");
        let all = self.gather(name("gather"), input)?;
        let qkv = self.product(name("qkv"), QKV, all)?;
        let heads = self.compute(name("attention"), attention(), qkv)?;
        let sum = self.product(name("projection"), PROJECTION, heads)?;
        let part = self.scatter(name("scatter"), sum)?;
        let all = self.gather(name("gather"), part)?;
        let wide = self.product(name("up"), UP, all)?;
        let sum = self.product(name("down"), DOWN, wide)?;
        self.scatter(name("scatter"), sum)
    }

    /// The gradients of the data go on to the layer below as soon as they are there; those of the weights, which cost as much,
    /// fill the time in which the former are on their way. The layer's weights are summed up over the batch when all are there.
    fn backward(&mut self, layer: u32, input: NodeId) -> Result<[NodeId; 2], BuildError> {
        let name = |what: &str| format!("layer {layer} backward {what}");
        let of_weights = |what: &str| format!("layer {layer} weights of {what}");
        let all = self.gather(name("gather"), input)?;
        let wide = self.product(name("down"), DOWN, all)?;
        let sum = self.product(name("up"), UP, wide)?;
        let part = self.scatter(name("scatter"), sum)?;
        self.product(of_weights("down"), DOWN, all)?;
        self.product(of_weights("up"), UP, wide)?;
        let all = self.gather(name("gather"), part)?;
        let heads = self.product(name("projection"), PROJECTION, all)?;
        let qkv = self.compute(name("attention"), attention_backward(), heads)?;
        let sum = self.product(name("qkv"), QKV, qkv)?;
        let part = self.scatter(name("scatter"), sum)?;
        self.product(of_weights("projection"), PROJECTION, all)?;
        // On one stream this is the last of the layer.
        let last = self.product(of_weights("qkv"), QKV, qkv)?;
        let (kind, bytes) = (CollectiveKind::AllReduce, PARAMETERS * BYTES);
        let bucket = self.step.collective(self.rank, name("bucket"), kind, bytes, self.data, &[last])?;
        Ok([part, bucket])
    }
}

/// The step.
pub(crate) fn step() -> Result<Workload, BuildError> {
    let ranks = TENSOR * DATA;
    let mut step = WorkloadBuilder::new(ranks);
    // ASTRA-sim knows groups by numbers.
    let tensor: Vec<u32> = (0..DATA)
        .map(|data| step.group(format!("{}", 1 + data), data * TENSOR..(data + 1) * TENSOR))
        .collect::<Result<_, _>>()?;
    let data: Vec<u32> = (0..TENSOR)
        .map(|tensor| step.group(format!("{}", 101 + tensor), (0..DATA).map(|data| data * TENSOR + tensor)))
        .collect::<Result<_, _>>()?;
    for rank in 0..ranks {
        let embedding = Cost::operations(0, 2 * TOKENS * HIDDEN * BYTES / u64::from(TENSOR));
        let mut last = step.compute(rank, "embedding", embedding, &[])?;
        let (tensor, data) = (tensor[(rank / TENSOR) as usize], data[(rank % TENSOR) as usize]);
        let mut nodes = Rank { step: &mut step, rank, tensor, data };
        for layer in 0..LAYERS {
            last = nodes.forward(layer, last)?;
        }
        let mut buckets = Vec::new();
        for layer in (0..LAYERS).rev() {
            let [part, bucket] = nodes.backward(layer, last)?;
            (last, _) = (part, buckets.push(bucket));
        }
        // All gradients are scaled by their norm, which is one number of all ranks.
        let gradients = u64::from(LAYERS) * PARAMETERS;
        let norm =
            step.compute(rank, "norm", Cost::operations(2 * gradients, gradients * BYTES), &buckets)?;
        let norm = step.collective(rank, "norm of all", CollectiveKind::AllReduce, 4, 0, &[norm])?;
        step.compute(rank, "update", update(), &[norm])?;
    }
    Ok(step.finish())
}

/// Four GPUs on NVLink, a network card for each, one switch for all cards.
pub(crate) fn cluster() -> Result<Topology, Box<dyn Error>> {
    let nodes = TENSOR * DATA / GPUS;
    let cluster = Cluster {
        nodes,
        node: Topology::new([Dimension::switch(GPUS, "450 GB/s".parse()?, "250 ns".parse()?)])?,
        cards: GPUS,
        card_link: None,
        network: Topology::new([Dimension::switch(nodes * GPUS, "400 Gb/s".parse()?, "1500 ns".parse()?)])?,
        order: CardOrder::ByNode,
        through_peer: false,
    };
    Ok(cluster.build()?)
}

/// The same as a file.
pub(crate) const CLUSTER_TOML: &str = r#"[[dimension]]
kind = "cluster"
nodes = 4
cards = 4
wiring = "by-node"

[[dimension.node]]
kind = "switch"
size = 4
bandwidth = "450 GB/s"
latency = "250 ns"

[[dimension.network]]
kind = "switch"
size = 16
bandwidth = "400 Gb/s"
latency = "1500 ns"
"#;

/// Choice C as a file.
pub(crate) const RULES_TOML: &str = r#"machine = 4

[[rule]]
kind = "all_reduce"
max_size = "256 KiB"
algorithm = "allreduce_recursive_doubling"

[[rule]]
kind = "all_reduce"
algorithm = "allreduce_hierarchical"
set = { inner = "direct", outer = "ring" }
"#;

/// By name, what to try.
pub(crate) fn choices() -> Vec<(&'static str, Rules)> {
    let rules = || Rules::new().machine(GPUS);
    let small = || rules().rule(Rule::algorithm("allreduce_recursive_doubling").below(256 << 10));
    let rotated = small().rule(Rule::algorithm("allreduce_rotated_rings"));
    let levels = || small().rule(Rule::algorithm("allreduce_hierarchical").set("inner", 0).set("outer", 1));
    let kinds = [CollectiveKind::AllGather, CollectiveKind::ReduceScatter];
    let tiles = Rule::default_algorithm().kinds(kinds).overlap(Overlap::Both);
    let ring = |name: &str| Rule::algorithm(name);
    let rings = rules().rule(ring("allreduce_ring")).rule(ring("allgather_ring"));
    vec![
        ("A", rings.rule(ring("reduce_scatter_ring"))),
        ("B", rotated),
        ("C", levels()),
        ("D", levels().rule(tiles)),
    ]
}

/// What a choice of algorithms gives.
pub(crate) fn simulate(
    workload: &Workload,
    topology: &Topology,
    rules: Rules,
) -> Result<WorkloadReport, Box<dyn Error>> {
    let roofline = Roofline::new(PEAK, MEMORY.parse()?)?;
    Ok(WorkloadSimulation::new(topology).roofline(roofline).run(workload, &Expander::new(rules)?)?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (workload, topology) = (step()?, cluster()?);
    println!(
        "A training step: {LAYERS} layers of width {HIDDEN}, {TOKENS} tokens a rank, bf16, on 4 nodes of {GPUS} GPUs"
    );
    println!("  inside a node   NVLink, 450 GB/s a GPU, 250 ns a hop");
    println!("  between nodes   a card for each GPU, 50 GB/s, 1500 ns a hop");
    println!(
        "  tensor          {DATA} groups of {TENSOR} ranks, inside nodes: all-gather and reduce-scatter around products"
    );
    println!(
        "  data            {TENSOR} groups of {DATA} ranks, two on each node: all-reduce of each layer's gradients"
    );
    println!("  {} nodes in all; model fluid\n", workload.node_count());
    println!("  A  one ring for everything: the two ranks of a node take turns at one card");
    println!("  B  gradients by two rings, each over other cards, as NCCL lays its rings; else as C");
    println!("  C  gradients on two levels, and their norm, one number, by recursive doubling");
    println!("  D  as C, and products begin and end tile by tile, with their all-gather or reduce-scatter\n");
    println!("Times in ms; exposed and overlapped communication, and idle, are means over the ranks.\n");
    println!("  | iteration | exposed | overlapped |  idle | GPU busy | against A");
    let mut reports = Vec::new();
    for (name, rules) in choices() {
        let report = simulate(&workload, &topology, rules)?;
        let mean = |of: fn(&collective::sim::workload::RankTimes) -> Picos| {
            report.ranks.iter().map(|rank| of(rank).0 as f64).sum::<f64>() / report.ranks.len() as f64
        };
        let busy = mean(|rank| rank.compute) + mean(|rank| rank.overlapped);
        let first =
            reports.first().map_or(report.makespan, |(_, first): &(_, WorkloadReport)| first.makespan);
        println!(
            "{name} | {:>9} | {:>7} | {:>10} | {:>5} | {:>7.1}% | {:>8.2}x",
            ms(report.makespan.0 as f64),
            ms(mean(|rank| rank.exposed)),
            ms(mean(|rank| rank.overlapped)),
            ms(mean(|rank| rank.idle)),
            100.0 * busy / report.makespan.0 as f64,
            first.0 as f64 / report.makespan.0 as f64,
        );
        reports.push((name, report));
    }
    println!("\nCollectives: means over the ranks of a group, all of a kind together.\n");
    println!("  | group  | kind           | times |    MiB |    time | exposed | algorithm");
    for (name, report) in &reports {
        for row in rows(report) {
            println!("{name} | {row}");
        }
    }
    println!("\nWhat the iteration waits for (the critical path):\n");
    println!("  | computing | collectives | of it gradients | steps");
    for (name, report) in &reports {
        let [computing, _, collectives, ..] = report.critical_path.shares();
        let steps = &report.critical_path.steps;
        let gradients = steps.iter().filter(|step| step.name.ends_with("bucket"));
        let gradients: u64 = gradients.map(|step| step.finish.0 - step.start.0).sum();
        println!(
            "{name} | {:>9} | {:>11} | {:>15} | {:>5}",
            ms(computing.0 as f64),
            ms(collectives.0 as f64),
            ms(gradients as f64),
            steps.len()
        );
    }
    summary(&reports);
    write(&workload)
}

/// The table of collectives: a line for all groups of one size and a kind.
fn rows(report: &WorkloadReport) -> Vec<String> {
    let mut merged: Vec<(u32, CollectiveKind, u64, [f64; 4], &str)> = Vec::new();
    for times in &report.collectives {
        let figures =
            [times.bytes.0, times.time.0, times.exposed.0, u64::from(times.ranks)].map(|it| it as f64);
        let algorithm = times.algorithms.first().and_then(|name| name.split('(').next()).unwrap_or("");
        match merged.iter_mut().find(|row| (row.0, row.1) == (times.ranks, times.kind)) {
            Some(row) => {
                row.2 += times.count;
                (0..4).for_each(|at| row.3[at] += figures[at]);
            }
            None => merged.push((times.ranks, times.kind, times.count, figures, algorithm)),
        }
    }
    merged.sort_by_key(|row| (row.0, row.1));
    let line = |(ranks, kind, count, [bytes, time, exposed, members], algorithm): (
        u32,
        CollectiveKind,
        u64,
        [f64; 4],
        &str,
    )| {
        let group = match ranks {
            TENSOR => "tensor",
            DATA => "data",
            _ => "all",
        };
        // Groups of one role have alike collectives.
        let (each, size) =
            (count * u64::from(ranks) / members as u64, bytes / count as f64 / f64::from(1 << 20));
        format!(
            "{group:<6} | {:<14} | {each:>5} | {size:>6.1} | {:>7} | {:>7} | {algorithm}",
            kind.name(),
            ms(time / members),
            ms(exposed / members),
        )
    };
    merged.into_iter().map(line).collect()
}

fn summary(reports: &[(&str, WorkloadReport)]) {
    let time = |at: usize| reports[at].1.makespan.0 as f64;
    let worth = |from: usize, to: usize| {
        format!("{} ms ({:.1}%)", ms(time(from) - time(to)), 100.0 * (1.0 - time(to) / time(from)))
    };
    println!(
        "\nB is worth {} of a step against A, C {}; tiles another {}.",
        worth(0, 1),
        worth(0, 2),
        worth(2, 3)
    );
    println!(
        "With tiles a collective lasts from the first tile on, beside the product that makes the others:"
    );
    println!("its time grows, what is exposed shrinks.");
}

/// Writes the step, if the arguments ask for it, and says how to go on.
fn write(workload: &Workload) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let prefix = match &arguments[..] {
        [option, prefix] if option == "--write" => prefix,
        [option, ..] if option == "--write" => {
            return Err("--write needs a prefix, such as target/out/step".into());
        }
        _ => return Ok(()),
    };
    workload.write(prefix)?;
    std::fs::write(format!("{prefix}.groups.json"), workload.groups_json()?)?;
    std::fs::write(format!("{prefix}.topology.toml"), CLUSTER_TOML)?;
    std::fs::write(format!("{prefix}.rules.toml"), RULES_TOML)?;
    println!("\nWritten. The same as C by the command:\n");
    println!(
        "collective simulate --workload {prefix} --groups {prefix}.groups.json --rules {prefix}.rules.toml \\"
    );
    println!(
        "  --topology {prefix}.topology.toml --roofline {}TFLOP/s,{}",
        PEAK / 1e12,
        MEMORY.replace(' ', "")
    );
    Ok(())
}

fn ms(picos: f64) -> String {
    format!("{:.2}", picos / 1e9)
}
