//! One algorithm for the runtimes: MSCCL XML for `microsoft/msccl`, `msccl-executor-nccl` and RCCL, and Chakra execution traces.
//!
//! The three read dialects of one format, and can hold different amounts. Which of them an algorithm is for is said in the attribute
//! (`target = "rccl"`): the compiler then checks the limits of that runtime too. The files are written where each runtime looks for
//! them, and the example says how to tell it.
//!
//! `cargo run --release --example export_to_runtime`
//!
//! Try: write `build(ranks = 64)`, and compile again: RCCL holds 64 steps a thread block, and a ring of 64 has 127.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use collective::algorithms;
use collective::et::{self, EtOptions};
use collective::msccl::{self, Target, XmlOptions, limits};
use collective::prelude::*;
use collective::{Schedule, Size};

/// Two rings, one in each direction: chunk 2k goes upwards, chunk 2k + 1 downwards.
#[collective(all_reduce, in_place, chunks = 2 * ranks, build(ranks = 8), options(target = "rccl"))]
pub(crate) fn two_rings(p: &Program, ranks: usize) {
    for index in 0..2 * ranks {
        let at = |step: usize| {
            let start = index / 2;
            if index % 2 == 0 { (start + step) % ranks } else { (start + 2 * ranks - step) % ranks }
        };
        let mut sum = p.chunk(at(0), Input, index).on_channel(index % 2);
        for step in 1..2 * ranks - 1 {
            let next = at(step);
            if step < ranks {
                sum = p.chunk(next, Input, index).on_channel(index % 2).reduce(sum);
            } else {
                sum = sum.copy_to(next, Input, index);
            }
        }
    }
}

/// The sizes that a runtime may take the algorithm for, where its files say so.
const SIZES: (u64, u64) = (1 << 20, 1 << 30);

/// Where a runtime looks for files, under the folder of the example, and what it wants to be told.
pub(crate) fn place(target: Target) -> (&'static str, &'static str) {
    match target {
        Target::Msccl => ("msccl/two_rings.xml", "NCCL_ALGO=MSCCL,RING,TREE MSCCL_XML_FILES={file}"),
        Target::Executor => ("msccl-executor/two_rings.xml", "NCCL_MSCCL_ENABLE=1 MSCCL_ALGO_DIR={folder}"),
        Target::Rccl => ("rccl/two_rings.xml", "RCCL_MSCCL_FORCE_ENABLE=1 MSCCL_ALGO_DIR={folder}"),
        _ => ("other/two_rings.xml", "see its documentation: {file}"),
    }
}

/// The file appears whole or not at all, so that a runtime which is just starting never reads half of it. The draft is not beside it:
/// the executors take every file of their folder for an algorithm.
fn write_whole(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let (path, draft) = (folder.join(name), folder.join(format!("{}.draft", std::process::id())));
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(&draft, text)?;
    fs::rename(&draft, path).inspect_err(|_| _ = fs::remove_file(&draft))
}

/// The word of each runtime for a collective, or that it has none.
fn word(schedule: &Schedule, target: Target) -> String {
    match msccl::write(schedule, &XmlOptions::new(target)) {
        Ok(xml) => {
            xml.split("coll=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("?").to_owned()
        }
        Err(_) => "refused".to_owned(),
    }
}

pub(crate) fn show(out: &mut dyn Write, folder: &Path) -> Result<(), Box<dyn Error>> {
    let schedule = two_rings::RANKS_8.schedule()?;
    writeln!(
        out,
        "{}: {}, {} ranks, in place",
        schedule.name,
        schedule.collective.kind(),
        schedule.ranks.len()
    )?;
    for target in Target::ALL {
        let mut options = XmlOptions::new(target);
        (options.min_bytes, options.max_bytes) = (Some(SIZES.0), Some(SIZES.1));
        let xml = msccl::write(&schedule, &options)?;
        let (name, tell) = place(target);
        write_whole(folder, name, &xml)?;
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder).display().to_string();
        writeln!(out, "\n{target}: {} ({} bytes)", path.display(), xml.len())?;
        writeln!(out, "  {}", xml.lines().next().unwrap_or(""))?;
        let tell = tell.replace("{file}", &path.display().to_string()).replace("{folder}", &parent);
        writeln!(out, "  {tell}")?;
    }

    let prefix = folder.join("chakra/two_rings");
    let bytes = et::bytes(&schedule, &EtOptions::new(Size::bytes(1 << 20)))?;
    bytes.write(&prefix)?;
    let sum: usize = bytes.ranks().iter().map(Vec::len).sum();
    writeln!(out, "\nChakra traces: {}.0.et to .7.et ({sum} bytes), for 1 MiB", prefix.display())?;
    writeln!(out, "  AstraSim_Analytical_Congestion_Aware --workload-configuration={} …", prefix.display())?;

    writeln!(out, "\nWhat differs\n")?;
    let columns = Target::ALL.map(Target::name);
    writeln!(out, "  {:<34} {:>14} {:>14} {:>14}", "", columns[0], columns[1], columns[2])?;
    let mut row = |name: &str, of: &dyn Fn(Target) -> String| {
        let [a, b, c] = Target::ALL.map(of);
        writeln!(out, "  {name:<34} {a:>14} {b:>14} {c:>14}")
    };
    row("most steps of a thread block", &|target| target.limits().steps.to_string())?;
    row("most thread blocks of a GPU", &|target| target.limits().thread_blocks.to_string())?;
    row("most channels", &|target| target.limits().channels.to_string())?;
    for name in ["reduce_scatter_ring", "gather_linear", "alltonext"] {
        let Some(algorithm) = algorithms::find(name) else { continue };
        let Some(values) = algorithm.choices(4).into_iter().next() else { continue };
        let schedule = algorithm.compile(algorithm.placement.allows(true), &values)?;
        row(&format!("the word for {}", schedule.collective.kind()), &|target| word(&schedule, target))?;
    }
    for ranks in [16, 32, 64, 128] {
        let schedule = two_rings::compile(ranks)?;
        row(&format!("two rings of {ranks}"), &|target| {
            if limits::check(&schedule, target).is_empty() {
                "fit".to_owned()
            } else {
                "too large".to_owned()
            }
        })?;
    }
    let large = two_rings::compile(64)?;
    if let Some(found) = limits::check(&large, Target::Rccl).first() {
        writeln!(out, "\nTwo rings of 64 for RCCL: {}", found.message)?;
    }
    writeln!(
        out,
        "\nA file of a runtime is for every size of its range that its 16 chunks divide; for the others the runtime silently takes\n\
         its own algorithm. Traces are for one size, which may be any."
    )?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock(), Path::new("target/out/export"))
}
