#![allow(unused, unused_unsafe)]

use collective::prelude::*;
use std::collections::HashMap;

// What to write instead is in each message, and in docs/rust-subset.md. The first six of a function are shown.
#[collective(broadcast, in_place, build(ranks = 4))]
fn types(p: &Program, ranks: usize) {
    type Chunks<'a> = Vec<ChunkRef<'a>>;
    static STEP: usize = 1;
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let ratio: f64 = 1.5;
}

#[collective(broadcast, in_place, build(ranks = 4))]
fn numbers_and_lists(p: &Program, ranks: usize) {
    let narrow = u8::try_from(ranks).unwrap();
    let mut order = vec![3, 1, 2];
    order.sort_by(|a, b| b.cmp(a));
    order[1..].reverse();
    let options = order.iter().map(Some).count();
    let text = 'a';
    let halves = ranks.wrapping_shl(1);
}

#[collective(broadcast, in_place, build(ranks = 4))]
fn others(p: &Program, ranks: usize) {
    let mut order = vec![3, 1, 2];
    let last = std::mem::take(&mut order);
    dbg!(ranks);
    order.sort_by_key(|x| std::cmp::Reverse(*x));
    let same = order.iter().map(std::convert::identity).count();
    let _ = unsafe { p.chunk(0, Output, 0) };
}

fn main() {}
