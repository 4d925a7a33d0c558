//! One build: from parameters to the bytes to embed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use collective_dsl::et::{self, EtBytes, EtError, EtOptions};
use collective_dsl::{Collective, CollectiveKind, Diagnostics, Options, Rule, Setting, Size, compile};

use crate::ast::{Ast, CallId};
use crate::eval::{self, Failure};
use crate::span::SpanId;

/// The stack of an evaluation. Nested helper functions take some of it, and more so when the user's build
/// does not optimise this crate; only what is touched becomes memory.
const STACK: usize = 256 << 20;

/// More than this is too much for the compiler to swallow as literals.
const MAX_BYTES: usize = 64 << 20;

/// What all builds of an algorithm share.
#[derive(Debug)]
pub(crate) struct Algorithm<'a> {
    pub(crate) ast: &'a Ast,
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    pub(crate) kind: CollectiveKind,
    pub(crate) in_place: bool,
    /// Which of the parameters is the number of ranks.
    pub(crate) ranks_param: usize,
    pub(crate) options: Options,
    pub(crate) size: Size,
}

/// Something wrong with a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    /// `None` where the evaluation itself failed.
    pub(crate) rule: Option<Rule>,
    pub(crate) message: String,
    pub(crate) related: Vec<(SpanId, String)>,
}

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Expression(SpanId),
    /// The algorithm as a whole.
    Function,
    /// The `build(…)`.
    Build,
}

impl From<Failure> for Finding {
    fn from(failure: Failure) -> Self {
        Self {
            place: Place::Expression(failure.span),
            rule: None,
            message: failure.message,
            related: Vec::new(),
        }
    }
}

/// The bytes of one build, or what is wrong with it.
pub(crate) type Built = Result<EtBytes, Vec<Finding>>;

/// Builds all instances, as many at a time as there are processors.
pub(crate) fn build_all(algorithm: &Algorithm<'_>, params: &[Vec<usize>]) -> Vec<Built> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(params.len());
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Built>>> = params.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((params, result)) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            params.get(i).zip(results.get(i))
        } {
            let built = algorithm.build(params);
            if let Ok(mut result) = result.lock() {
                *result = Some(built);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            // A thread that cannot be started, or dies, leaves results open.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map(drop);
        }
    });
    let lost = || {
        let message =
            "this could not be evaluated, for a reason that is not in the algorithm: report it, and use the \
                       run-time path"
                .to_owned();
        Err(vec![Finding { place: Place::Build, rule: None, message, related: Vec::new() }])
    };
    results.into_iter().map(|result| result.into_inner().ok().flatten().unwrap_or_else(lost)).collect()
}

impl Algorithm<'_> {
    /// The collective for some parameters. The arguments are added one by one, so that one that makes it impossible
    /// is where the error stands.
    fn collective(&self, params: &[usize]) -> Result<Collective, Vec<Finding>> {
        let mut setting = Setting {
            in_place: self.in_place,
            options: self.options,
            ..Setting::new(self.name, self.kind, params[self.ranks_param])
        };
        let collective = |setting: &Setting<'_>, place| {
            setting.collective().map_err(|wrong| findings(wrong, self.ast, &[], place))
        };
        let mut known = collective(&setting, Place::Build)?;
        for (detail, function) in &self.ast.details {
            let value = eval::detail(self.ast, *function, params).map_err(|f| vec![f.into()])?;
            detail.set(&mut setting, value);
            let span = self.ast.functions[function.0 as usize].body.span;
            known = collective(&setting, Place::Expression(span))?;
        }
        Ok(known)
    }

    fn build(&self, params: &[usize]) -> Built {
        let whole =
            |message: String| Finding { place: Place::Build, rule: None, message, related: Vec::new() };
        let collective = self.collective(params)?;
        let outcome = eval::run(self.ast, self.name, self.file, (collective, self.options), params);
        let wrong = |wrong: Diagnostics| findings(wrong, self.ast, &outcome.calls, Place::Function);
        let trace = match (outcome.trace, outcome.failure) {
            (Ok(trace), None) => trace,
            (Ok(_), Some(failure)) => return Err(vec![failure.into()]),
            // What fails later may only follow from what is wrong before.
            (Err(diagnostics), _) => return Err(wrong(diagnostics)),
        };
        let schedule = compile(&trace).map_err(wrong)?;
        let bytes = et::bytes(&schedule, &EtOptions::new(self.size))
            .map_err(|error| vec![whole(refused_size(&error))])?;
        let total: usize = bytes.ranks().iter().map(Vec::len).sum();
        if total > MAX_BYTES {
            return Err(vec![whole(format!(
                "the graph takes {} MiB, more than the {} MiB that can be embedded: remove this `build(…)` and use the \
                 run-time path, `{}::compile(…)`",
                total >> 20,
                MAX_BYTES >> 20,
                self.name
            ))]);
        }
        Ok(bytes)
    }
}

/// Why there are no traces; where the size is to blame, what to do.
fn refused_size(error: &EtError) -> String {
    match error {
        EtError::Size(_) | EtError::UnevenReduction { .. } => {
            format!("{error}; give another size in `options(size = …)`")
        }
        _ => error.to_string(),
    }
}

/// Diagnostics with the calls of the interpreter as their places.
fn findings(wrong: Diagnostics, ast: &Ast, calls: &[CallId], otherwise: Place) -> Vec<Finding> {
    let span = |site: collective_dsl::SiteId| {
        let call = calls.get(site.index())?;
        Some(ast.calls[call.0 as usize].span)
    };
    let finding = |finding: collective_dsl::Diagnostic| Finding {
        place: finding.site.and_then(span).map_or(otherwise, Place::Expression),
        rule: Some(finding.rule),
        message: finding.message,
        related: finding.related.into_iter().filter_map(|(site, what)| Some((span(site)?, what))).collect(),
    };
    wrong.findings.into_iter().map(finding).collect()
}
