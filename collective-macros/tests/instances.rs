//! The instances of an algorithm: which there are, how they are found, what is embedded of them; and algorithms that
//! share helpers in a module. The generated tests of all of them run here too.

// Generated items must not make the user's lints speak up.
#![deny(dead_code, missing_docs, non_camel_case_types, unreachable_pub)]

use collective::embedded::Image;
use collective::et::{EtOptions, bytes};
use collective::msccl::{self, Target, XmlOptions};
use collective::prelude::*;
use collective::{ElementType, Embedded, Size};

/// A ring with several channels, for a list and a range.
#[collective(
    all_reduce,
    in_place,
    defaults(channels = 1),
    build(ranks = [2, 3]),
    build(ranks = 4..=6, channels = [2, 1]),
    build(ranks = 7..8, channels = 3),
)]
pub fn ring(p: &Program, ranks: usize, channels: usize) {
    for index in 0..ranks {
        let mut c = p.chunk(index, Input, index).on_channel(index % channels);
        for step in 1..ranks {
            c = p.chunk((index + step) % ranks, Input, index).reduce(c);
        }
        for step in 0..ranks - 1 {
            c = c.copy_to((index + step) % ranks, Input, index);
        }
    }
}

#[test]
fn lists_and_ranges_make_an_instance_for_each_combination_in_order() {
    let values: Vec<(usize, usize)> =
        ring::BUILDS.iter().map(|built| (built.params[0].1, built.params[1].1)).collect();
    assert_eq!(values, [(2, 1), (3, 1), (4, 2), (4, 1), (5, 2), (5, 1), (6, 2), (6, 1), (7, 3)]);
    assert!(ring::BUILDS.iter().all(|built| built.params[0].0 == "ranks" && built.params[1].0 == "channels"));
}

#[test]
fn an_instance_is_found_by_name_and_by_values() {
    const FOUND: Option<&Embedded> = ring::build(5, 2);
    assert_eq!(FOUND, Some(ring::RANKS_5_CHANNELS_2));
    // Where the channels are left to the default, the name leaves them out.
    assert_eq!(ring::build(3, 1), Some(ring::RANKS_3));
    assert_eq!(ring::build(7, 3).map(ToString::to_string).as_deref(), Some("ring(ranks = 7, channels = 3)"));
    assert_eq!(ring::build(8, 1), None);
    assert_eq!(ring::build(2, 2), None);
}

/// Small enough for the budget of nobody, and for that of everybody.
#[collective(all_gather, build(ranks = [2, 5]), options(embed = 0))]
fn packed(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        for to in 0..ranks {
            p.chunk(rank, Input, 0).copy_to(to, Output, rank);
        }
    }
}

#[test]
fn packed_and_plain_traces_are_the_same() {
    let fresh =
        |ranks| bytes(&packed::compile(ranks).unwrap(), &EtOptions::new(Size::bytes(1 << 20))).unwrap();
    for built in packed::BUILDS {
        assert!(built.is_packed());
        assert!(built.ranks().unwrap() == fresh(built.params[0].1).ranks());
        assert!(built.graph().unwrap() == fresh(built.params[0].1).graph().unwrap());
        // Made once.
        assert!(std::ptr::eq(built.ranks().unwrap(), built.ranks().unwrap()));
    }
    assert!(!ring::RANKS_2.is_packed());
}

/// A whole number of MiB is more than the budget of two, and less than that of eight.
mod budgets {
    use collective::prelude::*;

    macro_rules! gather {
        ($name:ident, $($options:tt)*) => {
            #[collective(all_gather, chunks = 8, build(ranks = 32), options($($options)*))]
            pub(super) fn $name(p: &Program, ranks: usize) {
                for rank in 0..ranks {
                    for to in 0..ranks {
                        for chunk in 0..8 {
                            p.chunk(rank, Input, chunk).copy_to(to, Output, rank * 8 + chunk);
                        }
                    }
                }
            }
        };
    }

    gather!(by_default, test = true);
    gather!(with_room, embed = "8MiB");
}

#[test]
fn an_instance_above_the_budget_is_packed() {
    let (packed, plain) = (budgets::by_default::RANKS_32, budgets::with_room::RANKS_32);
    assert!(packed.is_packed() && !plain.is_packed());
    let total: usize = plain.ranks().unwrap().iter().map(|rank| rank.len()).sum();
    assert!(total > 2 << 20 && total < 8 << 20, "{total} bytes");
    // The lines are those of one text, the names differ.
    for (rank, other) in packed.ranks().unwrap().iter().zip(plain.ranks().unwrap()) {
        assert_eq!(rank.len() + "with_room".len(), other.len() + "by_default".len());
    }
}

/// For a runtime, with an element type of its own.
#[collective(
    all_gather,
    build(ranks = 4),
    options(
        target = "msccl-executor",
        element_type = "bf16",
        size = "64KiB",
        fusion = false,
        protocol = "LL"
    )
)]
fn for_a_runtime(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let mut c = p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
        for step in 1..ranks {
            c = c.copy_to((rank + step) % ranks, Output, rank);
        }
    }
}

