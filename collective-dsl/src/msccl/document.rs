//! A tree of elements to the words of the format: attributes parsed, defaults filled in, unknown ones set apart.
//! Nothing is yet said about what they mean together.

use super::error::XmlError;
use super::header::Attributes;
use super::markup::{self, Element};
use super::warnings::Warnings;
use crate::options::Protocol;
use crate::schedule::{MemoryBuffer, StepKind};

/// Chunk indexes and counts above this are no algorithm, and would only serve to exhaust memory.
pub(super) const MAX_INDEX: i64 = 1 << 24;
/// The most chunks that a step moves: the runtimes count in sixteen bits.
const MAX_COUNT: i64 = 65_535;
/// The runtimes know at most 128 channels and 1024 thread blocks; sixteen bits are enough for every dialect.
const MAX_ID: i64 = 65_535;

/// The text that is read, and its name for messages.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

pub(super) struct Algorithm {
    pub(super) line: u32,
    pub(super) name: Option<String>,
    pub(super) protocol: Protocol,
    pub(super) channels: Option<u32>,
    pub(super) chunks: Option<u32>,
    pub(super) ranks: Option<u32>,
    pub(super) collective: Option<String>,
    pub(super) in_place: Option<bool>,
    pub(super) out_of_place: Option<bool>,
    pub(super) min_bytes: Option<u64>,
    pub(super) max_bytes: Option<u64>,
    pub(super) gpus: Vec<Gpu>,
    pub(super) attributes: Attributes,
    pub(super) elements: Vec<String>,
}

pub(super) struct Gpu {
    pub(super) line: u32,
    pub(super) id: u32,
    pub(super) inputs: Option<u32>,
    pub(super) outputs: Option<u32>,
    pub(super) scratch: Option<u32>,
    pub(super) blocks: Vec<Block>,
    pub(super) copies: Vec<Copy>,
    pub(super) attributes: Attributes,
    pub(super) elements: Vec<String>,
}

