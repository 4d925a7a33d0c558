//! What holds for every kind of topology, and the figures of each.

use super::*;
use crate::units::{Bandwidth, Latency};
use DimensionKind::{FullyConnected, Hypercube, Line, OneWayRing, Ring, Switch};

fn link(gb_per_s: f64, ns: f64) -> LinkSpec {
    LinkSpec::new(Bandwidth::from_bytes_per_s(gb_per_s * 1e9).unwrap(), Latency::from_ns(ns).unwrap())
}

fn product(dimensions: &[(DimensionKind, u32)]) -> Topology {
    let LinkSpec { bandwidth, latency } = link(50.0, 500.0);
    Topology::new(dimensions.iter().map(|&(kind, size)| Dimension { kind, size, bandwidth, latency }))
        .unwrap()
}

fn leaf_spine(leaves: u32, hosts: u32, spines: u32) -> LeafSpine {
    let (host, uplink) = (link(50.0, 500.0), link(100.0, 700.0));
    LeafSpine { leaves, hosts, spines, host, uplink, routing: Routing::default() }
}

fn dragonfly(groups: u32, routers: u32, hosts: u32, globals: u32) -> Dragonfly {
    let (host, local, global) = (link(50.0, 500.0), link(40.0, 300.0), link(25.0, 1000.0));
    Dragonfly { groups, routers, hosts, globals, host, local, global, routing: Routing::default() }
}

fn fat_tree(pods: u32, edges: u32, aggregations: u32, cores: u32, hosts: u32) -> FatTree {
    FatTree { pods, edges, aggregations, cores, hosts, ..FatTree::k_ary(4, link(50.0, 500.0)).unwrap() }
}

fn cluster(node: Topology, nodes: u32, cards: u32, network: Topology, order: CardOrder) -> Cluster {
    let card_link = Some(link(64.0, 300.0));
    Cluster { nodes, node, cards, card_link, network, order, through_peer: false }
}

fn route(topology: &Topology, src: u32, dst: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    topology.route(src, dst, &mut route);
    route
}

/// The route in words.
fn words(topology: &Topology, src: u32, dst: u32) -> Vec<String> {
    route(topology, src, dst).into_iter().map(|id| topology.link(id).unwrap().description).collect()
}

/// One of every kind, with odd figures among them, and whether every link is on some route.
fn all_kinds() -> Vec<(&'static str, Topology, bool)> {
    let node = product(&[(Switch, 4)]);
    let mut one_way = LinkList::new(4);
    for rank in 0..4 {
        one_way.one_way(Node::Rank(rank), Node::Rank((rank + 1) % 4), link(10.0 + f64::from(rank), 100.0));
    }
    let peer = |order, network| Cluster { through_peer: true, ..cluster(node.clone(), 3, 2, network, order) };
    let direct = Cluster {
        card_link: None,
        ..cluster(product(&[(Ring, 3)]), 4, 3, product(&[(Line, 12)]), CardOrder::ByNode)
    };
    vec![
        ("products", product(&[(Switch, 3), (Ring, 4), (FullyConnected, 2)]), true),
        ("products with parts of one", product(&[(Ring, 2), (Switch, 1), (Ring, 3)]), true),
        ("products with parts of one", product(&[(FullyConnected, 3), (Ring, 1), (Switch, 4)]), true),
        ("one rank", product(&[(Ring, 1)]), true),
        ("one way", product(&[(OneWayRing, 5), (OneWayRing, 2)]), true),
        ("mesh", product(&[(Line, 4), (Line, 3), (Line, 2)]), true),
        ("line of two", product(&[(Line, 2)]), true),
        ("torus", product(&[(Ring, 4), (Ring, 5), (Ring, 3)]), true),
        ("hypercube", product(&[(Hypercube, 16)]), true),
        ("hypercube of one", product(&[(Hypercube, 1), (Hypercube, 2)]), true),
        ("leaf-spine", leaf_spine(4, 8, 3).build().unwrap(), true),
        ("leaf-spine of one leaf", leaf_spine(1, 5, 2).build().unwrap(), false),
        (
            "by destination",
            LeafSpine { routing: Routing::Destination, ..leaf_spine(3, 4, 4) }.build().unwrap(),
            true,
        ),
        ("fat tree of 4", fat_tree(4, 2, 2, 2, 2).build().unwrap(), true),
        ("fat tree of 6", FatTree::k_ary(6, link(50.0, 500.0)).unwrap().build().unwrap(), true),
        ("uneven fat tree", fat_tree(3, 2, 3, 2, 5).build().unwrap(), true),
        ("fat tree of one pod", fat_tree(1, 3, 2, 1, 4).build().unwrap(), false),
        ("dragonfly", dragonfly(9, 4, 2, 2).build().unwrap(), true),
        ("dragonfly with parallel links", dragonfly(3, 4, 2, 3).build().unwrap(), true),
        ("dragonfly with free ports", dragonfly(4, 2, 3, 4).build().unwrap(), true),
        ("dragonfly of one group", dragonfly(1, 4, 2, 1).build().unwrap(), true),
        ("dragonfly of single routers", dragonfly(4, 1, 2, 3).build().unwrap(), true),
        ("rails", peer(CardOrder::Rails, product(&[(Switch, 3)])).build().unwrap(), true),
        (
            "by node",
            cluster(node.clone(), 3, 2, leaf_spine(2, 3, 2).build().unwrap(), CardOrder::ByNode)
                .build()
                .unwrap(),
            true,
        ),
        ("by rail", peer(CardOrder::ByRail, leaf_spine(2, 3, 1).build().unwrap()).build().unwrap(), false),
        ("ranks as cards", direct.build().unwrap(), true),
        ("DGX-1", LinkList::dgx1(link(25.0, 700.0)).unwrap().build().unwrap(), true),
        ("uneven links", one_way.build().unwrap(), true),
        (
            "a product of fabrics",
            Topology::product([node, fat_tree(2, 2, 1, 1, 2).build().unwrap()]).unwrap(),
            true,
        ),
    ]
}