#[test]
fn the_schedule_is_embedded_for_xml() {
    let built = for_a_runtime::RANKS_4;
    assert_eq!(built.target(), Some(Target::Executor));
    assert_eq!(built.size(), Size::bytes(64 << 10).with_type(ElementType::Bf16));
    let fresh =
        msccl::write(&for_a_runtime::compile(4).unwrap(), &XmlOptions::new(Target::Executor)).unwrap();
    assert_eq!(built.xml().unwrap(), fresh);
    assert!(fresh.contains(r#"proto="LL""#) && !fresh.contains("rcs"), "as the options say: {fresh}");
}

#[test]
fn what_differs_from_the_function_is_said() {
    assert_eq!(ring::RANKS_4_CHANNELS_2.check(&ring::compile(4, 2).unwrap()), Ok(()));
    let error = ring::RANKS_4_CHANNELS_2.check(&ring::compile(4, 1).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("ring(ranks = 4, channels = 2): what is embedded is not"), "{error}");
}

#[test]
fn an_image_is_what_the_macro_embeds() {
    let built = ring::RANKS_6_CHANNELS_1;
    let image = Image::new(&ring::compile(6, 1).unwrap(), built.size(), 2 << 20).unwrap();
    assert_eq!(image.schedule, built.packed_schedule());
    assert!(image.traces.unwrap().ranks() == built.ranks().unwrap());
}

#[collective]
mod family {
    #![allow(clippy::needless_range_loop)]
    //! Algorithms, and what they share.

    use std::collections::BTreeSet;

    use collective::prelude::*;

    const FIRST: usize = 1;
    const STAGE: &str = "stage";

    fn next(rank: usize, step: usize, ranks: usize) -> usize {
        (rank + self::normal(step)) % ranks
    }

    fn normal(step: usize) -> usize {
        FIRST * step
    }

    fn through_scratch<'p>(p: &'p Program, c: ChunkRef<'p>, to: usize, index: usize) -> ChunkRef<'p> {
        p.chunk(c.rank(), Output, index).copy_to(to, Scratch(STAGE), index).copy_to(to, Output, index)
    }

    /// Not evaluated, so that it may use all of Rust.
    pub(super) fn distinct(values: &[usize]) -> usize {
        values.iter().copied().collect::<BTreeSet<_>>().len()
    }

    /// Shares its helpers with the other.
    #[collective(all_gather, build(ranks = [1, 4]))]
    pub(super) fn gather(p: &Program, ranks: usize) {
        for rank in 0..ranks {
            let mut c = p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
            for step in FIRST..ranks {
                c = through_scratch(p, c, next(rank, step, ranks), rank);
            }
        }
    }

    /// Its number of chunks comes from a helper; `FIRST` is a pattern.
    #[collective(all_reduce, in_place, chunks = next(ranks, ranks, 2 * ranks + 1), build(ranks = 3))]
    pub(super) fn reduce(p: &Program, ranks: usize) {
        assert!(matches!(next(0, 1, ranks), FIRST));
        for index in 0..p.input_chunks() {
            let start = index % ranks;
            let mut c = p.chunk(start, Input, index);
            for step in 1..ranks {
                c = p.chunk(next(start, step, ranks), Input, index).reduce(c);
            }
            for step in 0..ranks - 1 {
                c = c.copy_to(next(start, step, ranks), Input, index);
            }
        }
    }

    /// Another module within.
    fn ordered(ranks: usize, key: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..ranks).collect();
        order.sort_by_key(|rank| key(*rank));
        order
    }

    /// Helpers that take closures, stand for values, and give names to scratch.
    #[collective(broadcast, in_place, build(ranks = [2, 5]))]
    pub(super) fn spread(p: &Program, ranks: usize) {
        let stage = format!("{STAGE}-{FIRST}");
        let order = ordered(ranks, |rank| ranks - self::normal(rank));
        order.into_iter().map(self::normal).filter(|rank| *rank > 0).for_each(|rank| {
            p.chunk(0, Output, 0).copy_to(rank, Scratch(&stage), 0).copy_to(rank, Output, 0);
        });
    }

    pub(super) mod inner {
        pub(crate) const SEEN: bool = true;
    }
}

#[test]
fn the_algorithms_of_a_module_share_its_helpers() {
    assert_eq!(family::gather::RANKS_4.check(&family::gather::compile(4).unwrap()), Ok(()));
    assert_eq!(family::reduce::RANKS_3.check(&family::reduce::compile(3).unwrap()), Ok(()));
    assert_eq!(family::reduce::RANKS_3.schedule().unwrap().collective.chunks(), 6);
    assert_eq!(family::spread::RANKS_5.check(&family::spread::compile(5).unwrap()), Ok(()));
    assert_eq!(family::distinct(&[1, 1, 2]), 2);
    const { assert!(family::inner::SEEN) };
}

/// Shows all that it can.
#[collective(all_gather, build(ranks = 2), show = "all")]
fn shown(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank).copy_to(1 - rank, Output, rank);
    }
}

#[test]
fn what_was_built_can_be_seen_in_the_target_folder() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../collective/instances");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("shown-RANKS_2.schedule.txt"), shown::compile(2).unwrap().to_string());
    assert_eq!(read("shown-RANKS_2.trace.txt"), shown::trace(2).unwrap().to_string());
    let verdict = read("shown-RANKS_2.verdict.txt");
    assert!(verdict.contains("build(ranks = 2)\npass\n2 ranks, 4 operations, 2 messages"), "{verdict}");
    let expansion = read("shown.expansion.rs");
    assert!(expansion.contains("const RANKS_2") && expansion.contains("bytes\""), "{expansion}");
    assert_eq!(shown::RANKS_2.params, [("ranks", 2)]);
}