/// An initial copy from input to output.
pub(super) struct Copy {
    pub(super) line: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

pub(super) struct Block {
    pub(super) line: u32,
    pub(super) id: u32,
    pub(super) send: Option<u32>,
    pub(super) recv: Option<u32>,
    pub(super) channel: u32,
    pub(super) steps: Vec<RawStep>,
    pub(super) attributes: Attributes,
    pub(super) elements: Vec<String>,
}

/// A place as it is written; either part may be missing, and the chunk may be negative where it is not used.
#[derive(Clone, Copy)]
pub(super) struct RawPlace {
    pub(super) buffer: Option<MemoryBuffer>,
    pub(super) index: Option<i64>,
}

pub(super) struct RawStep {
    pub(super) line: u32,
    /// `None` for a nop.
    pub(super) kind: Option<StepKind>,
    pub(super) src: RawPlace,
    pub(super) dst: RawPlace,
    pub(super) count: u32,
    /// The thread block and step that it waits for, in the numbers of the document.
    pub(super) wait: Option<(u32, u32)>,
    pub(super) has_dep: Option<bool>,
    pub(super) attributes: Attributes,
}

/// Reads the root element.
///
/// # Errors
/// An element or attribute that is not what the format wants.
pub(super) fn algorithm(
    root: &Element,
    file: File<'_>,
    warnings: &mut Warnings,
) -> Result<Algorithm, XmlError> {
    let mut reader = Fields::new(root, file, "algo".to_owned());
    if root.name == "msccl_algos" {
        return Err(reader.error(
            "this is a list of algorithms for MSCCL_CONFIG: give one of the files that it names".to_owned(),
        ));
    }
    if root.name != "algo" {
        return Err(reader.error(format!("expected the root element <algo>, not <{}>", root.name)));
    }
    let mut algorithm = Algorithm {
        line: root.line,
        name: reader.text("name").map(str::to_owned),
        protocol: match reader.text("proto") {
            None => Protocol::default(),
            Some(name) => name.parse().map_err(|error| reader.wrong("proto", format!(": {error}")))?,
        },
        channels: reader.number("nchannels", 0, MAX_ID)?,
        chunks: reader.number("nchunksperloop", 1, MAX_INDEX)?,
        ranks: reader.number("ngpus", 1, MAX_ID)?,
        collective: reader.text("coll").map(str::to_owned),
        in_place: reader.flag("inplace")?,
        out_of_place: reader.flag("outofplace")?,
        min_bytes: reader.bytes("minBytes")?,
        max_bytes: reader.bytes("maxBytes")?,
        gpus: Vec::new(),
        attributes: reader.rest(),
        elements: Vec::new(),
    };
    for child in &root.children {
        if child.name == "gpu" {
            algorithm.gpus.push(gpu(child, file, warnings)?);
        } else {
            algorithm.elements.push(unknown(child, warnings));
        }
    }
    Ok(algorithm)
}

fn gpu(element: &Element, file: File<'_>, warnings: &mut Warnings) -> Result<Gpu, XmlError> {
    let mut reader = Fields::new(element, file, "gpu".to_owned());
    let id = reader.needed("id", 0, MAX_ID)?;
    reader.at = format!("gpu {id}");
    let mut gpu = Gpu {
        line: element.line,
        id,
        inputs: reader.number("i_chunks", 0, MAX_INDEX)?,
        outputs: reader.number("o_chunks", 0, MAX_INDEX)?,
        scratch: reader.number("s_chunks", 0, MAX_INDEX)?,
        blocks: Vec::new(),
        copies: Vec::new(),
        attributes: reader.rest(),
        elements: Vec::new(),
    };
    for child in &element.children {
        match child.name.as_str() {
            "tb" => gpu.blocks.push(block(child, file, id, warnings)?),
            "copy" => {
                let mut reader = Fields::new(child, file, format!("gpu {id}, copy"));
                let (from, to) =
                    (reader.needed("i_off", 0, MAX_INDEX)?, reader.needed("o_off", 0, MAX_INDEX)?);
                gpu.copies.push(Copy { line: child.line, from, to });
            }
            _ => gpu.elements.push(unknown(child, warnings)),
        }
    }
    Ok(gpu)
}

fn block(element: &Element, file: File<'_>, gpu: u32, warnings: &mut Warnings) -> Result<Block, XmlError> {
    let mut reader = Fields::new(element, file, format!("gpu {gpu}, tb"));
    let id = reader.needed("id", 0, MAX_ID)?;
    reader.at = format!("gpu {gpu}, tb {id}");
    let mut block = Block {
        line: element.line,
        id,
        send: reader.peer("send")?,
        recv: reader.peer("recv")?,
        channel: reader.number("chan", 0, MAX_ID)?.unwrap_or(0),
        steps: Vec::new(),
        attributes: reader.rest(),
        elements: Vec::new(),
    };
    for child in &element.children {
        if matches!(child.name.as_str(), "step" | "op") {
            let number = block.steps.len();
            block.steps.push(step(
                child,
                file,
                format!("gpu {gpu}, tb {id}, step {number}"),
                number,
                warnings,
            )?);
        } else {
            block.elements.push(unknown(child, warnings));
        }
    }
    Ok(block)
}

fn step(
    element: &Element,
    file: File<'_>,
    at: String,
    number: usize,
    warnings: &mut Warnings,
) -> Result<RawStep, XmlError> {
    let mut reader = Fields::new(element, file, at);
    let stated = match reader.number("s", 0, MAX_INDEX)? {
        None => reader.number("step", 0, MAX_INDEX)?,
        stated => stated,
    };
    if stated.is_some_and(|stated| stated as usize != number) {
        warnings.add("numbers", element.line, || {
            "a step is not numbered as it stands; steps run, and are waited for, in the order of the file"
                .to_owned()
        });
    }
    let kind = match reader.text("type") {
        None => return Err(reader.error(format!("attribute type is missing: expected {STEP_NAMES}"))),
        Some("nop") => None,
        Some("ra") => {
            return Err(reader.error(
                "a step of type ra (the residual add of microsoft/msccl) is not part of a collective and is not read"
                    .to_owned(),
            ));
        }
        // A computation is a step of this project, not of the format.
        Some(name) => match StepKind::from_name(name).filter(|kind| *kind != StepKind::Compute) {
            Some(kind) => Some(kind),
            None => return Err(reader.wrong("type", format!(" is \"{name}\": expected {STEP_NAMES}"))),
        },
    };
    let both = RawPlace { buffer: reader.buffer("buf")?, index: reader.offset("off")? };
    let src = RawPlace { buffer: reader.buffer("srcbuf")?, index: reader.offset("srcoff")? };
    let dst = RawPlace { buffer: reader.buffer("dstbuf")?, index: reader.offset("dstoff")? };
    let or_both = |place: RawPlace| RawPlace {
        buffer: place.buffer.or(both.buffer),
        index: place.index.or(both.index),
    };
    let count = match kind {
        // How much nothing moves says nothing.
        None => {
            reader.skip("cnt");
            1
        }
        Some(_) => reader.number("cnt", 1, MAX_COUNT)?.unwrap_or(1),
    };
    let (block, step) = (reader.number_or_none("depid", MAX_ID)?, reader.number_or_none("deps", MAX_INDEX)?);
    if block.is_some() != step.is_some() {
        warnings.add("half a wait", element.line, || {
            "only one of depid and deps says what to wait for; the step waits for nothing".to_owned()
        });
    }
    let step = RawStep {
        line: element.line,
        kind,
        src: or_both(src),
        dst: or_both(dst),
        count,
        wait: block.zip(step),
        has_dep: reader.flag("hasdep")?,
        attributes: reader.rest(),
    };
    if kind.is_none() && !step.attributes.is_empty() {
        warnings.add("nop attributes", element.line, || {
            format!("attribute {} of a nop is not kept", step.attributes[0].0)
        });
    }
    Ok(step)
}

const STEP_NAMES: &str = "s, r, rcs, rrs, rrc, rrcs, cpy, re or nop";

fn unknown(element: &Element, warnings: &mut Warnings) -> String {
    warnings.add("unknown elements", element.line, || {
        format!("<{}> is not known here; it is kept, and means nothing", element.name)
    });
    let mut text = String::new();
    element.write(0, &mut text);
    text
}

/// The attributes of one element; those asked for are known, the rest is kept.
struct Fields<'e> {
    element: &'e Element,
    file: File<'e>,
    at: String,
    known: Vec<bool>,
}

