//! Why a command ends without its result.

mod from;

use std::fmt;
use std::process::ExitCode;

use crate::console;
use crate::snippet::Place;

/// The exit code after Ctrl-C, as shells have it: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure: which exit code, and what to say.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer is "no": exit 1.
    Verdict(String),
    /// The input is unusable: exit 2.
    Input(String),
    /// One of the two, with the places in files that it speaks of.
    At {
        /// Exit 2 rather than 1.
        is_input: bool,
        /// A message each, the first with `error:` before it, with its place beneath it.
        parts: Vec<(String, Option<Place>)>,
    },
    /// Several of those, in their order.
    Several(Vec<Failure>),
    /// The user ended it: exit 130.
    Interrupted(String),
    /// Whoever read the output has gone: exit 0, as there is nobody to tell.
    OutputClosed,
}

impl Failure {
    /// Unusable input.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::Input(message.to_string())
    }

    /// Unusable input, and where it is so.
    pub(crate) fn input_at(message: impl fmt::Display, place: Place) -> Self {
        Self::At { is_input: true, parts: vec![(message.to_string(), Some(place))] }
    }

    /// The same as a failure that says where.
    pub(crate) fn at(self, place: Option<Place>) -> Self {
        match (self, place) {
            (Self::Verdict(message), Some(place)) => {
                Self::At { is_input: false, parts: vec![(message, Some(place))] }
            }
            (Self::Input(message), Some(place)) => Self::input_at(message, place),
            (failure, _) => failure,
        }
    }

    /// The same with more to say behind its message, if that is about unusable input.
    pub(crate) fn and_for_input(self, more: impl FnOnce() -> String) -> Self {
        match self {
            Self::Input(message) => Self::Input(message + &more()),
            Self::At { is_input: true, mut parts } => {
                if let Some((message, _)) = parts.last_mut() {
                    message.push_str(&more());
                }
                Self::At { is_input: true, parts }
            }
            other => other,
        }
    }

    /// Several failures as one, in their order: bad input if any is, else a verdict; nothing if there is none.
    pub(crate) fn several(mut failures: Vec<Failure>) -> Result<(), Failure> {
        let is_end = |failure: &Failure| matches!(failure, Failure::Interrupted(_) | Failure::OutputClosed);
        if let Some(at) = failures.iter().position(is_end) {
            return Err(failures.swap_remove(at));
        }
        match failures.len() {
            0 => Ok(()),
            1 => Err(failures.remove(0)),
            _ => Err(Failure::Several(failures)),
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Verdict(_) => 1,
            Self::Input(_) => 2,
            Self::At { is_input, .. } => 1 + u8::from(*is_input),
            Self::Several(failures) => failures.iter().map(Self::code).max().unwrap_or(2),
            Self::Interrupted(_) => INTERRUPTED,
            Self::OutputClosed => 0,
        }
    }

    /// Says why on standard error and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        self.say();
        ExitCode::from(self.code())
    }

    fn say(&self) {
        match self {
            Self::Verdict(message) | Self::Input(message) | Self::Interrupted(message) => {
                console::error(message);
            }
            Self::At { parts, .. } => {
                for (number, (message, place)) in parts.iter().enumerate() {
                    if number == 0 {
                        console::error(message)
                    } else {
                        console::line(message)
                    }
                    let width = console::width_of_errors();
                    let shown =
                        place.as_ref().and_then(|place| place.shown(console::colours_of_errors(), width));
                    if let Some(shown) = shown {
                        console::line(&shown);
                    }
                }
            }
            Self::Several(failures) => failures.iter().for_each(Self::say),
            Self::OutputClosed => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_failures_bad_input_decides() {
        let several = |failures| Failure::several(failures).err().map(|failure| failure.code());
        let (no, bad) = (|| Failure::Verdict(String::new()), || Failure::input(""));
        assert_eq!(several(vec![]), None);
        assert_eq!(several(vec![no(), no()]), Some(1));
        assert_eq!(several(vec![no(), bad(), no()]), Some(2));
        assert_eq!(several(vec![no(), bad().at(Some(Place::line("f", 1)))]), Some(2));
        assert_eq!(several(vec![bad(), Failure::Interrupted(String::new())]), Some(130));
    }
}
