use collective::prelude::*;

#[collective(all_reduce, build(ranks = 4))]
struct Wrong;

fn main() {
    let _ = Wrong;
}
