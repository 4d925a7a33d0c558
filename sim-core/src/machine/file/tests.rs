use proptest::prelude::*;

use super::*;
use crate::machine::{Completion, Costs, LinkCosts, LinkKind, Protocol};
use crate::topology::{Dimension, Topology};
use crate::units::{Bandwidth, Bytes, Picos};

const EVERYTHING: &str = r#"
name = "box"
description = "A \"box\""
sources = ["a paper", "a measurement"]
egress = "255 GB/s"
ingress = "250 GB/s"
completion = "delivered"

[protocol.simple]
launch = "5.94 us"
step = "238 ns"
slice = "545 ns"
latency = "1.978 us"
copy = "21.46 GB/s"
reduce = "26 GB/s"
slots = 4
slices = 2
piece = "2 MiB"
wire = 1.5
[protocol.simple.network]
latency = "14 us"
copy = "12.5 GB/s"

[protocol.ll128]

[topology]
[[topology.dimension]]
kind = "switch"
size = 8
bandwidth = "400 GB/s"
latency = "500 ns"
"#;

fn bandwidth(text: &str) -> Bandwidth {
    text.parse().unwrap()
}

#[test]
fn every_key_is_read() {
    let machine = parse(EVERYTHING).unwrap();
    let network = LinkCosts {
        latency: Some(Picos(14_000_000)),
        copy: Some(bandwidth("12.5 GB/s")),
        ..LinkCosts::default()
    };
    let simple = Costs {
        launch: Picos(5_940_000),
        step: Picos(238_000),
        slice: Picos(545_000),
        latency: Picos(1_978_000),
        copy: Some(bandwidth("21.46 GB/s")),
        reduce: Some(bandwidth("26 GB/s")),
        slots: Some(4),
        slices: 2,
        piece: Some(Bytes(2 << 20)),
        wire: 1.5,
        links: vec![(LinkKind::Network, network)],
    };
    let switch = Dimension::switch(8, bandwidth("400 GB/s"), "500 ns".parse().unwrap());
    let mut expected =
        Machine::new("box").with(Protocol::Simple, simple).with(Protocol::Ll128, Costs::free());
    expected.description = "A \"box\"".to_owned();
    expected.sources = vec!["a paper".to_owned(), "a measurement".to_owned()];
    expected.egress = Some(bandwidth("255 GB/s"));
    expected.ingress = Some(bandwidth("250 GB/s"));
    expected.completion = Completion::Delivered;
    expected.topology = Some(Topology::new([switch]).unwrap());
    assert_eq!(machine, expected);
}

#[test]
fn what_is_left_out_costs_nothing() {
    let machine =
        parse("name = \"free\"\ncompletion = \"delivered\"\n[protocol]\nsimple = {}\nll = {}\nll128 = {}\n");
    assert_eq!(machine.unwrap(), Machine::free());
}

