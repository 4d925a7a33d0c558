//! Where the members of a group lie.

/// How a group lies on machines, each of which has a block of consecutive ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shape {
    /// On how many machines it has members.
    pub(super) machines: u32,
    /// How many members each machine has, where it is the same number on all, and they follow one another in the group.
    pub(super) each: Option<u32>,
}

impl Shape {
    /// The shape of a group on machines of so many ranks.
    pub(super) fn of(members: &[u32], machine: u32) -> Self {
        let block = |rank: &u32| rank / machine.max(1);
        // Groups are in ascending order, as a rule: then the stretches of one machine are the machines.
        let stretches = members.chunk_by(|a, b| block(a) == block(b));
        let mut sizes = stretches.map(|stretch| stretch.len() as u32);
        let first = sizes.next().unwrap_or(0);
        let (mut count, mut equal) = (u32::from(first > 0), true);
        for size in sizes {
            count += 1;
            equal &= size == first;
        }
        if members.is_sorted() {
            return Self { machines: count, each: equal.then_some(first) };
        }
        let mut blocks: Vec<u32> = members.iter().map(block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let machines = blocks.len() as u32;
        Self { machines, each: (equal && machines == count).then_some(first) }
    }
}

/// Whether the members are consecutive ranks, in whatever order.
pub(super) fn is_contiguous(members: &[u32]) -> bool {
    let (least, most) = (members.iter().min(), members.iter().max());
    // Nobody is in a group twice.
    least.zip(most).is_none_or(|(least, most)| (most - least) as usize + 1 == members.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_blocks_of_consecutive_ranks() {
        let shape = |members: &[u32]| {
            let Shape { machines, each } = Shape::of(members, 4);
            (machines, each)
        };
        assert_eq!(shape(&[0, 1, 2, 3]), (1, Some(4)));
        assert_eq!(shape(&[2, 3, 4, 5]), (2, Some(2)));
        assert_eq!(shape(&[0, 1, 4]), (2, None));
        assert_eq!(shape(&[0, 4, 8]), (3, Some(1)));
        assert_eq!(shape(&[0, 4, 1, 5]), (2, None));
        assert_eq!(shape(&[5, 4, 1, 0]), (2, Some(2)));
        assert_eq!(shape(&[]), (0, Some(0)));
    }

    #[test]
    fn consecutive_ranks_in_whatever_order() {
        assert!(is_contiguous(&[3, 4, 5]) && is_contiguous(&[5, 3, 4]) && is_contiguous(&[7]));
        assert!(!is_contiguous(&[3, 5]) && !is_contiguous(&[0, 2, 1, 4]));
    }
}
