//! `import_msccl_xml` and `export_to_runtime`: files of others come in, files for others go out.

use collective::et::{Recovered, recover};
use collective::msccl::{self, Target};
use collective::verify::Verdict;
use collective::{CollectiveKind, Rule, correctness};

use crate::{export_to_runtime, folder, import_msccl_xml, printed};

#[test]
fn a_foreign_file_is_judged_and_each_fault_of_a_spoiled_one_is_found() {
    let (_, report) = import_msccl_xml::judge(import_msccl_xml::TEXT, "").unwrap();
    assert_eq!(report.verdict(), Verdict::Pass);
    // One GPU's chunk to all others, around the ring: one message a step on each connection, and each is received before the next is sent.
    assert_eq!(report.min_slots, Some(1));
    let rules = [Rule::Wrong, Rule::Race, Rule::Unmatched, Rule::Deadlock];
    for ((what, right, wrong), rule) in import_msccl_xml::FAULTS.into_iter().zip(rules) {
        assert!(import_msccl_xml::TEXT.contains(right), "{what}");
        let (_, report) = import_msccl_xml::judge(&import_msccl_xml::TEXT.replace(right, wrong), "").unwrap();
        assert_eq!(report.verdict(), Verdict::Broken(rule), "{what}");
    }

    let prefix = folder("examples-import").join("ring");
    let text =
        printed(|out| import_msccl_xml::show(out, import_msccl_xml::TEXT, import_msccl_xml::FILE, &prefix));
    assert!(text.contains("kept, though not understood: solver=\"by hand\""), "{text}");
    assert!(text.contains("verdict: pass; post-condition holds"), "{text}");
    // 3 steps of S/4 over links of 50 GB/s, each after a hop of 500 ns; on the switch after two.
    let row = text.lines().find(|line| line.starts_with("  64 MiB")).unwrap();
    let times: Vec<f64> =
        row.split('|').skip(1).map(|cell| cell.split_whitespace().next().unwrap().parse().unwrap()).collect();
    let moved = 3.0 * f64::from(16 << 20) / 50_000.0;
    assert!(
        (times[0] - moved - 1.5).abs() < 0.01 && (times[1] - moved - 3.0).abs() < 0.01,
        "{times:?} {moved}"
    );
    // The traces hold the schedule that the file had.
    let files: Vec<Vec<u8>> =
        (0..4).map(|rank| std::fs::read(format!("{}.{rank}.et", prefix.display())).unwrap()).collect();
    let Recovered::Full(original) = recover(&files).unwrap() else { panic!("opaque") };
    assert_eq!(original.schedule.message_count(), 12);
    assert_eq!(original.schedule.collective.kind(), CollectiveKind::AllGather);
}

#[test]
fn another_file_is_judged_too() {
    let wrong = import_msccl_xml::TEXT
        .replace("allgather", "allreduce")
        .replace(r#"i_chunks="1""#, r#"i_chunks="4""#);
    let text =
        printed(|out| import_msccl_xml::show(out, &wrong, "other.xml", &folder("examples-other").join("x")));
    assert!(text.contains("verdict: ") && !text.contains("verdict: pass"), "{text}");
}

#[test]
fn each_runtime_gets_a_file_that_holds_the_algorithm() {
    let folder = folder("examples-export");
    let text = printed(|out| export_to_runtime::show(out, &folder));
    let own = export_to_runtime::two_rings::compile(8).unwrap();
    for target in Target::ALL {
        let path = folder.join(export_to_runtime::place(target).0);
        let xml = std::fs::read_to_string(&path).unwrap();
        let read = msccl::read(&xml, "written").unwrap();
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        assert_eq!((read.header.min_bytes, read.header.max_bytes), (Some(1 << 20), Some(1 << 30)));
        assert_eq!(read.schedule.step_count(), own.step_count());
        collective::verify::verify(&read.schedule, 2).unwrap();
        // Nothing else lies where a runtime takes every file.
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
    // A rank of a ring of n: n − 1 steps that add, n − 1 that hand out, and the first send.
    assert!(text.contains("127 steps (those that only wait included); rccl has at most 64"), "{text}");
    let fits = |ranks: u32| {
        let row = text.lines().find(|line| line.contains(&format!("two rings of {ranks} "))).unwrap();
        row.matches(" fit").count()
    };
    assert_eq!([16, 32, 64, 128].map(fits), [3, 3, 1, 1], "{text}");
    assert!(text.contains("reduce_scatter  reducescatter  reducescatter"), "{text}");
    assert_eq!(correctness::check(&export_to_runtime::two_rings::DEF, &[("ranks", vec![1, 2, 5])]), []);
}
