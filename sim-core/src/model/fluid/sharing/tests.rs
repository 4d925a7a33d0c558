use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Links by capacity, routes by their links, and what happens: a route gets so many flows.
type Case = (Vec<u64>, Vec<Vec<u32>>, Vec<(usize, u32)>);

/// As many links and routes as given, at most. Equal capacities make shares that differ by the rounding only.
fn cases(links: usize, routes: usize) -> impl Strategy<Value = Case> {
    let capacity = prop_oneof![1..100u64, 1_000_000_000..2_000_000_000u64, Just(1_000_000_000_000_000_000)];
    let equal = (1..50u64, 2..=links).prop_map(|(capacity, links)| vec![capacity; links]);
    let capacities = prop_oneof![prop::collection::vec(capacity, 2..=links), equal];
    capacities.prop_flat_map(move |capacities| {
        let links = (0..capacities.len() as u32).collect::<Vec<_>>();
        let most = links.len().min(5);
        let route = prop::sample::subsequence(links, 1..=most);
        let steps = prop::collection::vec((0..routes, 0..5u32), 1..40);
        (Just(capacities), prop::collection::vec(route, 1..=routes), steps).prop_map(
            |(capacities, routes, steps)| {
                let count = routes.len();
                (capacities, routes, steps.into_iter().map(|(route, flows)| (route % count, flows)).collect())
            },
        )
    })
}

/// The definition: every link is filled from the beginning.
fn reference(
    capacities: &[u64],
    routes: &[Vec<u32>],
    flows: &BTreeMap<usize, u128>,
) -> BTreeMap<usize, u128> {
    let mut rates = BTreeMap::<usize, u128>::new();
    while rates.len() < flows.len() {
        let share = |link: u32| {
            let on = flows.iter().filter(|(route, _)| routes[**route].contains(&link));
            let (done, open): (Vec<_>, Vec<_>) = on.partition(|(route, _)| rates.contains_key(*route));
            let used: u128 = done.into_iter().map(|(route, flows)| rates[route] * flows).sum();
            let open: u128 = open.into_iter().map(|(_, flows)| flows).sum();
            (rate_of(capacities[link as usize]) - used).checked_div(open)
        };
        let shares: Vec<Option<u128>> = (0..capacities.len() as u32).map(share).collect();
        let smallest = shares.iter().flatten().min().copied().unwrap();
        for route in flows.keys() {
            if routes[*route].iter().any(|link| shares[*link as usize] == Some(smallest)) {
                rates.entry(*route).or_insert(smallest);
            }
        }
    }
    rates
}

/// Always looks, always fills, gives up looking midway, and what is in use.
const EFFORTS: [Patience; 4] = [
    Patience { changes: 0, looks: usize::MAX },
    Patience { changes: usize::MAX, looks: 0 },
    Patience { changes: 0, looks: 1 },
    PATIENCE,
];

/// A sharing at work on a case.
struct Run<'a> {
    case: &'a Case,
    sharing: Sharing,
    classes: BTreeMap<usize, u32>,
    now: Picos,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case, patience: Patience) -> Self {
        let sharing = Sharing::new(case.0.iter().copied(), case.1.concat());
        Self { case, sharing: Sharing { patience, ..sharing }, classes: BTreeMap::new(), now: Picos::ZERO }
    }

    fn step(&mut self, route: usize, flows: u32) {
        let first = |route: usize| self.case.1[..route].iter().map(Vec::len).sum::<usize>() as u32;
        let (sharing, hops) = (&mut self.sharing, first(route)..first(route + 1));
        let class = *self.classes.entry(route).or_insert_with(|| sharing.attach(hops));
        sharing.set_flows(class, flows);
        if flows == 0 {
            sharing.detach(class);
            self.classes.remove(&route);
        }
    }

    fn rates(&mut self) -> BTreeMap<usize, u128> {
        self.now.0 += 1_000;
        self.sharing.recompute(self.now);
        self.classes.iter().map(|(route, class)| (*route, self.sharing.rate(*class))).collect()
    }
}

