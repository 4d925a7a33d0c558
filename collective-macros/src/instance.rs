//! One build: from parameters to the bytes to embed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use collective_dsl::et::{self, EtBytes, EtError, EtOptions};
use collective_dsl::{
    Collective, CollectiveKind, Diagnostics, Options, Rule, Schedule, Setting, SiteTable, Size, compile, lint,
};

use crate::ast::{Ast, CallId, CallSite};
use crate::eval::{self, Context, Failure, Sites};
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
    /// The variables of the loops around it.
    pub(crate) context: Context,
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
            context: failure.context,
            related: Vec::new(),
        }
    }
}

/// What a right build gives.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) bytes: EtBytes,
    /// What is hardly meant.
    pub(crate) warnings: Vec<Finding>,
}

/// One build, or what is wrong with it.
pub(crate) type Built = Result<Finished, Vec<Finding>>;

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
        let message = "this could not be evaluated, for a reason that is not in the algorithm: report it, and use the \
                       run-time path";
        Err(vec![whole(message.to_owned())])
    };
    results.into_iter().map(|result| result.into_inner().ok().flatten().unwrap_or_else(lost)).collect()
}

/// Something wrong with a build as a whole.
fn whole(message: String) -> Finding {
    Finding { place: Place::Build, rule: None, message, context: Context::default(), related: Vec::new() }
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
            setting
                .collective()
                .map_err(|wrong| findings(wrong, self.ast, (&[], &[]), place, |call| call.span))
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
        let collective = self.collective(params)?;
        let (schedule, warnings) = match self.schedule(collective.clone(), params, Sites::Calls) {
            Ok(done) => done,
            Err(mut found) => {
                // Once more, to tell in which round of its loops each happened.
                if let Err(detailed) = self.schedule(collective, params, Sites::Operations) {
                    found.iter_mut().for_each(|finding| finding.learn(&detailed));
                }
                return Err(found);
            }
        };
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
        Ok(Finished { bytes, warnings })
    }

    fn schedule(
        &self,
        collective: Collective,
        params: &[usize],
        sites: Sites,
    ) -> Result<(Schedule, Vec<Finding>), Vec<Finding>> {
        let outcome = eval::run(self.ast, self.name, self.file, (collective, self.options), params, sites);
        let sites = (outcome.calls.as_slice(), outcome.contexts.as_slice());
        let wrong = |wrong: Diagnostics| findings(wrong, self.ast, sites, Place::Function, |call| call.span);
        let trace = match (outcome.trace, &outcome.failure) {
            (Ok(trace), None) => trace,
            (Ok(_), Some(failure)) => return Err(vec![failure.clone().into()]),
            // What fails later may only follow from what is wrong before.
            (Err(diagnostics), _) => return Err(wrong(diagnostics)),
        };
        let schedule = compile(&trace).map_err(wrong)?;
        let wasted = Diagnostics {
            name: self.name.to_owned(),
            findings: lint::warnings(&trace, None),
            sites: SiteTable::default(),
        };
        // A warning is underlined at one token only.
        Ok((schedule, findings(wasted, self.ast, sites, Place::Function, |call| call.method)))
    }
}

impl Finding {
    /// Takes over the context of the same finding in more detail: there each operation is a place of its own, so that
    /// nothing is counted together.
    fn learn(&mut self, detailed: &[Finding]) {
        let first = |message: &str| message.split(" (likewise").next().unwrap_or_default().to_owned();
        let wanted = first(&self.message);
        let known =
            detailed.iter().find(|other| other.place == self.place && first(&other.message) == wanted);
        if let (Some(known), true) = (known, self.context == Context::default()) {
            self.context = known.context.clone();
            self.related = known.related.clone();
        }
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
fn findings(
    wrong: Diagnostics,
    ast: &Ast,
    (calls, contexts): (&[CallId], &[Context]),
    otherwise: Place,
    at: fn(&CallSite) -> SpanId,
) -> Vec<Finding> {
    let span = |site: collective_dsl::SiteId| {
        let call = calls.get(site.index())?;
        Some(at(&ast.calls[call.0 as usize]))
    };
    let context = |site: collective_dsl::SiteId| contexts.get(site.index()).cloned().unwrap_or_default();
    let related = |(site, what): (collective_dsl::SiteId, String)| {
        let what = match context(site).words() {
            Some(words) => format!("{what}, with {words}"),
            None => what,
        };
        Some((span(site)?, what))
    };
    let finding = |finding: collective_dsl::Diagnostic| Finding {
        place: finding.site.and_then(span).map_or(otherwise, Place::Expression),
        rule: Some(finding.rule),
        message: finding.message,
        context: finding.site.map(context).unwrap_or_default(),
        related: finding.related.into_iter().filter_map(related).collect(),
    };
    wrong.findings.into_iter().map(finding).collect()
}
