//! The files of [`Show`](crate::show::Show), a group for each instance.

use proc_macro2::TokenStream;

use crate::builds::Build;
use crate::instance::Built;
use crate::show::{self, Show};
use crate::signature::Signature;
use crate::source::Source;

/// All that there is to see of an algorithm.
pub(crate) struct Instances<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) source: &'a Source,
    pub(crate) builds: &'a [Build],
    /// May be shorter: nothing is built of a function that cannot be read.
    pub(crate) built: &'a [Built],
}

impl Instances<'_> {
    /// Writes `NAME-RANKS_8.schedule.txt` and its like.
    ///
    /// # Errors
    /// A file that cannot be written, by its name.
    pub(crate) fn write(
        &self,
        show: Show,
        expansion: Option<TokenStream>,
        errors: &[syn::Error],
    ) -> Result<(), String> {
        let folder = show::folder();
        let name = self.signature.name();
        if let Some(tokens) = expansion {
            show::write(&folder, &format!("{name}.expansion.rs"), &show::layout(tokens))?;
        }
        for (build, built) in self.builds.iter().zip(self.built) {
            let file = |what: &str| format!("{name}-{}.{what}.txt", build.constant);
            if let Some(trace) = &built.trace {
                show::write(&folder, &file("trace"), trace)?;
            }
            if let Some(schedule) = &built.schedule {
                show::write(&folder, &file("schedule"), schedule)?;
            }
            if show.verdict {
                show::write(&folder, &file("verdict"), &self.verdict(build, built))?;
            }
        }
        // What cannot be read has no instances, and a verdict all the same.
        if show.verdict && self.built.is_empty() && !errors.is_empty() {
            let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let text = format!("{}\nmalformed\n{}\n", self.place(), messages.join("\n"));
            show::write(&folder, &format!("{name}.verdict.txt"), &text)?;
        }
        Ok(())
    }

    fn place(&self) -> String {
        let line = self.signature.ident.span().start().line;
        format!("{} {}:{line}", self.signature.name(), self.source.file)
    }

    fn verdict(&self, build: &Build, built: &Built) -> String {
        let mut text = format!("{}\n{}\n", self.place(), build.words(self.signature));
        match &built.outcome {
            Ok(finished) => {
                text += &format!("pass\n{}\n", finished.figures);
                for warning in &finished.warnings {
                    text += &format!("warning: {}\n", warning.message);
                }
            }
            Err(findings) => {
                for finding in findings {
                    let rule = finding.rule.map_or("not evaluated", collective_dsl::Rule::name);
                    text += &format!("{rule}: {}", finding.message);
                    if let Some(context) = finding.context.words() {
                        text += &format!(" (with {context})");
                    }
                    text += "\n";
                }
            }
        }
        text
    }
}
