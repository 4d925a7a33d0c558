use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    #[derive(Clone)]
    struct Hop {
        from: usize,
        to: usize,
    }
    let hops: Vec<Hop> = (1..ranks).map(|rank| Hop { from: rank - 1, to: rank }).collect();
    for hop in hops {
        p.chunk(hop.from, Output, 0).copy_to(hop.to, Output, 0);
    }
}

fn main() {}
