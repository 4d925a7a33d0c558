//! How many members the dimensions, or the levels, of so many ranks have.

use super::catalogue::divisors;

/// The largest divisor of `n` that is not above `most`, which is at least 1.
pub(super) fn divisor_up_to(n: usize, most: usize) -> usize {
    divisors(n).find(|divisor| *divisor <= most.max(1)).unwrap_or(1)
}

/// Two factors of `n` as near to each other as there are, the larger first.
pub(super) fn near_square(n: usize) -> [usize; 2] {
    let small = divisor_up_to(n, n.isqrt());
    [n / small, small]
}

/// Three factors of `n`, near to each other, from large to small.
pub(super) fn near_cube(n: usize) -> [usize; 3] {
    let root = (1..=n).take_while(|root| root.pow(3) <= n).last().unwrap_or(1);
    let small = divisor_up_to(n, root);
    let [large, middle] = near_square(n / small);
    let mut all = [large, middle, small];
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

/// The same without repetition, in the order of the first of each.
pub(super) fn distinct(choices: impl IntoIterator<Item = Vec<usize>>) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for choice in choices {
        if !all.contains(&choice) {
            all.push(choice);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_near_to_each_other() {
        let squares = [(1, [1, 1]), (7, [7, 1]), (12, [4, 3]), (16, [4, 4]), (18, [6, 3])];
        for (n, expected) in squares {
            assert_eq!(near_square(n), expected, "{n}");
        }
        let cubes = [(1, [1, 1, 1]), (8, [2, 2, 2]), (12, [3, 2, 2]), (13, [13, 1, 1]), (64, [4, 4, 4])];
        for (n, expected) in cubes {
            assert_eq!(near_cube(n), expected, "{n}");
        }
        assert_eq!((divisor_up_to(12, 5), divisor_up_to(12, 0), divisor_up_to(17, 8)), (4, 1, 1));
    }
}
