//! The programs as they were run, where they are at hand.

use std::path::Path;

use collective::msccl;
use rayon::prelude::*;

use crate::measured::RUNS;
use crate::{graph, mi300x, time};

/// Each in MSCCL XML takes what it takes rebuilt.
#[test]
fn rebuilt_programs_take_as_long_as_the_originals() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/measured/mi300x-programs");
    if !folder.is_dir() {
        return;
    }
    let machine = mi300x();
    let differences: Vec<String> = RUNS
        .par_iter()
        .flat_map_iter(|run| {
            let path = folder.join(run.name).with_extension("xml");
            let text = std::fs::read_to_string(&path).unwrap();
            let original = msccl::read(&text, &path.display().to_string()).unwrap().schedule;
            let rebuilt = run.schedule();
            assert_eq!(original.protocol, rebuilt.protocol, "{}", run.name);
            let machine = &machine;
            // Larger ones repeat what these do.
            let sizes = run.times().map(|(size, _)| size).filter(|size| *size <= 64 << 20);
            let sizes: Vec<u64> = sizes.collect();
            sizes.into_iter().filter_map(move |size| {
                let [original, rebuilt] =
                    [&original, &rebuilt].map(|schedule| time(machine, &graph(schedule, size)).as_ns());
                let is_same = (rebuilt / original - 1.0).abs() <= 0.001;
                (!is_same)
                    .then(|| format!("{}, {size} bytes: {rebuilt} ns, of the XML {original} ns", run.name))
            })
        })
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}
