//! Algorithms as the library, the command and the macro hand them around.

use crate::collective::{Collective, CollectiveError, CollectiveKind};
use crate::diagnostic::{Diagnostics, Rule};
use crate::lower::lower;
use crate::options::Options;
use crate::program::Program;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::verify::verify;

/// Lowers a trace and verifies the schedule that comes out.
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Program, compile};
///
/// // The other rank's half is added, but the sum is not given back.
/// let p = Program::new(Collective::all_reduce(2)?.in_place()?);
/// for rank in 0..2 {
///     p.chunk(rank, Input, rank).reduce(p.chunk(1 - rank, Input, rank));
/// }
/// let wrong = compile(&p.finish("half")?).unwrap_err();
/// assert!(wrong.to_string().contains("rank 0, chunk 1 still holds its input: 1 of 2 contributions (rank 1 is missing)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Everything that is wrong with the algorithm.
pub fn compile(trace: &Trace) -> Result<Schedule, Diagnostics> {
    let schedule = lower(trace)?;
    verify(&schedule, schedule.protocol.slots())?;
    Ok(schedule)
}

/// What a program is for, before the number of ranks is checked: the arguments of `#[collective]`.
///
/// ```
/// use collective_dsl::{Buffer::{Input, Output}, CollectiveKind, Setting, compile};
///
/// let setting = Setting { root: Some(1), ..Setting::new("star", CollectiveKind::Broadcast, 3) };
/// let trace = setting.trace("", |p| {
///     let data = p.chunk(1, Input, 0);
///     (0..3).for_each(|rank| _ = data.copy_to(rank, Output, 0));
/// })?;
/// assert_eq!(compile(&trace)?.message_count(), 2);
/// # Ok::<(), collective_dsl::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The program's name.
    pub name: &'a str,
    /// The collective that it is to achieve.
    pub kind: CollectiveKind,
    /// Whether input and output are one buffer.
    pub in_place: bool,
    /// Number of ranks.
    pub ranks: usize,
    /// Number of chunks (see [`Collective::new`]); `None` for [`Collective::default_chunks`].
    pub chunks: Option<usize>,
    /// Chunks of the output of a custom collective; `None` for as many as `chunks`.
    pub outputs: Option<usize>,
    /// The root, or the source of send-recv; `None` for rank 0.
    pub root: Option<usize>,
    /// The destination of send-recv; `None` for the last rank.
    pub destination: Option<usize>,
    /// How the program is lowered.
    pub options: Options,
}

impl<'a> Setting<'a> {
    /// A setting out of place, with everything else as it is by default.
    #[must_use]
    pub fn new(name: &'a str, kind: CollectiveKind, ranks: usize) -> Self {
        Self {
            name,
            kind,
            in_place: false,
            ranks,
            chunks: None,
            outputs: None,
            root: None,
            destination: None,
            options: Options::default(),
        }
    }

    /// The collective.
    ///
    /// # Errors
    /// There is none of this size; see [`CollectiveError`].
    pub fn collective(&self) -> Result<Collective, Diagnostics> {
        self.build().map_err(|error| Diagnostics::without_site(self.name, Rule::Malformed, error.to_string()))
    }

    fn build(&self) -> Result<Collective, CollectiveError> {
        let chunks = self.chunks.unwrap_or_else(|| Collective::default_chunks(self.kind, self.ranks));
        let mut collective = match (self.kind, self.outputs) {
            (CollectiveKind::Custom, Some(outputs)) => Collective::custom(self.ranks, chunks, outputs)?,
            // No ranks is the better message than the no chunks that follow from it.
            _ => Collective::new(self.kind, self.ranks, chunks)?,
        };
        if self.kind == CollectiveKind::SendRecv {
            let (source, last) = (self.root.unwrap_or(0), self.ranks - 1);
            collective = collective.between(source, self.destination.unwrap_or(last))?;
        } else if let Some(root) = self.root {
            collective = collective.rooted(root)?;
        }
        if self.in_place { collective.in_place() } else { Ok(collective) }
    }

    /// Traces a function; `source_root` as in [`Program::with_source_root`].
    ///
    /// # Errors
    /// There is no such collective, or the function does something wrong.
    pub fn trace(&self, source_root: &str, function: impl FnOnce(&Program)) -> Result<Trace, Diagnostics> {
        let program = Program::with_source_root(self.collective()?, source_root).with_options(self.options);
        function(&program);
        program.finish(self.name)
    }
}

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name.
    pub name: &'static str,
    /// The value when none is given.
    pub default: Option<usize>,
}

/// An algorithm that can be looked up by name and traced for any parameters; `#[collective]` makes one of
/// each function.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmDef {
    /// The function's name.
    pub name: &'static str,
    /// The first line of its documentation; may be empty.
    pub summary: &'static str,
    /// Its documentation, in Markdown; may be empty.
    pub docs: &'static str,
    /// The collective that it is to achieve.
    pub kind: CollectiveKind,
    /// Whether input and output are one buffer.
    pub in_place: bool,
    /// The parameters after the program, in order; one is called `ranks`.
    pub params: &'static [Param],
    /// Traces the function: in place or not, and with one value a parameter.
    pub trace: fn(bool, &[usize]) -> Result<Trace, Diagnostics>,
}

impl AlgorithmDef {
    /// The same function with input and output as one buffer, or as two, whatever it was declared with.
    ///
    /// Not every function is right both ways: one that reads its input after the output was written is
    /// not in place.
    #[must_use]
    pub fn placed(self, in_place: bool) -> Self {
        Self { in_place, ..self }
    }

    /// The value of each parameter, in order: those given by name, the others' defaults.
    ///
    /// # Errors
    /// A parameter that the algorithm does not have, or one without a value.
    pub fn values(&self, given: &[(&str, usize)]) -> Result<Vec<usize>, Diagnostics> {
        let malformed = |message: String| Err(Diagnostics::without_site(self.name, Rule::Malformed, message));
        if let Some((unknown, _)) =
            given.iter().find(|(name, _)| !self.params.iter().any(|p| p.name == *name))
        {
            let known: Vec<&str> = self.params.iter().map(|param| param.name).collect();
            return malformed(format!("there is no parameter `{unknown}`; there are {}", known.join(", ")));
        }
        let mut values = Vec::with_capacity(self.params.len());
        for param in self.params {
            let by_name = given.iter().rev().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            match by_name.or(param.default) {
                // Nothing can be so many, and sums and products of smaller numbers do not overflow.
                Some(value) if u32::try_from(value).is_err() => {
                    return malformed(format!("{} = {value} is more than {}", param.name, u32::MAX));
                }
                Some(value) => values.push(value),
                None => return malformed(format!("the parameter `{}` needs a value", param.name)),
            }
        }
        Ok(values)
    }

    /// Traces the algorithm with parameters by name.
    ///
    /// # Errors
    /// See [`AlgorithmDef::values`]; else what the program does wrong.
    pub fn trace_with(&self, given: &[(&str, usize)]) -> Result<Trace, Diagnostics> {
        (self.trace)(self.in_place, &self.values(given)?)
    }

    /// Traces, lowers and verifies the algorithm.
    ///
    /// # Errors
    /// See [`AlgorithmDef::trace_with`]; and everything that is wrong with the algorithm.
    pub fn compile_with(&self, given: &[(&str, usize)]) -> Result<Schedule, Diagnostics> {
        compile(&self.trace_with(given)?)
    }
}
