//! Evaluation of an algorithm during expansion, through the same calls that record it at run time.

mod binding;
mod closures;
mod context;
mod dsl;
mod expressions;
mod format;
mod iter;
mod key;
mod lists;
mod loops;
mod methods;
mod mutate;
mod operators;
mod options;
mod places;
#[cfg(test)]
mod tests;
mod value;

use collective_dsl::{Collective, Diagnostics, Options, SiteId, Trace, Tracer};

use crate::ast::{Ast, CallId, ClosureId, Function, FunctionId, LoopId};
use crate::integer::{Fault, Int};
use crate::span::SpanId;
pub(crate) use context::Context;
use context::Shown;
pub(crate) use value::Value;

/// Evaluation steps after which an algorithm is taken for endless: half a second, or some seconds where this
/// crate is not optimised. What can be embedded needs a tenth of it.
const FUEL: u64 = 30_000_000;

/// Calls within calls. Recursive algorithms halve something at each level, so they need far less.
const MAX_CALLS: usize = 200;

/// Expressions within expressions, through all calls: what the stack of an evaluation has room for.
const MAX_NESTING: usize = 8000;

/// What stops an evaluation, at its expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) span: SpanId,
    pub(crate) message: String,
    /// The variables of the loops around it.
    pub(crate) context: Context,
}

/// Why the evaluation does not go on with the next expression. Values and messages that go with it are kept
/// in the [`Machine`], so that this is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Break(LoopId),
    Continue(LoopId),
    Return,
    /// Something is wrong, or so much that going on would be noise.
    Stop,
}

type Eval<T = Value> = Result<T, Flow>;

/// What a whole evaluation gives.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) trace: Result<Trace, Diagnostics>,
    pub(crate) failure: Option<Failure>,
    /// The call behind each site of the trace.
    pub(crate) calls: Vec<CallId>,
    /// The variables of the loops around each site, where every operation has a site of its own.
    pub(crate) contexts: Vec<Context>,
}

/// What the sites of a trace are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sites {
    /// The calls in the source, as at run time.
    Calls,
    /// Each operation by itself, to tell in which round of its loops it happened.
    Operations,
}

/// Evaluates an expression among the arguments of the attribute.
pub(crate) fn detail(ast: &Ast, function: FunctionId, params: &[usize]) -> Result<usize, Failure> {
    let mut machine = Machine::new(ast, "", None);
    let span = ast.functions[function.0 as usize].body.span;
    let params = params.iter().map(|value| Value::Int(Int::usize(*value))).collect();
    let value = machine.call(function, params, span).and_then(|value| machine.index_value(&value, span));
    value.map_err(|_| {
        machine.failure.unwrap_or_else(|| Failure {
            span,
            message: "this has no value".to_owned(),
            context: Context::default(),
        })
    })
}

/// Evaluates the algorithm for one set of parameters.
pub(crate) fn run(
    ast: &Ast,
    name: &str,
    file: &str,
    (collective, options): (Collective, Options),
    params: &[usize],
    sites: Sites,
) -> Outcome {
    let mut tracer = Tracer::new(collective.clone());
    tracer.set_options(options);
    let mut machine = Machine::new(ast, file, Some(tracer));
    machine.sites = sites;
    let main = &ast.functions[ast.main.0 as usize];
    let mut values: Vec<Value> = params.iter().map(|value| Value::Int(Int::usize(*value))).collect();
    // A program that the function leaves unnamed is no parameter.
    if main.params.len() > values.len() {
        values.insert(0, Value::Program);
    }
    // How it ends is in the tracer and in the failure.
    let _ = machine.call(ast.main, values, main.body.span);
    let tracer = machine.tracer.unwrap_or_else(|| Tracer::new(collective));
    Outcome {
        trace: tracer.finish(name),
        failure: machine.failure,
        calls: machine.calls_of_sites,
        contexts: machine.contexts,
    }
}

struct ActiveLoop<'a> {
    span: SpanId,
    /// A `while` or `loop`, which need not end.
    is_open: bool,
    rounds: u64,
    /// What tells one round from the other, and where that lies.
    shown: Shown<'a>,
    function: Option<&'a Function>,
    frame: usize,
}