fn legs(topology: &Topology, src: u32, dst: u32) -> Vec<Leg> {
    let mut legs = Vec::new();
    topology.each_leg(src, dst, |leg| legs.push(leg));
    legs
}

#[test]
fn every_route_leads_from_device_to_device_and_every_link_is_used() {
    for (name, topology, all_used) in all_kinds() {
        let mut used = vec![false; topology.link_count() as usize];
        for (src, dst) in pairs(&topology) {
            let route = route(&topology, src, dst);
            let mut at = DeviceId(u64::from(src));
            for id in &route {
                let (from, to) = topology.link_ends(*id).unwrap();
                assert_eq!(from, at, "{name}: {:?}", words(&topology, src, dst));
                at = to;
                used[id.0 as usize] = true;
            }
            assert_eq!(at, DeviceId(u64::from(dst)), "{name}: {:?}", words(&topology, src, dst));
            assert_eq!(src == dst, route.is_empty());
            let mut seen = route.clone();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), route.len(), "{name}: a link twice");
        }
        let unused = topology.unused_links().unwrap();
        assert_eq!(unused.len(), used.iter().filter(|used| !**used).count(), "{name}");
        assert_eq!(
            unused.is_empty(),
            all_used,
            "{name}: {:?}",
            unused.first().and_then(|id| topology.link(*id))
        );
    }
}

fn pairs(topology: &Topology) -> impl Iterator<Item = (u32, u32)> + use<> {
    let ranks = topology.rank_count();
    (0..ranks).flat_map(move |src| (0..ranks).map(move |dst| (src, dst)))
}

#[test]
fn what_is_said_of_links_agrees() {
    for (name, topology, _) in all_kinds() {
        for id in (0..topology.link_count()).map(LinkId) {
            let link = topology.link(id).unwrap();
            assert_eq!(topology.link_timing(id), (link.bandwidth, link.latency), "{name}");
            let (from, to) = topology.link_ends(id).unwrap();
            assert_ne!(from, to, "{name}");
            let [from, to] = [from, to].map(|end| topology.device(end).unwrap().name);
            assert!(link.description.starts_with(&format!("{from} → {to}")), "{name}: {}", link.description);
        }
        let end = LinkId(topology.link_count());
        assert_eq!((topology.link(end), topology.link_ends(end)), (None, None));
        // It has an answer all the same.
        let _ = topology.link_timing(end);
        let mut names: Vec<String> =
            (0..topology.device_count()).map(|id| topology.device(DeviceId(id)).unwrap().name).collect();
        assert_eq!(topology.device(DeviceId(topology.device_count())), None);
        names.sort();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{name}: {names:?}");
        let groups: u64 = topology.link_groups().iter().map(|group| group.count).sum();
        assert_eq!(groups, topology.link_count(), "{name}");
    }
}

