//! Whether text has colours.

use clap::ValueEnum;

/// When text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal, unless NO_COLOR is set; everywhere if CLICOLOR_FORCE is.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Whether text to a terminal, or to something else, has colours: what the argument says, else the environment
/// (no-color.org, bixense.com/clicolors), else on terminals.
pub(crate) fn coloured(
    colours: Colours,
    is_terminal: bool,
    environment: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    let value = |name: &str| environment(name).unwrap_or_default();
    match colours {
        Colours::Always => true,
        Colours::Never => false,
        Colours::Auto if is_set("NO_COLOR") => false,
        Colours::Auto if is_set("CLICOLOR_FORCE") && value("CLICOLOR_FORCE") != "0" => true,
        Colours::Auto => is_terminal && value("CLICOLOR") != "0" && value("TERM") != "dumb",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_goes_before_the_environment_and_that_before_the_terminal() {
        let decide = |colours, is_terminal, set: &[(&str, &str)]| {
            let environment = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            coloured(colours, is_terminal, &environment)
        };
        assert!(decide(Colours::Auto, true, &[]));
        assert!(!decide(Colours::Auto, false, &[]));
        assert!(!decide(Colours::Auto, true, &[("NO_COLOR", "1")]));
        assert!(decide(Colours::Auto, true, &[("NO_COLOR", "")]), "an empty NO_COLOR is none");
        assert!(decide(Colours::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!decide(Colours::Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!decide(Colours::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!decide(Colours::Auto, true, &[("CLICOLOR", "0")]));
        assert!(!decide(Colours::Auto, true, &[("TERM", "dumb")]));
        assert!(decide(Colours::Always, false, &[("NO_COLOR", "1")]));
        assert!(!decide(Colours::Never, true, &[("CLICOLOR_FORCE", "1")]));
    }
}
