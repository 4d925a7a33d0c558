//! Verifier and executor agree on the library, and no wrong mutant of it passes.

mod judge;

use std::path::Path;

use collective::algorithms::{self, Algorithm};
use collective::verify::smallest_slots;
use collective::{Rule, Schedule, msccl};
use judge::mutation::Tally;
use judge::{assert_agreement, judge_thoroughly, verdict};

/// An algorithm for a number of ranks: with its own choices of parameters, and with every combination of small values that it
/// takes, unless it has many parameters.
fn variants(algorithm: &Algorithm, ranks: usize) -> Vec<(String, Schedule)> {
    let def = &algorithm.def;
    let mut sets = vec![vec![ranks]];
    for _ in 1..def.params.len() {
        sets = sets
            .iter()
            .flat_map(|set| [0, 1, 2, 3].map(|value| [set.as_slice(), &[value]].concat()))
            .collect();
    }
    if def.params.len() > 3 {
        sets.clear();
    }
    sets.extend(algorithm.choices(ranks));
    sets.sort();
    sets.dedup();
    let compiled = |set: Vec<usize>| match algorithm.compile(def.in_place, &set) {
        Ok(schedule) => Some((format!("{} {set:?}", def.name), schedule)),
        // What the algorithm is not for.
        Err(found) if found.findings[0].rule == Rule::Malformed => None,
        Err(found) => panic!("{} {set:?}: {found}", def.name),
    };
    sets.into_iter().filter_map(compiled).collect()
}

/// Of the variants of an algorithm the first of every number of ranks, then the second of every one, and so on: all that
/// fit in an algorithm's share of the time. A variant takes as long as the given power of its number of steps.
fn sample(algorithm: &Algorithm, ranks: &[usize], power: u32, mut share: u64) -> Vec<(String, Schedule)> {
    let mut by_ranks: Vec<_> = ranks.iter().map(|ranks| variants(algorithm, *ranks).into_iter()).collect();
    let mut taken = Vec::new();
    while by_ranks.iter().any(|variants| variants.len() > 0) {
        for (name, schedule) in by_ranks.iter_mut().filter_map(Iterator::next) {
            let work = (schedule.step_count() as u64).pow(power);
            if work <= share {
                share -= work;
                taken.push((name, schedule));
            }
        }
    }
    assert!(taken.iter().any(|(_, schedule)| schedule.step_count() > 0), "nothing of {}", algorithm.name());
    taken
}

#[test]
fn verifier_and_executor_agree_on_the_library() {
    let ranks: Vec<usize> = (1..=9).chain([16, 17]).collect();
    for algorithm in algorithms::all() {
        // Every step is once the last: the square of their number.
        for (name, schedule) in sample(algorithm, &ranks, 2, 1_000_000) {
            assert!(assert_agreement(&name, &schedule, schedule.protocol.slots()), "{name}");
        }
    }
}

/// Slots that are too few: both say so, for every number from none on.
#[test]
fn verifier_and_executor_agree_on_slots() {
    for algorithm in algorithms::all() {
        for (name, schedule) in sample(algorithm, &[2, 3, 4], 2, 100_000) {
            for slots in 0..4 {
                assert_agreement(&name, &schedule, slots);
            }
        }
    }
}

/// Two ranks gather. Rank 0 sends its chunk from scratch and receives the other's into the same place; rank 1 runs `answer`.
fn relay(answer: &str) -> Schedule {
    let text = format!(
        r#"<algo name="relay" ngpus="2" nchunksperloop="2" nchannels="1" proto="Simple" coll="allgather" inplace="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="1">
    <tb id="0" send="1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0"/>
      <step s="1" type="s" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0"/>
    </tb>
    <tb id="1" send="-1" recv="1" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0"/>
      <step s="1" type="cpy" srcbuf="s" srcoff="0" dstbuf="o" dstoff="1"/>
    </tb>
    <tb id="2" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">{answer}</tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1"/>
    </tb>
  </gpu>
</algo>"#
    );
    msccl::read(&text, "relay.xml").unwrap().schedule
}

#[test]
fn an_order_that_exists_only_through_another_rank_is_one() {
    // Case D02: rank 1 answers after it has received, or before.
    let receive = r#"<step s="0" type="r" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0"/>"#;
    let send = r#"<step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0"/>"#;
    assert!(assert_agreement("answer", &relay(&format!("{receive}{send}")), 1));
    let race =
        relay(&format!("{}{}", send.replace("s=\"1\"", "s=\"0\""), receive.replace("s=\"0\"", "s=\"1\"")));
    assert!(!assert_agreement("race", &race, 1));
    assert_eq!(verdict(&race, 1).unwrap_err().0, Rule::Race);
}

/// Files of other tools, right and wrong, where the reference is at hand.
#[test]
fn verifier_and_executor_agree_on_what_others_wrote() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference");
    let (mut right, mut wrong, mut harmless) = (0, 0, Vec::new());
    for folder in ["bug-reports/fixtures/xml", "foreign-xml", "xml-golden"] {
        let Ok(entries) = std::fs::read_dir(reference.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
        paths.sort();
        for path in paths {
            let name = path.display().to_string();
            let Ok(imported) = msccl::read(&std::fs::read_to_string(&path).unwrap(), &name) else { continue };
            let schedule = imported.schedule;
            if schedule.step_count() > 400 {
                continue;
            }
            let slots = schedule.protocol.slots().max(smallest_slots(&schedule).unwrap_or(0));
            match (verdict(&schedule, slots), judge_thoroughly(&schedule, slots)) {
                (Ok(()), Ok(())) => right += 1,
                (Err(_), Err(_)) => wrong += 1,
                (Err((Rule::Race, why)), Ok(())) => harmless.push(why),
                (verdict, judged) => panic!("{name}: the verifier says {verdict:?}, the executor {judged:?}"),
            }
        }
    }
    println!("{right} right, {wrong} wrong, {} races that harm nothing: {harmless:#?}", harmless.len());
}

#[test]
fn no_wrong_mutant_of_the_library_passes() {
    let mut tally = Tally::default();
    for algorithm in algorithms::all() {
        // Mutants of every step, in each of which every step is once the last.
        for (name, schedule) in sample(algorithm, &[2, 3, 4, 5, 8], 3, 4_000_000) {
            tally.add(&name, &schedule);
        }
    }
    println!("{tally}");
    tally.assert_sound(10_000);
}
