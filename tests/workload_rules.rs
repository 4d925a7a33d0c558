//! As somebody who simulates a training step I want to say which algorithm its collectives get, and to be told what
//! is wrong with what I say.

use std::ops::Bound;
use std::sync::Arc;

use chakra_et::graph::{Graph, Op};
use chakra_et::workload::{CollectiveKind, Group};
use collective::prelude::*;
use collective::sim::workload::{Algorithms, Choice, Use};
use collective::workload::{Expander, Overlap, Rule, Rules};
use collective::{AlgorithmDef, msccl};

fn group(members: impl IntoIterator<Item = u32>) -> Group {
    Group { name: String::new(), members: members.into_iter().collect() }
}

fn named(name: &str, members: impl IntoIterator<Item = u32>) -> Group {
    Group { name: name.to_owned(), members: members.into_iter().collect() }
}

/// The choice for a collective of a group.
fn choice(expander: &Expander, kind: CollectiveKind, bytes: u64, root: u32, group: &Group) -> Choice {
    expander
        .algorithm(&Use::new(kind, bytes, root, group))
        .unwrap_or_else(|error| panic!("{kind} {bytes}: {error}"))
}

/// What a collective gets is called.
fn name(expander: &Expander, kind: CollectiveKind, bytes: u64, group: &Group) -> String {
    choice(expander, kind, bytes, 0, group).algorithm.name().to_owned()
}

fn refusal(expander: &Expander, kind: CollectiveKind, bytes: u64, root: u32, group: &Group) -> String {
    expander.algorithm(&Use::new(kind, bytes, root, group)).unwrap_err().to_string()
}

/// Bytes that all ranks receive, after seeing that every message is received as it was sent.
fn received(graph: &Graph) -> u64 {
    let mut messages = std::collections::BTreeMap::new();
    let mut bytes_in_all = 0;
    for (rank, nodes) in (0..).zip(graph.ranks()) {
        for op in nodes.ops() {
            match *op {
                Op::Send { dst, tag, bytes } => *messages.entry((rank, dst, tag, bytes)).or_insert(0) += 1,
                Op::Recv { src, tag, bytes } => {
                    *messages.entry((src, rank, tag, bytes)).or_insert(0) -= 1;
                    bytes_in_all += bytes;
                }
                _ => {}
            }
        }
    }
    assert!(messages.values().all(|open| *open == 0));
    bytes_in_all
}

mod defaults {
    use super::*;

    /// What must be received in all: `s` is the size by nccl-tests.
    fn least(kind: CollectiveKind, n: u64, comm_size: u64, root: u64) -> u64 {
        let s = kind.size(comm_size, n).unwrap();
        match kind {
            CollectiveKind::AllReduce | CollectiveKind::Barrier => 2 * (n - 1) * s,
            // All but what the root has itself. Elements of 4 bytes if they divide, of 1 if not.
            CollectiveKind::Gather => (n - 1) * comm_size,
            CollectiveKind::Scatter => {
                let part = if s.is_multiple_of(n) { s / n } else { s };
                let element = if part.is_multiple_of(4) { 4 } else { 1 };
                let elements = s / element;
                s - element * (elements / n + u64::from(root < elements % n))
            }
            _ => (n - 1) * s,
        }
    }

