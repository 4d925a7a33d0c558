//! Algorithms as the library, the command and the macro hand them around.

use crate::collective::{Collective, CollectiveKind};
use crate::diagnostic::{Diagnostics, Rule};
use crate::lower::lower;
use crate::program::Program;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::verify::{self, verify};

/// Lowers a trace and verifies the schedule that comes out.
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Program, compile};
///
/// // The other rank's half is added, but the sum is not given back.
/// let p = Program::new(Collective::all_reduce(2)?.in_place());
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
    verify(&schedule, verify::SIMPLE_SLOTS)?;
    Ok(schedule)
}

/// What a program is for, before the number of ranks is checked: the arguments of `#[collective]`.
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
}

impl Setting<'_> {
    /// The collective.
    ///
    /// # Errors
    /// There is none of this size; see [`crate::CollectiveError`].
    pub fn collective(&self) -> Result<Collective, Diagnostics> {
        let chunks = self.chunks.unwrap_or_else(|| Collective::default_chunks(self.kind, self.ranks));
        // No ranks is the better message than the no chunks that follow from it.
        let collective = Collective::new(self.kind, self.ranks, chunks)
            .map_err(|error| Diagnostics::without_site(self.name, Rule::Malformed, error.to_string()))?;
        Ok(if self.in_place { collective.in_place() } else { collective })
    }

    /// Traces a function; `source_root` as in [`Program::with_source_root`].
    ///
    /// # Errors
    /// There is no such collective, or the function does something wrong.
    pub fn trace(&self, source_root: &str, function: impl FnOnce(&Program)) -> Result<Trace, Diagnostics> {
        let program = Program::with_source_root(self.collective()?, source_root);
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
    /// The collective that it is to achieve.
    pub kind: CollectiveKind,
    /// Whether input and output are one buffer.
    pub in_place: bool,
    /// The parameters after the program, in order; one is called `ranks`.
    pub params: &'static [Param],
    /// Traces the function with one value a parameter.
    pub trace: fn(&[usize]) -> Result<Trace, Diagnostics>,
}

impl AlgorithmDef {
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
        (self.trace)(&self.values(given)?)
    }

    /// Traces, lowers and verifies the algorithm.
    ///
    /// # Errors
    /// See [`AlgorithmDef::trace_with`]; and everything that is wrong with the algorithm.
    pub fn compile_with(&self, given: &[(&str, usize)]) -> Result<Schedule, Diagnostics> {
        compile(&self.trace_with(given)?)
    }
}
