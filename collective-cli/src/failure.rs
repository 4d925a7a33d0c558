//! Why a command ends without its result.

use std::fmt;
use std::process::ExitCode;

use collective::{Diagnostics, Rule};

/// The exit code after Ctrl-C, as shells have it: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure: which exit code, and what to say.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer is "no": exit 1.
    Verdict(String),
    /// The input is unusable: exit 2.
    Input(String),
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

    /// Several failures as one, in their order: bad input if any is, else a verdict; nothing if there is none.
    pub(crate) fn several(failures: Vec<Failure>) -> Result<(), Failure> {
        let (mut messages, mut bad_input) = (Vec::new(), false);
        for failure in failures {
            match failure {
                Failure::Verdict(message) => messages.push(message),
                Failure::Input(message) => {
                    bad_input = true;
                    messages.push(message);
                }
                Failure::Interrupted(message) => return Err(Failure::Interrupted(message)),
                Failure::OutputClosed => return Err(Failure::OutputClosed),
            }
        }
        match (messages.is_empty(), bad_input) {
            (true, _) => Ok(()),
            (false, true) => Err(Failure::Input(messages.join("\nerror: "))),
            (false, false) => Err(Failure::Verdict(messages.join("\nerror: "))),
        }
    }

    /// Says why on standard error and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Verdict(message) => (1, message),
            Failure::Input(message) => (2, message),
            Failure::Interrupted(message) => (INTERRUPTED, message),
            Failure::OutputClosed => return ExitCode::SUCCESS,
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}

impl From<Diagnostics> for Failure {
    /// Parameters that an algorithm refuses are bad input, a wrong algorithm is a verdict.
    fn from(diagnostics: Diagnostics) -> Self {
        let bad_input = diagnostics.findings.first().is_some_and(|finding| finding.rule == Rule::Malformed);
        let message = diagnostics.to_string();
        if bad_input { Failure::Input(message) } else { Failure::Verdict(message) }
    }
}
