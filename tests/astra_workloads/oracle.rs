//! Recorded runs of ASTRA-sim over workloads, where a checkout has them next to it. Nothing is tested where it has not.

use std::collections::BTreeMap;

use chakra_et::groups::Groups;

use super::*;

/// A run of ASTRA-sim.
struct Run {
    tag: String,
    workload: Workload,
    system: AstraSystem,
    topology: Topology,
    custom: bool,
    /// The first and the last rank's time; none if it did not end.
    times: Option<[u64; 2]>,
}

fn runs() -> Vec<Run> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/et-samples");
    let Ok(text) = std::fs::read_to_string(samples.join("ORACLE.tsv")) else { return Vec::new() };
    let run = |line: &str| -> Option<Run> {
        let [tag, prefix, ranks, groups, kind, _, roofline, _, min, max, extra, ..] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        let prefix = samples.join(prefix);
        // One workload is not among the samples.
        prefix.parent()?.is_dir().then_some(())?;
        let groups = (groups != "-").then(|| {
            let text = std::fs::read_to_string(samples.join(groups)).unwrap();
            Groups::new(serde_json::from_str::<BTreeMap<String, Vec<u64>>>(&text).unwrap())
        });
        let extra = extra.trim_matches(['{', '}']);
        let mut keys =
            format!("{RINGS}, \"roofline-enabled\": {roofline}, \"peak-perf\": 900, \"local-mem-bw\": 1600");
        if !extra.is_empty() {
            keys = format!("{keys}, {extra}");
        }
        let text = format!("{{\"preferred-dataset-splits\": 1, {keys}}}");
        Some(Run {
            tag: tag.to_owned(),
            workload: chakra_et::workload::read(prefix, groups.as_ref()).unwrap(),
            system: AstraSystem::parse(&text, "system.json", &samples).unwrap(),
            topology: network(kind, ranks.parse().unwrap()),
            custom: !extra.is_empty(),
            times: min.parse().ok().zip(max.parse().ok()).map(|(min, max)| [min, max]),
        })
    };
    let runs: Vec<Run> = text.lines().skip(1).filter_map(run).collect();
    assert!(runs.len() > 30);
    runs
}

/// The first and the last rank's time in ns.
fn times(run: &Run, simulation: WorkloadSimulation<'_>) -> Result<[f64; 2], WorkloadError> {
    let simulation = match run.system.roofline() {
        Some(roofline) => simulation.roofline(roofline),
        None => simulation,
    };
    let report = simulation.run(&run.workload, &run.system)?;
    let ranks = report.ranks.iter().map(|rank| rank.finish.as_ns());
    Ok([ranks.clone().fold(f64::INFINITY, f64::min), ranks.fold(0.0, f64::max)])
}

#[test]
fn custom_collectives_take_the_same_time_and_native_ones_less_by_what_only_they_do() {
    for run in runs() {
        let Some(astra) = run.times else { continue };
        let ours =
            times(&run, astra_sim(&run.topology)).unwrap_or_else(|error| panic!("{}: {error}", run.tag));
        for (ours, astra) in ours.into_iter().zip(astra) {
            let ratio = astra as f64 / ours;
            if run.custom {
                assert_eq!(ours, astra as f64, "{}", run.tag);
            } else if run.tag.starts_with("all_to_all") {
                // Another algorithm, of n (n − 1) / 2 steps instead of n − 1.
                assert!(ratio > 1.0, "{}", run.tag);
            } else {
                // A step of S bytes that reduces takes, beside at least 500 + S / 53.7 ns, at most 3 S / 1600 for the memory,
                // and 1.5 · 10 ns of delays; so at most 53.7 · 3 / 1600 = 10.07 % more.
                assert!((1.0..1.1007).contains(&ratio), "{}: {ours}, ASTRA-sim {astra}", run.tag);
            }
        }
    }
}

#[test]
fn with_the_delays_of_native_collectives_whole_workloads_take_the_same_time_up_to_rounding() {
    for run in runs() {
        if run.custom || run.tag.starts_with("all_to_all") {
            continue;
        }
        let Some(astra) = run.times else { continue };
        let ours = times(&run, native::with_delays(&run.topology));
        let ours = ours.unwrap_or_else(|error| panic!("{}: {error}", run.tag));
        for (ours, astra) in ours.into_iter().zip(astra) {
            // A message takes at least 500 ns, of which ASTRA-sim cuts less than 1.
            let off = (ours / astra as f64 - 1.0).abs();
            assert!(off < 0.002, "{}: {ours}, ASTRA-sim {astra}", run.tag);
        }
    }
}

#[test]
fn a_workload_that_never_ends_in_astra_sim_ends_by_our_own_rules_and_by_its_rules_is_explained() {
    let Some(run) = runs().into_iter().find(|run| run.times.is_none()) else { return };
    assert_eq!(run.tag, "stage_llama_dp4tp4pp2_32r.Ring");
    // With ASTRA-sim's delays the ranks of a group come to its collectives in different orders; in ASTRA-sim, which joins the
    // k-th of each, their messages never meet (its issue 339).
    let error = times(&run, native::with_delays(&run.topology)).unwrap_err().to_string();
    assert!(error.starts_with("group ") && error.contains("these are different collectives"), "{error}");
    for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
        let own = times(&run, WorkloadSimulation::new(&run.topology).model(model));
        assert!(own.is_ok(), "{model}: {}", own.unwrap_err());
    }
}
