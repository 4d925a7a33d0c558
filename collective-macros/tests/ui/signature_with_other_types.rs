use collective::prelude::*;

#[collective(all_reduce, build(ranks = 4))]
fn wrong<T>(p: &Program, ranks: u32, _more: T) -> usize {
    p.chunk(ranks as usize - 1, Input, 0);
    0
}

fn main() {
    let _ = wrong::BUILDS;
}
