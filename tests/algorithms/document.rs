//! `docs/algorithms.md`: every algorithm with its documentation, and its costs by theory beside those that are counted and
//! simulated.

use std::fmt::Write as _;
use std::path::Path;

use collective::algorithms::{self, Algorithm};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bandwidth, Latency, Picos};
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size, run};
use rayon::prelude::*;

const HEAD: &str = "\
# The library of algorithms

Every algorithm of `collective::algorithms`: what it does, what it costs by theory, and what its program costs when it is counted and
simulated. A test writes this page from the code (`BLESS=1 cargo test --test algorithms document`), and others hold that theory and
program agree.

S is the size of the collective as in the size column of nccl-tests: the vector for all-reduce, broadcast and reduce; the gathered
result for all-gather and gather; the input of a rank for reduce-scatter, all-to-all and scatter. *Rounds* is the number of messages that
follow one another, *sent* what the busiest rank sends. *Link* is the sum over the rounds of what the most loaded link carries on a
physical ring of the ranks (both directions, shortest paths; half way round all go the same way): what a ring with no latency makes of the
algorithm. All three are counted in the compiled program.

*Theory* is the time in the α-β model, Σ (α + b/B) over the longest chain of messages of b bytes; *simulated* is the time under the
model `fluid`, for traces that hold what the algorithm demands (`--order dataflow`). The network is the one that is named: a switch with
one port a rank, links between all ranks, or a torus; 50 GB/s and 500 ns a link. So times of two entries compare only where the
network is the same. Sizes are rounded up so that chunks are whole.

`collective algorithms NAME` shows an entry in the terminal, `collective compare` simulates all of a collective on your topology.
";

/// The numbers of ranks of the tables: those of them that the algorithm is for.
const RANKS: [usize; 6] = [4, 6, 9, 16, 27, 64];

fn link() -> (Bandwidth, Latency) {
    ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"))
}

#[test]
fn the_page_in_the_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/algorithms.md");
    let text = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("the page is written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(stored.lines()).find(|(ours, stored)| ours != stored);
    assert!(text == stored, "docs/algorithms.md is out of date (BLESS=1 rewrites it): {differs:?}");
}

fn page() -> String {
    let all: Vec<&Algorithm> = algorithms::all().collect();
    let entries: Vec<String> = all.par_iter().map(|algorithm| entry(algorithm)).collect();
    let mut text = HEAD.to_owned();
    text.push_str(&overview(&all));
    let mut kind = None;
    for (algorithm, entry) in all.iter().zip(entries) {
        if kind != Some(algorithm.def.kind) {
            kind = Some(algorithm.def.kind);
            let name = algorithm.def.kind.name().replace('_', "-");
            let _ = writeln!(text, "\n## {}{}", name[..1].to_uppercase(), &name[1..]);
        }
        text.push_str(&entry);
    }
    text
}

/// One line an algorithm, for the number of ranks that most are for.
fn overview(all: &[&Algorithm]) -> String {
    const RANKS: usize = 16;
    const OTHER: usize = 27;
    let mut text = format!(
        "\nAll at a glance, for {RANKS} ranks ({OTHER} where an algorithm is not for {RANKS}) and the first choice of the other parameters:\n\n\
         | collective | algorithm | for ranks | rounds | sent / S | link / S |\n|---|---|---|--:|--:|--:|\n"
    );
    let rows: Vec<String> = all
        .par_iter()
        .map(|algorithm| {
            let name = algorithm.name();
            let choices = [RANKS, OTHER].map(|ranks| algorithm.choices(ranks));
            let Some(values) = choices.iter().find_map(|choices| choices.first()) else {
                return String::new();
            };
            let schedule =
                algorithm.compile(algorithm.placement.allows(true), values).expect("a choice of its own");
            let cost = algorithm.cost(values);
            format!(
                "| {} | [{name}](#{name}) | {} | {} | {} | {} |\n",
                algorithm.def.kind.name().replace('_', "-"),
                algorithm.ranks,
                cost.rounds(),
                cost.sent,
                link_load(&schedule)
            )
        })
        .collect();
    text.push_str(&rows.concat());
    text
}

