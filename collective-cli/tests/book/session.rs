//! Runs the command lines of a page, in its order, in a directory of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::page::{Block, Page};
use crate::{elsewhere, quoted, ring, root};

/// Words by which a line of a `sh` block may begin. Of `cargo` lines only `--example NAME -- …`, which makes the inputs of other
/// lines, is run, and as a development build: the others would build the project within its own tests.
const COMMANDS: [&str; 5] = ["collective", "target/release/collective", "cargo", "cd", "export"];

/// What is wrong with the lines of a block before any is run.
pub(crate) fn unknown_commands(block: &Block) -> impl Iterator<Item = String> {
    let unknown = |line: String| {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or("");
        if !COMMANDS.contains(&first) {
            return Some(format!("no test runs `{line}`; mark the block as external"));
        }
        let named = |name: &str| line.split(&format!("{name} ")).nth(1)?.split_whitespace().next();
        let example = (first == "cargo").then(|| named("--example")).flatten();
        let exists = |name: &str| root().join(format!("examples/{name}.rs")).exists();
        example.filter(|name| !exists(name)).map(|name| format!("there is no example {name}"))
    };
    let commands = if block.has("external") { Vec::new() } else { block.commands() };
    commands.into_iter().filter_map(unknown)
}

/// What does not do as the page says. With `bless` the outputs that the page shows are written anew.
pub(crate) fn run(page: &Page, bless: bool) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let (at, mut wrong, mut outputs) = (directory.path(), Vec::new(), Vec::new());
    copy(&root().join("examples"), &at.join("examples"));
    ring::write(at);
    let mut blocks = page.blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        for file in block.files() {
            let path = at.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &block.text).unwrap();
        }
        if block.kind() != "sh" || block.has("external") {
            continue;
        }
        let mut printed = String::new();
        for line in block.commands() {
            match execute(at, &line, block.exit()) {
                Ok(output) => printed += &output,
                Err(error) => wrong.push(format!("{}:{}: {line}\n{error}", page.name, block.line)),
            }
        }
        let shown = blocks.peek().filter(|next| next.kind() == "text" && !next.info.contains(' '));
        if let Some(shown) = shown.filter(|_| !elsewhere(&page.name)) {
            if bless && !shown.text.contains('…') {
                outputs.push((shown.line, shown.indent, printed.clone()));
            } else if !quoted::agrees(&printed, &shown.text) {
                let (name, line) = (&page.name, shown.line);
                wrong.push(format!("{name}:{line}: the page shows\n{}\nbut it is\n{printed}", shown.text));
            }
        }
    }
    if !outputs.is_empty() {
        fs::write(root().join(&page.name), with_outputs(page, &outputs)).unwrap();
    }
    wrong
}

/// What a line prints: all of it, on both streams.
fn execute(at: &Path, line: &str, code: i32) -> Result<String, String> {
    // What a shell would write to a file.
    let (line, into) = match line.split_once(" > ") {
        Some((line, file)) => (line, Some(at.join(file.trim()))),
        None => (line, None),
    };
    let words = split(line);
    let mut command = match words[0].as_str() {
        "collective" | "target/release/collective" => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
            command.args(words[1..].iter().flat_map(|word| expand(at, word)));
            command
        }
        "cargo" => {
            let Some((options, arguments)) = line.split_once(" -- ") else { return Ok(String::new()) };
            let Some((_, example)) = options.split_once("--example ") else { return Ok(String::new()) };
            let example = example.trim();
            // The whole workspace, so that features are those of its tests, and what they have built is used.
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--quiet", "--workspace", "--example", example]).current_dir(root());
            let built = build.output().unwrap();
            if !built.status.success() {
                return Err(String::from_utf8_lossy(&built.stderr).into_owned());
            }
            let binary = Path::new(env!("CARGO_BIN_EXE_collective")).with_file_name("examples").join(example);
            let mut command = Command::new(binary);
            command.args(arguments.split_whitespace());
            command
        }
        _ => return Ok(String::new()),
    };
    let mut output = command.current_dir(at).env_remove("NO_COLOR").output().unwrap();
    if let Some(file) = into {
        fs::write(file, std::mem::take(&mut output.stdout)).unwrap();
    }
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // The reader's program lies in a crate of its own.
    let printed = printed
        .replace("collective-cli/tests/book/src/main.rs", "src/main.rs")
        .replace("tests/book/src/main.rs", "src/main.rs");
    if output.status.code() == Some(code) {
        Ok(printed)
    } else {
        Err(format!("{}:\n{printed}", output.status))
    }
}

/// The files that a pattern is of, in the order of their names; any other word as it is.
fn expand(at: &Path, word: &str) -> Vec<String> {
    let Some((start, end)) = word.split_once('*').filter(|_| !word.contains('/')) else {
        return vec![word.to_owned()];
    };
    let names = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with(start) && name.ends_with(end)).collect();
    names.sort();
    names
}

/// The words of a line; quotes of both kinds hold words together.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn with_outputs(page: &Page, outputs: &[(usize, usize, String)]) -> String {
    let (mut text, mut skip) = (String::new(), false);
    for (index, line) in page.text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        if skip && !fence {
            continue;
        }
        skip = false;
        text += line;
        text.push('\n');
        if let Some((_, indent, output)) = outputs.iter().find(|(at, _, _)| *at == index + 1) {
            for line in output.lines() {
                text += format!("{:indent$}{line}", "").trim_end();
                text.push('\n');
            }
            skip = true;
        }
    }
    text
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
