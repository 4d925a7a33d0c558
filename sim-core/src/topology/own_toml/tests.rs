use super::*;
use crate::machine::LinkKind;
use crate::topology::{
    CardOrder, Cluster, Dimension, Dragonfly, FatTree, LeafSpine, LinkId, LinkList, LinkSpec, Node,
    Placement, Routing,
};

const SWITCH: &str =
    "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"400 GB/s\"\nlatency = \"500 ns\"\n";

const KINDS_OF_LINKS: &str = "expected \"plain\", \"nvlink\", \"xgmi\", \"pcie\" or \"network\"";

fn link(bandwidth: &str, latency: &str) -> LinkSpec {
    LinkSpec::new(bandwidth.parse().unwrap(), latency.parse().unwrap())
}

/// The topology of a file with one part of this kind and these further keys.
fn one(kind: &str, keys: &str) -> Result<Topology, Fault> {
    parse(&format!(
        "[[dimension]]\nkind = \"{kind}\"\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n{keys}\n"
    ))
}

#[test]
fn dimensions_come_in_the_order_of_the_file() {
    let topology = parse(&format!("{SWITCH}{}", SWITCH.replace("switch", "fully-connected"))).unwrap();
    let LinkSpec { bandwidth, latency } = link("400 GB/s", "500 ns");
    let expected =
        [Dimension::switch(8, bandwidth, latency), Dimension::fully_connected(8, bandwidth, latency)];
    assert_eq!(topology.dimensions().copied().collect::<Vec<_>>(), expected);
}

#[test]
fn every_kind_is_what_its_builder_makes() {
    let host = link("100 GB/s", "1 us");
    let LinkSpec { bandwidth, latency } = host;
    let of = |dimension| Topology::new([dimension]).unwrap();
    let ecmp = Routing::Ecmp { seed: 0 };
    let tree = FatTree::k_ary(4, host).unwrap();
    let cases = [
        ("ring", "size = 6", of(Dimension::ring(6, bandwidth, latency))),
        ("one-way-ring", "size = 6", of(Dimension::one_way_ring(6, bandwidth, latency))),
        ("line", "size = 6", of(Dimension::line(6, bandwidth, latency))),
        ("hypercube", "size = 16", of(Dimension::hypercube(16, bandwidth, latency))),
        ("mesh", "size = [2, 3]", Topology::mesh([2, 3], host).unwrap()),
        ("torus", "size = [4, 4, 2]", Topology::torus([4, 4, 2], host).unwrap()),
        ("dgx-1", "", LinkList::dgx1(host).unwrap().build().unwrap()),
        (
            "leaf-spine",
            "leaves = 4\nhosts = 8\nspines = 2\noversubscription = 4\nuplink-latency = \"2 us\"\nseed = 7",
            // 8 · 100 GB/s from below, a quarter of it over 2 spines.
            LeafSpine {
                leaves: 4,
                hosts: 8,
                spines: 2,
                host,
                uplink: link("100 GB/s", "2 us"),
                routing: Routing::Ecmp { seed: 7 },
            }
            .build()
            .unwrap(),
        ),
        ("fat-tree", "k = 4", tree.build().unwrap()),
        (
            "fat-tree",
            "k = 4\nhosts = 4\nuplink-bandwidth = \"50 GB/s\"\ncore-oversubscription = 2.5\nrouting = \"destination\"",
            FatTree {
                hosts: 4,
                edge_uplink: link("50 GB/s", "1 us"),
                core_uplink: link("20 GB/s", "1 us"),
                routing: Routing::Destination,
                ..tree
            }
            .build()
            .unwrap(),
        ),
        ("fat-tree", "pods = 4\nedges = 2\naggregations = 2\ncores = 2\nhosts = 2", tree.build().unwrap()),
        (
            "dragonfly",
            "groups = 3\nrouters = 2\nhosts = 2\nglobal-links = 1\nglobal-bandwidth = \"25 GB/s\"",
            Dragonfly {
                groups: 3,
                routers: 2,
                hosts: 2,
                globals: 1,
                host,
                local: host,
                global: link("25 GB/s", "1 us"),
                routing: ecmp,
            }
            .build()
            .unwrap(),
        ),
    ];
    for (kind, keys, expected) in cases {
        assert_eq!(one(kind, keys).unwrap(), expected, "{kind}: {keys}");
    }
}