#[test]
fn legs_are_the_route_summed_up() {
    for (name, topology, _) in all_kinds() {
        for (src, dst) in pairs(&topology) {
            let links = route(&topology, src, dst).into_iter().map(|id| topology.link_timing(id));
            let (mut latency, mut narrowest, mut hops) = (0.0, f64::INFINITY, 0);
            for (bandwidth, of) in links {
                (latency, hops) = (latency + of.as_ns(), hops + 1);
                narrowest = narrowest.min(bandwidth.bytes_per_s());
            }
            let legs = legs(&topology, src, dst);
            assert_eq!(legs.iter().map(|leg| leg.hops).sum::<u32>(), hops, "{name}");
            let sum: f64 = legs.iter().map(|leg| f64::from(leg.hops) * leg.latency.as_ns()).sum();
            assert!((sum - latency).abs() < 1e-6, "{name}");
            let least = legs.iter().map(|leg| leg.bandwidth.bytes_per_s()).fold(f64::INFINITY, f64::min);
            assert_eq!(least, narrowest, "{name}");
        }
    }
}

#[test]
fn diameter_and_injection_are_what_trying_gives() {
    for (name, topology, _) in all_kinds() {
        let longest = pairs(&topology).map(|(src, dst)| route(&topology, src, dst).len()).max().unwrap();
        assert_eq!(topology.diameter(), Diameter { hops: longest as u32, exact: true }, "{name}");
        let mut sent = vec![0.0; topology.rank_count() as usize];
        for id in (0..topology.link_count()).map(LinkId) {
            let (from, _) = topology.link_ends(id).unwrap();
            if let Some(sent) = sent.get_mut(from.0 as usize) {
                *sent += topology.link_timing(id).0.bytes_per_s();
            }
        }
        let [least, most] = topology.injection();
        assert_eq!(least, sent.iter().copied().fold(f64::INFINITY, f64::min), "{name}");
        // Parts may have their best connected members elsewhere than each other, but not here.
        assert_eq!(most, sent.iter().copied().fold(0.0, f64::max), "{name}");
    }
}

#[test]
fn a_ring_goes_the_shorter_way_and_up_on_a_tie() {
    let ring = product(&[(Ring, 6)]);
    assert_eq!(words(&ring, 5, 1), ["rank 5 → rank 0", "rank 0 → rank 1"]);
    assert_eq!(words(&ring, 1, 5), ["rank 1 → rank 0", "rank 0 → rank 5"]);
    assert_eq!(words(&ring, 4, 1)[0], "rank 4 → rank 5", "a tie goes up");
    assert_eq!(words(&ring, 4, 1).len(), 3);
}

#[test]
fn a_ring_of_two_has_one_link_each_way() {
    let ring = product(&[(Ring, 2)]);
    assert_eq!(ring.link_count(), 2);
    assert_eq!(words(&ring, 0, 1), ["rank 0 → rank 1"]);
    assert_eq!(words(&ring, 1, 0), ["rank 1 → rank 0"]);
}

#[test]
fn fully_connected_has_one_link_for_each_ordered_pair() {
    let full = product(&[(FullyConnected, 5)]);
    let mut links = Vec::new();
    for (src, dst) in pairs(&full).filter(|(src, dst)| src != dst) {
        assert_eq!(words(&full, src, dst), [format!("rank {src} → rank {dst}")]);
        full.route(src, dst, &mut links);
    }
    links.sort();
    assert_eq!(links, (0..20).map(LinkId).collect::<Vec<_>>());
}

