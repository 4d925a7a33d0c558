//! What a topology amounts to: its links by sort, its longest route, what a rank can send, what messages put on its links.

use super::wiring::{Diameter, Wiring};
use super::{LinkId, LinkSpec, Topology};
use crate::machine::LinkKind;
use crate::units::Bytes;

/// Links of one sort.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkGroup {
    /// The part of the product that they belong to.
    pub part: usize,
    /// What they are, such as "leaf to spine link".
    pub what: String,
    /// Number of directed links.
    pub count: u64,
    /// What each of them is.
    pub link: LinkSpec,
    /// The kind of each of them.
    pub kind: LinkKind,
    /// Whether the kind was said; else it is what such links are by default.
    pub kind_is_stated: bool,
}

impl Topology {
    /// The links by sort, in the order of their numbers; sorts that are alike are one.
    #[must_use]
    pub fn link_groups(&self) -> Vec<LinkGroup> {
        let mut groups = Vec::<LinkGroup>::new();
        for (at, part) in self.parts.iter().enumerate() {
            for span in part.spans().into_iter().filter(|span| span.count > 0) {
                let count = span.count * part.rows;
                let alike = |group: &&mut LinkGroup| {
                    (group.part, group.what.as_str(), group.link) == (at, &span.what, span.link)
                        && (group.kind, group.kind_is_stated) == (span.kind, span.stated)
                };
                match groups.iter_mut().find(alike) {
                    Some(group) => group.count += count,
                    None => groups.push(LinkGroup {
                        part: at,
                        what: span.what.into_owned(),
                        count,
                        link: span.link,
                        kind: span.kind,
                        kind_is_stated: span.stated,
                    }),
                }
            }
        }
        groups
    }

    /// The number of hops of the longest route between two positions.
    ///
    /// Routes of a product go part by part, and so its longest one is the sum of theirs. Clusters, dragonflies and link lists of
    /// more than 1,024 members give an upper bound.
    #[must_use]
    pub fn diameter(&self) -> Diameter {
        let parts = self.parts.iter().map(|part| part.fabric.wiring().diameter());
        parts.fold(Diameter { hops: 0, exact: true }, |sum, part| Diameter {
            hops: sum.hops.saturating_add(part.hops),
            exact: sum.exact && part.exact,
        })
    }

    /// Bytes per second that can leave a rank over all its links together: the least and the most of any position.
    #[must_use]
    pub fn injection(&self) -> [f64; 2] {
        Wiring::injection(self)
    }

    /// Bytes per second, one way, across the narrowest of the cuts that split one part into equal halves.
    ///
    /// For rings, tori of even sizes, meshes, hypercubes, full connections and trees this is the bisection bandwidth. None where
    /// no part has such a cut: odd sizes, clusters and link lists.
    #[must_use]
    pub fn halving_bandwidth(&self) -> Option<f64> {
        let cuts = self.parts.iter().filter_map(|part| {
            Some(part.fabric.wiring().halving().filter(|_| part.members > 1)? * part.rows as f64)
        });
        cuts.min_by(f64::total_cmp)
    }

    /// What is worth knowing of the parts, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.parts.iter().flat_map(|part| part.fabric.wiring().notes()).collect()
    }

    /// The links that no route between two ranks uses. None for topologies of more than 2^20 pairs or links.
    #[must_use]
    pub fn unused_links(&self) -> Option<Vec<LinkId>> {
        const MOST: u64 = 1 << 20;
        let ranks = self.rank_count();
        if u64::from(ranks) * u64::from(ranks) > MOST || self.link_count() > MOST {
            return None;
        }
        let mut used = vec![false; self.link_count() as usize];
        let mut route = Vec::new();
        for (src, dst) in (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst))) {
            self.route(src, dst, &mut route);
            route.drain(..).for_each(|link| used[link.0 as usize] = true);
        }
        Some((0..).zip(used).filter(|(_, used)| !used).map(|(link, _)| LinkId(link)).collect())
    }

    /// The bytes that messages (source, destination, bytes) put on each link that they cross, by link: a count without times.
    ///
    /// None if a sum does not fit 64 bits. Messages of a rank to itself cross nothing.
    ///
    /// ```
    /// use sim_core::topology::{Dimension, Topology};
    /// use sim_core::units::Bytes;
    ///
    /// // Each rank of a ring of 4 sends 10 B to the next, and rank 0 sends 5 B to rank 2.
    /// let ring = Topology::new([Dimension::ring(4, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    /// let next = (0..4).map(|rank| (rank, (rank + 1) % 4, Bytes(10)));
    /// let loads = ring.link_loads(next.chain([(0, 2, Bytes(5))])).unwrap_or_default();
    /// let bytes: Vec<u64> = loads.iter().map(|(_, bytes)| bytes.0).collect();
    /// assert_eq!(bytes, [15, 15, 10, 10]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn link_loads(
        &self,
        messages: impl IntoIterator<Item = (u32, u32, Bytes)>,
    ) -> Option<Vec<(LinkId, Bytes)>> {
        let mut loads = rustc_hash::FxHashMap::<LinkId, u64>::default();
        let mut route = Vec::new();
        for (src, dst, bytes) in messages {
            self.route(src, dst, &mut route);
            for link in route.drain(..) {
                let load = loads.entry(link).or_default();
                *load = load.checked_add(bytes.0)?;
            }
        }
        let mut loads: Vec<_> = loads.into_iter().map(|(link, bytes)| (link, Bytes(bytes))).collect();
        loads.sort_unstable();
        Some(loads)
    }
}