/// The sum over the rounds of what the most loaded link of a physical ring carries, as a share of S.
fn link_load(schedule: &Schedule) -> algorithms::Share {
    let (bandwidth, latency) = link();
    let size = at_least(schedule, 1 << 20);
    let ring = Dimension::ring(schedule.ranks.len() as u32, bandwidth, latency);
    let ring = Topology::new([ring]).expect("a ring");
    let load = link_loads(&ring, &graph(schedule, size)).expect("loads").sum_of_largest().expect("a sum").0;
    algorithms::Share::new(load, size.in_bytes().max(1))
}

fn entry(algorithm: &Algorithm) -> String {
    let def = &algorithm.def;
    let mut text = format!("\n### {}\n\n", def.name);
    let mut in_code = false;
    for line in visible(def.docs) {
        let opens = !in_code && line == "```";
        in_code ^= line.trim_start().starts_with("```");
        let _ = writeln!(text, "{}", if opens { "```rust".to_owned() } else { links_within(line) });
    }
    let params: Vec<&str> = def.params.iter().map(|param| param.name).collect();
    let _ = writeln!(
        text,
        "\nFor ranks: {}. {}{}. Network: {}.\n",
        algorithm.ranks,
        algorithm.placement.to_string()[..1].to_uppercase(),
        &algorithm.placement.to_string()[1..],
        algorithm.network
    );
    let _ = writeln!(
        text,
        "| {} | rounds | sent / S | link / S | theory, 64 KiB | simulated | theory, 64 MiB | simulated |\n|{}",
        params.join(" | "),
        "--:|".repeat(params.len() + 7)
    );
    for ranks in RANKS {
        if let Some(values) = algorithm.choices(ranks).first() {
            text.push_str(&row(algorithm, values));
        }
    }
    text
}

/// A line whose links to functions lead to their sections of the page.
fn links_within(line: &str) -> String {
    let mut parts = line.split("](fn@");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once(')').unwrap_or((part, ""));
        let _ = write!(text, "](#{}){rest}", path.rsplit("::").next().unwrap_or(path));
    }
    text
}

/// Documentation as Markdown: without the lines of examples that rustdoc hides, and links to items as code.
fn visible(docs: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    docs.lines().filter(move |line| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        !(in_code && (*line == "#" || line.starts_with("# ")))
    })
}

fn row(algorithm: &Algorithm, values: &[usize]) -> String {
    let schedule = algorithm.compile(algorithm.placement.allows(true), values).expect("a choice of its own");
    let cost = algorithm.cost(values);
    let (bandwidth, latency) = link();
    let network = algorithm.network.topology(values, bandwidth, latency).expect("a network");
    let alpha = algorithm.network.alpha(latency.to_picos());
    let times = [64 << 10, 64 << 20].map(|wanted| {
        let size = at_least(&schedule, wanted);
        let simulated =
            Simulation::new(&network).model(Model::Fluid).run(&graph(&schedule, size)).expect("a report");
        let theory = cost.time(alpha, bandwidth, size).expect("a time");
        format!("{} | {}", micros(theory), micros(simulated.makespan))
    });
    let load = link_load(&schedule);
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!(
        "| {} | {} | {} | {load} | {} |\n",
        values.join(" | "),
        cost.rounds(),
        cost.sent,
        times.join(" | ")
    )
}

/// A size of which every chunk is whole, from `bytes` on.
fn at_least(schedule: &Schedule, bytes: u64) -> Size {
    // Even, so that half chunks are whole where a ring has two shortest paths.
    let unit = run::one_element_a_chunk(&schedule.collective).max(1) * 8;
    Size::bytes(bytes.next_multiple_of(unit))
}

fn graph(schedule: &Schedule, size: Size) -> collective::chakra_et::graph::Graph {
    et::graph(schedule, &EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) }).expect("a graph")
}

fn micros(time: Picos) -> String {
    format!("{:.3} µs", time.as_ns() / 1000.0)
}