#[test]
fn hops_are_those_of_theory() {
    let torus = product(&[(Ring, 4), (Ring, 5), (Ring, 3)]);
    let mesh = product(&[(Line, 4), (Line, 5), (Line, 3)]);
    let around = |a: u32, b: u32, n: u32| a.abs_diff(b).min(n - a.abs_diff(b));
    for (src, dst) in pairs(&torus) {
        let axes = |rank: u32| [rank % 4, rank / 4 % 5, rank / 20];
        let (a, b) = (axes(src), axes(dst));
        let torus_hops: u32 = (0..3).map(|axis| around(a[axis], b[axis], [4, 5, 3][axis])).sum();
        let mesh_hops: u32 = (0..3).map(|axis| a[axis].abs_diff(b[axis])).sum();
        assert_eq!(route(&torus, src, dst).len() as u32, torus_hops);
        assert_eq!(route(&mesh, src, dst).len() as u32, mesh_hops);
    }
    let cube = product(&[(Hypercube, 32)]);
    for (src, dst) in pairs(&cube) {
        assert_eq!(route(&cube, src, dst).len() as u32, (src ^ dst).count_ones());
    }
    let one_way = product(&[(OneWayRing, 7)]);
    assert_eq!(route(&one_way, 1, 0).len(), 6);
    // k = 6: 3 members at an edge, 9 in a pod.
    let tree = FatTree::k_ary(6, link(50.0, 500.0)).unwrap().build().unwrap();
    for (src, dst) in pairs(&tree).filter(|(src, dst)| src != dst) {
        let hops = if src / 3 == dst / 3 {
            2
        } else if src / 9 == dst / 9 {
            4
        } else {
            6
        };
        assert_eq!(route(&tree, src, dst).len(), hops);
    }
    for fly in [dragonfly(9, 4, 2, 2), dragonfly(5, 4, 3, 2), dragonfly(2, 3, 1, 1)] {
        let (topology, group) = (fly.build().unwrap(), fly.routers * fly.hosts);
        for (src, dst) in pairs(&topology).filter(|(src, dst)| src != dst) {
            let hops = route(&topology, src, dst).len();
            let expected = match (src / fly.hosts == dst / fly.hosts, src / group == dst / group) {
                (true, _) => 2..=2,
                (false, true) => 3..=3,
                (false, false) => 3..=5,
            };
            assert!(expected.contains(&hops), "{src} to {dst}: {hops}");
        }
    }
}

#[test]
fn links_are_as_many_as_the_formulas_say() {
    for k in [2u32, 4, 8, 16] {
        let tree = FatTree::k_ary(k, link(50.0, 500.0)).unwrap().build().unwrap();
        let k = u64::from(k);
        // k³/4 members and, on each of three layers, as many links; 5k²/4 switches.
        assert_eq!((u64::from(tree.rank_count()), tree.link_count()), (k * k * k / 4, 2 * 3 * k * k * k / 4));
        assert_eq!(tree.device_count(), k * k * k / 4 + 5 * k * k / 4);
    }
    // 72 hosts, 9 groups of 4 · 3 local links, and a link each way between all pairs of groups.
    assert_eq!(dragonfly(9, 4, 2, 2).build().unwrap().link_count(), 2 * 72 + 9 * 12 + 9 * 8);
    assert_eq!(leaf_spine(4, 8, 3).build().unwrap().link_count(), 2 * 32 + 2 * 12);
    assert_eq!(product(&[(Hypercube, 64)]).link_count(), 64 * 6);
    assert_eq!(product(&[(Ring, 4), (Ring, 4), (Ring, 4)]).link_count(), 64 * 6);
    assert_eq!(product(&[(Line, 4), (Line, 4)]).link_count(), 2 * 4 * 2 * 3);
    // Each V100 has six NVLinks, of which 2 · 2 join the same two GPUs: four links out of each.
    let dgx1 = LinkList::dgx1(link(25.0, 700.0)).unwrap().build().unwrap();
    assert_eq!((dgx1.link_count(), dgx1.injection(), dgx1.diameter().hops), (32, [150e9; 2], 2));
}

