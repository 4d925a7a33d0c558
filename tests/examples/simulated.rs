//! Examples that simulate: their figures are those of theory.

use collective::sim::units::Bytes;

use crate::{compare_algorithms, custom_collective, determinism_report, printed};

/// On the way of a share between nodes (S bytes a buffer, 8 GPUs): the last GPU gives 7 shares away, which takes 7/8·S at 450 GB/s, a
/// card carries S/8 at 50 GB/s, and of the 8 shares 6 go on to the first GPU afterwards: that of card 0 is there, and that of the last GPU,
/// which set out at once, has come before. Each hop has its latency, and links are cut through: 2·250 + 2·1500 + 2·250 ns.
#[test]
fn the_gain_of_alltonext_is_that_of_the_hand_calculation() {
    let topology = custom_collective::cluster().unwrap();
    let schedule = |embedded: &collective::Embedded| embedded.schedule().unwrap();
    let direct = schedule(custom_collective::to_next::direct::RANKS_32_GPUS_8);
    let relayed = schedule(custom_collective::to_next::relayed::RANKS_32_GPUS_8);
    for megabytes in [360, 1440] {
        let size = Bytes(megabytes * 1_000_000);
        let bytes = size.0 as f64;
        let ns = |schedule| custom_collective::time(schedule, size, &topology).unwrap().as_ns();
        let by_hand = [bytes / 50.0 + 3500.0, bytes * (13.0 / 8.0 / 450.0 + 1.0 / 8.0 / 50.0) + 4000.0];
        for (took, wanted) in [ns(&direct), ns(&relayed)].into_iter().zip(by_hand) {
            assert!((took / wanted - 1.0).abs() < 1e-4, "{megabytes} MB: {took} ns, by hand {wanted}");
        }
    }
    let text = printed(custom_collective::show);
    assert!(text.contains("one or three on a node: true"), "{text}");
    let gains: Vec<f64> = text
        .lines()
        .filter_map(|line| {
            line.strip_suffix('x').filter(|line| line.contains('|'))?.rsplit(' ').next()?.parse().ok()
        })
        .collect();
    assert_eq!(gains.len(), 11);
    assert!(gains[0] < 1.0 && gains[10] > 3.0 && gains.is_sorted(), "{gains:?}");
}

#[test]
fn the_winners_of_a_comparison_are_no_slower_than_anybody_and_follow_one_another() {
    let comparison = compare_algorithms::comparison().unwrap();
    let stretches = comparison.stretches();
    assert!(stretches.len() > 1);
    assert!(stretches.windows(2).all(|pair| pair[0].until.in_bytes() < pair[1].from.in_bytes()));
    assert!(stretches.windows(2).all(|pair| pair[0].row != pair[1].row));
    for (at, size) in comparison.sizes.iter().enumerate() {
        let (best, time) = comparison.best(at).unwrap();
        let times = comparison.rows.iter().filter_map(|row| row.times[at].as_ref().ok());
        assert!(times.clone().all(|other| *other >= time));
        let within = |stretch: &&collective::compare::Stretch| {
            (stretch.from.in_bytes()..=stretch.until.in_bytes()).contains(&size.in_bytes())
        };
        assert_eq!(stretches.iter().find(within).unwrap().row, best);
        // Over the eight cards of a node at 50 GB/s at least the sum of the node's data must leave, one way.
        let least = size.in_bytes() as f64 / (8.0 * 50.0);
        assert!(time.as_ns() >= least, "{at}");
    }
    // Both exchanges send everything to everybody: 7·S at 450 GB/s within a node after S at 50 GB/s between them.
    let own = comparison.rows.iter().find(|row| row.label.starts_with("pairs_first")).unwrap();
    let (bytes, took) = (comparison.sizes[10].in_bytes() as f64, own.times[10].as_ref().unwrap().as_ns());
    let by_hand = bytes / 50.0 + 7.0 * bytes / 450.0;
    assert!((took / by_hand - 1.0).abs() < 1e-3, "{took} {by_hand}");

    let text = printed(compare_algorithms::show);
    let first = &comparison.rows[stretches[0].row].label;
    assert!(text.lines().any(|line| line.starts_with("   1 KiB") && line.contains(first.as_str())), "{text}");
    // One choice for all sizes is never ahead of the fastest.
    let (_, fixed) = text.split_once("at worst").unwrap();
    let factors: Vec<f64> =
        fixed.lines().filter_map(|line| line.split_once("x  ")?.0.rsplit(' ').next()?.parse().ok()).collect();
    assert!(factors.len() >= 4 && factors[0] >= 1.0 && factors.is_sorted(), "{text}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_and_times() {
    let text = printed(|out| determinism_report::show(out, &[1, 2, 5]));
    assert_eq!(text.lines().filter(|line| line.ends_with("  same")).count(), 9, "{text}");
    assert!(text.ends_with("All the same, to the bit.\n"), "{text}");
    // The values that the authors of the hash give: the offset basis, and that of the letter a.
    let mut hash = determinism_report::Hash::new();
    assert_eq!(hash.finish(), 0xcbf2_9ce4_8422_2325);
    hash.add(b"a");
    assert_eq!(hash.finish(), 0xaf63_dc4c_8601_ec8c);
}

#[cfg(feature = "topology-files")]
mod topologies {
    use collective::algorithms::allreduce_ring;
    use collective::sim::topology::{load, parse_toml};
    use collective::sim::units::Bytes;

    use crate::{printed, topology_from_toml};

    #[test]
    fn a_network_is_described_and_a_change_of_it_costs_what_theory_says() {
        let text = printed(|out| topology_from_toml::show(out, &[]));
        // Two hops to a GPU of the node, two more to the next node; a card and the NVSwitch give 500 GB/s.
        let cluster = text.split("\n\n").next().unwrap();
        assert!(
            cluster.contains("longest route 4 hops") && cluster.contains("500.0 GB/s to 500.0 GB/s"),
            "{text}"
        );
        // 8 switches of 4 members, cut in the middle: 8 · 2 cards of 50 GB/s each way.
        assert!(cluster.contains("cut into halves: 800.0 GB/s"), "{text}");
        // Rank 3 of node 0 to rank 28, GPU 4 of node 3.
        assert!(cluster.contains("from rank 3 to rank 28:\n    rank 3 → switch"), "{text}");
        assert!(text.contains("typo.toml:4: ") && text.contains("400 Gbs"), "{text}");

        // A ring of all ranks sends S/32 at a time over the slowest card, 62 times; no variant changes that one.
        let ring = allreduce_ring::compile(32, 1).unwrap();
        let (size, mut times) = (Bytes(32 * 10_000_000), Vec::new());
        let cluster = load(std::path::Path::new(topology_from_toml::CLUSTER), None).unwrap().topology;
        let parse = |text| parse_toml(text, "", None).unwrap().topology;
        for topology in [cluster, parse(topology_from_toml::TWO_CARDS), parse(topology_from_toml::THIN_TREE)]
        {
            times.push(topology_from_toml::micros(&ring, size, &topology).unwrap());
        }
        let by_hand = 62.0 * 10_000_000.0 / 50_000.0;
        assert!(times.iter().all(|time| (time / by_hand - 1.0).abs() < 0.02), "{times:?} {by_hand}");
        // Two levels use all cards of the first network, a quarter as many or links of the others.
        let last = text.lines().filter(|line| line.contains(" | ")).skip(2);
        let slowest: Vec<f64> = last.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
        assert_eq!(slowest.len(), 3, "{text}");
        assert!(slowest[1] > 1.5 * slowest[0] && slowest[2] > 1.5 * slowest[0], "{slowest:?}");
    }
}
