use collective::prelude::*;

#[collective(all_gather)]
mod with_arguments {}

#[collective]
mod helpers {
    use collective::prelude::*;

    /// Beyond what is evaluated: one error, although two algorithms use it.
    fn last(ranks: usize) -> usize {
        (0..ranks).map(std::convert::identity).max().unwrap_or(0)
    }

    #[collective(broadcast, build(ranks = 2))]
    fn one(p: &Program, ranks: usize) {
        p.chunk(0, Input, 0).copy_to(last(ranks), Output, 0);
    }

    #[collective(broadcast, build(ranks = 3))]
    fn other(p: &Program, ranks: usize) {
        p.chunk(0, Input, 0).copy_to(last(ranks), Output, 0);
    }

    /// Wrong by itself.
    #[collective(broadcast, build(ranks = 3))]
    fn wrong(p: &Program, ranks: usize) {
        beyond(p, ranks);
    }

    fn beyond(p: &Program, ranks: usize) {
        p.chunk(0, Input, 0).copy_to(ranks, Output, 0);
    }
}

fn main() {}