#[test]
fn bisections_are_those_of_theory() {
    let gb = |topology: Topology| topology.halving_bandwidth().map(|bytes| bytes / 1e9);
    assert_eq!(gb(product(&[(Ring, 8)])), Some(100.0), "two links of 50");
    assert_eq!(gb(product(&[(Line, 8)])), Some(50.0));
    assert_eq!(gb(product(&[(Ring, 5)])), None, "no halves");
    assert_eq!(
        gb(product(&[(Ring, 4), (Ring, 4), (Ring, 8)])),
        Some(2.0 * 16.0 * 50.0),
        "across the long axis"
    );
    assert_eq!(gb(product(&[(Hypercube, 16)])), Some(8.0 * 50.0));
    assert_eq!(gb(product(&[(FullyConnected, 8)])), Some(16.0 * 50.0));
    assert_eq!(gb(FatTree::k_ary(8, link(50.0, 500.0)).unwrap().build().unwrap()), Some(64.0 * 50.0), "full");
    // 8 members of 50 GB/s at each of 4 leaves; 3 up-links of 100 GB/s.
    assert_eq!(gb(leaf_spine(4, 8, 3).build().unwrap()), Some(2.0 * 300.0));
    assert!((leaf_spine(4, 8, 3).oversubscription() - 4.0 / 3.0).abs() < 1e-12);
    let tapered = fat_tree(4, 2, 2, 1, 6);
    assert_eq!((tapered.edge_oversubscription(), tapered.core_oversubscription()), (3.0, 2.0));
}

#[test]
fn ecmp_is_stable_and_even() {
    // x = 5 + φ for the pair (0, 5) with seed 0; the finaliser of it, by an independent implementation (Python):
    // 0x63033B0CA389C35A, which is 2 modulo 8.
    let tree = LeafSpine { uplink: link(50.0, 500.0), ..leaf_spine(2, 4, 8) }.build().unwrap();
    assert_eq!(words(&tree, 0, 5)[1], "leaf 0 → spine 2");
    // 64 members at each of two leaves: 4,096 pairs each way on 16 spines, 256 each, deviation √(4096 · 15)/16 ≈ 15.5.
    let tree = leaf_spine(2, 64, 16).build().unwrap();
    let across = pairs(&tree).filter(|(src, dst)| src / 64 != dst / 64);
    let loads = tree.link_loads(across.map(|(src, dst)| (src, dst, crate::units::Bytes(1)))).unwrap();
    let middle: Vec<u64> = loads.iter().filter(|(id, _)| id.0 >= 256).map(|(_, bytes)| bytes.0).collect();
    assert_eq!((middle.len(), middle.iter().sum::<u64>()), (64, 2 * 8192));
    assert!(middle.iter().all(|load| load.abs_diff(256) < 5 * 16), "{middle:?}");
    // By destination a shift by a leaf meets no other message anywhere.
    let tree = LeafSpine { routing: Routing::Destination, ..leaf_spine(4, 8, 8) }.build().unwrap();
    let shift = (0..32).map(|rank| (rank, (rank + 8) % 32, crate::units::Bytes(1)));
    assert!(tree.link_loads(shift).unwrap().iter().all(|(_, bytes)| bytes.0 == 1));
}

#[test]
fn a_fat_tree_by_destination_carries_any_shift_without_meeting() {
    let tree = FatTree { routing: Routing::Destination, ..FatTree::k_ary(6, link(50.0, 500.0)).unwrap() };
    let tree = tree.build().unwrap();
    for by in [1, 3, 9, 20, 53] {
        let shift = (0..54).map(|rank| (rank, (rank + by) % 54, crate::units::Bytes(1)));
        let most = tree.link_loads(shift).unwrap().iter().map(|(_, bytes)| bytes.0).max();
        assert_eq!(most, Some(1), "a shift by {by}");
    }
}

#[test]
fn link_lists_take_the_lowest_of_the_shortest_ways() {
    let dgx1 = LinkList::dgx1(link(25.0, 700.0)).unwrap().build().unwrap();
    assert_eq!(words(&dgx1, 0, 5), ["rank 0 → rank 1", "rank 1 → rank 5"], "not over 4");
    assert_eq!(dgx1.link_timing(route(&dgx1, 0, 3)[0]).0, "50 GB/s".parse().unwrap());
    assert_eq!(dgx1.link_timing(route(&dgx1, 0, 1)[0]).0, "25 GB/s".parse().unwrap());
    // Two switches of one distance; ranks that do not forward.
    let mut list = LinkList::new(3);
    let (first, second) = (list.switch("first"), list.switch("second"));
    for rank in [0, 2] {
        list.both_ways(Node::Rank(rank), second, link(1.0, 1.0));
        list.both_ways(Node::Rank(rank), first, link(1.0, 1.0));
    }
    list.both_ways(Node::Rank(0), Node::Rank(1), link(1.0, 1.0));
    list.both_ways(Node::Rank(1), Node::Rank(2), link(1.0, 1.0));
    let forwarding = list.clone().build().unwrap();
    assert_eq!(words(&forwarding, 0, 2), ["rank 0 → rank 1", "rank 1 → rank 2"]);
    list.ranks_forward(false);
    assert_eq!(words(&list.build().unwrap(), 0, 2), ["rank 0 → first", "first → rank 2"]);
}