struct Machine<'a> {
    ast: &'a Ast,
    file: &'a str,
    /// None while there is no program yet.
    tracer: Option<Tracer>,
    /// The frames of all active functions.
    stack: Vec<Value>,
    /// Where the frame of the current function begins.
    frame: usize,
    /// The number of each call that is active.
    frames: Vec<u64>,
    next_frame: u64,
    function: Option<&'a Function>,
    /// The closures that run in the frame of the function around them.
    active: Vec<(usize, ClosureId)>,
    depth: usize,
    nesting: usize,
    fuel: u64,
    loops: Vec<ActiveLoop<'a>>,
    /// The value that goes with a `break` or `return` under way.
    carried: Value,
    failure: Option<Failure>,
    sites_of_calls: Vec<Option<SiteId>>,
    calls_of_sites: Vec<CallId>,
    sites: Sites,
    contexts: Vec<Context>,
}

impl<'a> Machine<'a> {
    fn new(ast: &'a Ast, file: &'a str, tracer: Option<Tracer>) -> Self {
        Self {
            ast,
            file,
            tracer,
            stack: Vec::new(),
            frame: 0,
            frames: Vec::new(),
            next_frame: 0,
            function: None,
            active: Vec::new(),
            depth: 0,
            nesting: 0,
            fuel: FUEL,
            loops: Vec::new(),
            carried: Value::Unit,
            failure: None,
            sites_of_calls: vec![None; ast.calls.len()],
            calls_of_sites: Vec::new(),
            sites: Sites::Calls,
            contexts: Vec::new(),
        }
    }

    fn call(&mut self, id: FunctionId, args: Vec<Value>, span: SpanId) -> Eval {
        let function = &self.ast.functions[id.0 as usize];
        if self.depth == MAX_CALLS {
            return self.fail(
                span,
                format!(
                    "`{}` is {MAX_CALLS} calls deep and still goes on: make sure that the recursion ends",
                    function.name
                ),
            );
        }
        let outer = (self.frame, self.function);
        let frame = self.push_frame(function.slots.len());
        (self.frame, self.function) = (frame, Some(function));
        self.depth += 1;
        let result = self.call_body(function, args, span);
        self.depth -= 1;
        self.pop_frame(frame);
        (self.frame, self.function) = outer;
        result
    }

    /// Makes room for the variables of a call; returns where they begin.
    fn push_frame(&mut self, slots: usize) -> usize {
        let base = self.stack.len();
        self.stack.resize(base + slots, Value::Unit);
        self.frames.push(self.next_frame);
        self.next_frame += 1;
        base
    }

    fn pop_frame(&mut self, base: usize) {
        self.stack.truncate(base);
        self.frames.pop();
    }

    fn call_body(&mut self, function: &'a crate::ast::Function, args: Vec<Value>, span: SpanId) -> Eval {
        for ((pattern, _), arg) in function.params.iter().zip(args) {
            self.bind(pattern, arg, span)?;
        }
        match self.eval(&function.body) {
            Err(Flow::Return) => Ok(std::mem::take(&mut self.carried)),
            other => other,
        }
    }

    /// Stops with a message at an expression.
    fn fail<T>(&mut self, span: SpanId, message: impl Into<String>) -> Eval<T> {
        if self.failure.is_none() {
            self.failure = Some(Failure { span, message: message.into(), context: self.context() });
        }
        Err(Flow::Stop)
    }

    /// Stops at an expression whose types the compiler refuses too; its message is the better one.
    fn mistyped<T>(&mut self, span: SpanId, value: &Value, wanted: &str) -> Eval<T> {
        self.fail(span, format!("build-time evaluation wants {wanted} here, not {}", value.words()))
    }

    fn faulty<T>(&mut self, span: SpanId, fault: Fault, text: &str) -> Eval<T> {
        self.fail(span, operators::explain(fault, text))
    }

    /// Takes fuel for so many steps.
    #[inline]
    fn burn(&mut self, steps: u64, span: SpanId) -> Eval<()> {
        match self.fuel.checked_sub(steps) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => self.out_of_fuel(span),
        }
    }

    #[cold]
    fn out_of_fuel(&mut self, span: SpanId) -> Eval<()> {
        // The loop that is to blame is more likely one that need not end, and the one with the most rounds.
        let suspect = self.loops.iter().max_by_key(|active| (active.is_open, active.rounds));
        let million = FUEL / 1_000_000;
        match suspect {
            Some(ActiveLoop { span, is_open: true, rounds, .. }) => {
                let (span, rounds) = (*span, *rounds);
                self.fail(
                    span,
                    format!(
                        "this loop ran {rounds} times without ending: make sure that its condition becomes false, or \
                         that `break` is reached"
                    ),
                )
            }
            other => {
                let span = other.map_or(span, |active| active.span);
                self.fail(
                    span,
                    format!(
                        "this takes more than {million} million steps, too many for build time: leave out this \
                         `build(…)` and use the run-time path"
                    ),
                )
            }
        }
    }
}
