//! Chakra traces from one form into another: plain, compressed, JSON lines.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use chakra_et::{NodeReader, RankFiles, ReadError, jsonl};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::failure::Failure;

/// What was written.
pub(crate) struct Converted {
    /// The files, by rank.
    pub(crate) files: Vec<String>,
    /// Nodes of all together.
    pub(crate) nodes: u64,
}

/// A form of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Gzip,
    Lines,
}

impl Form {
    const ALL: [Self; 3] = [Self::Gzip, Self::Plain, Self::Lines];

    fn ending(self) -> &'static str {
        match self {
            Self::Plain => "et",
            Self::Gzip => "et.gz",
            Self::Lines => "jsonl",
        }
    }

    /// The form that the ending of a name says, and the name before it.
    fn of(path: &Path) -> Option<(Self, PathBuf)> {
        let name = path.file_name()?.to_str()?;
        Self::ALL.into_iter().find_map(|form| {
            let stem = name.strip_suffix(form.ending())?.strip_suffix('.')?;
            (!stem.is_empty()).then(|| (form, path.with_file_name(stem)))
        })
    }
}

/// Converts a file, or each file of a trace that is given by its prefix, into the form that the ending of `output`
/// says. The files appear when all are complete.
pub(crate) fn convert_et(input: &Path, output: &Path) -> Result<Converted, Failure> {
    // A missing input is the first thing to know of.
    let files = find(input)?;
    let Some((form, prefix)) = Form::of(output) else {
        return Err(Failure::input(format!(
            "{}: its ending must say what to write: .et, .et.gz or .jsonl",
            output.display()
        )));
    };
    let path = |rank: usize| match files.is_whole() {
        true => with_suffix(&prefix, &format!(".{rank}.{}", form.ending())),
        false => output.to_owned(),
    };
    if let Some(parent) = output.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)
            .map_err(|error| Failure::input(format!("{}: {error}", parent.display())))?;
    }
    let mut written = Vec::new();
    let mut nodes = 0;
    for (rank, source) in files.ranks() {
        let (bytes, count) = convert(source, form)
            .map_err(|error| Failure::input(format!("{}: {error}", source.display())))?;
        nodes += count;
        written.push(Temporary::write(path(*rank), &bytes)?);
    }
    let files_written: Vec<String> = written.iter().map(|file| file.target.display().to_string()).collect();
    let count = written.len();
    written.into_iter().try_for_each(Temporary::place)?;
    if files.is_whole() {
        remove_higher(&prefix, form, count)?;
    }
    Ok(Converted { files: files_written, nodes })
}

/// The files of the input: one file, or traces in either form by their prefix.
fn find(input: &Path) -> Result<RankFiles, Failure> {
    match RankFiles::find(input, Form::Plain.ending()) {
        Err(none @ ReadError::NoFiles { .. }) => {
            RankFiles::find(input, Form::Lines.ending()).map_err(|lines| match lines {
                ReadError::NoFiles { .. } => Failure::input(none),
                other => Failure::input(other),
            })
        }
        found => found.map_err(Failure::input),
    }
}

/// The contents of every rank's file, whatever their form, as plain traces.
///
/// # Errors
/// A file cannot be read, or is one of several that belong together.
pub(crate) fn read_ranks(input: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let files = find(input)?;
    if !files.is_whole() {
        return Err(Failure::input(format!(
            "{}: this is the trace of one rank, and a schedule is that of all: give the prefix PREFIX of the files \
             PREFIX.0.et, PREFIX.1.et, …",
            input.display()
        )));
    }
    let read = |(_, source): &(usize, PathBuf)| {
        plain(source).map_err(|error| Failure::input(format!("{}: {error}", source.display())))
    };
    files.ranks().iter().map(read).collect()
}

type Failed = Box<dyn std::error::Error>;

/// The contents of a file as a plain trace.
fn plain(source: &Path) -> Result<Vec<u8>, Failed> {
    let file = File::open(source)?;
    match Form::of(source) {
        Some((Form::Lines, _)) => Ok(jsonl::read(BufReader::new(file))?),
        _ => decompressed(file),
    }
}

/// The contents of a file in another form, and its number of nodes.
fn convert(source: &Path, form: Form) -> Result<(Vec<u8>, u64), Failed> {
    let plain = plain(source)?;
    // Whatever is written, it must have been a trace; lines are of today's schema also where the file is not.
    let mut reader = NodeReader::new(&plain[..])?;
    if form == Form::Lines {
        let mut lines = Vec::new();
        jsonl::write(&mut reader, &mut lines)?;
        let nodes = lines.iter().filter(|&&byte| byte == b'\n').count() as u64 - 1;
        return Ok((lines, nodes));
    }
    let mut nodes = 0;
    for node in &mut reader {
        node?;
        nodes += 1;
    }
    let bytes = if form == Form::Gzip { compressed(&plain)? } else { plain };
    Ok((bytes, nodes))
}

fn decompressed(mut file: File) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain)?;
        return Ok(plain);
    }
    Ok(bytes)
}

/// The same bytes for the same input: no time is stored.
fn compressed(plain: &[u8]) -> Result<Vec<u8>, Failed> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    std::io::Write::write_all(&mut encoder, plain)?;
    Ok(encoder.finish()?)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A complete file under another name, which is removed unless it is put in its place.
struct Temporary {
    path: PathBuf,
    target: PathBuf,
}

impl Temporary {
    fn write(target: PathBuf, bytes: &[u8]) -> Result<Self, Failure> {
        let temporary = Self { path: with_suffix(&target, &format!(".new-{}", std::process::id())), target };
        fs::write(&temporary.path, bytes).map_err(|error| temporary.refused(&error))?;
        Ok(temporary)
    }

    fn place(self) -> Result<(), Failure> {
        fs::rename(&self.path, &self.target).map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &std::io::Error) -> Failure {
        Failure::input(format!("{}: cannot write: {error}", self.target.display()))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing under this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes files of higher ranks that an earlier, larger trace left: they would count as part of this one.
fn remove_higher(prefix: &Path, form: Form, ranks: usize) -> Result<(), Failure> {
    for rank in ranks.. {
        let path = with_suffix(prefix, &format!(".{rank}.{}", form.ending()));
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
            Err(error) => {
                return Err(Failure::input(format!("{}: cannot remove: {error}", path.display())));
            }
        }
    }
    Ok(())
}
