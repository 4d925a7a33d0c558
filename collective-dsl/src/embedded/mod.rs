//! Algorithms that were checked at build time and lie in the binary.
//!
//! `#[collective]` and build scripts make an [`Image`] of a schedule; [`Embedded`] is what the program has of it.

mod coding;
mod image;
mod pack;
mod repeats;

use std::fmt;
use std::sync::OnceLock;

use chakra_et::graph::Graph;
use thiserror::Error;

use crate::et::{self, EtBytes, EtError, EtOptions};
use crate::msccl::{self, Target, XmlError, XmlOptions};
use crate::schedule::Schedule;
use crate::site::{Site, SiteTable};
use crate::size::{ElementType, Size};
pub use coding::UnpackError;
pub use image::{DEFAULT_BUDGET, Image, ImageError, MAX_BUDGET, MAX_PACKED, constant_name};
pub use pack::{pack, unpack};

/// An instance of an algorithm, checked and compiled at build time: its schedule, and the bytes of its Chakra
/// execution traces, one file a rank.
///
/// `#[collective(…, build(ranks = 8))]` makes one, called `RANKS_8`. The traces lie in the binary as they are, or, where
/// they are large, are made from the schedule when they are first asked for; both give the same bytes.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// The algorithm's name.
    pub name: &'static str,
    /// The parameters that it was built for.
    pub params: &'static [(&'static str, usize)],
    bytes: u64,
    element: ElementType,
    target: Option<Target>,
    schedule: &'static [u8],
    traces: Traces,
}

/// Where the traces of an [`Embedded`] are.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Traces {
    /// In the binary.
    Plain(&'static [&'static [u8]]),
    /// Made from the schedule; a function, so that a constant may hold it.
    Packed(fn() -> &'static Unpacked),
}

/// The traces of one instance, once somebody has asked for them.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Unpacked {
    bytes: OnceLock<Result<EtBytes, EmbeddedError>>,
    ranks: OnceLock<Vec<&'static [u8]>>,
}

impl Unpacked {
    /// Not yet asked for.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: OnceLock::new(), ranks: OnceLock::new() }
    }
}

/// What was embedded cannot be had in the form asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// The schedule does not come back: not with one that the macro or a build script has embedded.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The schedule has no traces of the size.
    #[error(transparent)]
    Et(#[from] EtError),
    /// The runtime cannot hold the schedule, or its XML has no word for the collective.
    #[error(transparent)]
    Xml(#[from] XmlError),
}

/// What was embedded is not what the function does now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{instance}: what is embedded is not what the function gives at run time: {difference}")]
pub struct Differs {
    instance: String,
    difference: String,
}

impl Embedded {
    /// For generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        params: &'static [(&'static str, usize)],
        (bytes, element): (u64, ElementType),
        target: Option<Target>,
        schedule: &'static [u8],
        traces: Traces,
    ) -> Self {
        Self { name, params, bytes, element, target, schedule, traces }
    }

    /// The size that its traces are for: that of the `build(…)`.
    #[must_use]
    pub fn size(&self) -> Size {
        Size::bytes(self.bytes).with_type(self.element)
    }

    /// The runtime that it was checked for; `None` without `options(target = …)`.
    #[must_use]
    pub const fn target(&self) -> Option<Target> {
        self.target
    }

    /// Whether the traces are made from the schedule when they are first asked for.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        matches!(self.traces, Traces::Packed(_))
    }

    /// The schedule in the form in which it is embedded; [`unpack`] reads it.
    #[must_use]
    pub const fn packed_schedule(&self) -> &'static [u8] {
        self.schedule
    }

    /// The bytes of each rank's file. Where they are embedded as they are this costs nothing; else the first call
    /// makes them, and later ones find them.
    ///
    /// # Errors
    /// None with what the macro or a build script has embedded.
    pub fn ranks(&self) -> Result<&'static [&'static [u8]], EmbeddedError> {
        match self.traces {
            Traces::Plain(ranks) => Ok(ranks),
            Traces::Packed(unpacked) => {
                let unpacked = unpacked();
                let bytes = unpacked.bytes.get_or_init(|| self.with_size(self.size()));
                let bytes = bytes.as_ref().map_err(Clone::clone)?;
                Ok(unpacked.ranks.get_or_init(|| bytes.ranks().iter().map(Vec::as_slice).collect()))
            }
        }
    }

    /// The schedule. Its source places have a line and no column.
    ///
    /// # Errors
    /// None with what the macro or a build script has embedded.
    pub fn schedule(&self) -> Result<Schedule, EmbeddedError> {
        Ok(unpack(self.schedule)?)
    }

    /// The compact graph, for the size that it was built for.
    ///
    /// # Errors
    /// None with what the macro or a build script has embedded.
    pub fn graph(&self) -> Result<Graph, EmbeddedError> {
        Ok(et::graph(&self.schedule()?, &EtOptions::new(self.size()))?)
    }

    /// The traces for another size of the collective.
    ///
    /// # Errors
    /// The size is not a whole number of elements, or one that the collective cannot divide as it must.
    pub fn with_size(&self, size: Size) -> Result<EtBytes, EmbeddedError> {
        Ok(et::bytes(&self.schedule()?, &EtOptions::new(size))?)
    }

    /// MSCCL XML for the runtime of `options(target = …)`, which was checked to hold it; without one, for
    /// `microsoft/msccl`.
    ///
    /// # Errors
    /// Without a target, the limits of that runtime. For other runtimes: [`msccl::write()`] of the
    /// [schedule](Embedded::schedule).
    pub fn xml(&self) -> Result<String, EmbeddedError> {
        Ok(msccl::write(&self.schedule()?, &XmlOptions::new(self.target.unwrap_or_default()))?)
    }

    /// Compares it with the schedule that the same function gives at run time: `ring::RANKS_8.check(&ring::compile(8)?)`.
    ///
    /// The bytes of schedule and traces must be equal. Only source lines may differ, where all of them do not matter:
    /// a function that a `macro_rules!` macro has made has the lines of the macro's text at build time, and those of
    /// its call at run time.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self, schedule: &Schedule) -> Result<(), Differs> {
        let differs = |difference| Differs { instance: self.to_string(), difference };
        let own = self.schedule().map_err(|error| differs(error.to_string()))?;
        let same_lines = pack(schedule) == self.schedule;
        if !same_lines {
            let (own, other) = (without_lines(&own), without_lines(schedule));
            if pack(&own) != pack(&other) {
                return Err(differs(first_difference(&own.to_string(), &other.to_string())));
            }
        }
        if let Traces::Plain(ranks) = self.traces {
            let source = if same_lines { schedule } else { &own };
            let fresh = et::bytes(source, &EtOptions::new(self.size()));
            let fresh = fresh.map_err(|error| differs(error.to_string()))?;
            let mut pairs = ranks.iter().zip(fresh.ranks());
            if let Some(rank) = pairs.position(|(own, fresh)| *own != fresh.as_slice()) {
                return Err(differs(format!("the trace of rank {rank}")));
            }
            if ranks.len() != fresh.ranks().len() {
                return Err(differs(format!("{} ranks, not {}", ranks.len(), fresh.ranks().len())));
            }
        }
        Ok(())
    }
}

