//! How long routes take on topologies of 131,072 ranks: 1,000,000 pairs each, so that milliseconds read as nanoseconds a route.
//!
//! `cargo bench -p sim-core --bench routes`

use divan::Bencher;
use sim_core::topology::{
    CardOrder, Cluster, Dimension, Dragonfly, FatTree, LeafSpine, LinkSpec, Routing, Topology,
};

fn main() {
    divan::main();
}

fn link() -> LinkSpec {
    LinkSpec::new("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"))
}

fn routes(bencher: Bencher<'_, '_>, topology: &Topology) {
    let ranks = topology.rank_count();
    let mut route = Vec::new();
    bencher.bench_local(|| {
        let mut links = 0usize;
        for at in 0..1_000_000u32 {
            route.clear();
            topology.route(at % ranks, at.wrapping_mul(40_503) % ranks, &mut route);
            links += route.len();
        }
        links
    });
}

#[divan::bench]
fn fat_tree(bencher: Bencher<'_, '_>) {
    let tree = FatTree { hosts: 64, ..FatTree::k_ary(64, link()).expect("an even k") };
    routes(bencher, &tree.build().expect("a topology"));
}

#[divan::bench]
fn leaf_spine(bencher: Bencher<'_, '_>) {
    let (host, uplink, routing) = (link(), link(), Routing::default());
    let tree = LeafSpine { leaves: 1024, hosts: 128, spines: 64, host, uplink, routing };
    routes(bencher, &tree.build().expect("a topology"));
}

#[divan::bench]
fn torus(bencher: Bencher<'_, '_>) {
    routes(bencher, &Topology::torus([64, 64, 32], link()).expect("a topology"));
}

#[divan::bench]
fn dragonfly(bencher: Bencher<'_, '_>) {
    let (host, local, global, routing) = (link(), link(), link(), Routing::default());
    let fly = Dragonfly { groups: 256, routers: 32, hosts: 16, globals: 8, host, local, global, routing };
    routes(bencher, &fly.build().expect("a topology"));
}

#[divan::bench]
fn rails(bencher: Bencher<'_, '_>) {
    let LinkSpec { bandwidth, latency } = link();
    let cluster = Cluster {
        nodes: 16_384,
        node: Topology::new([Dimension::switch(8, bandwidth, latency)]).expect("a topology"),
        cards: 8,
        card_link: Some(link()),
        network: Topology::new([Dimension::switch(16_384, bandwidth, latency)]).expect("a topology"),
        order: CardOrder::Rails,
        through_peer: true,
    };
    routes(bencher, &cluster.build().expect("a topology"));
}