#[test]
fn link_lists_that_make_no_topology_are_refused() {
    let spec = link(1.0, 1.0);
    let error = |make: &dyn Fn(&mut LinkList)| {
        let mut list = LinkList::new(3);
        make(&mut list);
        list.build().unwrap_err().to_string()
    };
    assert_eq!(error(&|_| ()), "no way leads from rank 0 to rank 1");
    let reach = |list: &mut LinkList| {
        list.one_way(Node::Rank(0), Node::Rank(1), spec);
        list.both_ways(Node::Rank(0), Node::Rank(2), spec);
    };
    assert_eq!(error(&reach), "no way leads from rank 1 to rank 0");
    assert_eq!(
        error(&|list| list.both_ways(Node::Rank(0), Node::Switch(0), spec)),
        "link 0 names switch 0: expected a rank below 3 or one of 0 switches"
    );
    assert_eq!(
        error(&|list| list.one_way(Node::Rank(2), Node::Rank(2), spec)),
        "link 0 joins rank 2 to itself"
    );
    let twice = |list: &mut LinkList| {
        list.both_ways(Node::Rank(0), Node::Rank(1), spec);
        list.one_way(Node::Rank(1), Node::Rank(0), spec);
    };
    assert!(error(&twice).starts_with("link 2 from rank 1 to rank 0 is there already, as link 1"));
    let names = |list: &mut LinkList| {
        list.switch("a");
        list.switch("a");
    };
    assert_eq!(error(&names), "there are two switches named \"a\"");
    assert!(LinkList::new(0).build().is_err());
}

#[test]
fn a_link_names_its_ends() {
    let topology = product(&[(Switch, 4), (Ring, 3)]);
    assert_eq!(
        words(&topology, 2, 11),
        [
            "rank 2 → switch 0 of dimension 0",
            "switch 0 of dimension 0 → rank 3",
            "rank 3 → rank 11 (dimension 1)"
        ]
    );
    let tree = fat_tree(4, 2, 2, 2, 2).build().unwrap();
    assert_eq!(
        words(&FatTree { routing: Routing::Destination, ..fat_tree(4, 2, 2, 2, 2) }.build().unwrap(), 0, 15),
        [
            "rank 0 → edge 0 of pod 0",
            "edge 0 of pod 0 → aggregation 1 of pod 0",
            "aggregation 1 of pod 0 → core 3",
            "core 3 → aggregation 1 of pod 3",
            "aggregation 1 of pod 3 → edge 1 of pod 3",
            "edge 1 of pod 3 → rank 15",
        ]
    );
    assert_eq!(tree.label(), "FatTree of 4 pods with 2 edges of 2 hosts and 2 aggregations of 2 cores");
}

