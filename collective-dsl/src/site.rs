//! Places in the user's source.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::ids::SiteId;

/// A place in the user's source. The column tells two operations on one line apart in messages; it is
/// not kept in a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Path of the file, relative to its crate where that is known.
    pub file: String,
    /// Line of the method name, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 where unknown.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// All places that the operations of a program name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTable {
    sites: Vec<Site>,
}

impl SiteTable {
    /// Adds a place.
    pub fn push(&mut self, site: Site) -> SiteId {
        self.sites.push(site);
        SiteId(self.sites.len() as u32 - 1)
    }

    /// The place behind an id.
    #[must_use]
    pub fn get(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.index())
    }

    /// Numbers the distinct files in the order of first appearance, and says for each site which file it is in.
    pub(crate) fn files(&self) -> (Vec<String>, Vec<u16>) {
        let mut names: Vec<String> = Vec::new();
        let mut index: FxHashMap<&str, u16> = FxHashMap::default();
        let of_site = self
            .sites
            .iter()
            .map(|site| {
                *index.entry(&site.file).or_insert_with(|| {
                    names.push(site.file.clone());
                    // A program spread over more files than u16 holds would be a generated one; its
                    // surplus sites then share the last number.
                    u16::try_from(names.len() - 1).unwrap_or(u16::MAX)
                })
            })
            .collect();
        (names, of_site)
    }
}