/// The schedule as if all of it stood in one place.
fn without_lines(schedule: &Schedule) -> Schedule {
    let mut sites = SiteTable::default();
    let site = sites.push(Site { file: String::new(), line: 0, column: 0 });
    let mut schedule = Schedule { sites, ..schedule.clone() };
    let blocks = schedule.ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks);
    for step in blocks.flat_map(|block| &mut block.steps) {
        (step.site, step.send_site) = (site, site);
    }
    schedule.mixed.iter_mut().for_each(|mixed| mixed.site = site);
    schedule
}

fn first_difference(own: &str, other: &str) -> String {
    let mut lines = own.lines().zip(other.lines()).enumerate();
    match lines.find(|(_, (own, other))| own != other) {
        Some((line, (own, other))) => {
            format!("line {} of the schedule is `{}`, not `{}`", line + 1, own.trim(), other.trim())
        }
        None => format!("{} lines of schedule, not {}", own.lines().count(), other.lines().count()),
    }
}

/// Two instances are equal when all that is embedded of them is.
impl PartialEq for Embedded {
    fn eq(&self, other: &Self) -> bool {
        // The traces follow from the schedule.
        (self.name, self.params, self.bytes, self.element, self.target, self.schedule)
            == (other.name, other.params, other.bytes, other.element, other.target, other.schedule)
    }
}

impl Eq for Embedded {}