#[test]
fn faults_name_the_line_and_what_was_expected() {
    let protocol = "name = \"x\"\n[protocol.ll]\n";
    for (text, message) in [
        ("egress = \"1 GB/s\"", "machine:1: the key name is missing".to_owned()),
        ("name = 4", "machine:1: name = 4: expected a text".to_owned()),
        ("name = \"x\"\nsources = \"y\"", "machine:2: sources = \"y\": expected a list of texts".to_owned()),
        (
            "name = \"x\"\ncompletion = \"sent\"",
            "machine:2: completion = \"sent\": expected \"filled\" or \"delivered\"".to_owned(),
        ),
        (
            "name = \"x\"\n[protocol.LL]",
            "machine:2: the key LL is not known here: expected simple, ll, ll128".to_owned(),
        ),
        (
            &format!("{protocol}lunch = \"1 us\""),
            "machine:3: the key lunch is not known here: expected launch, step, slice, latency, copy, reduce, slots, \
             slices, piece, wire, plain, nvlink, xgmi, pcie, network"
                .to_owned(),
        ),
        (
            &format!("{protocol}launch = 5"),
            "machine:3: launch = 5: expected a text with the unit, such as \"500 ns\"".to_owned(),
        ),
        (
            &format!("{protocol}piece = 5"),
            "machine:3: piece = 5: expected a text with the unit, such as \"64 KiB\"".to_owned(),
        ),
        (&format!("{protocol}piece = \"0 B\""), "machine:3: piece = \"0 B\": expected at least 1 B".to_owned()),
        (&format!("{protocol}slots = 0"), "machine:3: slots = 0: expected a whole number, at least 1".to_owned()),
        (&format!("{protocol}wire = 0.5"), "machine:3: wire = 0.5: expected a number, at least 1".to_owned()),
        (
            &format!("{protocol}pcie = {{ slots = 4 }}"),
            "machine:3: the key slots is not known here: expected step, slice, latency, copy".to_owned(),
        ),
        (
            "name = \"x\"\n[topology]\n[[topology.dimension]]\nkind = \"ring\"",
            "machine:3: the key size is missing".to_owned(),
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn a_file_is_named_in_its_errors() {
    let missing = find("no/such.toml").unwrap_err().to_string();
    assert!(missing.starts_with("no/such.toml: "), "{missing}");
    let unlike = find("gh200").unwrap_err().to_string();
    assert!(
        unlike.ends_with(&format!("expected one of {}, or the path of a file", BUILTIN.join(", "))),
        "{unlike}"
    );
}

#[test]
fn every_built_in_machine_is_read_and_names_its_sources() {
    for name in BUILTIN {
        let machine = builtin(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(machine.name, name);
        assert!(!machine.description.is_empty() && !machine.sources.is_empty(), "{name}");
        assert!(machine.protocols().next().is_some(), "{name}");
    }
}

fn limit() -> impl Strategy<Value = Option<Bandwidth>> {
    let bytes_per_s = prop_oneof![1.0..1e18, (1u64..5000).prop_map(|tenths| tenths as f64 * 1e8)];
    proptest::option::of(bytes_per_s.prop_map(|bytes| Bandwidth::from_bytes_per_s(bytes).unwrap()))
}

fn time() -> impl Strategy<Value = Picos> {
    prop_oneof![
        Just(Picos::ZERO),
        (0u64..10_000).prop_map(|ns| Picos(ns * 1000)),
        any::<u64>().prop_map(Picos)
    ]
}

fn link_costs() -> impl Strategy<Value = LinkCosts> {
    let own = || proptest::option::of(time());
    (own(), own(), own(), limit()).prop_map(|(step, slice, latency, copy)| LinkCosts {
        step,
        slice,
        latency,
        copy,
    })
}

fn costs() -> impl Strategy<Value = Costs> {
    let times = [time(), time(), time(), time()];
    let figures =
        (limit(), limit(), proptest::option::of(1u32..), 1u32.., proptest::option::of(1u64..), 1.0..1e3);
    let links =
        proptest::collection::btree_map(proptest::sample::select(&LinkKind::ALL[..]), link_costs(), 0..5);
    (times, figures, links).prop_map(|([launch, step, slice, latency], figures, links)| {
        let (copy, reduce, slots, slices, piece, wire) = figures;
        let (piece, links) = (piece.map(Bytes), links.into_iter().collect());
        Costs { launch, step, slice, latency, copy, reduce, slots, slices, piece, wire, links }
    })
}

fn machine() -> impl Strategy<Value = Machine> {
    let texts = (any::<String>(), any::<String>(), proptest::collection::vec(any::<String>(), 0..3));
    let costs = [0, 1, 2].map(|_| proptest::option::of(costs()));
    (texts, (limit(), limit()), any::<bool>(), costs, any::<bool>()).prop_map(
        |((name, description, sources), (egress, ingress), delivered, costs, own)| {
            let mut machine = Machine::new(name);
            (machine.description, machine.sources) = (description, sources);
            (machine.egress, machine.ingress) = (egress, ingress);
            if delivered {
                machine.completion = Completion::Delivered;
            }
            if own {
                let switch = Dimension::switch(8, bandwidth("400 GB/s"), "500 ns".parse().unwrap());
                let node = Topology::new([switch]).unwrap();
                machine.topology = Some(node.with_link_kind(LinkKind::NvLink));
            }
            let costs = Protocol::ALL.into_iter().zip(costs);
            costs.fold(machine, |machine, (protocol, costs)| match costs {
                Some(costs) => machine.with(protocol, costs),
                None => machine,
            })
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(machine in machine()) {
        let text = to_toml(&machine);
        prop_assert_eq!(parse(&text).map_err(|error| error.to_string()), Ok(machine), "{}", text);
    }
}

#[test]
fn built_in_machines_are_written_and_read_as_the_same() {
    for machine in BUILTIN.into_iter().filter_map(builtin) {
        assert_eq!(parse(&to_toml(&machine)).unwrap(), machine);
    }
}