#[test]
fn a_cluster_has_a_node_and_a_network() {
    let network = SWITCH.replace("[dimension]", "[dimension.network]").replace("size = 8", "size = 4");
    let text = format!(
        "[[dimension]]\nkind = \"cluster\"\nnodes = 4\ncards = 8\nwiring = \"rails\"\ncard-bandwidth = \"64 GB/s\"\n\
         card-latency = \"300 ns\"\n{}{network}",
        SWITCH.replace("[dimension]", "[dimension.node]")
    );
    let LinkSpec { bandwidth, latency } = link("400 GB/s", "500 ns");
    let switch = |size| Topology::new([Dimension::switch(size, bandwidth, latency)]).unwrap();
    let expected = Cluster {
        nodes: 4,
        node: switch(8),
        cards: 8,
        card_link: Some(link("64 GB/s", "300 ns")),
        network: switch(4),
        order: CardOrder::Rails,
        through_peer: true,
    };
    assert_eq!(parse(&text).unwrap(), expected.clone().build().unwrap());
    let by_rail = text.replace("\"rails\"", "\"by-rail\"").replace("size = 4", "size = 32");
    let expected = Cluster { network: switch(32), order: CardOrder::ByRail, through_peer: false, ..expected };
    assert_eq!(parse(&by_rail).unwrap(), expected.build().unwrap());
    for (from, to, parts) in [
        ("cards = 8", "cards = 3", &["cluster: cards = 3", "divides the 8 ranks of a node"][..]),
        ("size = 4", "size = 5", &["4 network cards", "a network of 5 members"]),
        ("\"rails\"", "\"rail\"", &["wiring = \"rail\"", "\"by-node\""]),
        ("\"rails\"", "\"by-node\"", &["32 network cards (4 nodes of 8)", "4 members"]),
        ("card-latency = \"300 ns\"\n", "", &["card-latency is missing"]),
        ("cards = 8", "cards = 8\nthrough-peer = false", &["through-peer = false", "rails"]),
        ("[[dimension.network]]", "[[dimension.net]]", &["the key network is missing"]),
        ("size = 4", "size = 4\nlink = \"wire\"", &["link = \"wire\"", KINDS_OF_LINKS]),
        ("cards = 8", "cards = 8\ncolour = 1", &["the key colour is not known here", "wiring"]),
    ] {
        let (at, message) = parse(&text.replace(from, to)).unwrap_err();
        assert!(
            at.line.is_some_and(|line| line > 0) && parts.iter().all(|part| message.contains(part)),
            "{to}: {message}"
        );
    }
    let few = text.replace("cards = 8", "cards = 4").replace("card-bandwidth = \"64 GB/s\"\n", "");
    assert!(
        parse(&few.replace("card-latency = \"300 ns\"\n", "")).unwrap_err().1.contains("one for each rank")
    );
}

