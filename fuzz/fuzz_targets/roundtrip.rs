//! What is read is written again byte by byte, and its canonical form reads as the same.
#![no_main]

use chakra_et::{NodeReader, RankWriter, graph_from_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let Ok(mut reader) = NodeReader::new(bytes) else { return };
    // Messages without bytes and old schemas are not written as they were.
    let Ok(mut copy) = RankWriter::copying(&reader) else { return };
    let Ok(mut canonical) = RankWriter::new(reader.metadata()) else { return };
    let mut comparable = true;
    for read in &mut reader {
        let Ok(read) = read else { return };
        if copy.copy(&read).is_err() || canonical.node(&read.node).is_err() {
            return;
        }
    }
    for warning in reader.warnings() {
        comparable &= !["converted", "trailing-zeros"].contains(&warning.kind.id());
    }
    let copy = copy.finish();
    if comparable && lengths_are_short(bytes) {
        assert!(copy == bytes, "the copy differs");
    }
    let [copied, canonical] = [copy, canonical.finish()].map(|file| graph_from_bytes(&[file]));
    match (copied, canonical) {
        (Ok(copied), Ok(canonical)) => assert_eq!(copied, canonical),
        (Err(_), Err(_)) => {}
        (copied, canonical) => panic!("{copied:?} but canonical {canonical:?}"),
    }
});

/// Whether no length takes more bytes than it needs, which a copy does not keep.
fn lengths_are_short(mut bytes: &[u8]) -> bool {
    for frame in chakra_et::frame::frames(bytes) {
        let Ok((_, message)) = frame else { return false };
        let needed = (64 - (message.len() as u64 | 1).leading_zeros()).div_ceil(7) as usize;
        let Some(rest) = bytes.get(needed..) else { return false };
        if rest.get(..message.len()) != Some(message) || bytes[needed - 1] >= 0x80 {
            return false;
        }
        bytes = &rest[message.len()..];
    }
    true
}
