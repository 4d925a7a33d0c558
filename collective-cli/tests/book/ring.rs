//! The programs of README.md and of the tutorials, whose results the pages quote.
#![allow(dead_code, reason = "of the program of the tutorial only the algorithm is used")]

use std::path::Path;

use collective::assert_correct;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::{Model, Simulation};

// The program of docs/tutorial.md, with its own `use`: a file of this name, so that reports name the lines of the reader's.
include!("src/main.rs");

/// The same with `1..ranks - 1`.
#[collective(all_reduce, in_place)]
fn broken(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks - 1 {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// What the compiler says of the broken ones, which is what they say of themselves at run time.
pub(crate) fn errors() -> Vec<String> {
    let found = broken::compile(8).unwrap_err();
    found.findings.iter().map(|diagnostic| format!("error: {}", diagnostic.message)).collect()
}

/// What the programs print.
pub(crate) fn outputs() -> Vec<String> {
    let graph = ring::RANKS_8.with_size(Size::bytes(64 << 20)).unwrap().graph().unwrap();
    let link = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    let topology = Topology::new([Dimension::ring(8, link.0, link.1)]).unwrap();
    let report = Simulation::new(&topology).model(Model::LinkQueue).run(&graph).unwrap();
    let messages = ring::compile(100).unwrap().message_count();
    vec![format!("{} messages, {}\n{messages} messages among 100 ranks\n", report.messages, report.makespan)]
}

/// What the program of the tutorial writes.
pub(crate) fn write(at: &Path) {
    fs::create_dir_all(at.join("out")).unwrap();
    ring::RANKS_8.with_size(Size::bytes(16 << 20)).unwrap().write(at.join("out/ring")).unwrap();
    fs::write(at.join("out/ring.xml"), ring::RANKS_8.xml().unwrap()).unwrap();
}

#[test]
fn ring_is_right() {
    assert_correct!(ring, ranks = 2..=17);
}

#[test]
fn the_pages_have_this_ring() {
    let source = include_str!("src/main.rs");
    let page = |name: &str| fs::read_to_string(crate::root().join(name)).unwrap();
    assert!(page("docs/tutorial.md").contains(source));
    let function = source.split_once("/// Each").unwrap().1.split_once("fn main").unwrap().0;
    assert!(page("README.md").contains(function));
}
