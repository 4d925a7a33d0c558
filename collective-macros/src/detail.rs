//! What expressions of the function's parameters say about the collective.

use collective_dsl::{CollectiveKind, Setting};

/// A field of the [`Setting`] that an argument gives, in the order in which they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    Chunks,
    Outputs,
    Root,
    Destination,
}

impl Detail {
    pub(crate) const ALL: [Detail; 4] = [Detail::Chunks, Detail::Outputs, Detail::Root, Detail::Destination];

    /// The name of the argument and of the field.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Detail::Chunks => "chunks",
            Detail::Outputs => "outputs",
            Detail::Root => "root",
            Detail::Destination => "destination",
        }
    }

    pub(crate) fn set(self, setting: &mut Setting<'_>, value: usize) {
        let field = match self {
            Detail::Chunks => &mut setting.chunks,
            Detail::Outputs => &mut setting.outputs,
            Detail::Root => &mut setting.root,
            Detail::Destination => &mut setting.destination,
        };
        *field = Some(value);
    }

    /// Why a kind of collective has nothing of this.
    pub(crate) fn refusal(self, kind: CollectiveKind) -> Option<String> {
        match self {
            Detail::Outputs if kind != CollectiveKind::Custom => {
                Some(format!("the output of {kind} follows from its chunks: `outputs` is for `custom` only"))
            }
            Detail::Root => {
                let refusal = impossible(&Setting { root: Some(0), ..Setting::new("", kind, 2) })?;
                Some(format!("{refusal}: remove `root`"))
            }
            Detail::Destination if kind != CollectiveKind::SendRecv => {
                Some(format!("{kind} has no destination: `destination` is for `send_recv` only"))
            }
            Detail::Chunks | Detail::Outputs | Detail::Destination => None,
        }
    }
}

/// Why there is no such collective.
pub(crate) fn impossible(setting: &Setting<'_>) -> Option<String> {
    let wrong = setting.collective().err()?;
    wrong.findings.into_iter().next().map(|finding| finding.message)
}