/// `allreduce_ring(ranks = 8, channels = 2)`.
impl fmt::Display for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<String> =
            self.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(f, "{}({})", self.name, params.join(", "))
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("name", &self.name)
            .field("params", &self.params)
            .field("size", &self.size())
            .field("target", &self.target)
            .field("is_packed", &self.is_packed())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer::{Input, Scratch};
    use crate::collective::Collective;
    use crate::et::RescaleError;
    use crate::program::Program;

    const SIZE: u64 = 1 << 20;

    fn ring(ranks: usize) -> Schedule {
        let p = Program::new(Collective::all_reduce(ranks).unwrap().in_place().unwrap());
        for index in 0..ranks {
            let mut sum = p.chunk(index, Input, index);
            (1..ranks).for_each(|step| sum = p.chunk((index + step) % ranks, Input, index).reduce(sum));
            (0..ranks - 1).for_each(|step| sum = sum.copy_to((index + step) % ranks, Input, index));
        }
        crate::compile(&p.finish("ring").unwrap()).unwrap()
    }

    fn bytes(schedule: &Schedule, size: u64) -> EtBytes {
        et::bytes(schedule, &EtOptions::new(Size::bytes(size))).unwrap()
    }

    /// As generated code holds it; statics are made by leaking.
    fn embed(schedule: &Schedule, traces: Traces) -> Embedded {
        let packed = Vec::leak(pack(schedule));
        Embedded::new("ring", &[("ranks", 3)], (SIZE, ElementType::F32), None, packed, traces)
    }

    fn packed() -> Traces {
        Traces::Packed(|| Box::leak(Box::default()))
    }

    fn plain(bytes: &EtBytes) -> Traces {
        let ranks: Vec<&'static [u8]> = bytes.ranks().iter().map(|rank| &*Vec::leak(rank.clone())).collect();
        Traces::Plain(Vec::leak(ranks))
    }

    #[test]
    fn the_packed_form_gives_the_bytes_of_the_plain_one() {
        for ranks in [1, 2, 7] {
            let schedule = ring(ranks);
            let fresh = bytes(&schedule, SIZE);
            let (packed, plain) = (embed(&schedule, packed()), embed(&schedule, plain(&fresh)));
            assert!(packed.is_packed() && !plain.is_packed());
            assert_eq!(packed.ranks(), plain.ranks());
            assert_eq!(packed.ranks().unwrap(), fresh.ranks());
            assert_eq!(packed.graph().unwrap(), fresh.graph().unwrap());
            assert_eq!(packed.check(&schedule), Ok(()));
            assert_eq!(plain.check(&schedule), Ok(()));
        }
    }

    #[test]
    fn the_packed_form_is_unpacked_once() {
        let embedded = Embedded {
            traces: Traces::Packed(|| {
                static UNPACKED: Unpacked = Unpacked::new();
                &UNPACKED
            }),
            ..embed(&ring(3), packed())
        };
        assert!(std::ptr::eq(embedded.ranks().unwrap(), embedded.ranks().unwrap()));
    }

    #[test]
    fn another_algorithm_is_noticed_and_another_line_is_not() {
        let schedule = ring(3);
        let embedded = embed(&schedule, plain(&bytes(&schedule, SIZE)));
        let mut elsewhere = schedule.clone();
        elsewhere.sites.push(Site { file: "src/more.rs".to_owned(), line: 7, column: 0 });
        assert_eq!(embedded.check(&elsewhere), Ok(()));
        let mut other = schedule.clone();
        other.ranks[1].thread_blocks[0].steps[0].src.index += 1;
        let error = embedded.check(&other).unwrap_err().to_string();
        assert!(error.starts_with("ring(ranks = 3): what is embedded is not"), "{error}");
        let wrong = embed(&schedule, plain(&bytes(&schedule, 2 * SIZE)));
        assert!(wrong.check(&schedule).unwrap_err().to_string().ends_with("the trace of rank 0"));
    }

    #[test]
    fn the_schedule_is_there_for_xml() {
        let schedule = ring(3);
        let embedded = embed(&schedule, packed());
        let xml = msccl::write(&schedule, &XmlOptions::new(Target::Msccl)).unwrap();
        assert_eq!(embedded.xml().unwrap(), xml);
        let rccl = Embedded { target: Some(Target::Rccl), ..embedded };
        assert!(rccl.xml().unwrap().contains("outofplace"));
    }

    #[test]
    fn damage_is_an_error() {
        let damaged = Embedded { schedule: b"CS", ..embed(&ring(2), packed()) };
        assert!(matches!(damaged.ranks(), Err(EmbeddedError::Unpack(_))));
        assert!(damaged.check(&ring(2)).is_err());
    }

    fn rescaled(from: &EtBytes, size: u64) -> Result<EtBytes, RescaleError> {
        from.rescaled(Size::bytes(size))
    }

    #[test]
    fn any_size_from_any_other_is_what_a_fresh_compilation_gives() {
        for ranks in [1, 3, 8] {
            let schedule = ring(ranks);
            // Less than an element a chunk, uneven, even, nothing.
            for from in [4, 12, 4_000_012, 1 << 20] {
                for to in [0, 4, 12, 4_000_012, 1 << 20] {
                    let got = rescaled(&bytes(&schedule, from), to).unwrap();
                    assert_eq!(got, bytes(&schedule, to), "{ranks} ranks, {from} to {to}");
                }
            }
            assert!(matches!(rescaled(&bytes(&schedule, 0), 4), Err(RescaleError::Empty { .. })));
        }
    }

    #[test]
    fn a_size_at_which_added_chunks_differ_is_refused_as_a_fresh_compilation_does() {
        let p = Program::new(Collective::all_reduce(1).unwrap().with_chunks(2).unwrap().in_place().unwrap());
        p.chunk(0, Input, 0).copy_to(0, Scratch("s"), 0).reduce(p.chunk(0, Input, 1));
        let schedule = crate::compile(&p.finish("mixed").unwrap()).unwrap();
        let embedded = bytes(&schedule, 8);
        assert_eq!(rescaled(&embedded, 16).unwrap(), bytes(&schedule, 16));
        let error = rescaled(&embedded, 12).unwrap_err().to_string();
        assert_eq!(error, "the algorithm adds chunk 1 to chunk 0: with 3 elements in all they are not equal");
        assert!(et::bytes(&schedule, &EtOptions::new(Size::bytes(12))).is_err());
    }
}
