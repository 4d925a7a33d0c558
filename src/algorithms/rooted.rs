//! What the entries of rooted collectives share.

/// Rank 0, and one in the middle where there are others.
pub(super) fn roots(ranks: usize) -> impl Iterator<Item = usize> {
    [0].into_iter().chain((ranks > 1).then_some(ranks / 2))
}

/// The number of ranks alone, and with each root.
pub(super) fn choices(ranks: usize) -> Vec<Vec<usize>> {
    roots(ranks).map(|root| vec![ranks, root]).collect()
}

/// With segments: a usual number, none, many, and another root.
pub(super) fn pipelined_choices(ranks: usize) -> Vec<Vec<usize>> {
    let others = roots(ranks).skip(1).map(|root| vec![ranks, 8, root]);
    [8, 1, 32].map(|segments| vec![ranks, segments, 0]).into_iter().chain(others).collect()
}

/// ⌈log2 n⌉.
pub(super) fn rounds(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// What the root of a binomial scatter gives away, in ranks: the upper half of what it holds, down to one.
pub(super) fn halves(ranks: usize) -> Vec<usize> {
    let mut given = Vec::new();
    let mut held = ranks;
    while held > 1 {
        let kept = held.next_power_of_two() / 2;
        given.push(held - kept);
        held = kept;
    }
    given
}

/// The sizes of the binomial tree's subtrees, from the largest down, along its longest path.
///
/// The root of `ranks` ranks has subtrees of 1, 2, 4, … ranks and one of those that are left over. If that is the
/// larger one of the last two, it also is the deeper one.
pub(super) fn subtrees(ranks: usize) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut size = ranks;
    while size > 1 {
        let half = size.next_power_of_two() / 2;
        size = (half / 2).max(size - half);
        sizes.push(size);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::{halves, subtrees};

    #[test]
    fn the_root_gives_away_all_but_its_own() {
        assert_eq!(
            [1, 2, 5, 6, 8].map(halves),
            [vec![], vec![1], vec![1, 2, 1], vec![2, 2, 1], vec![4, 2, 1]]
        );
    }

    #[test]
    fn subtrees_of_the_longest_path() {
        // Five: 0 has the subtrees 1, 2–3 and 4. Six: 1, 2–3 and 4–5. Seven: 4–6, in which 4 has 5 and 6.
        assert_eq!(
            [1, 2, 5, 6, 7, 8].map(subtrees),
            [vec![], vec![1], vec![2, 1], vec![2, 1], vec![3, 1], vec![4, 2, 1]]
        );
    }
}
