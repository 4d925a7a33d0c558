//! Over files of other tools, where the reference is at hand: all are read, and judged as is known of them.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use collective_dsl::Rule;
use collective_dsl::msccl::{self, Imported, Target, XmlError, XmlOptions};
use collective_dsl::verify::{smallest_slots, verify};
use common::meaning;
use serde_json::Value;

/// The rows of an index, each with its file's text; `None` where the reference is not at hand.
fn rows(folder: &str) -> Option<Vec<(String, Value, String)>> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference").join(folder);
    let index = fs::read_to_string(folder.join("index.jsonl")).ok()?;
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["file"].as_str().unwrap().to_owned();
        let bytes = fs::read(folder.join(&name)).unwrap();
        let mut text = String::new();
        if name.ends_with(".gz") {
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        } else {
            text = String::from_utf8(bytes).unwrap();
        }
        (name, row, text)
    };
    Some(index.lines().map(row).collect())
}

/// Written for the first target that can hold it, and read again, it is the same; `false` if none can.
fn survives(name: &str, imported: &Imported) -> bool {
    for target in Target::ALL {
        match msccl::write(&imported.schedule, &XmlOptions::from_header(target, &imported.header)) {
            Ok(text) => {
                let again = msccl::read(&text, name).unwrap();
                assert_eq!(meaning(&again.schedule), meaning(&imported.schedule), "{name}, {target}");
                assert_eq!(again.header.extras, imported.header.extras, "{name}, {target}");
                return true;
            }
            Err(XmlError::Refused(_) | XmlError::NoSuchCollective { .. }) => {}
            Err(error) => panic!("{name}, {target}: {error}"),
        }
    }
    false
}

#[test]
fn what_the_reference_compiler_prints_is_judged_as_known() {
    let Some(rows) = rows("xml-golden") else { return };
    let (mut right, mut wrong, mut racing, mut unchecked, mut too_large) = (0, 0, 0, 0, Vec::new());
    for (name, row, text) in &rows {
        let imported = msccl::read(text, name).unwrap();
        if !survives(name, &imported) {
            too_large.push(name);
        }
        let schedule = &imported.schedule;
        let slots = smallest_slots(schedule).unwrap();
        assert_eq!(Some(u64::from(slots)), row["xml_verify"]["min_fifo_slots"].as_u64(), "{name}");
        let verdict = verify(schedule, slots);
        match (row["check"].as_str(), row["xml_ok"].as_bool()) {
            (Some("pass"), Some(true)) => {
                assert_eq!(verdict, Ok(()), "{name}");
                assert_eq!(verify(schedule, u32::MAX), Ok(()), "{name}");
                right += 1;
                unchecked += usize::from(schedule.collective.is_unspecified());
            }
            (Some("fail"), _) => {
                assert!(verdict.is_err(), "{name}");
                wrong += 1;
            }
            _ => {
                assert!(row["xml_verify"]["races"].as_u64() > Some(0), "{name}");
                assert_eq!(verdict.unwrap_err().findings[0].rule, Rule::Race, "{name}");
                racing += 1;
            }
        }
    }
    println!(
        "{} files: {right} right ({unchecked} without a post-condition), {wrong} wrong, {racing} racing; \
         too large for every target: {too_large:?}",
        rows.len()
    );
    assert_eq!((right, wrong, racing), (96, 7, 4));
}

#[test]
fn what_other_tools_write_is_judged_as_known() {
    let Some(rows) = rows("foreign-xml") else { return };
    let (mut right, mut refused, mut faulty, mut too_large) = (0, Vec::new(), Vec::new(), Vec::new());
    for (name, row, text) in &rows {
        let imported = match msccl::read(text, name) {
            Ok(imported) => imported,
            Err(error) => {
                refused.push(error.to_string());
                continue;
            }
        };
        if !survives(name, &imported) {
            too_large.push(name);
        }
        let slots = smallest_slots(&imported.schedule);
        let verdict = verify(&imported.schedule, slots.unwrap_or(8));
        match verdict {
            Ok(()) => {
                assert_eq!(verify(&imported.schedule, u32::MAX), Ok(()), "{name}");
                assert_eq!(slots.map(u64::from), row["verify"]["min_fifo_slots"].as_u64(), "{name}");
                right += 1;
            }
            Err(found) => faulty.push(format!("{name}: {}", found.findings[0].rule.name())),
        }
    }
    println!(
        "{} files: {right} right\nrefused: {refused:#?}\nfaulty: {faulty:#?}\ntoo large: {too_large:#?}",
        rows.len()
    );
    let beginnings = |list: &[String], wanted: &[&str]| {
        assert_eq!(list.len(), wanted.len(), "{list:#?}");
        for (found, wanted) in list.iter().zip(wanted) {
            assert!(found.contains(wanted), "{found} is not {wanted}");
        }
    };
    beginnings(&refused, &["Others__all2one.xml:1: algo: attribute nchunksperloop is 14"]);
    // The reference knows these to be wrong: plain receives became reductions, data of another chunk, a deadlock.
    beginnings(
        &faulty,
        &[
            "SCCL_Alltoall-DGX1-s3instances2.xml: bounds",
            "SCCL_Alltoall-Ring-s3instances2.xml: bounds",
            "allreduce_ring_2_1.xml: wrong",
            "output__nvswitch16__AllGather__Fast__64MB_msccl_annotated.xml: deadlock",
        ],
    );
}
