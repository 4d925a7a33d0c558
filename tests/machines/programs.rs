//! What is run: programs of the library, and rings in other orders.

use collective::et::{self, EtOptions};
use collective::prelude::*;
use collective::sim::Simulation;
use collective::sim::machine::{self, Machine};
use collective::sim::topology::{self, Dimension, Topology};
use collective::{CollectiveKind, ElementType, Protocol, Schedule, Setting, Size, algorithms};

use crate::measured::{Network, Section, Series};

/// A program, and the protocols to try.
pub(crate) struct Program {
    pub(crate) what: What,
    pub(crate) protocols: &'static [Protocol],
}

pub(crate) enum What {
    /// An algorithm of the library, with its parameters.
    Library(&'static str, &'static [(&'static str, usize)]),
    /// All-reduce by rings through the ranks in each of these orders.
    AllReduceRings(&'static [&'static [usize]]),
    /// All-gather by eight rings over nodes of eight, of which each leaves the nodes at another GPU: what
    /// `allreduce_rotated_rings` is for all-reduce.
    RotatedAllGather(usize),
}

/// What a size takes.
pub(crate) struct Outcome {
    pub(crate) label: &'static str,
    pub(crate) bytes: u64,
    pub(crate) measured: f64,
    /// Microseconds, and the protocol, of the fastest program.
    pub(crate) ours: f64,
    pub(crate) how: String,
}

impl Outcome {
    pub(crate) fn error(&self) -> f64 {
        self.ours / self.measured - 1.0
    }
}

impl What {
    fn schedule(&self) -> Schedule {
        match self {
            Self::Library(name, given) => algorithms::find(name).unwrap().def.compile_with(given).unwrap(),
            Self::AllReduceRings(orders) => all_reduce(orders),
            Self::RotatedAllGather(ranks) => all_gather(&rotated(*ranks)),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Library(name, _) => name,
            Self::AllReduceRings(_) | Self::RotatedAllGather(_) => "rings",
        }
    }
}

fn all_reduce(orders: &[&[usize]]) -> Schedule {
    let ranks = orders[0].len();
    let (kind, chunks) = (CollectiveKind::AllReduce, Some(ranks * orders.len()));
    let setting = Setting { in_place: true, chunks, ..Setting::new("rings", kind, ranks) };
    let program = |p: &collective::Program| {
        for (ring, order) in orders.iter().enumerate() {
            for start in 0..ranks {
                let (at, index) = (|step: usize| order[(start + step) % ranks], ring * ranks + start);
                let mut sum = p.chunk(at(0), Output, index).on_channel(ring);
                for step in 1..ranks {
                    sum = p.chunk(at(step), Output, index).reduce(sum);
                }
                for step in 0..ranks - 1 {
                    sum = sum.copy_to(at(step), Output, index);
                }
            }
        }
    };
    collective::compile(&setting.trace("", program).unwrap()).unwrap()
}

fn all_gather(orders: &[Vec<usize>]) -> Schedule {
    let ranks = orders[0].len();
    let (kind, chunks) = (CollectiveKind::AllGather, Some(orders.len()));
    let setting = Setting { in_place: true, chunks, ..Setting::new("rings", kind, ranks) };
    let program = |p: &collective::Program| {
        for (ring, order) in orders.iter().enumerate() {
            for start in 0..ranks {
                let (owner, index) = (order[start], order[start] * orders.len() + ring);
                let mut data = p.chunk(owner, Input, ring).on_channel(ring).copy_to(owner, Output, index);
                for step in 1..ranks {
                    data = data.copy_to(order[(start + step) % ranks], Output, index);
                }
            }
        }
    };
    collective::compile(&setting.trace("", program).unwrap()).unwrap()
}

/// In ring r every node begins with its GPU r.
fn rotated(ranks: usize) -> Vec<Vec<usize>> {
    let at = |position: usize, ring: usize| position / 8 * 8 + (position + ring) % 8;
    (0..8).map(|ring| (0..ranks).map(|position| at(position, ring)).collect()).collect()
}

impl Network {
    fn topology(&self, machine: &Machine) -> Topology {
        let parsed = |text: &str| topology::parse_toml(text, "network", None).unwrap().topology;
        match self {
            Self::Text(text) => parsed(text),
            Self::Own => machine.topology.clone().unwrap(),
            Self::Ring(ranks, bandwidth) => {
                let ring = Dimension::ring(*ranks, bandwidth.parse().unwrap(), "0 ns".parse().unwrap());
                Topology::new([ring]).unwrap()
            }
            Self::Switch(ranks, bandwidth) => parsed(&format!(
                "[[dimension]]\nkind = \"switch\"\nsize = {ranks}\nlink = \"nvlink\"\nbandwidth = \"{bandwidth}\"\nlatency = \"0 ns\""
            )),
            Self::OneSwitch(ranks, bandwidth) => parsed(&format!(
                "[[dimension]]\nkind = \"switch\"\nsize = {ranks}\nlink = \"network\"\nbandwidth = \"{bandwidth}\"\nlatency = \"0 ns\""
            )),
            Self::Cluster { nodes, cards, nvlink, card } => {
                // Ranks that share a card reach it by PCI Express 4.0.
                let shared = match cards {
                    8 => "",
                    _ => "card-bandwidth = \"32 GB/s\"\ncard-latency = \"0 ns\"\n",
                };
                let all = nodes * cards;
                parsed(&format!(
                    "[[dimension]]\nkind = \"cluster\"\nnodes = {nodes}\ncards = {cards}\nwiring = \"by-node\"\n{shared}\
                     [[dimension.node]]\nkind = \"switch\"\nsize = 8\nlink = \"nvlink\"\nbandwidth = \"{nvlink}\"\nlatency = \"0 ns\"\n\
                     [[dimension.network]]\nkind = \"switch\"\nsize = {all}\nbandwidth = \"{card}\"\nlatency = \"0 ns\""
                ))
            }
        }
    }
}

impl Section {
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        let machine = machine::builtin(self.machine).unwrap();
        self.series.iter().flat_map(|series| series.outcomes(&machine)).collect()
    }
}

impl Series {
    fn outcomes(&self, machine: &Machine) -> Vec<Outcome> {
        let topology = self.network.topology(machine);
        let programs: Vec<_> = self.programs.iter().map(|it| (it, it.what.schedule())).collect();
        // Where there is but one program, its name says nothing.
        let named = programs.len() > 1;
        let outcome = |(bytes, measured)| {
            let mut fastest: Option<(f64, String)> = None;
            for (program, schedule) in &programs {
                for protocol in program.protocols {
                    let schedule = Schedule { protocol: *protocol, ..schedule.clone() };
                    let options = EtOptions::new(Size::of(bytes, ElementType::I8));
                    let graph = et::graph(&schedule, &options).unwrap();
                    let report = Simulation::new(&topology).machine(machine).run(&graph).unwrap();
                    let micros = report.makespan.0 as f64 / 1e6;
                    if fastest.as_ref().is_none_or(|(least, _)| micros < *least) {
                        let name = if named { format!("{}, ", program.what.name()) } else { String::new() };
                        fastest = Some((micros, format!("{name}{}", protocol.name())));
                    }
                }
            }
            let (ours, how) = fastest.unwrap();
            Outcome { label: self.label, bytes, measured, ours, how }
        };
        self.rows().map(outcome).collect()
    }
}
