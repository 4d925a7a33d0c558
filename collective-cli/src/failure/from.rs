//! Errors of the libraries as failures, with the places that they know.

use collective::msccl::XmlError;
use collective::sim::topology::ConfigError;
use collective::sweep::SweepError;
use collective::workload::{RuleError, SystemError};
use collective::{Diagnostics, Rule, Site};

use super::Failure;
use crate::snippet::Place;

impl From<&Site> for Place {
    fn from(site: &Site) -> Self {
        let column = (site.column > 0).then_some(u64::from(site.column));
        Self { column, ..Self::line(site.file.as_str(), site.line.into()) }
    }
}

impl From<Diagnostics> for Failure {
    /// Parameters that an algorithm refuses are bad input, a wrong algorithm is a verdict.
    fn from(diagnostics: Diagnostics) -> Self {
        let is_input = diagnostics.findings.first().is_some_and(|finding| finding.rule == Rule::Malformed);
        let Diagnostics { name, findings, sites } = diagnostics;
        let part = |finding: &collective::Diagnostic| {
            let place = finding.site.and_then(|site| sites.get(site)).map(Place::from);
            let alone =
                Diagnostics { name: name.clone(), findings: vec![finding.clone()], sites: sites.clone() };
            (alone.to_string(), place)
        };
        Self::At { is_input, parts: findings.iter().map(part).collect() }
    }
}

impl From<XmlError> for Failure {
    /// A schedule that the runtime cannot hold is a verdict, all else bad input.
    fn from(error: XmlError) -> Self {
        let message = error.to_string();
        match error {
            XmlError::Refused(found) => found.into(),
            XmlError::Syntax { file, line, .. } => Self::input_at(message, Place::line(file, line.into())),
            XmlError::Malformed { file, line, span, .. } => {
                Self::input_at(message, Place::of(file, Some(line.into()), span))
            }
            _ => Self::Input(message),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Invalid { file, line, span, .. } => {
                Self::input_at(message, Place::of(file, line, span))
            }
            _ => Self::Input(message),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        let message = error.to_string();
        match error.file {
            Some(file) => Self::input_at(message, Place::of(file, error.place.line, error.place.span)),
            None => Self::Input(message),
        }
    }
}

impl From<RuleError> for Failure {
    fn from(error: RuleError) -> Self {
        let message = error.to_string();
        match error.place.line {
            Some((file, line)) => Self::input_at(message, Place::of(file, Some(line), error.place.span)),
            None => Self::Input(message),
        }
    }
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        let message = error.to_string();
        Self::input_at(message, Place::of(error.file, error.line, error.span))
    }
}
