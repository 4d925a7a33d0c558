//! What a build looked like inside, written to the target folder: `show = "schedule"`, or the variable
//! `COLLECTIVE_SHOW` for a whole crate.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The variable that asks for files as `show = …` does.
pub(crate) const VARIABLE: &str = "COLLECTIVE_SHOW";

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Show {
    pub(crate) trace: bool,
    pub(crate) schedule: bool,
    pub(crate) verdict: bool,
    pub(crate) expansion: bool,
}

impl Show {
    const WORDS: [&str; 5] = ["trace", "schedule", "verdict", "expansion", "all"];

    pub(crate) fn wanted() -> String {
        format!("what is shown is a text of these words, with commas: {}", Self::WORDS.join(", "))
    }

    /// `schedule`, or several words with commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut show = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "trace" => show.trace = true,
                "schedule" => show.schedule = true,
                "verdict" => show.verdict = true,
                "expansion" => show.expansion = true,
                "all" => show = Self { trace: true, schedule: true, verdict: true, expansion: true },
                _ => return Err(format!("nothing is called \"{word}\": {}", Self::wanted())),
            }
        }
        Ok(show)
    }

    /// What the variable asks for too.
    pub(crate) fn with_variable(self) -> Result<Self, String> {
        let Some(text) = env::var_os(VARIABLE) else { return Ok(self) };
        let asked =
            Self::parse(&text.to_string_lossy()).map_err(|message| format!("{VARIABLE}: {message}"))?;
        Ok(Self {
            trace: self.trace || asked.trace,
            schedule: self.schedule || asked.schedule,
            verdict: self.verdict || asked.verdict,
            expansion: self.expansion || asked.expansion,
        })
    }

    pub(crate) fn is_any(self) -> bool {
        self != Self::default()
    }
}

/// Where the files of the crate being compiled go: `target/collective/CRATE`.
pub(crate) fn folder() -> PathBuf {
    let crate_name = env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "crate".to_owned());
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let given = env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let target = given
        .or_else(|| target_of(&env::args().collect::<Vec<_>>()))
        .or_else(|| manifest.ancestors().map(|dir| dir.join("target")).find(|dir| is_target(dir)))
        .unwrap_or_else(|| manifest.join("target"));
    target.join("collective").join(crate_name)
}

/// The target folder of a call of the compiler: that around its `--out-dir`.
fn target_of(arguments: &[String]) -> Option<PathBuf> {
    let mut arguments = arguments.iter();
    let out = arguments.find_map(|argument| match argument.strip_prefix("--out-dir") {
        Some("") => Some(None),
        Some(rest) => rest.strip_prefix('=').map(Some),
        None => None,
    })?;
    let out = PathBuf::from(out.or_else(|| arguments.next().map(String::as_str))?);
    out.ancestors().find(|dir| is_target(dir)).map(Path::to_path_buf)
}

/// Cargo tags the folder, so that backups leave it out.
fn is_target(dir: &Path) -> bool {
    dir.join("CACHEDIR.TAG").is_file()
}

/// Writes a file; it appears whole or not at all. Two compilers may be at it at a time: the library and its tests.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    let draft = folder.join(format!(".{name}.{}", process::id()));
    let result = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&draft, text))
        .and_then(|()| fs::rename(&draft, &path));
    result.map_err(|error: io::Error| {
        let _ = fs::remove_file(&draft);
        format!("{} cannot be written: {error}", path.display())
    })
}

/// Generated code over several lines.
pub(crate) fn layout(tokens: TokenStream) -> String {
    let mut text = String::new();
    print(tokens, 0, &mut text);
    text
}

fn print(tokens: TokenStream, depth: usize, text: &mut String) {
    let line = |text: &mut String, depth: usize| {
        let trimmed = text.trim_end().len();
        text.truncate(trimmed);
        text.push('\n');
        (0..depth).for_each(|_| text.push_str("    "));
    };
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let is_empty = group.stream().is_empty();
                text.push('{');
                if !is_empty {
                    line(text, depth + 1);
                    print(group.stream(), depth + 1, text);
                    line(text, depth);
                }
                text.push('}');
                let is_end =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if ";,.)".contains(next.as_char()));
                if !is_end {
                    line(text, depth);
                }
            }
            // An attribute.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && text.ends_with('#') => {
                text.push_str(&group.to_string());
                line(text, depth);
            }
            TokenTree::Punct(punct) => {
                text.push(punct.as_char());
                match punct.as_char() {
                    ';' => line(text, depth),
                    '#' => {}
                    _ if punct.spacing() == proc_macro2::Spacing::Joint => {}
                    _ => text.push(' '),
                }
            }
            other => {
                text.push_str(&other.to_string());
                text.push(' ');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_is_shown() {
        let show = Show::parse("schedule, verdict").unwrap();
        assert_eq!(show, Show { schedule: true, verdict: true, ..Show::default() });
        let all = Show::parse("all").unwrap();
        assert!(all.trace && all.expansion);
        assert!(!Show::parse("").unwrap().is_any());
        assert!(Show::parse("picture").unwrap_err().contains("nothing is called \"picture\""));
    }

    #[test]
    fn the_target_folder_is_that_of_the_compiler() {
        let dir = env::temp_dir().join(format!("collective-show-{}", process::id()));
        let deps = dir.join("debug/deps");
        fs::create_dir_all(&deps).unwrap();
        let deps = deps.to_str().unwrap().to_owned();
        let call = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            target_of(&arguments)
        };
        assert_eq!(call(&["rustc", "--out-dir", &deps]), None, "no folder of Cargo's");
        fs::write(dir.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(call(&["rustc", "--out-dir", &deps, "-C"]), Some(dir.clone()));
        assert_eq!(call(&["rustc", &format!("--out-dir={deps}")]), Some(dir.clone()));
        assert_eq!(call(&["rustc", "--out-dir"]), None);
        assert_eq!(call(&["rustc"]), None);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let dir = env::temp_dir().join(format!("collective-show-file-{}", process::id()));
        write(&dir, "a.txt", "one").unwrap();
        write(&dir, "a.txt", "two").unwrap();
        assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no draft is left");
        let error = write(&dir.join("a.txt"), "b.txt", "").unwrap_err();
        assert!(error.contains("b.txt cannot be written"), "{error}");
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn generated_code_keeps_its_tokens() {
        let tokens = quote::quote!(
            #[doc = "x"]
            impl A {
                const B: u8 = 1;
                fn c(&self) -> u8 {
                    match 1 {
                        _ => 2,
                    }
                }
            }
        );
        let text = layout(tokens.clone());
        let again: TokenStream = text.parse().unwrap();
        assert_eq!(again.to_string(), tokens.to_string());
        assert!(text.lines().count() > 5, "{text}");
    }
}