impl<'e> Fields<'e> {
    fn new(element: &'e Element, file: File<'e>, at: String) -> Self {
        Self { element, file, at, known: vec![false; element.attributes.len()] }
    }

    fn error(&self, message: String) -> XmlError {
        XmlError::Malformed {
            file: self.file.name.to_owned(),
            line: self.element.line,
            at: self.at.clone(),
            span: None,
            message,
        }
    }

    /// The error of an attribute that is there: at its line, which need not be that of the tag.
    fn wrong(&self, name: &str, message: impl std::fmt::Display) -> XmlError {
        let (text, begin) = (self.file.text, self.element.begin);
        let span = markup::span_of(text, begin, name);
        let lines = span.as_ref().and_then(|span| text.get(begin..span.start));
        let lines = lines.map_or(0, |before| before.matches('\n').count());
        XmlError::Malformed {
            file: self.file.name.to_owned(),
            line: self.element.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)),
            at: self.at.clone(),
            span,
            message: format!("attribute {name}{message}"),
        }
    }

    fn text(&mut self, name: &str) -> Option<&'e str> {
        let at = self.element.attributes.iter().position(|(known, _)| known == name)?;
        self.known[at] = true;
        Some(self.element.attributes[at].1.trim())
    }

    fn skip(&mut self, name: &str) {
        _ = self.text(name);
    }

    fn within(&mut self, name: &str, least: i64, most: i64) -> Result<Option<i64>, XmlError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse::<i64>() {
            Ok(value) if (least..=most).contains(&value) => Ok(Some(value)),
            _ => {
                let expected = format!("expected a whole number from {least} to {most}");
                Err(self.wrong(name, format!(" is \"{text}\": {expected}")))
            }
        }
    }

    fn number(&mut self, name: &str, least: u32, most: i64) -> Result<Option<u32>, XmlError> {
        // The bounds are those of the constants above, which u32 holds.
        Ok(self.within(name, i64::from(least), most)?.map(|value| value as u32))
    }

    fn needed(&mut self, name: &str, least: u32, most: i64) -> Result<u32, XmlError> {
        let missing = format!("attribute {name} is missing: expected a whole number");
        self.number(name, least, most)?.ok_or_else(|| self.error(missing))
    }

    /// A number, or -1 for none.
    fn number_or_none(&mut self, name: &str, most: i64) -> Result<Option<u32>, XmlError> {
        Ok(self.within(name, -1, most)?.and_then(|value| u32::try_from(value).ok()))
    }

    fn peer(&mut self, name: &str) -> Result<Option<u32>, XmlError> {
        self.number_or_none(name, MAX_ID)
    }

    fn offset(&mut self, name: &str) -> Result<Option<i64>, XmlError> {
        self.within(name, -MAX_INDEX, MAX_INDEX)
    }

    fn bytes(&mut self, name: &str) -> Result<Option<u64>, XmlError> {
        let value = self.within(name, 0, i64::MAX)?;
        Ok(value.and_then(|value| u64::try_from(value).ok()))
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>, XmlError> {
        match self.text(name) {
            None => Ok(None),
            Some("0") => Ok(Some(false)),
            Some("1") => Ok(Some(true)),
            Some(text) => Err(self.wrong(name, format!(" is \"{text}\": expected 0 or 1"))),
        }
    }

    fn buffer(&mut self, name: &str) -> Result<Option<MemoryBuffer>, XmlError> {
        match self.text(name) {
            None => Ok(None),
            Some("i") => Ok(Some(MemoryBuffer::Input)),
            Some("o") => Ok(Some(MemoryBuffer::Output)),
            Some("s") => Ok(Some(MemoryBuffer::Scratch)),
            Some(text) => Err(self.wrong(name, format!(" is \"{text}\": expected i, o or s"))),
        }
    }

    /// Those that nobody has asked for.
    fn rest(&self) -> Attributes {
        let all = self.element.attributes.iter().zip(&self.known);
        all.filter(|(_, known)| !**known).map(|(attribute, _)| attribute.clone()).collect()
    }
}
