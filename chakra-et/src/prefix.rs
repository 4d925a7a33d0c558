//! How the files of a trace are named: `PREFIX.RANK.et`, or `PREFIX.RANK.et.gz`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ReadError;

/// The common part of the names of a trace's files.
pub(crate) struct Prefix {
    /// The directory, `.` if the prefix names none.
    pub(crate) directory: PathBuf,
    /// The last part of the prefix, to which `.RANK.et` is added.
    name: OsString,
    /// Directory as given, so that names in messages look like what the user wrote.
    parent: PathBuf,
}

/// What a file is to a trace, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// The file of a rank.
    Plain(usize),
    /// The compressed file of a rank.
    Gzip(usize),
    /// Named like a file of the trace, but with something else for the rank.
    Stray,
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

    /// The compressed file of a rank.
    pub(crate) fn gzip_path(&self, rank: usize) -> PathBuf {
        self.with_suffix(&format!(".{rank}.et.gz"))
    }

    /// A file whose name is the prefix and `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &str) -> PathBuf {
        let mut name = self.name.clone();
        name.push(suffix);
        self.parent.join(name)
    }

    /// The files of the directory that belong to the trace or look as if they did, by name.
    pub(crate) fn files(&self) -> io::Result<BTreeMap<OsString, Named>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(&self.directory)? {
            let name = entry?.file_name();
            let rest = name.as_encoded_bytes().strip_prefix(self.name.as_encoded_bytes());
            if let Some(named) = rest.and_then(named) {
                files.insert(name, named);
            }
        }
        Ok(files)
    }

    /// Files of the directory that may be meant when the trace has none, by name.
    fn similar(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return Vec::new() };
        let is_similar = |name: &OsString| {
            let bytes = name.as_encoded_bytes();
            let ours = bytes.strip_prefix(self.name.as_encoded_bytes()).is_some_and(|rest| {
                [&b".eg"[..], b".et", b".eg.gz", b".et.gz"].iter().any(|end| rest.ends_with(end))
            });
            ours || (bytes.starts_with(b"rank_") && bytes.ends_with(b".et"))
        };
        let names = entries.flatten().map(|entry| entry.file_name()).filter(is_similar);
        let mut paths: Vec<PathBuf> = names.map(|name| self.parent.join(name)).collect();
        paths.sort();
        paths
    }
}

/// What a file is whose name continues the prefix so.
fn named(rest: &[u8]) -> Option<Named> {
    if let Some((0, rank)) = rank_suffix(rest) {
        return Some(Named::Plain(rank));
    }
    let plain = rest.strip_suffix(b".gz").unwrap_or(rest);
    if let Some((0, rank)) = rank_suffix(plain) {
        return Some(Named::Gzip(rank));
    }
    // With a further dot it belongs to a trace whose prefix is longer.
    let middle = plain.strip_suffix(b".et").or_else(|| plain.strip_suffix(b".eg"))?.strip_prefix(b".")?;
    (!middle.contains(&b'.')).then_some(Named::Stray)
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

/// The files of a trace.
pub(crate) struct TraceFiles {
    /// The file of each rank.
    pub(crate) ranks: Vec<PathBuf>,
    /// Files that are not read although they are named almost so, and why.
    pub(crate) stray: Vec<(PathBuf, &'static str)>,
}

impl TraceFiles {
    /// Finds the files; an error unless there are some and each rank has one.
    pub(crate) fn find(given: &Path, prefix: &Prefix) -> Result<Self, ReadError> {
        let files = match prefix.files() {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(source) => return Err(ReadError::Directory { path: prefix.directory.clone(), source }),
        };
        let mut ranks = BTreeMap::new();
        let mut stray = Vec::new();
        for (name, named) in files {
            let path = prefix.parent.join(name);
            match named {
                // The order by name puts the plain file first.
                Named::Plain(rank) => drop(ranks.insert(rank, path)),
                Named::Gzip(rank) if ranks.contains_key(&rank) => {
                    stray.push((path, "the rank has a file that is not compressed"));
                }
                Named::Gzip(rank) => drop(ranks.insert(rank, path)),
                Named::Stray => stray.push((path, "the part after the prefix is no rank")),
            }
        }
        let Some((&highest, _)) = ranks.last_key_value() else {
            let pattern = format!("{} or .et.gz (N = 0, 1, ...)", prefix.with_suffix(".N.et").display());
            return Err(ReadError::NoFiles { pattern, hint: hint(given, prefix) });
        };
        match (0..ranks.len()).find(|rank| !ranks.contains_key(rank)) {
            Some(missing) => Err(ReadError::MissingRank { path: prefix.path(missing), highest }),
            None => Ok(Self { ranks: ranks.into_values().collect(), stray }),
        }
    }
}

/// What may have been meant when there are no files: the given prefix may itself be a file or directory, or
/// the files may be named in another way.
fn hint(given: &Path, prefix: &Prefix) -> String {
    let expected = "a prefix is expected, such as DIR/NAME for DIR/NAME.0.et";
    if given.is_dir() {
        return format!("; {} is a directory: {expected}", given.display());
    }
    if given.is_file() {
        let name = given.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        return match rank_suffix(plain.as_bytes()).and_then(|(end, _)| name.get(..end)) {
            Some(stem) if !stem.is_empty() => {
                let prefix = given.with_file_name(stem);
                format!("; {} is a file: a prefix is expected, here {}", given.display(), prefix.display())
            }
            _ => format!("; {} is a file: {expected}", given.display()),
        };
    }
    const SHOWN: usize = 3;
    let similar = prefix.similar();
    let names: Vec<String> = similar.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    match similar.len() {
        0 => String::new(),
        1..=SHOWN => format!("; but there is {}", names.join(", ")),
        more => format!("; but there is {} and {} more", names.join(", "), more - SHOWN),
    }
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
    fn names_tell_what_a_file_is() {
        for (rest, expected) in [
            (".12.et", Some(Named::Plain(12))),
            (".12.et.gz", Some(Named::Gzip(12))),
            (".01.et", Some(Named::Stray)),
            (".x.et", Some(Named::Stray)),
            (".0.eg", Some(Named::Stray)),
            (".99999999999999999999.et", Some(Named::Stray)),
            (".more.0.et", None),
            (".0.et.new-1-0", None),
            ("2.0.et", None),
            (".txt", None),
        ] {
            assert_eq!(named(rest.as_bytes()), expected, "{rest}");
        }
    }

    #[test]
    fn a_prefix_without_directory_is_in_the_current_one() {
        let prefix = Prefix::new(Path::new("ring")).map(|prefix| (prefix.directory.clone(), prefix.path(3)));
        assert_eq!(prefix, Some((PathBuf::from("."), PathBuf::from("ring.3.et"))));
        assert!(Prefix::new(Path::new("..")).is_none());
    }
}
