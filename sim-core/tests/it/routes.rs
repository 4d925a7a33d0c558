//! Routes on networks of any figures.

use proptest::prelude::*;
use sim_core::topology::{
    CardOrder, Cluster, DeviceId, Dimension, DimensionKind, Dragonfly, FatTree, LeafSpine, LinkList,
    LinkSpec, Node, Routing, Topology, parse_toml,
};

fn link() -> LinkSpec {
    LinkSpec::new("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())
}

fn routing() -> impl Strategy<Value = Routing> {
    prop_oneof![Just(Routing::Destination), any::<u64>().prop_map(|seed| Routing::Ecmp { seed })]
}

fn plain() -> impl Strategy<Value = Topology> {
    use DimensionKind::{FullyConnected, Hypercube, Line, OneWayRing, Ring, Switch};
    let kind = prop::sample::select(vec![FullyConnected, Hypercube, Line, OneWayRing, Ring, Switch]);
    let dimension = (kind, 1u32..6).prop_map(|(kind, size)| {
        let size = if kind == Hypercube { 1 << (size - 1) } else { size };
        let LinkSpec { bandwidth, latency } = link();
        Dimension { kind, size, bandwidth, latency }
    });
    prop::collection::vec(dimension, 1..3).prop_map(|dimensions| Topology::new(dimensions).unwrap())
}

fn leaf_spine() -> impl Strategy<Value = LeafSpine> {
    (1u32..6, 1u32..5, 1u32..5, routing()).prop_map(|(leaves, hosts, spines, routing)| LeafSpine {
        leaves,
        hosts,
        spines,
        host: link(),
        uplink: link(),
        routing,
    })
}

fn fat_tree() -> impl Strategy<Value = FatTree> {
    ([1u32..5, 1..4, 1..4, 1..4, 1..4], routing()).prop_map(
        |([pods, edges, aggregations, cores, hosts], routing)| {
            let all = FatTree::k_ary(2, link()).unwrap();
            FatTree { pods, edges, aggregations, cores, hosts, routing, ..all }
        },
    )
}

fn dragonfly() -> impl Strategy<Value = Dragonfly> {
    (1u32..8, 1u32..4, 1u32..4, 0u32..4, routing()).prop_map(|(groups, routers, hosts, more, routing)| {
        Dragonfly {
            groups,
            routers,
            hosts,
            globals: (groups - 1).div_ceil(routers) + more,
            host: link(),
            local: link(),
            global: link(),
            routing,
        }
    })
}

fn fabric() -> impl Strategy<Value = Topology> {
    prop_oneof![
        plain(),
        leaf_spine().prop_map(|tree| tree.build().unwrap()),
        fat_tree().prop_map(|tree| tree.build().unwrap()),
        dragonfly().prop_map(|fly| fly.build().unwrap()),
    ]
}

fn cluster() -> impl Strategy<Value = Topology> {
    let order = prop::sample::select(vec![CardOrder::ByNode, CardOrder::ByRail, CardOrder::Rails]);
    (plain(), 1u32..4, 1u32..4, order, any::<[bool; 2]>(), leaf_spine()).prop_map(
        |(node, nodes, per_card, order, [through_peer, linked], tree)| {
            let ranks = node.rank_count();
            let per_card = if linked && ranks.is_multiple_of(per_card) { per_card } else { 1 };
            let cards = ranks / per_card;
            let members = if order == CardOrder::Rails { nodes } else { nodes * cards };
            let network = LeafSpine { leaves: members, hosts: 1, ..tree }.build().unwrap();
            let card_link = linked.then(link);
            Cluster { nodes, node, cards, card_link, network, order, through_peer }.build().unwrap()
        },
    )
}

/// Every rank can reach every other one over a ring, and some over links that were drawn.
fn links() -> impl Strategy<Value = Topology> {
    (2u32..8, 0u32..3).prop_flat_map(|(ranks, switches)| {
        let devices = ranks + switches;
        prop::collection::btree_set((0..devices, 0..devices), 0..20).prop_map(move |drawn| {
            let mut list = LinkList::new(ranks);
            let switches: Vec<Node> = (0..switches).map(|at| list.switch(format!("s{at}"))).collect();
            let node = |at: u32| {
                switches.get((at as usize).wrapping_sub(ranks as usize)).copied().unwrap_or(Node::Rank(at))
            };
            let around = |from: u32, to: u32| from < ranks && to == (from + 1) % ranks;
            (0..ranks)
                .for_each(|rank| list.one_way(Node::Rank(rank), Node::Rank((rank + 1) % ranks), link()));
            for (from, to) in drawn.into_iter().filter(|(from, to)| from != to && !around(*from, *to)) {
                list.one_way(node(from), node(to), link());
            }
            list.build().unwrap()
        })
    })
}

fn any_topology() -> impl Strategy<Value = Topology> {
    let one = prop_oneof![fabric(), cluster(), links()];
    prop::collection::vec(one, 1..3)
        .prop_map(|parts| Topology::product(parts).unwrap())
        .prop_filter("small enough to try all pairs", |topology| topology.rank_count() <= 400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn routes_lead_from_the_source_to_the_destination(topology in any_topology()) {
        let ranks = topology.rank_count();
        let (mut route, mut longest) = (Vec::new(), 0);
        for (src, dst) in (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst))) {
            route.clear();
            topology.route(src, dst, &mut route);
            let mut at = DeviceId(u64::from(src));
            for id in &route {
                let (from, to) = topology.link_ends(*id).unwrap();
                prop_assert_eq!(from, at);
                at = to;
            }
            prop_assert_eq!(at, DeviceId(u64::from(dst)));
            longest = longest.max(route.len());
        }
        let diameter = topology.diameter();
        prop_assert!(diameter.exact && diameter.hops as usize == longest, "{:?}, tried {}", diameter, longest);
    }

    /// What is no topology file is an error, whatever it is.
    #[test]
    fn files_with_mistakes_are_answered(at in 0usize..4000, cut in 0usize..40, put in "[\\[\\]={}\", a-z0-9.\\n-]{0,4}") {
        let page = include_str!("../../../docs/topologies.md");
        let files: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        let file = files[at % files.len()];
        let bytes: Vec<char> = file.chars().collect();
        let at = at % bytes.len();
        let end = (at + cut).min(bytes.len());
        let text: String = bytes[..at].iter().copied().chain(put.chars()).chain(bytes[end..].iter().copied()).collect();
        if let Err(error) = parse_toml(&text, "x.toml", None) {
            let error = error.to_string();
            prop_assert!(error.starts_with("x.toml") && !error.contains('\n'), "{}", error);
        }
    }
}