/// The rates by route, after all steps with a recomputation behind each, or with one at the end.
fn rates(case: &Case, each: bool) -> BTreeMap<usize, u128> {
    let mut run = Run::new(case, PATIENCE);
    for &(route, flows) in &case.2 {
        run.step(route, flows);
        if each {
            run.rates();
        }
    }
    run.rates()
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
    fn no_link_carries_too_much_and_every_flow_has_a_bottleneck(case in cases(8, 12)) {
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

    /// To the last bit, after every step, whether links are looked at or filled.
    #[test]
    fn rates_are_those_of_filling_everything_from_the_beginning(case in cases(24, 48)) {
        let (capacities, routes, steps) = &case;
        let mut runs = EFFORTS.map(|patience| Run::new(&case, patience));
        for at in 0..steps.len() {
            let expected = reference(capacities, routes, &flows_of(&steps[..=at]));
            for run in &mut runs {
                run.step(steps[at].0, steps[at].1);
                prop_assert_eq!(&run.rates(), &expected);
            }
        }
    }

    /// One class has a clock of its own, whichever its home is.
    #[test]
    fn the_clock_of_a_class_shows_the_sum_of_its_rates(case in cases(8, 12)) {
        for patience in EFFORTS {
            let (mut run, mut clocks) = (Run::new(&case, patience), BTreeMap::<usize, u128>::new());
            for &(route, flows) in &case.2 {
                run.step(route, flows);
                let rates = run.rates();
                clocks.retain(|route, _| rates.contains_key(route));
                let later = Picos(run.now.0 + 1_000);
                for (route, rate) in rates {
                    let clock = clocks.entry(route).or_insert(0);
                    *clock += rate * 1_000;
                    prop_assert_eq!(run.sharing.clock_of_class(run.classes[&route], later), *clock);
                }
            }
        }
    }

    #[test]
    fn what_is_recomputed_in_part_is_what_a_fresh_start_gives(case in cases(8, 12)) {
        let (capacities, routes, steps) = &case;
        let last = flows_of(steps).into_iter().map(|(route, flows)| (route, flows as u32));
        let fresh = (capacities.clone(), routes.clone(), last.collect());
        let expected = rates(&fresh, false);
        prop_assert_eq!(&rates(&case, true), &expected);
        prop_assert_eq!(&rates(&case, false), &expected);
    }

    #[test]
    fn the_numbers_of_links_and_routes_mean_nothing(case in cases(8, 12), turn in 0..8usize) {
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

/// The links that a recomputation changed.
fn touched(sharing: &mut Sharing) -> Vec<u32> {
    sharing.recompute(Picos::ZERO);
    let mut touched: Vec<u32> = std::iter::from_fn(|| sharing.pop_touched()).collect();
    touched.sort_unstable();
    touched
}

#[test]
fn levels_below_a_change_and_what_is_apart_are_not_touched() {
    // Link 0 has one flow of its own and one that goes on over 1, which has three more; link 2 is apart.
    let sharing = Sharing::new([10, 12, 10].into_iter(), vec![0, 0, 1, 1, 2]);
    let mut sharing = Sharing { patience: EFFORTS[0], ..sharing };
    let [own, long, others, apart] = [0..1, 1..3, 3..4, 4..5].map(|hops| sharing.attach(hops));
    for (class, flows) in [(own, 1), (long, 1), (others, 3), (apart, 1)] {
        sharing.set_flows(class, flows);
    }
    assert_eq!(touched(&mut sharing), [0, 1, 2]);
    let rates =
        |sharing: &Sharing| [own, long, others, apart].map(|class| sharing.rate(class) >> FRACTION_BITS);
    assert_eq!(rates(&sharing), [7, 3, 3, 10]);
    assert_eq!(touched(&mut sharing), [0; 0], "nothing changed");
    // Link 1 still has 3 for the long flow.
    sharing.set_flows(own, 2);
    assert_eq!(touched(&mut sharing), [0]);
    assert_eq!(rates(&sharing), [3, 3, 3, 10]);
    sharing.set_flows(apart, 2);
    assert_eq!(touched(&mut sharing), [2]);
    sharing.set_flows(others, 5);
    assert_eq!(touched(&mut sharing), [0, 1]);
    assert_eq!(rates(&sharing), [4, 2, 2, 5]);
}

#[test]
fn a_flow_among_more_than_a_link_has_units_for_still_moves() {
    let mut sharing = Sharing::new([1, 1].into_iter(), vec![0, 0, 1]);
    let [many, one] = [0..1, 1..3].map(|hops| sharing.attach(hops));
    sharing.set_flows(many, 1 << 25);
    sharing.set_flows(one, 1);
    sharing.recompute(Picos::ZERO);
    assert_eq!([many, one].map(|class| sharing.rate(class)), [1, 1]);
}
