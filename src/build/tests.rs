use std::fs;

use super::*;
use crate::algorithms::{allgather_ring, allreduce_hierarchical, allreduce_ring};
use crate::prelude::*;

/// Forgets the last rank.
#[collective(all_gather)]
fn forgets(p: &Program, ranks: usize) {
    (0..ranks).for_each(|rank| {
        for to in 0..ranks - 1 {
            p.chunk(rank, Input, 0).copy_to(to, Output, rank);
        }
    });
}

fn failures(algorithms: &[Algorithm]) -> Vec<String> {
    files("x.rs", algorithms).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn every_mistake_is_a_line_with_its_place_and_its_instance() {
    let found = failures(&[Algorithm::new(forgets::DEF).build(&[("ranks", 3)]).build(&[("ranks", 4)])]);
    assert!(found.iter().all(|line| !line.contains('\n')));
    assert!(found[0].contains("wrong: all-gather does not hold for ranks = 3: rank 2"), "{found:?}");
    assert!(found[0].ends_with("(in forgets(ranks = 3))"), "{found:?}");
    assert!(found.iter().any(|line| line.ends_with("(in forgets(ranks = 4))")), "{found:?}");
    // The last place that exists and is wrong is a call of this file.
    let stale = |p: &Program| {
        let old = p.chunk(0, Input, 0);
        p.chunk(0, Input, 1).copy_to(0, Input, 0);
        old.copy_to(0, Input, 1);
    };
    let wrong =
        crate::Setting::new("stale", crate::CollectiveKind::AllReduce, 2).trace("", stale).unwrap_err();
    let lines = Failure::all(&forgets::DEF, &[], &wrong);
    assert!(lines[0].to_string().starts_with("src/build/tests.rs:"), "{lines:?}");
    assert!(lines[0].to_string().contains(": stale: "), "{lines:?}");
}

#[test]
fn parameters_and_repetitions_are_checked() {
    let ring = || Algorithm::new(allreduce_ring::DEF);
    assert!(failures(&[ring().build(&[("rank", 3)])])[0].contains("no parameter `rank`"));
    assert!(failures(&[ring().build(&[])])[0].contains("`ranks` needs a value"));
    let twice = failures(&[ring().build(&[("ranks", 3)]).build(&[("channels", 1), ("ranks", 3)])]);
    assert_eq!(twice, ["allreduce_ring(channels = 1, ranks = 3): this is built twice: remove one"]);
    assert!(failures(&[ring(), ring()])[0].contains("two algorithms have this name"));
    let much = failures(&[ring().build(&[("ranks", 80)]).target(Target::Rccl)]);
    assert!(much[0].contains("limit: "), "{much:?}");
    assert!(failures(&[ring().build(&[("ranks", 2)]).size(Size::bytes(3))])[0].contains("3 bytes"));
}

#[test]
fn the_files_hold_what_the_macro_embeds() {
    let algorithms = [
        Algorithm::new(allreduce_ring::DEF).build(&[("ranks", 8)]),
        Algorithm::new(allgather_ring::DEF).build(&[("ranks", 8)]).embed(0),
        Algorithm::new(allreduce_hierarchical::DEF).build(&[("gpus", 4), ("ranks", 8)]),
    ];
    let made = files("library.rs", &algorithms).unwrap();
    assert_eq!(made, files("library.rs", &algorithms).unwrap(), "the same each time");
    let data = |name: &str| {
        let found = made.data.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| {
            panic!("{name} is not among {:?}", made.data.iter().map(|d| &d.0).collect::<Vec<_>>())
        })
    };
    let ring = allreduce_ring::RANKS_8;
    assert_eq!(data("library.rs.allreduce_ring-RANKS_8.schedule").1, ring.packed_schedule());
    assert_eq!(data("library.rs.allreduce_ring-RANKS_8.5.et").1, ring.ranks().unwrap()[5]);
    let gather = allgather_ring::RANKS_8;
    assert_eq!(data("library.rs.allgather_ring-RANKS_8.schedule").1, gather.packed_schedule());
    assert!(!made.data.iter().any(|(name, _)| name.contains("allgather") && name.ends_with(".et")));
    // Named by the order of the parameters.
    data("library.rs.allreduce_hierarchical-RANKS_8_GPUS_4.schedule");
    assert!(made.code().contains("(8, 4, 0, 1,) => Some(Self::RANKS_8_GPUS_4)"), "{}", made.code());
}

#[test]
fn files_appear_whole_in_their_folder() {
    let folder = std::env::temp_dir().join(format!("collective-build-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let made = files("ring.rs", &[Algorithm::new(allreduce_ring::DEF).build(&[("ranks", 2)])]).unwrap();
    made.write(&folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("ring.rs")).unwrap(), made.code());
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with(".part")).count(), 0);
    fs::remove_dir_all(&folder).unwrap();
    assert!(made.write(&folder).unwrap_err().to_string().contains("cannot be written"));
}
