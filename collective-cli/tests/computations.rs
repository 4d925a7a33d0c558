//! Traces of programs with computations: every subcommand that reads traces takes them.

mod support;

use std::path::Path;

use collective::Buffer::Input;
use collective::et::{self, EtOptions};
use collective::{Collective, Cost, Program, Size, compile};
use support::{fails, json, succeeds, with_ring};

/// Eight ranks compute the parts of a reduce-scatter, 5 us each, and pass the sums on around a ring. Returns the line of the
/// first computation of rank 0.
fn write(at: &Path) -> u32 {
    let p = Program::new(Collective::reduce_scatter(8).unwrap().in_place().unwrap());
    let mut line = 0;
    for part in 0..8 {
        let mut sum = p.compute((part + 1) % 8, Cost::micros(5)).writes(Input, part, 1);
        for step in 2..=8 {
            line = line!() + 1;
            sum = p.compute((part + step) % 8, Cost::micros(5)).writes(Input, part, 1).reduce(sum);
        }
    }
    let schedule = compile(&p.finish("product").unwrap()).unwrap();
    et::bytes(&schedule, &EtOptions::new(Size::bytes(8 << 20))).unwrap().write(at.join("product")).unwrap();
    line
}

#[test]
fn traces_with_computations_are_judged_simulated_and_inspected() {
    let directory = with_ring();
    let at = directory.path();
    write(at);
    let report = json(&succeeds(at, "verify product --json"));
    assert_eq!((&report["verdict"], &report["post_condition"]), (&"pass".into(), &"holds".into()));
    let report = json(&succeeds(at, "inspect product --json"));
    assert_eq!(report["findings"], serde_json::json!([]), "{report}");
    let report = json(&succeeds(
        at,
        "simulate product --topology ring.yml --conventions exact --model link-queue --json",
    ));
    // No less than the computations of a rank alone.
    assert!(report["time_ns"].as_f64().unwrap() >= 40_000.0, "{report}");
    succeeds(at, "convert product product.jsonl");
}

#[test]
fn there_is_no_xml_of_them() {
    let directory = with_ring();
    let line = write(directory.path());
    let said = fails(directory.path(), 1, "convert product product.xml");
    assert!(said.contains("knows no computation"), "{said}");
    assert!(said.contains(&format!("computations.rs:{line}")), "{said}");
}
