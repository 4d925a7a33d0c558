//! Whatever is written soundly is found sound.

mod common;

use chakra_et::graph::{Op, Origin};
use chakra_et::validate::{Level, Options, Survey, validate};
use chakra_et::{RankWriter, metadata, view};
use proptest::prelude::*;

/// Messages in an order in which they can happen one after the other: source, destination, tag, size.
fn messages() -> impl Strategy<Value = (u32, Vec<(u32, u32, u32, u64)>)> {
    (2..6_u32).prop_flat_map(|ranks| {
        let message = (0..ranks, 1..ranks, 0..3_u32, 1..1_u64 << 50);
        let message = message.prop_map(move |(src, gap, tag, bytes)| (src, (src + gap) % ranks, tag, bytes));
        (Just(ranks), proptest::collection::vec(message, 1..60))
    })
}

proptest! {
    #[test]
    fn matched_messages_in_a_possible_order_have_no_findings_above_notes((ranks, messages) in messages()) {
        let mut nodes: Vec<Vec<Op>> = vec![vec![Op::Comp { micros: 0, ops: 0, bytes: 0 }]; ranks as usize];
        for (src, dst, tag, bytes) in messages {
            nodes[src as usize].push(Op::Send { dst, tag, bytes });
            nodes[dst as usize].push(Op::Recv { src, tag, bytes });
        }
        let files: Vec<Vec<u8>> = nodes
            .iter()
            .map(|ops| {
                let mut writer = RankWriter::new(&metadata::write(None, &[]).unwrap()).unwrap();
                for (id, &op) in ops.iter().enumerate() {
                    let id = id as u64;
                    let deps = if id == 0 { vec![] } else { vec![id - 1] };
                    writer.node(&view::node(id, format!("NODE_{id}"), op, deps, Origin::default()).unwrap()).unwrap();
                }
                writer.finish()
            })
            .collect();
        let findings = validate(&Survey::from_bytes(&files).unwrap(), &Options::default());
        let bad: Vec<String> =
            findings.iter().filter(|finding| finding.level() < Level::Note).map(ToString::to_string).collect();
        prop_assert_eq!(bad, Vec::<String>::new());
    }

    #[test]
    fn no_bytes_make_it_panic(files in proptest::collection::vec(
        proptest::collection::vec(prop_oneof![any::<u8>(), 0..12_u8, Just(0x52)], 0..60), 1..3,
    )) {
        let with_metadata: Vec<Vec<u8>> = files.iter().map(|rest| [b"\x07\x0a\x050.0.4", &rest[..]].concat()).collect();
        if let Ok(survey) = Survey::from_bytes(&with_metadata) {
            let _ = validate(&survey, &Options::default());
        }
    }

    #[test]
    fn changed_bytes_of_a_sound_file_do_not_make_it_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = common::file(&[
            common::send(0, 1, &[]), common::comp(1, &[0]), common::send(2, 1, &[1, 0]), common::comp(3, &[2]),
        ]);
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Ok(survey) = Survey::from_bytes(&[file, common::file(&[common::comp(0, &[])])]) {
            let _ = validate(&survey, &Options::default());
        }
    }
}
