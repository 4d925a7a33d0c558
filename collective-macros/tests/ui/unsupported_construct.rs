use collective::prelude::*;

const STEPS: usize = 3;

fn next(rank: usize, ranks: usize) -> usize {
    (rank + 1) % ranks
}

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let step = |rank: usize| next(rank, ranks);
    (0..ranks).for_each(|rank| {
        p.chunk(rank, Input, 0);
    });
    for rank in 0..STEPS {
        p.chunk(next(rank, ranks), Input, (1.5 * 2.0) as usize);
        p.chunk(step(rank), Input, 0);
    }
}

#[collective(all_reduce, in_place, build(ranks = 4))]
fn unknown_method_and_macro(p: &Program, ranks: usize) {
    p.chunk(0, Input, ranks.wrapping_shl(1));
    if let Some(first) = [1, 2].first() && ranks > 2 {
        dbg!(first);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