#[test]
fn links_are_given_one_by_one() {
    let keys = "ranks = 3\nswitches = [\"hub\"]\n\
        [[dimension.link]]\nbetween = [0, \"hub\"]\n\
        [[dimension.link]]\nbetween = [\"hub\", 1]\nbandwidth = \"50 GB/s\"\n\
        [[dimension.link]]\nfrom = 1\nto = 2\nlatency = \"2 us\"\n\
        [[dimension.link]]\nfrom = 2\nto = 0\n";
    let host = link("100 GB/s", "1 us");
    let mut list = LinkList::new(3);
    let hub = list.switch("hub");
    list.both_ways(Node::Rank(0), hub, host);
    list.both_ways(hub, Node::Rank(1), link("50 GB/s", "1 us"));
    list.one_way(Node::Rank(1), Node::Rank(2), link("100 GB/s", "2 us"));
    list.one_way(Node::Rank(2), Node::Rank(0), host);
    assert_eq!(one("links", keys).unwrap(), list.build().unwrap());
    for (from, to, line, parts) in [
        ("[0, \"hub\"]", "[0, \"hut\"]", 8, &["\"hut\"", "a rank below 3 or the name of a switch"][..]),
        ("[0, \"hub\"]", "[0, 3]", 8, &["between = 3"]),
        ("[0, \"hub\"]", "[0, 0]", 8, &["a link joins rank 0 to itself"]),
        ("[0, \"hub\"]", "[0]", 8, &["two ends"]),
        ("to = 2", "to = \"hub\"", 13, &["the link from rank 1 to hub is there already, in line 10"]),
        ("from = 1\n", "", 12, &["between = [a, b]", "from and to"]),
        ("from = 2\nto = 0", "from = 0\nto = 2", 2, &["links: no way leads from rank 2 to rank 0"]),
        ("[\"hub\"]", "[\"hub\", \"hub\"]", 6, &["two switches named \"hub\""]),
        ("ranks = 3", "ranks = 4", 2, &["no way leads from rank 0 to rank 3"]),
        ("ranks = 3", "ranks = 3\nranks-forward = false", 2, &["no way leads from rank 0 to rank 2"]),
        ("\"50 GB/s\"", "\"0 GB/s\"", 11, &["bandwidth = \"0 GB/s\"", "at least 1 B/s"]),
        ("to = 2", "to = 2\nlink = \"pci\"", 15, &["link = \"pci\"", KINDS_OF_LINKS]),
        ("to = 2", "to = 2\nname = 1", 15, &["the key name is not known here", "between, from, to"]),
    ] {
        let (at, message) = one("links", &keys.replace(from, to)).unwrap_err();
        assert_eq!(at.line, Some(line), "{to}: {message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{to}: {message}");
    }
    let text = "[[dimension]]\nkind = \"links\"\nranks = 2\n[[dimension.link]]\nbetween = [0, 1]\nlatency = \"1 us\"\n";
    assert!(parse(text).unwrap_err().1.contains("bandwidth is missing, here and in the dimension"));
}

#[test]
fn faults_name_line_key_and_value() {
    for (from, to, line, parts) in [
        ("\"400 GB/s\"", "400", 4, &["bandwidth = 400", "\"400 GB/s\""][..]),
        ("400 GB/s", "400 GHz", 4, &["bandwidth", "GHz", "GiB/s"]),
        ("400 GB/s", "0 GB/s", 4, &["bandwidth", "at least 1 B/s"]),
        ("400 GB/s", "-1 GB/s", 4, &["bandwidth", "not negative"]),
        ("400 GB/s", "nan GB/s", 4, &["bandwidth", "expected a number"]),
        ("\"400 GB/s\"", "nan", 4, &["bandwidth = nan"]),
        ("500 ns", "500", 5, &["latency", "\"500\"", "has no unit"]),
        ("500 ns", "-5 ns", 5, &["latency", "-5 ns", "not negative"]),
        ("size = 8", "size = 0", 3, &["size = 0", "at least 1"]),
        ("size = 8", "size = 2.5", 3, &["size = 2.5"]),
        ("size = 8", "size = [8]", 3, &["size = [8]"]),
        ("\"switch\"", "\"toroid\"", 2, &["kind = \"toroid\"", "\"torus\"", "fully-connected"]),
        ("size = 8", "size = 8\ncolour = 1", 4, &["colour", "expected kind, size, bandwidth, latency"]),
        ("size = 8", "size = 8\nlink = \"infiniband\"", 4, &["link = \"infiniband\"", KINDS_OF_LINKS]),
        ("size = 8", "size = 8\nlink = 4", 4, &["link = 4", KINDS_OF_LINKS]),
        ("size = 8", "size = 8\nsize = 8", 4, &["duplicate key"]),
        ("kind = \"switch\"", "", 1, &["the key kind is missing"]),
        ("size = 8\n", "", 1, &["the key size is missing"]),
        ("[[dimension]]", "ranks = 9\n[[dimension]]", 1, &["ranks = 9", "make 8 (Switch of 8)"]),
        ("[[dimension]]", "rank = 9\n[[dimension]]", 1, &["the key rank is not known", "ranks, dimension"]),
        ("[[dimension]]", "[dimension]", 1, &["a list of tables"]),
    ] {
        let (at, message) = parse(&SWITCH.replace(from, to)).unwrap_err();
        assert_eq!(at.line, Some(line), "{to}: {message}");
        for part in parts {
            assert!(message.contains(part), "{to}: {message}");
        }
    }
    // The value is marked, or the key that is not known.
    let marked = |text: &str| {
        let span = parse(text).unwrap_err().0.span.unwrap();
        text[span].to_owned()
    };
    assert_eq!(marked(&SWITCH.replace("400 GB/s", "400 GHz")), "\"400 GHz\"");
    assert_eq!(marked(&SWITCH.replace("size = 8", "size = 8\ncolour = 1")), "colour");
    assert_eq!(marked(&format!("ranks = 9\n{SWITCH}")), "9");
    assert!(parse("").unwrap_err().1.contains("dimension"));
    assert_eq!(parse(&format!("ranks = 8\n{SWITCH}")).unwrap().rank_count(), 8);
}