#[test]
fn large_topologies_take_no_memory_and_too_large_ones_are_refused() {
    let full = |size| Dimension::fully_connected(size, "50 GB/s".parse().unwrap(), Latency::default());
    assert_eq!(Topology::new([full(1 << 30)]).unwrap().link_count(), (1 << 60) - (1 << 30));
    assert!(matches!(Topology::new([full(1 << 20); 2]), Err(TopologyError::TooLarge { what: "ranks", .. })));
    assert_eq!(Topology::new([]), Err(TopologyError::NoDimension));
    assert_eq!(Topology::new([full(2), full(0)]), Err(TopologyError::EmptyDimension { dimension: 1 }));
    let huge = fat_tree(1 << 20, 1, 1 << 20, 1 << 20, 1 << 10).build().unwrap();
    assert_eq!(huge.rank_count(), 1 << 30);
    assert!(leaf_spine(1 << 20, 1 << 11, 1).build().is_err());
    assert!(dragonfly(2, 2, 1, u32::MAX).build().is_err());
    // Few ranks, but more links than can be numbered: 2^29 trees of 2^41 links, twice.
    let tree = fat_tree(1, 1, 1 << 20, 1 << 20, 1).build().unwrap();
    let many = Topology::product([product(&[(Switch, 1 << 20)]), tree.clone()]).unwrap();
    assert_eq!(many.link_count(), (1 << 20) * (2 + 2 + (1 << 21) + (1 << 41)));
    let too_many = Topology::product([product(&[(Switch, 1 << 30)]), tree]);
    assert!(matches!(too_many, Err(TopologyError::TooLarge { what: "links", .. })));
    let nodes = cluster(many, 1 << 10, 1, product(&[(Switch, 1 << 10)]), CardOrder::Rails).build();
    assert!(matches!(nodes, Err(TopologyError::TooLarge { what: "links", .. })));
}

#[test]
fn hundred_thousands_of_ranks_are_routed_in_closed_form() {
    let link = link(50.0, 500.0);
    let node = product(&[(Switch, 8)]);
    let network = leaf_spine(512, 32, 32).build().unwrap();
    let topologies = [
        (FatTree { hosts: 32, ..FatTree::k_ary(64, link).unwrap() }.build().unwrap(), 65_536),
        (FatTree { hosts: 64, ..FatTree::k_ary(64, link).unwrap() }.build().unwrap(), 131_072),
        (Topology::torus([64, 64, 32], link).unwrap(), 131_072),
        (product(&[(Hypercube, 1 << 17)]), 131_072),
        (leaf_spine(1024, 128, 64).build().unwrap(), 131_072),
        (dragonfly(257, 32, 16, 8).build().unwrap(), 131_584),
        (cluster(node, 16_384, 1, network, CardOrder::ByNode).build().unwrap(), 131_072),
    ];
    for (topology, ranks) in topologies {
        assert_eq!(topology.rank_count(), ranks);
        let longest = topology.diameter().hops as usize;
        let mut links = Vec::new();
        for src in 0..ranks {
            let dst = (src.wrapping_mul(40_503) ^ 0x1_5555) % ranks;
            topology.route(src, dst, &mut links);
            let (first, last) = (links.first().copied(), links.last().copied());
            assert!(links.len() <= longest && links.iter().all(|link| link.0 < topology.link_count()));
            let ends = [first, last].map(|link| link.and_then(|link| topology.link_ends(link)));
            if let [Some((from, _)), Some((_, to))] = ends {
                assert_eq!((from, to), (DeviceId(u64::from(src)), DeviceId(u64::from(dst))));
            }
            links.clear();
        }
    }
}

#[test]
fn ranks_are_placed() {
    let ring = product(&[(Ring, 8)]);
    let reversed = Placement::from_positions((0..8).rev()).unwrap();
    let placed = ring.placed(&reversed).unwrap();
    assert_eq!(route(&placed, 0, 2), route(&ring, 7, 5));
    assert_eq!(words(&placed, 0, 2), ["rank 0 → rank 1", "rank 1 → rank 2"]);
    assert_eq!(placed.dimensions().len(), 0, "no longer what dimensions alone say");
    let few = ring.placed(&Placement::from_positions([6, 1]).unwrap()).unwrap();
    assert_eq!((few.rank_count(), few.position_count()), (2, 8));
    assert_eq!(
        words(&few, 0, 1),
        ["rank 0 → free position 7", "free position 7 → free position 0", "free position 0 → rank 1"]
    );
    assert_eq!(legs(&few, 0, 1).iter().map(|leg| leg.hops).collect::<Vec<_>>(), [3]);
    let error = ring.placed(&Placement::from_positions([0, 8]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "rank 1 is placed at position 8: expected one below 8");
    assert!(matches!(ring.placed(&Placement::identity(9)), Err(PlacementError::TooManyRanks { .. })));
    assert_eq!(few.placed(&reversed), Err(PlacementError::PlacedTwice));
    assert_eq!(Topology::product([few]), Err(TopologyError::PlacedPart));
}
