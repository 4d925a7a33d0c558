use collective::prelude::*;

#[collective(all_reduce, root = 0, outputs = 2, destination = 1)]
fn rooted(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

#[collective(send_recv, in_place)]
fn pair(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

#[collective(all_to_all_v, build(ranks = 2))]
fn table(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

#[collective(custom, in_place, chunks = 2, outputs = ranks, build(ranks = 3))]
fn unequal(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

#[collective(send_recv, destination = ranks, build(ranks = 2))]
fn nobody(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = (rooted::DEF, pair::DEF, table::RANKS_2, unequal::RANKS_3, nobody::RANKS_2);
}
