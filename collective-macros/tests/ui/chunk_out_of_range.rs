use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(
            (rank + 1) % ranks,
            Output,
            rank + 1,
        );
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
