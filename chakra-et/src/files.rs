//! Writes the files of a whole trace: all of them or none.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;

use crate::prefix::{Named, Prefix};

/// A trace was not written. Files that were there before are as they were, unless [`WriteError::Rollback`]
/// or [`WriteError::Cleanup`] says otherwise.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The prefix does not end in a name.
    #[error("{}: a prefix is expected, such as DIR/NAME for DIR/NAME.0.et", prefix.display())]
    NoPrefix {
        /// What was given.
        prefix: PathBuf,
    },
    /// A trace needs at least one rank.
    #[error("{}: a trace without ranks cannot be written", prefix.display())]
    NoRanks {
        /// The prefix.
        prefix: PathBuf,
    },
    /// The contents of a rank could not be made.
    #[error("{}: {source}", path.display())]
    Encode {
        /// The file that was to be written.
        path: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused when a part of the files was in place, and then to restore an old file.
    #[error("{first}; then the old file could not be restored, it is now {}: {source}", backup.display())]
    Rollback {
        /// What failed first.
        first: Box<WriteError>,
        /// Where the old file is now.
        backup: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The trace is written, but a file of the run before could not be removed.
    #[error("the trace is written, but the old file {} cannot be removed: {source}", backup.display())]
    Cleanup {
        /// The file that is left.
        backup: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Writes `PREFIX.0.et` to `PREFIX.(ranks-1).et`, with the contents that `contents` gives for each rank, in
/// parallel by rank.
///
/// Missing directories are made. The files appear together: all are written under other names first and
/// then renamed; upon a failure these are removed and files of an earlier run stay as they were. Files of
/// higher ranks that an earlier run left under the same prefix are removed, compressed ones as well, as they
/// would otherwise count as part of this trace. Of several failures the one of the lowest rank is reported.
///
/// # Errors
/// If there are no ranks, if `contents` fails, or if the system refuses to write; the error names the path.
pub fn write_trace<E: Into<Box<dyn Error + Send + Sync>>>(
    prefix: impl AsRef<Path>,
    ranks: usize,
    contents: impl Fn(usize) -> Result<Vec<u8>, E> + Sync,
) -> Result<(), WriteError> {
    let given = prefix.as_ref();
    let prefix = Prefix::new(given).ok_or_else(|| WriteError::NoPrefix { prefix: given.to_owned() })?;
    if ranks == 0 {
        return Err(WriteError::NoRanks { prefix: given.to_owned() });
    }
    fs::create_dir_all(&prefix.directory).map_err(refused(&prefix.directory, "make the directory"))?;

    let written: Vec<Result<Temporary, WriteError>> = (0..ranks)
        .into_par_iter()
        .map(|rank| {
            let path = prefix.path(rank);
            let bytes = contents(rank).map_err(|error| WriteError::Encode { path, source: error.into() })?;
            Temporary::write(&prefix, rank, &bytes)
        })
        .collect();
    // Dropping a temporary removes it, so an early return leaves nothing behind.
    let new: Vec<Temporary> = written.into_iter().collect::<Result<_, _>>()?;

    let present = prefix.files().map_err(refused(&prefix.directory, "list the directory"))?;
    let old = present.into_values().filter_map(|named| match named {
        Named::Plain(rank) => Some((rank, prefix.path(rank))),
        // Next to a new file, which is preferred, it does no harm.
        Named::Gzip(rank) => (rank >= ranks).then(|| (rank, prefix.gzip_path(rank))),
        Named::Stray => None,
    });
    // In the order of ranks, not of names, so that an error does not depend on how many there are.
    let old: BTreeSet<(usize, PathBuf)> = old.collect();
    let mut exchange = Exchange::default();
    let exchanged =
        old.into_iter().try_for_each(|(rank, path)| exchange.set_aside(&prefix, rank, path)).and_then(|()| {
            new.into_iter().enumerate().try_for_each(|(rank, new)| exchange.place(&prefix, rank, new))
        });
    match exchanged {
        Ok(()) => exchange.commit(),
        Err(error) => Err(exchange.roll_back(error)),
    }
}

fn refused(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> WriteError {
    move |source| WriteError::Io { path: path.to_owned(), action, source }
}

/// A file that is removed when dropped, unless it was renamed.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    fn write(prefix: &Prefix, rank: usize, bytes: &[u8]) -> Result<Self, WriteError> {
        let (mut file, path) = create_unused(prefix, rank, "new")?;
        let temporary = Self { path, renamed: false };
        file.write_all(bytes).map_err(refused(&prefix.path(rank), "write"))?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // It is a temporary: if it cannot be removed there is no one to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Creates a file next to that of the rank, under a name that nothing has yet and that is no rank's.
fn create_unused(prefix: &Prefix, rank: usize, label: &str) -> Result<(File, PathBuf), WriteError> {
    let process = std::process::id();
    let mut attempt = 0_u32;
    loop {
        let path = prefix.with_suffix(&format!(".{rank}.et.{label}-{process}-{attempt}"));
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            // Left by a process that was killed, or used by another thread.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(refused(&prefix.path(rank), "write")(error)),
        }
    }
}

/// The exchange of old files for new ones, so far.
#[derive(Default)]
struct Exchange {
    /// Old files: where they were and where they are.
    aside: Vec<(PathBuf, PathBuf)>,
    /// New files in their places.
    placed: Vec<PathBuf>,
}

impl Exchange {
    /// Moves a present file of a rank out of the way.
    fn set_aside(&mut self, prefix: &Prefix, rank: usize, path: PathBuf) -> Result<(), WriteError> {
        if path.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(refused(&path, "replace")(source));
        }
        // The name is reserved by an empty file, which the rename replaces.
        let (_, backup) = create_unused(prefix, rank, "old")?;
        if let Err(error) = fs::rename(&path, &backup) {
            let _ = fs::remove_file(&backup);
            return Err(refused(&path, "replace")(error));
        }
        self.aside.push((path, backup));
        Ok(())
    }

    fn place(&mut self, prefix: &Prefix, rank: usize, mut new: Temporary) -> Result<(), WriteError> {
        let path = prefix.path(rank);
        fs::rename(&new.path, &path).map_err(refused(&path, "write"))?;
        new.renamed = true;
        self.placed.push(path);
        Ok(())
    }

    fn commit(self) -> Result<(), WriteError> {
        let mut result = Ok(());
        for (_, backup) in self.aside {
            if let Err(source) = fs::remove_file(&backup)
                && result.is_ok()
            {
                result = Err(WriteError::Cleanup { backup, source });
            }
        }
        result
    }

    fn roll_back(self, first: WriteError) -> WriteError {
        for path in self.placed {
            // If this fails, restoring the old file below replaces it or fails too.
            let _ = fs::remove_file(path);
        }
        let mut result = first;
        for (path, backup) in self.aside {
            if let Err(source) = fs::rename(&backup, &path) {
                result = WriteError::Rollback { first: Box::new(result), backup, source };
            }
        }
        result
    }
}
