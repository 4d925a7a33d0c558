use std::path::Path;

use super::*;
use crate::sim::Model;
use crate::sweep::Subject;

const SWITCH: &str =
    "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";
const RING_YAML: &str = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";

fn read(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some("at/switch.toml") => Ok(SWITCH.to_owned()),
        Some("at/ring.yml") => Ok(RING_YAML.to_owned()),
        Some("at/broken.toml") => Ok(SWITCH.replace("size", "sise")),
        Some("at/broken.xml") => Ok("<algo".to_owned()),
        _ => Err("there is no such file".to_owned()),
    }
}

fn parsed(text: &str) -> Parsed {
    parse(text, "at/sweep.toml", &mut read).unwrap()
}

fn names(sweep: &Sweep) -> Vec<String> {
    (0..sweep.units().len()).map(|unit| sweep.unit_label(unit)).collect()
}

#[test]
fn axes_come_in_the_order_that_the_documentation_states() {
    let sweep = parsed(
        "algorithms = ['allreduce_recursive_doubling', { name = 'allreduce_ring', set = { channels = [3, 1] } }]
         sizes = ['1KiB', '4 KiB..1 MiB x16', 1024]
         ranks = [8, 4]
         topologies = ['switch.toml', 'ring.yml']
         models = ['link-queue', 'loggp', 'fluid']",
    )
    .sweep;
    // The algorithm first, then ranks, then parameters in the order of the list.
    let units: Vec<(String, usize)> =
        names(&sweep).into_iter().zip(sweep.units().iter().map(|unit| unit.ranks)).collect();
    let expected = [
        ("allreduce_recursive_doubling", 8),
        ("allreduce_recursive_doubling", 4),
        ("allreduce_ring(channels=3)", 8),
        ("allreduce_ring(channels=1)", 8),
        ("allreduce_ring(channels=3)", 4),
        ("allreduce_ring(channels=1)", 4),
    ];
    assert_eq!(units, expected.map(|(name, ranks)| (name.to_owned(), ranks)));
    let sizes: Vec<u64> = sweep.sizes().iter().map(|size| size.in_bytes()).collect();
    assert_eq!(sizes, [1 << 10, 1 << 12, 1 << 16, 1 << 20]);
    // Each topology with each model and the conventions of its form; loggp once, for it takes no topology.
    let networks: Vec<String> = sweep
        .networks()
        .iter()
        .map(|network| format!("{} {} {}", network.name, network.model, network.conventions.name()))
        .collect();
    let expected = [
        "switch.toml link-queue exact",
        "switch.toml fluid exact",
        "ring.yml link-queue astra-sim",
        "ring.yml fluid exact",
        " loggp exact",
    ];
    assert_eq!(networks, expected);
    assert_eq!(sweep.len(), 6 * 4 * 5);
    let point = sweep.point(4 * 5 + 5 + 2).unwrap();
    assert_eq!((point.unit, point.size, point.network), (1, 1, 2));
    assert_eq!(sweep.point(sweep.len()), None);
}

#[test]
fn ranks_are_those_of_the_topologies_if_nothing_else_is_said() {
    let sweep =
        parsed("algorithms = 'allreduce_ring'\nsizes = 64\ntopologies = ['switch.toml', 'ring.yml']").sweep;
    let ranks: Vec<usize> = sweep.units().iter().map(|unit| unit.ranks).collect();
    // One and two channels each.
    assert_eq!(ranks, [4, 4, 8, 8]);
    assert!(sweep.networks().iter().all(|network| network.model == Model::Fluid));
    let first =
        parsed("algorithms = 'allreduce_ring'\nsizes = 64\nchoices = 'first'\ntopologies = 'switch.toml'");
    assert_eq!(names(&first.sweep), ["allreduce_ring(channels=1)"]);
}

