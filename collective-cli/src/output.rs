//! Printing that survives a closed pipe, and files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(crate) use crate::table::table;

/// Writes text and a line end to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.trim_end().as_bytes()).and_then(|()| stdout.write_all(b"\n")) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        Err(error) => Err(Failure::input(format!("standard output: {error}"))),
    }
}

/// Writes a file whole or not at all: a reader never sees half of it.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// The same of what is no text.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = NewFile::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    written.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The files of traces, one a rank.
pub(crate) fn rank_files(prefix: &Path, ranks: usize) -> Vec<String> {
    (0..ranks).map(|rank| format!("{}.{rank}.et", prefix.display())).collect()
}

/// The same in words.
pub(crate) fn rank_files_shown(prefix: &Path, ranks: usize) -> String {
    let prefix = prefix.display();
    match ranks {
        0 | 1 => format!("{prefix}.0.et"),
        ranks => format!("{prefix}.0.et … {prefix}.{}.et", ranks - 1),
    }
}

/// A file that appears under its name when it is finished, and else not at all.
///
/// It is written beside its name, under one that nobody has. What is no file, such as a pipe or a device, is written as it is; of a link,
/// what it leads to is replaced.
pub(crate) struct NewFile {
    file: File,
    /// Until it is renamed.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if !there.is_file() => {
                let file = File::options().write(true).open(path)?;
                return Ok(Self { file, temporary: None, path: path.to_owned() });
            }
            Ok(there) if there.permissions().readonly() => {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "the file there is write-protected",
                ));
            }
            _ => {}
        }
        // Fails where there is nothing yet.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut temporary = path.clone().into_os_string();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        Ok(Self { file, temporary: Some(temporary), path })
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // What is left of a failed attempt; there is nothing more to say about it.
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        write_file(&path, "first").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
        write_file(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        use std::os::unix::fs::{FileTypeExt, symlink};

        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        write_file(&target, "first").unwrap();
        symlink(&target, &link).unwrap();
        write_file(&link, "second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "second");

        write_file(Path::new("/dev/null"), "nothing").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

        let mut read_only = fs::metadata(&target).unwrap().permissions();
        read_only.set_readonly(true);
        fs::set_permissions(&target, read_only).unwrap();
        assert!(write_file(&target, "third").is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "second");
    }
}
