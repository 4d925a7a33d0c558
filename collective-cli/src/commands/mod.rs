//! One file a subcommand.

pub(crate) mod algorithms;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod convert_et;
pub(crate) mod convert_xml;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod topology;
pub(crate) mod verify;
