//! Random programs: what is evaluated at build time is what the compiler makes of the same text.
//!
//! All programs of a run are one file, compiled once, without the macro. Then each is run by both, and either both
//! record the same operations and find the same wrong, or both stop at the same line. The seed is fixed; other
//! programs come by `COLLECTIVE_RANDOM_SEED` and `COLLECTIVE_RANDOM_PROGRAMS`.

mod generate;

use std::path::{Path, PathBuf};
use std::process::Command;

use collective_dsl::{Collective, CollectiveKind, Options};
use quote::format_ident;

use crate::eval::{self, Sites};
use crate::parse;
use crate::signature::{Param, Signature};

const RANKS: usize = 4;
const FILE: &str = "random.rs";

/// What runs the compiled programs: where each stopped, or what it recorded.
const MAIN: &str = r#"
use collective_dsl::{Buffer::{Input, Scratch}, Collective, CollectiveKind, Program};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static LINE: AtomicU32 = AtomicU32::new(0);

fn main() {
    std::panic::set_hook(Box::new(|info| {
        let line = info.location().filter(|at| at.file() == "random.rs").map_or(0, |at| at.line());
        LINE.store(line, Relaxed);
    }));
    for (i, program) in PROGRAMS.iter().enumerate() {
        let collective = Collective::new(CollectiveKind::AllReduce, 4, 4).unwrap().in_place().unwrap();
        let p = Program::new(collective);
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program(&p, 4)));
        println!("@{i}");
        match (run, p.finish(format!("f{i}"))) {
            (Err(_), _) => println!("stopped at {}", LINE.load(Relaxed)),
            (Ok(()), Ok(trace)) => print!("{trace}"),
            (Ok(()), Err(wrong)) => println!("{wrong}"),
        }
    }
}
"#;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The libraries of this name that lie beside this test, the newest first.
fn libraries(deps: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(deps)
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let fits = name.starts_with("libcollective_dsl-") && name.ends_with(".rlib");
            fits.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Compiles the programs and runs them; what each did.
fn compiled(source: &str) -> Vec<String> {
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap();
    let dir = deps.join(format!("../random-programs-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(FILE), source).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut said = String::new();
    // Of several builds of the library one may be of another compiler.
    let is_compiled = libraries(deps).iter().any(|library| {
        let output = Command::new(&rustc)
            .current_dir(&dir)
            .args([
                "--edition=2024",
                "-Cdebug-assertions=on",
                "-Copt-level=0",
                "-Cdebuginfo=0",
                "-o",
                "random",
                FILE,
            ])
            .arg(format!("--extern=collective_dsl={}", library.display()))
            .arg(format!("-Ldependency={}", deps.display()))
            .output()
            .unwrap();
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success()
    });
    assert!(
        is_compiled,
        "the random programs do not compile: {}",
        said.chars().take(4000).collect::<String>()
    );
    let output = Command::new(dir.join("random")).output().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.split('@').skip(1).map(|part| part.split_once('\n').unwrap().1.to_owned()).collect()
}

/// What a program does at build time.
fn evaluated(function: &syn::ItemFn) -> String {
    let signature = Signature {
        ident: function.sig.ident.clone(),
        vis: syn::Visibility::Inherited,
        program: Some(format_ident!("p")),
        params: vec![Param { ident: format_ident!("ranks"), name: "ranks".to_owned() }],
        summary: String::new(),
        docs: String::new(),
        cfgs: Vec::new(),
    };
    let parsed = match parse::parse(&signature, &function.block, &[], &Default::default()) {
        Ok(parsed) => parsed,
        Err(errors) => return errors.iter().map(|error| format!("refused: {error}\n")).collect(),
    };
    let collective = Collective::new(CollectiveKind::AllReduce, RANKS, RANKS).unwrap().in_place().unwrap();
    let setting = (collective, Options::default());
    let outcome = eval::run(&parsed.ast, &signature.name(), FILE, setting, &[RANKS], Sites::Calls);
    match (outcome.failure, outcome.trace) {
        (Some(failure), _) => {
            format!("stopped at {}\n{}", parsed.spans.get(failure.span).line(), failure.message)
        }
        (None, Ok(trace)) => trace.to_string(),
        (None, Err(wrong)) => format!("{wrong}\n"),
    }
}

/// A program with its line numbers.
fn text_of(source: &str, program: usize) -> String {
    let head = format!("fn f{program}(");
    let lines = (1..).zip(source.lines()).skip_while(|(_, line)| !line.starts_with(&head));
    let mut text = String::new();
    for (at, line) in lines {
        text += &format!("{at:5} {line}\n");
        if line == "}" {
            break;
        }
    }
    text
}

/// Whether both did the same. Where the program panics within the standard library the compiled one knows no line;
/// after many findings the evaluation goes no further.
fn agree(compiled: &str, evaluated: &str) -> bool {
    const STOPPED: &str = "stopped at ";
    match (compiled.strip_prefix(STOPPED), evaluated.strip_prefix(STOPPED)) {
        (Some(a), Some(b)) => a.trim() == "0" || a.lines().next() == b.lines().next(),
        (Some(_), None) => evaluated.matches(FILE).count() >= 8 && !evaluated.starts_with("trace "),
        _ => compiled == evaluated,
    }
}

#[test]
fn random_programs_mean_the_same_at_build_time_and_at_run_time() {
    let programs = number("COLLECTIVE_RANDOM_PROGRAMS", 200) as usize;
    let source = generate::programs(number("COLLECTIVE_RANDOM_SEED", 2026), programs);
    let compiled = compiled(&source);
    let compare = move || {
        let mut outcomes = [0; 3];
        let file = syn::parse_file(&source).unwrap();
        let functions = file.items.into_iter().filter_map(|item| match item {
            syn::Item::Fn(function) if function.sig.ident != "main" => Some(function),
            _ => None,
        });
        for (i, (function, compiled)) in functions.zip(&compiled).enumerate() {
            let evaluated = evaluated(&function);
            assert!(
                agree(compiled, &evaluated),
                "program {i}\n{}\ncompiled:\n{compiled}\nevaluated:\n{evaluated}",
                text_of(&source, i)
            );
            outcomes[match compiled.split(' ').next() {
                Some("trace") => 0,
                Some("stopped") => 1,
                _ => 2,
            }] += 1;
        }
        outcomes
    };
    // An evaluation has more stack than a test.
    let outcomes = std::thread::Builder::new().stack_size(64 << 20).spawn(compare).unwrap().join().unwrap();
    // Each way to end happens, or the programs say little.
    assert!(outcomes.iter().all(|count| *count * 20 > programs), "{outcomes:?}");
}
