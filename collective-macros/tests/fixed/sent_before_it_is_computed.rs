// A chunk is sent before it is computed
// A chunk that a computation `writes` is there when the computation is done, and not before. So the computation is stated
// first, and the program goes on with the reference that `writes` returns.

use collective::prelude::*;

#[collective(reduce_scatter, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for part in 0..ranks {
        let mut sum = p.compute((part + 1) % ranks, Cost::micros(40)).writes(Input, part, 1);
        for step in 2..=ranks {
            let rank = (part + step) % ranks;
            sum = p.compute(rank, Cost::micros(40)).writes(Input, part, 1).reduce(sum);
        }
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
