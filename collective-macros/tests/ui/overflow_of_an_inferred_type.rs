use collective::prelude::*;

#[collective(all_reduce, chunks = 1, build(ranks = 3))]
fn wrong(p: &Program, ranks: usize) {
    let mut narrow: Vec<u8> = Vec::new();
    narrow.push(250);
    let root = (narrow[0] + 10) as usize % ranks;
    p.chunk(root, Input, 0);
}

fn main() {}