#[test]
fn figures_that_make_no_topology_are_refused() {
    for (kind, keys, parts) in [
        ("hypercube", "size = 12", &["hypercube of 12 members", "a power of two"][..]),
        ("torus", "size = 4", &["size = 4", "[4, 4, 4]"]),
        ("torus", "size = []", &["at least one axis"]),
        ("mesh", "size = [2, 0]", &["size = 0", "at least 1"]),
        ("mesh", "size = [65536, 65536]", &["mesh: the topology has too many ranks"]),
        ("fat-tree", "k = 5", &["k = 5", "an even number of ports"]),
        ("fat-tree", "pods = 2", &["the key edges is missing", "expected k, or all of pods"]),
        ("fat-tree", "k = 2000000", &["pods = 2000000", "from 1 to 1048576"]),
        ("leaf-spine", "leaves = 2\nhosts = 2", &["the key spines is missing"]),
        ("leaf-spine", "leaves = 2\nhosts = 2\nspines = 1\noversubscription = 0", &["oversubscription = 0"]),
        (
            "leaf-spine",
            "leaves = 2\nhosts = 2\nspines = 1\noversubscription = 2\nuplink-bandwidth = \"1 GB/s\"",
            &["oversubscription and uplink-bandwidth say the same"],
        ),
        (
            "leaf-spine",
            "leaves = 2\nhosts = 2\nspines = 1\nrouting = \"random\"",
            &["\"random\"", "\"ecmp\""],
        ),
        (
            "leaf-spine",
            "leaves = 2\nhosts = 2\nspines = 1\nrouting = \"destination\"\nseed = 1",
            &["has no seed"],
        ),
        (
            "dragonfly",
            "groups = 10\nrouters = 4\nhosts = 1\nglobal-links = 2",
            &["global-links = 2", "at least 3 at each of 4 routers, to reach 9 other groups"],
        ),
    ] {
        let (at, message) = one(kind, keys).unwrap_err();
        assert!(at.line.is_some(), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{kind}, {keys}: {message}");
    }
}

/// A cluster of 2 nodes of 2 ranks: 4 links of switches, 8 to and from cards, 2 rails of 4 links.
const CLUSTER: &str = "[[dimension]]\nkind = \"cluster\"\nnodes = 2\ncards = 2\nwiring = \"rails\"\n\
    card-bandwidth = \"64 GB/s\"\ncard-latency = \"300 ns\"\n\
    [[dimension.node]]\nkind = \"switch\"\nsize = 2\nbandwidth = \"450 GB/s\"\nlatency = \"250 ns\"\n\
    [[dimension.network]]\nkind = \"switch\"\nsize = 2\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n";

/// The kinds of the links in order, each with how many neighbours are of it.
fn kinds(text: &str) -> Vec<(LinkKind, usize)> {
    let topology = parse(text).unwrap();
    let kinds: Vec<LinkKind> = (0..topology.link_count()).map(|id| topology.link_kind(LinkId(id))).collect();
    kinds.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

#[test]
fn links_are_plain_but_for_those_of_a_cluster_to_its_cards_and_in_its_network() {
    use LinkKind::{Network, NvLink, Pcie, Plain, Xgmi};
    assert_eq!(kinds(SWITCH), [(Plain, 16)]);
    assert_eq!(kinds(&SWITCH.replace("size", "link = \"xgmi\"\nsize")), [(Xgmi, 16)]);
    assert_eq!(kinds(CLUSTER), [(Plain, 8), (Pcie, 8), (Network, 8)]);
    let node = CLUSTER.replace("latency = \"250 ns\"", "latency = \"250 ns\"\nlink = \"nvlink\"");
    assert_eq!(kinds(&node), [(NvLink, 8), (Pcie, 8), (Network, 8)]);
    let within = CLUSTER.replace("latency = \"1 us\"", "latency = \"1 us\"\nlink = \"plain\"");
    assert_eq!(kinds(&within), [(Plain, 8), (Pcie, 8), (Plain, 8)]);
    // Said of the cluster, it holds where nothing is said within.
    let around = node.replace("nodes = 2", "nodes = 2\nlink = \"xgmi\"");
    assert_eq!(kinds(&around), [(NvLink, 8), (Xgmi, 16)]);
}

#[test]
fn each_link_of_a_list_has_its_kind() {
    let list = "[[dimension]]\nkind = \"links\"\nranks = 3\nbandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n\
        [[dimension.link]]\nbetween = [0, 1]\n[[dimension.link]]\nbetween = [1, 2]\nlink = \"pcie\"\n";
    assert_eq!(kinds(list), [(LinkKind::Plain, 2), (LinkKind::Pcie, 2)]);
    let topology = parse(list).unwrap();
    assert_eq!(topology.route_kind(0, 2), LinkKind::Pcie);
    let nvlink = topology.with_link_kind(LinkKind::NvLink);
    assert_eq!(
        [0, 1, 2, 3].map(|id| nvlink.link_kind(LinkId(id))),
        [LinkKind::NvLink, LinkKind::NvLink, LinkKind::Pcie, LinkKind::Pcie]
    );
}

#[test]
fn a_route_is_of_the_greatest_kind_of_its_links() {
    let rails = "[[dimension]]\nkind = \"ring\"\nsize = 3\nlink = \"pcie\"\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n";
    let product = format!("{}{rails}", SWITCH.replace("size", "link = \"xgmi\"\nsize"));
    let nested = format!("{CLUSTER}{rails}");
    for text in [SWITCH, CLUSTER, &product, &nested] {
        let whole = parse(text).unwrap();
        let last = whole.position_count() - 1;
        let placed = whole.placed(&Placement::from_positions((0..=last).rev()).unwrap()).unwrap();
        for topology in [whole, placed] {
            let ranks = 0..topology.rank_count();
            for (src, dst) in ranks.clone().flat_map(|src| ranks.clone().map(move |dst| (src, dst))) {
                let mut route = Vec::new();
                topology.route(src, dst, &mut route);
                let most = route.iter().map(|id| topology.link_kind(*id)).max();
                assert_eq!(topology.route_kind(src, dst), most.unwrap_or_default(), "{src} to {dst}");
            }
        }
    }
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let cases = [
        ("ring", "size = 6\nlink = \"nvlink\""),
        ("one-way-ring", "size = 6"),
        ("line", "size = 6"),
        ("hypercube", "size = 16"),
        ("fully-connected", "size = 8"),
        ("torus", "size = [4, 4, 2]\nlink = \"xgmi\""),
        ("dgx-1", "link = \"nvlink\""),
        (
            "leaf-spine",
            "leaves = 4\nhosts = 8\nspines = 3\noversubscription = 7\nseed = 18446744073709551615",
        ),
        ("fat-tree", "k = 4\nuplink-bandwidth = \"12.3456789 GB/s\"\nrouting = \"destination\""),
        ("dragonfly", "groups = 3\nrouters = 2\nhosts = 2\nglobal-links = 1\nglobal-bandwidth = \"25 GB/s\""),
        (
            "links",
            "ranks = 3\nranks-forward = false\nswitches = [\"a \\\"hub\\\"\"]\n\
             [[dimension.link]]\nbetween = [0, 1]\nlink = \"pcie\"\n[[dimension.link]]\nbetween = [0, 2]\n\
             [[dimension.link]]\nbetween = [1, 2]\n[[dimension.link]]\nfrom = 0\nto = \"a \\\"hub\\\"\"",
        ),
    ];
    let mut topologies: Vec<_> = cases.iter().map(|(kind, keys)| one(kind, keys).unwrap()).collect();
    topologies.extend([SWITCH, CLUSTER, &format!("{CLUSTER}{SWITCH}")].map(|text| parse(text).unwrap()));
    let one_network = CLUSTER.replace("\"rails\"", "\"by-rail\"\nlink = \"pcie\"\nthrough-peer = true");
    topologies.push(
        parse(&one_network.replace("size = 2\nbandwidth = \"50", "size = 4\nbandwidth = \"50")).unwrap(),
    );
    for topology in topologies {
        let mut text = String::new();
        write(&topology, "dimension", &mut text).unwrap();
        assert_eq!(parse(&text), Ok(topology), "{text}");
    }
}
