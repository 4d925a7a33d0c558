//! Lists of numbers, one for each node, in one array.

/// As many lists as there are nodes.
#[derive(Debug, Default)]
pub(crate) struct Csr {
    ends: Vec<usize>,
    items: Vec<u32>,
}

impl Csr {
    /// Adds an item to the list that is being made.
    pub(crate) fn push(&mut self, item: u32) {
        self.items.push(item);
    }

    /// Ends the list that is being made; the next begins.
    pub(crate) fn end_list(&mut self) {
        self.ends.push(self.items.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn item_count(&self) -> usize {
        self.items.len()
    }

    /// The list of a node, empty if there is no such node.
    pub(crate) fn list(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.ends.get(node - 1).copied().unwrap_or(0) };
        let end = self.ends.get(node).copied().unwrap_or(begin);
        self.items.get(begin..end).unwrap_or(&[])
    }

    /// For each node those that have it in their lists, ascending.
    pub(crate) fn reversed(&self) -> Self {
        let nodes = self.len();
        // Counts, then begins; filling moves each begin to its end.
        let mut ends = vec![0_usize; nodes + 1];
        for &item in &self.items {
            if let Some(count) = ends.get_mut(item as usize + 1) {
                *count += 1;
            }
        }
        for node in 0..nodes {
            ends[node + 1] += ends[node];
        }
        let mut items = vec![0_u32; self.items.len()];
        for node in 0..nodes as u32 {
            for &item in self.list(node) {
                if let Some(at) = ends.get_mut(item as usize) {
                    items[*at] = node;
                    *at += 1;
                }
            }
        }
        ends.truncate(nodes);
        Self { ends, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reverse_has_who_names_each() {
        let mut lists = Csr::default();
        for list in [&[2_u32, 1][..], &[], &[1]] {
            list.iter().for_each(|&item| lists.push(item));
            lists.end_list();
        }
        let reversed = lists.reversed();
        assert_eq!([0, 1, 2].map(|node| reversed.list(node).to_vec()), [vec![], vec![0, 2], vec![0]]);
        assert_eq!((reversed.len(), lists.list(9)), (3, &[][..]));
    }
}