#[test]
fn patterns_leave_what_is_named_by_itself_where_it_is_named() {
    let sweep = parsed(
        "algorithms = ['allreduce_r*_*', 'allreduce_*ring', { name = 'allreduce_ring', set = { channels = 4 } }]
         sizes = 64
         topologies = 'switch.toml'",
    )
    .sweep;
    let subjects: Vec<&str> = sweep.subjects.iter().map(Subject::name).collect();
    let expected = [
        "allreduce_recursive_doubling",
        "allreduce_recursive_halving_doubling",
        "allreduce_rotated_rings",
        "allreduce_bidirectional_ring",
        "allreduce_ring",
    ];
    assert_eq!(subjects, expected);
    assert_eq!(names(&sweep).last().unwrap(), "allreduce_ring(channels=4)");
    let all =
        parsed("algorithms = 'all'\ncollectives = ['all-gather']\nsizes = 64\ntopologies = 'switch.toml'")
            .sweep;
    assert!(all.subjects.iter().all(|subject| subject.collective() == CollectiveKind::AllGather));
    assert!(all.subjects.len() > 3);
}

#[test]
fn the_fingerprint_changes_with_every_text() {
    let text = "algorithms = 'allreduce_ring'\nsizes = 64\ntopologies = 'switch.toml'";
    let one = parsed(text).fingerprint;
    assert_eq!(one, parsed(text).fingerprint);
    assert_ne!(one, parsed(&text.replace("64", "128")).fingerprint);
    let other = &mut |_: &Path| Ok(SWITCH.replace("500 ns", "501 ns"));
    assert_ne!(one, parse(text, "at/sweep.toml", other).unwrap().fingerprint);
}

