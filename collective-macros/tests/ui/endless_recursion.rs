use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    fn visit(p: &Program, rank: usize) {
        p.chunk(rank % p.ranks(), Input, 0);
        visit(p, rank + 1);
    }
    visit(p, ranks);
}

fn main() {
    let _ = wrong::RANKS_4;
}
