//! One build: from parameters to the bytes to embed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use collective_dsl::embedded::{Image, ImageError};
use collective_dsl::et::EtError;
use collective_dsl::msccl::{self, Target, XmlError, XmlOptions, limits};
use collective_dsl::{
    Collective, CollectiveKind, Diagnostic, Diagnostics, Options, Rule, Schedule, Setting, SiteTable, Size,
    Trace, compile, lint, lower,
};

use crate::arguments::DEFAULT_BYTES;
use crate::ast::{Ast, CallId, CallSite};
use crate::eval::{self, Context, Failure, Sites};
use crate::show::Show;
use crate::span::SpanId;

/// The stack of an evaluation. Nested helper functions take some of it, and more so when the user's build
/// does not optimise this crate; only what is touched becomes memory.
const STACK: usize = 256 << 20;

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
    pub(crate) target: Option<Target>,
    pub(crate) budget: u64,
    pub(crate) show: Show,
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

/// A build without mistakes.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) image: Image,
    /// How large it is, in words.
    pub(crate) figures: String,
    /// What is hardly meant.
    pub(crate) warnings: Vec<Finding>,
}

/// One build: what is embedded of it, or what is wrong with it; and what people asked to see.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) outcome: Result<Finished, Vec<Finding>>,
    pub(crate) trace: Option<String>,
    pub(crate) schedule: Option<String>,
}

impl From<Vec<Finding>> for Built {
    fn from(wrong: Vec<Finding>) -> Self {
        Self { outcome: Err(wrong), trace: None, schedule: None }
    }
}

/// An algorithm that was evaluated to its end, and the places of its operations.
struct Traced {
    trace: Trace,
    calls: Vec<CallId>,
    contexts: Vec<Context>,
}

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
        vec![whole(message.to_owned())].into()
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
        let collective = match self.collective(params) {
            Ok(collective) => collective,
            Err(wrong) => return wrong.into(),
        };
        let traced = match self.traced(collective.clone(), params, Sites::Calls) {
            Ok(traced) => traced,
            Err(wrong) => return self.in_detail(wrong, collective, params).into(),
        };
        let trace = &traced.trace;
        let schedule = compile(trace);
        // A wrong one is worth a look too.
        let shown = self.show.schedule.then(|| match &schedule {
            Ok(schedule) => schedule.to_string(),
            Err(_) => lower(trace).map_or_else(|wrong| wrong.to_string(), |schedule| schedule.to_string()),
        });
        let outcome = match schedule {
            Ok(schedule) => self.finish(&traced, &schedule),
            Err(wrong) => {
                let found = traced.findings(wrong, self.ast, Place::Function);
                Err(self.in_detail(found, collective, params))
            }
        };
        Built { outcome, trace: self.show.trace.then(|| trace.to_string()), schedule: shown }
    }

    fn traced(&self, collective: Collective, params: &[usize], sites: Sites) -> Result<Traced, Vec<Finding>> {
        let outcome = eval::run(self.ast, self.name, self.file, (collective, self.options), params, sites);
        let (calls, contexts) = (outcome.calls, outcome.contexts);
        match (outcome.trace, outcome.failure) {
            (Ok(trace), None) => Ok(Traced { trace, calls, contexts }),
            (Ok(_), Some(failure)) => Err(vec![failure.into()]),
            // What fails later may only follow from what is wrong before.
            (Err(wrong), _) => {
                Err(findings(wrong, self.ast, (&calls, &contexts), Place::Function, |call| call.span))
            }
        }
    }

    /// What is wrong, evaluated once more, to tell in which round of its loops each happened.
    fn in_detail(&self, mut found: Vec<Finding>, collective: Collective, params: &[usize]) -> Vec<Finding> {
        let detailed = self.traced(collective, params, Sites::Operations).and_then(|traced| {
            compile(&traced.trace)
                .map(drop)
                .map_err(|wrong| traced.findings(wrong, self.ast, Place::Function))
        });
        if let Err(detailed) = detailed {
            found.iter_mut().for_each(|finding| finding.learn(&detailed));
        }
        found
    }

    /// From a right schedule to what is embedded.
    fn finish(&self, traced: &Traced, schedule: &Schedule) -> Result<Finished, Vec<Finding>> {
        if let Some(target) = self.target {
            let exceeded = limits::check(schedule, target);
            if !exceeded.is_empty() {
                return Err(traced.findings(self.diagnostics(exceeded), self.ast, Place::Build));
            }
            match msccl::write(schedule, &XmlOptions::new(target)) {
                Ok(_) => {}
                Err(XmlError::Refused(wrong)) => {
                    return Err(traced.findings(wrong, self.ast, Place::Build));
                }
                Err(error) => return Err(vec![whole(error.to_string())]),
            }
        }
        let image = Image::new(schedule, self.size, self.budget).map_err(|error| {
            vec![whole(match error {
                ImageError::Et(error) => refused_size(&error, self.size, &schedule.collective),
                _ => format!(
                    "{error}: remove this `build(…)` and use the run-time path, `{}::compile(…)`",
                    self.name
                ),
            })]
        })?;
        let figures = format!(
            "{} ranks, {} operations, {} messages, {} steps; {}",
            schedule.ranks.len(),
            traced.trace.ops.len(),
            schedule.message_count(),
            schedule.step_count(),
            image.words(self.budget)
        );
        let wasted = self.diagnostics(lint::warnings(&traced.trace, self.target));
        // A warning is underlined at one token only.
        let sites = (traced.calls.as_slice(), traced.contexts.as_slice());
        let warnings = findings(wasted, self.ast, sites, Place::Function, |call| call.method);
        Ok(Finished { image, figures, warnings })
    }

    fn diagnostics(&self, findings: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { name: self.name.to_owned(), findings, sites: SiteTable::default() }
    }
}

impl Traced {
    fn findings(&self, wrong: Diagnostics, ast: &Ast, otherwise: Place) -> Vec<Finding> {
        findings(wrong, ast, (&self.calls, &self.contexts), otherwise, |call| call.span)
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
fn refused_size(error: &EtError, size: Size, collective: &Collective) -> String {
    match error {
        EtError::Size(_) | EtError::UnevenReduction { .. } => {
            let (bytes, element) = (size.in_bytes(), size.element_type());
            let from = if size == Size::bytes(DEFAULT_BYTES) { ", the default" } else { "" };
            let words = if bytes.is_multiple_of(1 << 20) {
                format!("{} MiB", bytes >> 20)
            } else {
                format!("{bytes} bytes")
            };
            // With so many elements, or a multiple of them, all chunks are equal.
            let divisor = collective.ranks() as u64 * collective.chunks() as u64;
            let fitting = bytes.checked_next_multiple_of(divisor.saturating_mul(element.bytes()));
            let example = fitting.map(|bytes| format!(", such as `size = {bytes}`")).unwrap_or_default();
            format!(
                "{error} (the size is {words} of {element}{from}); give another in `options(size = …)`{example}"
            )
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
    let finding = |finding: Diagnostic| Finding {
        place: finding.site.and_then(span).map_or(otherwise, Place::Expression),
        rule: Some(finding.rule),
        message: finding.message,
        context: finding.site.map(context).unwrap_or_default(),
        related: finding.related.into_iter().filter_map(related).collect(),
    };
    wrong.findings.into_iter().map(finding).collect()
}