/// What is wrong, and how the message begins: with the place.
const WRONG: [(&str, &str); 42] = [
    ("x = ", "at/sweep.toml:1: "),
    ("", "at/sweep.toml: the key algorithms is missing"),
    ("algorithms = 'allreduce_ring'\ntopologies = 'switch.toml'", "at/sweep.toml: the key sizes is missing"),
    (
        "\nalgorithm = 'x'\nmodels = 'loggp'",
        "at/sweep.toml:2: the key algorithm is not known here: expected collectives, algorithms",
    ),
    ("algorithms = 'allreduce_ring'\nsizes = 64", "at/sweep.toml: the model fluid needs a topology"),
    (
        "models = 'loggp'\nalgorithms = 'allreduce_ring'\nsizes = 64",
        "at/sweep.toml: the key ranks is missing",
    ),
    ("Nmodels = 'fluit'", "at/sweep.toml:1: models = 'fluit': there is no model"),
    ("Nmodels = []", "at/sweep.toml:1: models = []: expected a list with something in it"),
    ("Nmodels = 5", "at/sweep.toml:1: models = 5: expected a text"),
    ("Nloggp = 'L=1us'\ntopologies = 'switch.toml'", "at/sweep.toml:1: loggp is for the model loggp"),
    ("Nmodels = 'loggp'\nloggp = 'Q=1us'", "at/sweep.toml:2: loggp = 'Q=1us': "),
    ("conventions = 'exactly'", "at/sweep.toml:1: conventions = 'exactly': "),
    ("collectives = 'sum'", "at/sweep.toml:1: collectives = 'sum': expected all_reduce, "),
    ("type = 'f31'", "at/sweep.toml:1: type = 'f31': "),
    ("order = 'any'", "at/sweep.toml:1: order = 'any': "),
    (
        "placement = 'random'",
        "at/sweep.toml:1: placement = 'random': expected \"identity\" or \"random:SEED\"",
    ),
    ("choices = 'some'", "at/sweep.toml:1: choices = 'some': expected \"all\" or \"first\""),
    (
        "Ntopologies = 'switch.json'",
        "at/sweep.toml:1: topologies = 'switch.json': expected files of topologies",
    ),
    ("Ntopologies = 'none.toml'", "at/sweep.toml:1: at/none.toml: there is no such file"),
    ("Ntopologies = 'broken.toml'", "at/sweep.toml:1: at/broken.toml:"),
    (
        "Ntopologies = ['switch.toml',\n'switch.toml']",
        "at/sweep.toml:2: there are two topologies called switch.toml",
    ),
    ("B[[topology]]\nname = 'x'", "at/sweep.toml:3: there is no dimension"),
    ("B[[topology]]\n[[topology.dimension]]\nkind = 'switch'", "at/sweep.toml:3: the key name is missing"),
    (
        "B[[topology]]\nname = 'x'\n[[topology.dimension]]\nkind = 'swatch'",
        "at/sweep.toml:6: kind = 'swatch': expected ",
    ),
    ("[[conditions]]\nsend_overhead = '1us'", "at/sweep.toml:1: the conditions have no name"),
    (
        "[[conditions]]\nname = 'a'\n[[conditions]]\nname = 'a'",
        "at/sweep.toml:4: name = 'a': expected a name",
    ),
    ("[[conditions]]\nname = 'a'\nsend_overhead = '1 byte'", "at/sweep.toml:3: send_overhead = '1 byte': "),
    ("[[conditions]]\nname = 'a'\nstragglers = ['x']", "at/sweep.toml:3: stragglers = 'x': "),
    (
        "[[conditions]]\nname = 'a'\nspeed = 1",
        "at/sweep.toml:3: the key speed is not known here: expected name, ",
    ),
    (
        "R\nalgorithms = 'allreduce_rang'",
        "at/sweep.toml:4: there is no algorithm \"allreduce_rang\"; did you mean allreduce_ring",
    ),
    (
        "R\nalgorithms = 'allreduce_?'",
        "at/sweep.toml:4: no algorithm of the library is called \"allreduce_?\"",
    ),
    (
        "R\ncollectives = 'broadcast'\nalgorithms = 'allreduce_ring'",
        "at/sweep.toml:5: allreduce_ring does all_reduce, which is not among collectives",
    ),
    (
        "R\nalgorithms = ['allreduce_ring',\n'allreduce_ring']",
        "at/sweep.toml:5: allreduce_ring is listed twice",
    ),
    ("R\nalgorithms = [{ set = { channels = 1 } }]", "at/sweep.toml:4: the algorithm has no name"),
    (
        "R\nalgorithms = [{ name = 'allreduce_ring', sett = {} }]",
        "at/sweep.toml:4: the key sett is not known here",
    ),
    (
        "R\nalgorithms = [{ name = 'allreduce_ring', set = { rings = 1 } }]",
        "at/sweep.toml:4: allreduce_ring: there is no parameter rings to be set; there is channels",
    ),
    (
        "R\nalgorithms = [{ name = 'allreduce_ring', set = { ranks = 1 } }]",
        "at/sweep.toml:4: allreduce_ring: there is no parameter ranks",
    ),
    (
        "R\nalgorithms = [{ name = 'allreduce_ring', set = { channels = -1 } }]",
        "at/sweep.toml:4: channels = -1: expected a whole number",
    ),
    ("R\nalgorithms = ['broken.xml']", "at/sweep.toml:4: at/broken.xml"),
    (
        "R\nalgorithms = [{ xml = 'broken.xml', set = { channels = 1 } }]",
        "at/sweep.toml:4: set is for algorithms of the library",
    ),
    ("A\nsizes = ['1KiB..']", "at/sweep.toml:3: sizes = '1KiB..': "),
    ("A\nsizes = 64\nranks = '8..4'", "at/sweep.toml:4: ranks = '8..4': the range is empty"),
];

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, message) in WRONG {
        const BASE: &str = "algorithms = 'allreduce_ring'\nsizes = 64\n";
        // The letter says what else stands in the file, before or after.
        let rest = text.get(1..).unwrap_or_default();
        let text = match text.chars().next() {
            Some('R') => format!("sizes = 64\nranks = 8\ntopologies = 'switch.toml'{rest}"),
            Some('A') => format!("algorithms = 'allreduce_ring'\ntopologies = 'switch.toml'{rest}"),
            Some('B') => format!("{BASE}{rest}"),
            Some('N') => format!("{rest}\n{BASE}"),
            _ => text.to_owned(),
        };
        let error = parse(&text, "at/sweep.toml", &mut read).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}\n{error}\n{message}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn ranges_of_sizes_and_ranks() {
    let ranges = |text: &str| {
        let sweep = format!("algorithms = 'allreduce_ring'\nmodels = 'loggp'\nranks = 2\nsizes = [{text}]");
        let parsed = parse(&sweep, "at/sweep.toml", &mut read);
        parsed.map(|parsed| parsed.sweep.sizes().iter().map(|size| size.in_bytes()).collect::<Vec<_>>())
    };
    assert_eq!(ranges("'1KiB..8KiB'"), Ok(vec![1024, 2048, 4096, 8192]));
    assert_eq!(ranges("'1KB..1MB x10', 0"), Ok(vec![1_000, 10_000, 100_000, 1_000_000, 0]));
    assert_eq!(ranges("'1..18446744073709551615'").map(|sizes| sizes.len()), Ok(64));
    for wrong in ["''", "'8..4'", "'0..4'", "'1..4 x1'", "'1..4 x'", "-1", "1.5", "true"] {
        assert!(ranges(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn topologies_grow_with_the_ranks() {
    let scaled = SWITCH.replace("size = 8", "size = \"{ranks}\"");
    let pods = SWITCH.replace("size = 8", "size = 4") + &SWITCH.replace("size = 8", "size = '{ranks/4}'");
    let yaml = RING_YAML.replace("4", "\"{ranks}\"");
    let file = |path: &Path| match path.to_str() {
        Some("at/scaled.toml") => Ok(scaled.clone()),
        Some("at/pods.toml") => Ok(pods.clone()),
        Some("at/ring.yml") => Ok(yaml.clone()),
        _ => read(path),
    };
    let inline =
        SWITCH.replace("[dimension]", "[topology.dimension]").replace("size = 8", "size = \"{ranks}\"");
    let text = format!(
        "algorithms = 'allreduce_ring'\nsizes = '1 MiB'\nranks = [8, 10]\nmodels = ['link-queue', 'fluid']\nchoices = 'first'\n\
         topologies = ['scaled.toml', 'pods.toml', 'switch.toml', 'ring.yml']\n[[topology]]\nname = 'inline'\n{inline}\
         [[topology]]\nname = 'fixed'\n{}",
        SWITCH.replace("[dimension]", "[topology.dimension]")
    );
    let sweep = parse(&text, "at/sweep.toml", &mut file.clone()).unwrap().sweep;
    let mut times = Vec::new();
    let ended = sweep.run(crate::sweep::Shard::WHOLE, 0, 1, &|| false, |point, outcome| {
        let unit = &sweep.units()[point.unit];
        let name = sweep.networks()[point.network].name.clone();
        times.push((unit.ranks, name, outcome.map(|figures| figures.time).map_err(|none| none.reason)));
        Ok::<_, std::convert::Infallible>(())
    });
    assert_eq!(ended, Ok(crate::sweep::Ended::Complete));
    let of = |ranks: usize, name: &str| -> Vec<_> {
        let found = times.iter().filter(|(of, named, _)| (*of, named.as_str()) == (ranks, name));
        found.map(|(.., time)| time.clone()).collect()
    };
    // What stands here with a number and what scales to it are the same.
    assert!(of(8, "fixed").iter().all(Result::is_ok));
    for same in ["scaled.toml", "inline", "switch.toml"] {
        assert_eq!(of(8, same), of(8, "fixed"), "{same}");
    }
    // 2 · 9 messages of a tenth, each over two hops: store and forward takes both.
    let exact = |bytes: f64| 2.0 * 9.0 * 2.0 * (500.0 + bytes / 50.0);
    let time = of(10, "scaled.toml")[0].clone().unwrap().as_ns();
    assert!((time - exact(1_048_576.0 / 10.0)).abs() < 40.0, "{time}");
    assert_eq!(of(10, "inline"), of(10, "scaled.toml"));
    assert!(of(10, "ring.yml").iter().all(Result::is_ok) && of(8, "pods.toml").iter().all(Result::is_ok));
    assert!(of(10, "pods.toml")[0].clone().unwrap_err().contains("ranks / 4, which 10 ranks"));
    assert!(of(10, "fixed")[0].clone().unwrap_err().contains("has 8 ranks, not 10"));

    let wrong = |text: &str| parse(text, "at/sweep.toml", &mut file.clone()).unwrap_err().to_string();
    let error = wrong(&text.replace("ranks = [8, 10]\n", ""));
    assert!(
        error.starts_with("at/sweep.toml:5: at/scaled.toml: ") && error.contains("expected ranks"),
        "{error}"
    );
    // Nothing for any number of ranks is a mistake.
    let error = wrong(&text.replace("[8, 10]", "[6, 10]"));
    assert!(error.contains("at/pods.toml: it scales by ranks / 4, which 6 ranks"), "{error}");
    let error = wrong(&text.replace(
        "name = 'inline'\n[[topology.dimension]]\nkind",
        "name = 'inline'\n[[topology.dimension]]\nkin",
    ));
    assert!(error.starts_with("at/sweep.toml:9: ") && error.contains("kin"), "{error}");
}
