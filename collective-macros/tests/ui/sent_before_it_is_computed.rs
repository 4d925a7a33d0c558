use collective::prelude::*;

#[collective(reduce_scatter, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    for part in 0..ranks {
        let mut sum = p.chunk((part + 1) % ranks, Input, part);
        for step in 2..=ranks {
            let rank = (part + step) % ranks;
            sum = p.compute(rank, Cost::micros(40)).writes(Input, part, 1).reduce(sum);
        }
        p.compute((part + 1) % ranks, Cost::micros(40)).writes(Input, part, 1);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
