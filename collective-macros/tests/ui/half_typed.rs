use collective::prelude::*;

#[collective(all_gather, build(ranks = 1))]
fn wrong(p: &Program, ranks: usize) {
    let x = p. ;
}

fn main() {}
