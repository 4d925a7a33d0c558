//! Memory that reading may cost, whatever the input announces: 1 MiB and 128 times its size.
mod common;

use std::hint::black_box;

use chakra_et::workload::{self, ReadOptions};
use chakra_et::{NodeReader, attr, load_bytes};
use common::{comp, file, gzip, node};
use peak_alloc::PeakAlloc;

// When a block grows, the old and the new one count as if they were there together.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most that is allocated at one time while `action` runs, beyond what was before.
fn most_allocated(action: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    action();
    ALLOCATOR.peak_usage() - before
}

fn check(name: &str, input: &[u8]) {
    let bound = (1 << 20) + 128 * input.len();
    let graph = most_allocated(|| drop(black_box(load_bytes(&[input]))));
    let nodes = most_allocated(|| {
        if let Ok(reader) = NodeReader::new(input) {
            reader.for_each(|node| drop(black_box(node)));
        }
    });
    let mut options = ReadOptions::default();
    options.drop_dangling = true;
    let workload = most_allocated(|| drop(black_box(workload::load_bytes(&[input], None, &options))));
    println!(
        "{name}: {} bytes, {graph} for the graph, {nodes} for the nodes, {workload} for the workload",
        input.len()
    );
    assert!(workload <= bound, "{name}: {workload} bytes for the workload, {bound} are allowed");
    assert!(graph <= bound, "{name}: {graph} bytes for the graph, {bound} are allowed");
    assert!(nodes <= bound, "{name}: {nodes} bytes for the nodes, {bound} are allowed");
}

/// A message with its length.
fn message(fields: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    prost::encoding::encode_varint(fields.len() as u64, &mut bytes);
    bytes.extend_from_slice(fields);
    bytes
}

/// A file whose one node repeats `field` that often.
fn repeated(field: &[u8], times: usize) -> Vec<u8> {
    [file(&[]), message(&field.repeat(times))].concat()
}

// One test, as another thread would count as well.
#[test]
fn memory_is_bounded_by_the_input() {
    // The pool of threads is made once and for all.
    drop(load_bytes(&[file(&[comp(0, &[])]), file(&[comp(0, &[])])]));
    const MANY: usize = 100_000;

    let plain: Vec<_> = (0..MANY as u64).map(|id| comp(id, &[])).collect();
    check("a plain file", &file(&plain));
    let attrs = vec![attr::int32("comm_size", 1), attr::string("x", "y")];
    check("nodes backwards", &file(&(0..MANY as u64).rev().map(|id| comp(id, &[])).collect::<Vec<_>>()));
    check("one node", &file(&[node(0, chakra_et::proto::NodeType::CompNode, &[], attrs)]));

    for end in [1_usize, 2, 3, 5] {
        check("a huge length", &[&file(&[])[..], &[0xff, 0xff, 0xff, 0xff, 0x0f][..end], b"x"].concat());
    }
    check("a huge length at the start", &[0xff, 0xff, 0xff, 0xff, 0x0f, 1]);
    check("a huge packed list", &[file(&[]), message(&[0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1])].concat());
    check("a huge name", &[file(&[]), message(&[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1])].concat());

    check("nodes of two bytes with one id", &[file(&[]), message(&[0x08, 1]).repeat(MANY)].concat());
    let unordered: Vec<u8> = (0..MANY).flat_map(|id| message(&[0x08, (id * 7 % 128) as u8])).collect();
    check("nodes of two bytes with several ids", &[file(&[]), unordered].concat());
    check("zeros", &vec![0; MANY]);
    check("zeros, then a node", &[file(&[]), vec![0; MANY], message(&[0x08, 1])].concat());
    check("dependences", &repeated(&[0x28, 0], MANY));
    check(
        "dangling dependences",
        &[file(&[]), message(&[&[0x2a, 0xa0, 0x8d, 6], &[5; MANY][..]].concat())].concat(),
    );
    check("empty attributes", &repeated(&[0x52, 0], MANY));
    check("attributes with unset names", &repeated(&[0x52, 2, 0x38, 1], MANY));
    check("empty strings in a list", &repeated(&[0x52, 5, 0xf2, 1, 2, 0x0a, 0], MANY));
    let strings = [0x0a, 0].repeat(MANY);
    let list = [&[0xf2, 1][..], &message(&strings)].concat();
    check("one list of empty strings", &repeated(&[&[0x52][..], &message(&list)].concat(), 1));
    check("unknown fields", &repeated(&[0xf8, 0x7f, 1], MANY));
    check("nested groups", &repeated(&[0xfb, 0x7f], MANY));
    let metadata = [0x12, 0].repeat(MANY);
    check("metadata of empty attributes", &message(&metadata));
    check("a large metadata text", &message(&[&[0x0a][..], &message(&vec![b'1'; 10 * MANY])].concat()));

    // Compressed data are bounded by what they unpack to.
    let packed = gzip(&vec![0; 4 * MANY]);
    let most = most_allocated(|| drop(black_box(load_bytes(&[&packed]))));
    assert!(most <= (1 << 20) + 128 * 4 * MANY, "{most}");
}
