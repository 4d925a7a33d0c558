use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// Links by capacity, routes by their links, and what happens: a route gets so many flows.
type Case = (Vec<u64>, Vec<Vec<u32>>, Vec<(usize, u32)>);

fn cases() -> impl Strategy<Value = Case> {
    let capacity = prop_oneof![1..100u64, 1_000_000_000..2_000_000_000u64, Just(1_000_000_000_000_000_000)];
    prop::collection::vec(capacity, 2..8).prop_flat_map(|capacities| {
        let links = 0..capacities.len() as u32;
        let route = prop::sample::subsequence(links.collect::<Vec<_>>(), 1..=capacities.len());
        let routes = prop::collection::vec(route, 1..12);
        let steps = prop::collection::vec((0..12usize, 0..5u32), 1..30);
        (Just(capacities), routes, steps).prop_map(|(capacities, routes, steps)| {
            let count = routes.len();
            (capacities, routes, steps.into_iter().map(|(route, flows)| (route % count, flows)).collect())
        })
    })
}

/// The rates by route, after all steps with a recomputation behind each, or with one at the end.
fn rates((capacities, routes, steps): &Case, each: bool) -> BTreeMap<usize, u128> {
    let hops = routes.concat();
    let first = |route: usize| routes[..route].iter().map(Vec::len).sum::<usize>() as u32;
    let mut sharing = Sharing::new(capacities.iter().copied(), hops);
    let mut classes = BTreeMap::new();
    let recompute = |sharing: &mut Sharing| {
        sharing.recompute(|_, classes| if classes.is_empty() { Err("an empty component") } else { Ok(()) })
    };
    for &(route, flows) in steps {
        let hops = first(route)..first(route + 1);
        let class = *classes.entry(route).or_insert_with(|| sharing.attach(hops));
        sharing.set_flows(class, flows);
        if flows == 0 {
            sharing.detach(class);
            classes.remove(&route);
        }
        if each {
            recompute(&mut sharing).unwrap();
        }
    }
    recompute(&mut sharing).unwrap();
    classes.into_iter().map(|(route, class)| (route, sharing.rate(class))).collect()
}

/// What the routes have in the end.
fn flows_of(steps: &[(usize, u32)]) -> BTreeMap<usize, u128> {
    let last: BTreeMap<usize, u32> = steps.iter().copied().collect();
    last.into_iter().filter(|(_, flows)| *flows > 0).map(|(route, flows)| (route, flows.into())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The definition of max-min fairness, up to the rounding: on a link of n flows less than n units are left.
    #[test]
    fn no_link_carries_too_much_and_every_flow_has_a_bottleneck(case in cases()) {
        let (capacities, routes, steps) = &case;
        let (rates, flows) = (rates(&case, true), flows_of(steps));
        prop_assert!(rates.keys().eq(flows.keys()));
        let on = |link: u32| rates.iter().filter(move |(route, _)| routes[**route].contains(&link));
        let left = |link: u32| {
            let used: u128 = on(link).map(|(route, rate)| rate * flows[route]).sum();
            rate_of(capacities[link as usize]).checked_sub(used)
        };
        for link in 0..capacities.len() as u32 {
            prop_assert!(left(link).is_some(), "link {link} is oversubscribed");
        }
        for (route, rate) in &rates {
            let bottleneck = routes[*route].iter().any(|link| {
                let count: u128 = on(*link).map(|(route, _)| flows[route]).sum();
                left(*link).unwrap() < count && on(*link).all(|(_, other)| other <= rate)
            });
            prop_assert!(bottleneck, "route {route} could be faster");
        }
    }

    #[test]
    fn what_is_recomputed_in_part_is_what_a_fresh_start_gives(case in cases()) {
        let (capacities, routes, steps) = &case;
        let last = flows_of(steps).into_iter().map(|(route, flows)| (route, flows as u32));
        let fresh = (capacities.clone(), routes.clone(), last.collect());
        let expected = rates(&fresh, false);
        prop_assert_eq!(&rates(&case, true), &expected);
        prop_assert_eq!(&rates(&case, false), &expected);
    }

    #[test]
    fn the_numbers_of_links_and_routes_mean_nothing(case in cases(), turn in 0..8usize) {
        let (capacities, routes, steps) = &case;
        let (links, count) = (capacities.len(), routes.len());
        let mut turned = (vec![0; links], vec![Vec::new(); count], Vec::new());
        for (link, capacity) in capacities.iter().enumerate() {
            turned.0[(link + turn) % links] = *capacity;
        }
        for (at, route) in routes.iter().enumerate() {
            let route = route.iter().map(|link| ((*link as usize + turn) % links) as u32);
            turned.1[(at + turn) % count] = route.collect();
        }
        turned.2 = steps.iter().map(|(route, flows)| ((route + turn) % count, *flows)).collect();
        let expected: BTreeMap<_, _> =
            rates(&case, true).into_iter().map(|(route, rate)| ((route + turn) % count, rate)).collect();
        prop_assert_eq!(rates(&turned, true), expected);
    }
}

#[test]
fn only_what_is_connected_is_recomputed() {
    // Links 0 and 1 are joined by a route, 2 is apart.
    let mut sharing = Sharing::new([10, 10, 10].into_iter(), vec![0, 1, 1, 2]);
    let [a, b, c] = [0..2, 2..3, 3..4].map(|hops| sharing.attach(hops));
    [a, b, c].into_iter().for_each(|class| sharing.set_flows(class, 1));
    let components = |sharing: &mut Sharing| {
        let mut components = BTreeSet::new();
        let _ = sharing.recompute(|_, classes| {
            components.insert(classes.iter().copied().collect::<BTreeSet<_>>());
            Ok::<_, ()>(())
        });
        components
    };
    assert_eq!(components(&mut sharing), [[a, b].into(), [c].into()].into());
    assert_eq!(components(&mut sharing), BTreeSet::new(), "nothing changed");
    sharing.set_flows(b, 3);
    assert_eq!(components(&mut sharing), [[a, b].into()].into());
    assert_eq!([a, b, c].map(|class| sharing.rate(class)), [rate_of(10) / 4, rate_of(10) / 4, rate_of(10)]);
}