    #[test]
    fn every_kind_works_for_every_number_of_ranks_and_loses_no_byte() {
        let expander = Expander::new(Rules::new().machine(1)).unwrap();
        for n in (1..=33).chain([64, 100, 128, 256]) {
            let group = group(0..n);
            let roots = if n <= 6 { (0..n).collect() } else { vec![0, n / 2, n - 1] };
            // Fewer bytes than chunks, odd ones, and many.
            let sizes =
                if n <= 33 { &[1, 3, 4, 1001, 1 << 20, 70_000_003][..] } else { &[3, 70_000_003][..] };
            for kind in CollectiveKind::ALL {
                for root in if kind.has_root() { &roots[..] } else { &[0][..] } {
                    for bytes in sizes {
                        let choice = choice(&expander, kind, *bytes, *root, &group);
                        let graph = choice.algorithm.graph();
                        assert_eq!(graph.rank_count(), n as usize);
                        let wanted = if n == 1 { 0 } else { least(kind, n.into(), *bytes, (*root).into()) };
                        assert_eq!(
                            received(graph),
                            wanted,
                            "{kind} of {n} ranks, root {root}, {bytes} bytes"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_collective_without_bytes_and_one_of_a_single_rank_do_nothing_and_a_barrier_has_messages() {
        let expander = Expander::new(Rules::new()).unwrap();
        for kind in CollectiveKind::ALL {
            let alone = choice(&expander, kind, 1 << 20, 0, &group([5]));
            assert_eq!(alone.algorithm.graph().node_count(), 0);
            let empty = choice(&expander, kind, 0, 0, &group(0..4));
            assert_eq!(empty.algorithm.graph().rank_count(), 4);
            let is_barrier = kind == CollectiveKind::Barrier;
            assert_eq!(empty.algorithm.graph().node_count() > 0, is_barrier, "{kind}");
        }
        assert_eq!(
            refusal(&expander, CollectiveKind::AllGather, u64::MAX, 0, &group(0..2)),
            "2 times 18446744073709551615 bytes are more than 2^64"
        );
    }

    #[test]
    fn the_group_decides_between_ring_and_tree() {
        let expander = Expander::new(Rules::new()).unwrap();
        let all_reduce = |bytes, group: &Group| name(&expander, CollectiveKind::AllReduce, bytes, group);
        assert_eq!(all_reduce(1 << 20, &group(0..8)), "allreduce_ring(channels=1)");
        assert_eq!(all_reduce(1 << 20, &group(0..64)), "allreduce_double_binary_tree(segments=1)");
        assert_eq!(all_reduce(1 << 34, &group(0..64)), "allreduce_ring(channels=1)");
        // The same ranks on machines of 64.
        let large = Expander::new(Rules::new().machine(64)).unwrap();
        assert_eq!(
            name(&large, CollectiveKind::AllReduce, 1 << 20, &group(0..64)),
            "allreduce_ring(channels=1)"
        );
        // One rank a machine.
        let across = group((0..64).map(|rank| rank * 8));
        let gathered = name(&expander, CollectiveKind::AllGather, (5 << 20) / 64, &across);
        assert!(gathered.starts_with("allgather_pat("), "{gathered}");
        assert_eq!(
            name(&expander, CollectiveKind::Barrier, 0, &across),
            "allreduce_double_binary_tree(segments=1)"
        );
    }

    #[test]
    fn alike_collectives_share_one_algorithm() {
        let expander = Expander::new(Rules::new()).unwrap();
        let of = |kind, bytes, members: &Group| choice(&expander, kind, bytes, 0, members).algorithm;
        let first = of(CollectiveKind::AllReduce, 4096, &group(0..8));
        assert!(Arc::ptr_eq(&first, &of(CollectiveKind::AllReduce, 4096, &named("other", 8..16))));
        assert!(!Arc::ptr_eq(&first, &of(CollectiveKind::AllReduce, 8192, &group(0..8))));
        // Two names of one collective.
        let scatter = of(CollectiveKind::ReduceScatter, 4096, &group(0..8));
        assert!(Arc::ptr_eq(&scatter, &of(CollectiveKind::ReduceScatterBlock, 4096, &group(0..8))));
    }

    #[test]
    fn the_choices_made_are_listed() {
        let expander =
            Expander::new(Rules::new().rule(Rule::algorithm("allgather_bruck").below(1024))).unwrap();
        for bytes in [4096, 1024, 2048] {
            choice(&expander, CollectiveKind::AllReduce, bytes, 0, &group(0..4));
        }
        choice(&expander, CollectiveKind::AllGather, 64, 0, &group(0..4));
        let listed: Vec<String> = expander.used().iter().map(ToString::to_string).collect();
        assert_eq!(
            listed,
            [
                "1 × all_gather of 4 ranks, 256 B: allgather_bruck (rule 1)",
                "3 × all_reduce of 4 ranks, 1 KiB to 4 KiB: allreduce_ring(channels=1) (default)",
            ]
        );
        assert!(expander.notes().is_empty());
        let unused = Expander::new(Rules::new().rule(Rule::algorithm("allgather_bruck"))).unwrap();
        assert_eq!(unused.notes(), ["rule 1: no collective came to it"]);
    }
}

/// All send to all; for any number of ranks.
#[collective(all_gather, build(ranks = 4))]
fn mine(p: &Program, ranks: usize) {
    for from in 0..ranks {
        for to in 0..ranks {
            p.chunk(from, Input, 0).copy_to(to, Output, from);
        }
    }
}

/// The root sends to each.
#[collective(broadcast, root = root, defaults(root = 0))]
fn star(p: &Program, ranks: usize, root: usize, pieces: usize) {
    if p.require(pieces < 3, "no more than 2 pieces") {
        for to in 0..ranks {
            p.chunk(root, Input, 0).copy_to(to, Output, 0);
        }
    }
}

mod in_rust {
    use super::*;

    fn with(rule: Rule) -> Expander {
        Expander::new(Rules::new().rule(rule)).unwrap()
    }

    fn wrong(rules: Rules) -> String {
        Expander::new(rules).unwrap_err().to_string()
    }

    #[test]
    fn the_first_rule_that_is_for_a_collective_decides() {
        let rules = Rules::new()
            .rule(Rule::algorithm("allreduce_recursive_doubling").below(1 << 10))
            .rule(Rule::algorithm("allreduce_ring").set("channels", 2).below(1 << 20))
            .rule(Rule::algorithm("allreduce_bidirectional_ring"));
        let expander = Expander::new(rules).unwrap();
        let of = |bytes| name(&expander, CollectiveKind::AllReduce, bytes, &group(0..4));
        assert_eq!(of(1023), "allreduce_recursive_doubling");
        // Half open: from the bound on it is the next rule's.
        assert_eq!(of(1024), "allreduce_ring(channels=2)");
        assert_eq!(of(1 << 20), "allreduce_bidirectional_ring");
        // They are for what their algorithms do.
        assert_eq!(
            name(&expander, CollectiveKind::AllGather, 512, &group(0..4)),
            "allgather_ring(channels=1)"
        );
    }

    #[test]
    fn sizes_are_those_of_nccl_tests() {
        let expander = with(Rule::algorithm("allgather_bruck").at_least(4096));
        // 4 ranks with 1024 bytes each gather 4096.
        assert_eq!(name(&expander, CollectiveKind::AllGather, 1024, &group(0..4)), "allgather_bruck");
        assert_eq!(
            name(&expander, CollectiveKind::AllGather, 1020, &group(0..4)),
            "allgather_ring(channels=1)"
        );
    }

    #[test]
    fn what_a_program_registers_has_a_name_of_its_own() {
        let schedule = mine::RANKS_4.schedule().unwrap();
        let rules = Rules::new()
            .register(mine::DEF)
            .register(star::DEF)
            .register_schedule("static", schedule)
            .rule(Rule::algorithm("static").ranks(4..=4))
            .rule(Rule::algorithm("mine"))
            .rule(Rule::algorithm("star").set("pieces", 1));
        let expander = Expander::new(rules).unwrap();
        assert_eq!(name(&expander, CollectiveKind::AllGather, 12, &group(0..4)), "static");
        assert_eq!(name(&expander, CollectiveKind::AllGather, 12, &group(0..7)), "mine");
        // From the root in the middle to both sides.
        let broadcast = choice(&expander, CollectiveKind::Broadcast, 12, 1, &group(0..3)).algorithm;
        let senders: Vec<bool> =
            broadcast.graph().ranks().iter().map(|rank| rank.ops().iter().any(Op::is_send)).collect();
        assert_eq!(senders, [false, true, false]);
    }

    #[test]
    fn what_was_registered_and_does_not_fit_is_refused() {
        let schedule = mine::RANKS_4.schedule().unwrap();
        let rules = || Rules::new().register(mine::DEF).register_schedule("static", schedule.clone());
        let of = |name: &str| rules().rule(Rule::algorithm(name));
        assert_eq!(
            wrong(of("static").register_schedule("static", schedule.clone())),
            "rule 1: \"static\" was registered twice for 4 ranks"
        );
        assert_eq!(wrong(of("mine").register(mine::DEF)), "rule 1: \"mine\" was registered more than once");
        assert!(wrong(of("mime")).starts_with("rule 1: there is no algorithm \"mime\"; did you mean mine"));
        let expander = Expander::new(of("static")).unwrap();
        assert_eq!(
            refusal(&expander, CollectiveKind::AllGather, 4, 0, &group(0..5)),
            "rule 1: static is for 4 ranks, the group has 5"
        );
        let missing = Expander::new(Rules::new().register(star::DEF).rule(Rule::algorithm("star"))).unwrap();
        let error = refusal(&missing, CollectiveKind::Broadcast, 4, 0, &group(0..5));
        assert_eq!(error, "rule 1: star: the parameter `pieces` needs a value");
        let rule = Rule::algorithm("star").set("pieces", 3);
        let refused = Expander::new(Rules::new().register(star::DEF).rule(rule)).unwrap();
        let error = refusal(&refused, CollectiveKind::Broadcast, 4, 0, &group(0..5));
        assert!(
            error.contains("star(pieces=3) is not for 5 ranks") && error.contains("no more than 2 pieces"),
            "{error}"
        );
    }

    #[test]
    fn an_algorithm_that_is_not_for_so_many_ranks_is_an_error_and_not_the_next_rules_turn() {
        let rules =
            Rules::new().rule(Rule::algorithm("allreduce_swing")).rule(Rule::algorithm("allreduce_ring"));
        let expander = Expander::new(rules).unwrap();
        assert_eq!(name(&expander, CollectiveKind::AllReduce, 4096, &group(0..8)), "allreduce_swing");
        assert_eq!(
            refusal(&expander, CollectiveKind::AllReduce, 4096, 0, &group(0..6)),
            "rule 1: allreduce_swing is for powers of two of ranks, not for 6"
        );
    }

    #[test]
    fn levels_fit_the_groups_machines() {
        let expander = with(Rule::algorithm("allreduce_hierarchical").ranks(2..));
        let of = |group: &Group| name(&expander, CollectiveKind::AllReduce, 1 << 20, group);
        assert!(of(&group(0..16)).starts_with("allreduce_hierarchical(gpus=8, "));
        // Two ranks on each of four machines.
        let pairs = group((0..4).flat_map(|machine| [machine * 8, machine * 8 + 1]));
        assert!(of(&pairs).starts_with("allreduce_hierarchical(gpus=2, "), "{}", of(&pairs));
        let set = with(Rule::algorithm("allreduce_hierarchical").set("gpus", 4));
        let chosen = name(&set, CollectiveKind::AllReduce, 1 << 20, &group(0..16));
        assert!(chosen.starts_with("allreduce_hierarchical(gpus=4, "), "{chosen}");
    }

    #[test]
    fn rules_that_cannot_be_are_refused() {
        let of = |rule: Rule| wrong(Rules::new().rule(Rule::default_algorithm()).rule(rule));
        let ring = || Rule::algorithm("allreduce_ring");
        for (rule, error) in [
            (
                ring().kinds([CollectiveKind::AllGather]),
                "the rule is for all_gather, but allreduce_ring does all_reduce",
            ),
            (ring().set("chanels", 2), "allreduce_ring has no parameter chanels: expected channels"),
            (ring().set("ranks", 2), "ranks cannot be set: it is that of the collective"),
            (Rule::default_algorithm().set("x", 1), "set = { x = … }: the default has no parameters"),
            (
                ring().at_least(8).below(8),
                "no size is from 8 B on and below 8 B: min_size must be less than max_size",
            ),
            (ring().below(0), "no size is below 0: max_size must be more"),
            (
                ring().ranks((Bound::Included(5), Bound::Included(4))),
                "no group has 5 ranks or more and 4 or fewer: min_ranks must not be more than max_ranks",
            ),
            (ring().ranks(..1), "no group has 0 ranks"),
            (ring().within(0), "within = 0: expected the ranks of a machine, 1 or more"),
            (ring().within(8).ranks(16..), "no group of 16 ranks or more lies within 8 ranks"),
            (
                ring().within(8).across(8),
                "the members of no group lie within one block of 8 ranks and across blocks of 8",
            ),
        ] {
            assert_eq!(of(rule), format!("rule 2: {error}"));
        }
        // A barrier may be an all-reduce, if that is said.
        let barrier = with(ring().kinds([CollectiveKind::Barrier]));
        assert_eq!(name(&barrier, CollectiveKind::Barrier, 0, &group(0..4)), "allreduce_ring(channels=1)");
        assert_eq!(
            name(&with(ring()), CollectiveKind::Barrier, 0, &group(0..64)),
            "allreduce_double_binary_tree(segments=1)"
        );
    }

    #[test]
    fn groups_and_nodes_are_matched_by_what_they_are() {
        let bruck = || Rule::algorithm("allgather_bruck");
        let is = |rule: Rule, group: &Group, node: &str| {
            let expander = with(rule);
            let collective = Use::new(CollectiveKind::AllGather, 64, 0, group).of_node(7, node);
            expander.algorithm(&collective).unwrap().algorithm.name() == "allgather_bruck"
        };
        let of = |members: &[u32]| group(members.iter().copied());
        for (rule, yes, no) in [
            (bruck().within(4), of(&[4, 5, 7]), of(&[3, 4])),
            (bruck().across(4), of(&[0, 5, 9]), of(&[4, 5])),
            (bruck().contiguous(true), of(&[5, 6, 4]), of(&[1, 3])),
            (bruck().contiguous(false), of(&[1, 3]), of(&[1, 2])),
            (bruck().ranks(3..=4), of(&[1, 2, 3]), of(&[1, 2])),
            (bruck().ranks(..3), of(&[1, 2]), of(&[1, 2, 3])),
            (bruck().group("dp*").group("x"), named("dp1", 0..2), named("tp", 0..2)),
            (bruck().group(""), of(&[0, 1]), named("0", 0..2)),
        ] {
            assert!(is(rule.clone(), &yes, "") && !is(rule, &no, ""));
        }
        let all = of(&[0, 1]);
        assert!(is(bruck().node("*layer?.*"), &all, "gather.layer3.weight"));
        assert!(!is(bruck().node("*layer?.*"), &all, "gather.layer13.weight"));
    }

    #[test]
    fn overlap_comes_with_the_chunks() {
        let of = |overlap| {
            let expander = with(Rule::default_algorithm().overlap(overlap));
            choice(&expander, CollectiveKind::AllReduce, 4096, 0, &group(0..4))
        };
        let both = of(Overlap::Both);
        assert!(both.split_consumers && both.split_producers);
        // An all-reduce of 4 chunks on each of 4 ranks, in and out.
        for chunks in [both.algorithm.inputs(), both.algorithm.outputs()] {
            assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [4; 4]);
            assert!(chunks.iter().flatten().all(|nodes| nodes.len() == 1));
        }
        let consumers = of(Overlap::Consumers);
        assert!(consumers.split_consumers && !consumers.split_producers);
        let none = of(Overlap::None);
        assert!(!none.split_consumers && !none.split_producers && none.algorithm.outputs().is_empty());
    }

    #[test]
    fn rooted_algorithms_have_the_root_of_the_collective() {
        let expander = with(Rule::algorithm("broadcast_binomial"));
        for root in 0..5 {
            let graph = choice(&expander, CollectiveKind::Broadcast, 100, root, &group(10..15)).algorithm;
            let first = |rank: usize| {
                graph.graph().rank(rank).ops().iter().find(|op| !matches!(op, Op::Comp { .. })).copied()
            };
            for rank in 0..5 {
                let receives = matches!(first(rank), Some(Op::Recv { .. }));
                assert_eq!(receives, rank != root as usize);
            }
        }
        let def: AlgorithmDef = mine::DEF;
        assert_eq!(def.name, "mine");
    }
}

mod from_files {
    use std::path::PathBuf;

    use chakra_et::graph::Origin;
    use chakra_et::proto::GlobalMetadata;
    use chakra_et::{RankWriter, attr, metadata, view, write_trace};
    use collective::et::{self, EtOptions};
    use collective::msccl::{Target, XmlOptions};
    use collective::{Size, algorithms};

    use super::*;

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("collective-rules-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn ring_xml() -> String {
        let ring = algorithms::find("allreduce_ring").unwrap().compile(true, &[4, 1]).unwrap();
        msccl::write(&ring, &XmlOptions { target: Target::Msccl, ..XmlOptions::default() }).unwrap()
    }

    #[test]
    fn an_xml_file_is_brought_to_the_size() {
        let directory = Directory::new("xml");
        let file = directory.file("ring.xml", &ring_xml());
        let expander = Expander::new(Rules::new().rule(Rule::xml(&file))).unwrap();
        for bytes in [4096, 10, 70_000_003] {
            let graph = choice(&expander, CollectiveKind::AllReduce, bytes, 0, &group(0..4)).algorithm;
            assert_eq!(received(graph.graph()), 2 * 3 * bytes);
        }
        let error = refusal(&expander, CollectiveKind::AllReduce, 4, 0, &group(0..8));
        assert_eq!(error, format!("rule 1: {} is for 4 ranks, the group has 8", file.display()));
        // It is no rule for other collectives.
        assert_eq!(name(&expander, CollectiveKind::AllGather, 4, &group(0..8)), "allgather_ring(channels=1)");
    }

    #[test]
    fn files_that_are_missing_or_wrong_are_named() {
        let directory = Directory::new("wrong");
        let error = |rule: Rule| Expander::new(Rules::new().rule(rule)).unwrap_err().to_string();
        let missing = directory.0.join("no.xml");
        assert!(error(Rule::xml(&missing)).starts_with(&format!("rule 1: {}: ", missing.display())));
        let missing = error(Rule::et(directory.0.join("no")));
        assert!(missing.starts_with("rule 1: ") && missing.contains("no"), "{missing}");
        let broken = directory.file("broken.xml", "<algo>\n<gpu/></algo>");
        assert!(error(Rule::xml(&broken)).contains("broken.xml:2: gpu: attribute id is missing"));
        // One receive less.
        let unmatched = ring_xml().replacen("type=\"r\"", "type=\"nop\"", 1);
        let unmatched = error(Rule::xml(directory.file("unmatched.xml", &unmatched)));
        assert!(unmatched.contains("unmatched.xml is wrong: "), "{unmatched}");
        let of_another =
            Rule::xml(directory.file("ring.xml", &ring_xml())).kinds([CollectiveKind::Broadcast]);
        let of_another = error(of_another);
        assert!(
            of_another.starts_with("rule 1: the rule is for broadcast, but ")
                && of_another.ends_with("ring.xml does all_reduce")
        );
    }

    #[test]
    fn traces_of_this_project_are_brought_to_the_size_and_know_their_chunks() {
        let directory = Directory::new("et");
        let ring = algorithms::find("allgather_ring").unwrap().compile(true, &[3, 1]).unwrap();
        let prefix = directory.0.join("ring");
        et::bytes(&ring, &EtOptions::new(Size::bytes(300))).unwrap().write(&prefix).unwrap();
        let expander =
            Expander::new(Rules::new().rule(Rule::et(&prefix).overlap(Overlap::Consumers))).unwrap();
        let algorithm = choice(&expander, CollectiveKind::AllGather, 1001, 0, &group(0..3)).algorithm;
        assert_eq!(received(algorithm.graph()), 2 * 3003);
        assert_eq!(algorithm.outputs()[0].iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1]);
        let error = Expander::new(Rules::new().rule(Rule::et(directory.0.join("ring.0.et")))).unwrap_err();
        assert!(error.to_string().contains("expected the prefix"), "{error}");
    }

    /// Two ranks send each other something; sizes in chunks, or literal.
    fn foreign(directory: &Directory, name: &str, stated: Option<u64>, literal: bool) -> PathBuf {
        let prefix = directory.0.join(name);
        let rank = |rank: usize| -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
            let mut header: GlobalMetadata = metadata::write(None, &[])?;
            if let Some(stated) = stated {
                header.attr.push(attr::int64_from("collective_size", stated)?);
            }
            let mut writer = RankWriter::new(&header)?;
            let peer = 1 - rank as u32;
            for (id, op) in
                [Op::Send { dst: peer, tag: 0, bytes: 100 }, Op::Recv { src: peer, tag: 0, bytes: 100 }]
                    .into_iter()
                    .enumerate()
            {
                let mut node = view::node(id as u64, "COMM", op, vec![], Origin::default())?;
                if !literal {
                    node.attr.retain(|attribute| attribute.name != "comm_size");
                    node.attr.push(attr::int32_from("msg_chunk_cnt", 1)?);
                    node.attr.push(attr::int32_from("total_chunk_cnt", 2)?);
                }
                writer.node(&node)?;
            }
            Ok(writer.finish())
        };
        write_trace(&prefix, 2, rank).unwrap();
        prefix
    }

    #[test]
    fn traces_of_other_tools_follow_the_size_as_far_as_they_say_theirs() {
        let directory = Directory::new("foreign");
        let of = |prefix: &PathBuf| {
            let rule = Rule::et(prefix).kinds([CollectiveKind::AllReduce]);
            Expander::new(Rules::new().rule(rule)).unwrap()
        };
        let bytes = |expander: &Expander, size| {
            received(choice(expander, CollectiveKind::AllReduce, size, 0, &group(0..2)).algorithm.graph()) / 2
        };
        let literal = of(&foreign(&directory, "literal", None, true));
        assert_eq!([bytes(&literal, 1000), bytes(&literal, 77)], [100, 100]);
        let [unchecked, kept] = &literal.notes()[..] else { panic!("{:?}", literal.notes()) };
        assert!(unchecked.ends_with("do not say what they compute, so nobody has checked it"), "{unchecked}");
        assert!(kept.contains("state no size of their collective"), "{kept}");
        let stated = of(&foreign(&directory, "stated", Some(200), true));
        assert_eq!([bytes(&stated, 1000), bytes(&stated, 77)], [500, 38]);
        assert_eq!(stated.notes().len(), 1);
        let symbolic = of(&foreign(&directory, "symbolic", None, false));
        assert_eq!(bytes(&symbolic, 1000), 500);
        let odd = refusal(&symbolic, CollectiveKind::AllReduce, 77, 0, &group(0..2));
        assert!(odd.contains("77") && odd.starts_with("rule 1: "), "{odd}");
        let ranks = refusal(&symbolic, CollectiveKind::AllReduce, 8, 0, &group(0..3));
        assert!(ranks.ends_with("symbolic is for 2 ranks, the group has 3"), "{ranks}");
    }

    #[test]
    fn traces_of_other_tools_need_a_kind_and_know_no_chunks() {
        let directory = Directory::new("opaque");
        let prefix = foreign(&directory, "x", None, true);
        let error = |rule: Rule| Expander::new(Rules::new().rule(rule)).unwrap_err().to_string();
        assert!(
            error(Rule::et(&prefix))
                .ends_with("do not say which collective they do: the rule must, with kind = …")
        );
        let rule = Rule::et(&prefix).kinds([CollectiveKind::AllReduce]).overlap(Overlap::Both);
        assert!(error(rule).contains("overlap = \"both\" needs to know which nodes make which chunk"));
        // A workload is no algorithm.
        let rank = |_| -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
            let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
            writer.node(&view::node(
                3,
                "COLL",
                Op::Coll { kind: 0, bytes: 8 },
                vec![],
                Origin::default(),
            )?)?;
            Ok(writer.finish())
        };
        let prefix = directory.0.join("workload");
        write_trace(&prefix, 1, rank).unwrap();
        let error = error(Rule::et(&prefix).kinds([CollectiveKind::AllReduce]));
        assert!(
            error.ends_with("workload.0.et: node 3 is no SEND, RECV or COMP, of which an algorithm consists"),
            "{error}"
        );
    }

    #[cfg(feature = "topology-files")]
    mod toml {
        use super::*;

        fn error(text: &str) -> String {
            match Rules::parse(text, "rules.toml").and_then(Expander::new) {
                Ok(_) => panic!("{text} is accepted"),
                Err(error) => error.to_string(),
            }
        }

        #[test]
        fn the_examples_of_the_documentation_are_rules() {
            let text = include_str!("../docs/workload-rules.md");
            let examples: Vec<&str> =
                text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
            assert!(!examples.is_empty());
            let expander = Expander::new(Rules::parse(examples[0], "rules.toml").unwrap()).unwrap();
            let of = |kind, bytes, group: &Group| name(&expander, kind, bytes, group);
            assert_eq!(
                of(CollectiveKind::AllReduce, 1 << 20, &named("tp0", 0..8)),
                "allreduce_ring(channels=2)"
            );
            assert_eq!(
                of(CollectiveKind::AllReduce, 64 << 20, &named("dp", 0..32)),
                "allreduce_hierarchical(gpus=8, inner=1, outer=0)"
            );
            let across = group([0, 8, 16]);
            assert_eq!(of(CollectiveKind::AllGather, 1000, &across), "allgather_bruck");
            let layer = Use::new(CollectiveKind::AllGather, 1000, 0, &across).of_node(1, "gather layer 3");
            let layer = expander.algorithm(&layer).unwrap();
            assert!(layer.split_consumers && layer.algorithm.name() == "allgather_ring(channels=1)");
            let used = expander.used();
            assert_eq!(used[0].rule.as_ref().unwrap().to_string(), "rules.toml:5: rule 1");
        }

        #[test]
        fn files_are_relative_to_the_rules() {
            let directory = Directory::new("relative");
            directory.file("ring.xml", &ring_xml());
            let rules = directory.file("rules.toml", "[[rule]]\nxml = \"ring.xml\"\n");
            let expander = Expander::new(Rules::load(&rules).unwrap()).unwrap();
            let all_reduce = name(&expander, CollectiveKind::AllReduce, 64, &group(0..4));
            assert_eq!(PathBuf::from(all_reduce), directory.0.join("ring.xml"));
            let missing = directory.0.join("none.toml");
            let error = Rules::load(&missing).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: ", missing.display())), "{error}");
        }

        #[test]
        fn what_is_wrong_is_named_with_its_line() {
            let rule = |lines: &str| error(&format!("# A comment.\n[[rule]]\n{lines}\n"));
            for (lines, wanted) in [
                (
                    "algorithm = \"allreduce_ring\"\nsizes = 3",
                    "rules.toml:4: rule 1: the key sizes is not known here: expected kind, ",
                ),
                (
                    "algorithm = \"alreduce_ring\"",
                    "rules.toml:3: rule 1: there is no algorithm \"alreduce_ring\"; did you mean allreduce_ring",
                ),
                (
                    "kind = \"allreduce\"\ndefault = true",
                    "rules.toml:3: rule 1: kind = \"allreduce\": expected all_reduce, ",
                ),
                (
                    "kind = []\ndefault = true",
                    "rules.toml:3: rule 1: kind = []: expected a list with something in it",
                ),
                (
                    "kind = [\"all_reduce\", 3]\ndefault = true",
                    "rules.toml:3: rule 1: kind = 3: expected all_reduce, ",
                ),
                (
                    "min_size = \"1 MB\"\nmax_size = \"1 KB\"\ndefault = true",
                    "rules.toml:4: rule 1: no size is from 1 MB on and below 1 KB",
                ),
                (
                    "min_size = 7\ndefault = true",
                    "rules.toml:3: rule 1: min_size = 7: expected a text, such as \"4 MiB\"",
                ),
                (
                    "min_size = \"7 parsec\"\ndefault = true",
                    "rules.toml:3: rule 1: min_size = \"7 parsec\": ",
                ),
                (
                    "ranks = 8\nmin_ranks = 2\ndefault = true",
                    "rules.toml:3: rule 1: ranks goes without min_ranks and max_ranks",
                ),
                (
                    "ranks = 0\ndefault = true",
                    "rules.toml:3: rule 1: ranks = 0: expected a whole number, at least 1",
                ),
                (
                    "contiguous = 1\ndefault = true",
                    "rules.toml:3: rule 1: contiguous = 1: expected true or false",
                ),
                (
                    "within = 8\nmin_ranks = 9\ndefault = true",
                    "rules.toml:3: rule 1: no group of 9 ranks or more lies within 8 ranks",
                ),
                ("kind = \"barrier\"", "rules.toml:2: rule 1: the rule gives nothing: expected algorithm = "),
                ("default = false", "rules.toml:3: rule 1: default = false: expected true, or no such key"),
                (
                    "default = true\nxml = \"a.xml\"",
                    "rules.toml:2: rule 1: the rule gives more than one thing: expected one of ",
                ),
                (
                    "default = true\noverlap = \"all\"",
                    "rules.toml:4: rule 1: overlap = \"all\": expected none, consumers, producers, both",
                ),
                (
                    "algorithm = \"allreduce_ring\"\nset = { channels = \"two\" }",
                    "rules.toml:4: rule 1: channels = \"two\": expected a whole number, or, ",
                ),
                (
                    "algorithm = \"allreduce_ring\"\nset = 3",
                    "rules.toml:4: rule 1: set = 3: expected a table, such as { channels = 2 }",
                ),
                (
                    "algorithm = \"allreduce_ring\"\nset = { rings = 2 }",
                    "rules.toml:4: rule 1: allreduce_ring has no parameter rings: expected channels",
                ),
                (
                    "algorithm = \"allreduce_ring\"\nkind = \"broadcast\"",
                    "rules.toml:4: rule 1: the rule is for broadcast, but allreduce_ring does all_reduce",
                ),
                ("xml = \"nowhere.xml\"", "rules.toml:3: rule 1: nowhere.xml: "),
                ("et = \"nowhere\"", "rules.toml:3: rule 1: "),
                ("default = true\ndefault = true", "rules.toml:4: "),
            ] {
                let found = rule(lines);
                assert!(found.starts_with(wanted), "{lines}: {found}");
                assert!(!found.contains('\n'));
            }
            assert!(
                error("machines = 8")
                    .starts_with("rules.toml:1: the key machines is not known here: expected machine, rule")
            );
            assert_eq!(
                error("machine = 0"),
                "rules.toml:1: machine = 0: expected a whole number, at least 1"
            );
            assert!(
                error("rule = 3").starts_with("rules.toml:1: rule = 3: expected a list of tables, [[rule]]")
            );
        }

        #[test]
        fn a_rule_that_does_not_serve_a_collective_is_named_with_its_line() {
            let text = "[[rule]]\ndefault = true\nranks = 3\n\n[[rule]]\nalgorithm = \"allreduce_swing\"\n";
            let expander = Expander::new(Rules::parse(text, "rules.toml").unwrap()).unwrap();
            let error = refusal(&expander, CollectiveKind::AllReduce, 8, 0, &group(0..6));
            assert_eq!(
                error,
                "rules.toml:5: rule 2: allreduce_swing is for powers of two of ranks, not for 6"
            );

            // A value that the algorithm cannot have: which it can, and no line of the library's source.
            let text =
                "[[rule]]\nalgorithm = \"allreduce_hierarchical\"\nset = { inner = \"ring\", gpus = 3 }\n";
            let expander = Expander::new(Rules::parse(text, "rules.toml").unwrap()).unwrap();
            let error = refusal(&expander, CollectiveKind::AllReduce, 1 << 20, 0, &group(0..16));
            assert!(error.starts_with("rules.toml:"), "{error}");
            assert!(error.contains(": rule 1: allreduce_hierarchical(gpus=3, "), "{error}");
            assert!(
                error.contains(
                    "the number of ranks must be a multiple of `gpus`; for 16 ranks the library has gpus = "
                ),
                "{error}"
            );
            assert!(!error.contains(".rs:"), "{error}");
        }
    }
}
