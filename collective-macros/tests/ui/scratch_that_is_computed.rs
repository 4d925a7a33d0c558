use collective::prelude::*;

#[collective(all_gather, build(ranks = 2))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let product = p.compute(rank, Cost::flops(2 * ranks).bytes(64)).writes(Scratch("product"), 0, 1);
        product.copy_to(1 - rank, Output, rank);
    }
}

fn main() {
    let _ = wrong::RANKS_2;
}
