//! The files of a trace, by its prefix, or one file by itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::ReadError;
use crate::prefix::{Prefix, TraceFiles, rank_suffix};

/// Which files a trace has, and which rank each is of.
///
/// ```
/// use chakra_et::RankFiles;
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// std::fs::write(directory.join("ring.0.jsonl"), "{}")?;
/// std::fs::write(directory.join("ring.1.jsonl"), "{}")?;
/// let whole = RankFiles::find(&directory.join("ring"), "jsonl")?;
/// assert_eq!((whole.ranks().len(), whole.is_whole()), (2, true));
/// let one = RankFiles::find(&directory.join("ring.1.jsonl"), "jsonl")?;
/// assert_eq!((one.ranks()[0].0, one.is_whole()), (1, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RankFiles {
    ranks: Vec<(usize, PathBuf)>,
    stray: Vec<(PathBuf, &'static str)>,
    whole: bool,
}

impl RankFiles {
    /// Finds the files `PREFIX.RANK.ENDING` of a trace; for the ending `et` also compressed ones. If `path` is
    /// itself a file, it is the only one; its rank is that of its name, or 0.
    ///
    /// # Errors
    /// If there are no such files, or a rank between others has none.
    pub fn find(path: &Path, ending: &str) -> Result<Self, ReadError> {
        if path.is_file() {
            let ranks = vec![(rank_of(path), path.to_owned())];
            return Ok(Self { ranks, stray: Vec::new(), whole: false });
        }
        let prefix = Prefix::new(path).ok_or_else(|| ReadError::NoPrefix { prefix: path.to_owned() })?;
        if ending == "et" {
            let files = TraceFiles::find(path, &prefix)?;
            let ranks = files.ranks.into_iter().enumerate().collect();
            return Ok(Self { ranks, stray: files.stray, whole: true });
        }
        let ranks = listed(path, &prefix, ending)?;
        let pattern = prefix.with_suffix(&format!(".N.{ending}")).display().to_string();
        let Some((&highest, _)) = ranks.last_key_value() else {
            return Err(ReadError::NoFiles { pattern, hint: String::new() });
        };
        match (0..ranks.len()).find(|rank| !ranks.contains_key(rank)) {
            Some(missing) => {
                let path = prefix.with_suffix(&format!(".{missing}.{ending}"));
                Err(ReadError::MissingRank { path, highest })
            }
            None => Ok(Self { ranks: ranks.into_iter().collect(), stray: Vec::new(), whole: true }),
        }
    }

    /// The files with their ranks, ascending.
    #[must_use]
    pub fn ranks(&self) -> &[(usize, PathBuf)] {
        &self.ranks
    }

    /// Whether these are the files of a whole trace, and not one file.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Files that are not read although they are named almost so, and why.
    pub(crate) fn stray(&self) -> &[(PathBuf, &'static str)] {
        &self.stray
    }
}

fn listed(path: &Path, prefix: &Prefix, ending: &str) -> Result<BTreeMap<usize, PathBuf>, ReadError> {
    let directory = |source| ReadError::Directory { path: prefix.directory.clone(), source };
    let entries = match std::fs::read_dir(&prefix.directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(directory(error)),
    };
    let start = path.file_name().map(|name| name.as_encoded_bytes()).unwrap_or_default();
    let mut ranks = BTreeMap::new();
    for entry in entries {
        let name = entry.map_err(directory)?.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(start);
        let stem = rest.and_then(|rest| rest.strip_suffix(ending.as_bytes()));
        // As of `.et` files: what counts as the number of a rank is decided in one place.
        let rank = stem.and_then(|stem| rank_suffix(&[stem, b"et"].concat()));
        if let Some((0, rank)) = rank {
            ranks.insert(rank, path.with_file_name(name));
        }
    }
    Ok(ranks)
}

/// The rank that a file's name states, or 0.
fn rank_of(path: &Path) -> usize {
    let Some(name) = path.file_name().map(|name| name.as_encoded_bytes()) else { return 0 };
    let name = name.strip_suffix(b".gz").unwrap_or(name);
    let name = match name.strip_suffix(b".jsonl") {
        Some(stem) => [stem, b".et"].concat(),
        None => name.to_owned(),
    };
    rank_suffix(&name).map_or(0, |(_, rank)| rank)
}
