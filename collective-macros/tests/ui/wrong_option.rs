use collective::prelude::*;

#[collective(
    all_reduce,
    options(protocol = "LL64", instances = 0, replication = "twice", protocol = LL),
    options(instances = "2", channels = 2)
)]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = wrong::DEF;
}
