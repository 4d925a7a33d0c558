//! How the files of a trace are named: `PREFIX.RANK.et`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The common part of the names of a trace's files.
pub(crate) struct Prefix {
    /// The directory, `.` if the prefix names none.
    pub(crate) directory: PathBuf,
    /// The last part of the prefix, to which `.RANK.et` is added.
    name: OsString,
    /// Directory as given, so that names in messages look like what the user wrote.
    parent: PathBuf,
}

impl Prefix {
    /// Splits a prefix; `None` if it does not end in a name.
    pub(crate) fn new(prefix: &Path) -> Option<Self> {
        let name = prefix.file_name()?.to_owned();
        let parent = prefix.parent().unwrap_or(Path::new("")).to_owned();
        let directory = if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.clone() };
        Some(Self { directory, name, parent })
    }

    /// The file of a rank.
    pub(crate) fn path(&self, rank: usize) -> PathBuf {
        self.with_suffix(&format!(".{rank}.et"))
    }

    /// A file whose name is the prefix and `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &str) -> PathBuf {
        let mut name = self.name.clone();
        name.push(suffix);
        self.parent.join(name)
    }

    /// The ranks that have a file, ascending.
    pub(crate) fn ranks(&self) -> io::Result<Vec<usize>> {
        let mut ranks = Vec::new();
        for entry in std::fs::read_dir(&self.directory)? {
            ranks.extend(self.rank_of(&entry?.file_name()));
        }
        ranks.sort_unstable();
        Ok(ranks)
    }

    fn rank_of(&self, file: &std::ffi::OsStr) -> Option<usize> {
        let rest = file.as_encoded_bytes().strip_prefix(self.name.as_encoded_bytes())?;
        rank_suffix(rest).filter(|(start, _)| *start == 0).map(|(_, rank)| rank)
    }
}

/// If a name ends in `.RANK.et`: where that begins, and the rank.
pub(crate) fn rank_suffix(name: &[u8]) -> Option<(usize, usize)> {
    let stem = name.strip_suffix(b".et")?;
    let dot = stem.iter().rposition(|&byte| byte == b'.')?;
    let digits = &stem[dot + 1..];
    // "+1", "01" and "1" would otherwise be one rank.
    let canonical = match digits {
        [_] => true,
        [first, ..] => *first != b'0',
        [] => false,
    };
    if !canonical || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some((dot, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_ranks_count() {
        assert_eq!(rank_suffix(b"ring.0.et"), Some((4, 0)));
        assert_eq!(rank_suffix(b".12.et"), Some((0, 12)));
        for other in [&b"ring.et"[..], b"ring.01.et", b"ring.+1.et", b"ring..et", b"ring.1.et.gz", b"1.et"] {
            assert_eq!(rank_suffix(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_prefix_without_directory_is_in_the_current_one() {
        let prefix = Prefix::new(Path::new("ring")).map(|prefix| (prefix.directory.clone(), prefix.path(3)));
        assert_eq!(prefix, Some((PathBuf::from("."), PathBuf::from("ring.3.et"))));
        assert!(Prefix::new(Path::new("..")).is_none());
    }
}
