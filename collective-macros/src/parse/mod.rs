//! From syn to [`crate::ast`]. Everything outside of the subset is collected as an error at its expression.

mod advice;
mod blocks;
mod calls;
mod closures;
mod conditions;
mod expressions;
mod format;
mod loops;
mod macros;
mod methods;
mod patterns;
mod places;
mod scopes;
mod types;
mod words;

use std::rc::Rc;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::Visit;

use crate::ast::{Ast, CallId, CallSite, Closure, Expr, ExprKind, Function, FunctionId, Pattern, Type};
use crate::detail::Detail;
use crate::helpers::{Helper, HelperId, Helpers};
use crate::infer::{LiteralInt, infer};
use crate::integer::IntKind;
use crate::signature::Signature;
use crate::span::{SpanId, SpanRange, SpanTable};
use scopes::{Item, Name, Scopes};

/// A parsed algorithm and the places in it.
pub(crate) struct Parsed {
    pub(crate) ast: Ast,
    pub(crate) spans: SpanTable,
    /// How the function names buffers and costs, and how the helpers of its module do.
    pub(crate) buffers: Vec<(syn::Path, KnownName)>,
    pub(crate) named_in_helpers: Vec<(HelperId, syn::Path, KnownName)>,
}

/// What of the language a path is taken for, by its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownName {
    Input,
    Output,
    Scratch,
    /// `Cost::flops`.
    Flops,
    /// `Cost::micros`.
    Micros,
}

impl KnownName {
    /// Its path in `collective`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            KnownName::Input => "Buffer::Input",
            KnownName::Output => "Buffer::Output",
            KnownName::Scratch => "Buffer::Scratch",
            KnownName::Flops => "Cost::flops",
            KnownName::Micros => "Cost::micros",
        }
    }
}

/// Parses the body of an algorithm, and the expressions among its arguments.
pub(crate) fn parse(
    signature: &Signature,
    body: &syn::Block,
    details: &[(Detail, syn::Expr)],
    helpers: &Rc<Helpers>,
) -> Result<Parsed, Vec<syn::Error>> {
    let mut parser = Parser { helpers: helpers.clone(), ..Parser::default() };
    let mut outline = Outline { parser: &mut parser, depth: 0 };
    outline.visit_block(body);
    details.iter().for_each(|(_, expr)| outline.visit_expr(expr));
    // What is too deep for the first visitor is too deep for the next.
    if parser.is_too_deep {
        return Err(parser.errors);
    }
    let program = signature.program.iter().map(|name| (name, Type::Other));
    let params = || signature.params.iter().map(|param| (&param.ident, Type::Int(IntKind::Usize)));
    let main = parser.entry(&signature.ident, program.chain(params()), |parser| parser.block_expr(body));
    let mut functions_of_details = Vec::with_capacity(details.len());
    for (detail, expr) in details {
        let name = Ident::new(detail.name(), signature.ident.span());
        functions_of_details.push((*detail, parser.entry(&name, params(), |parser| parser.expr(expr))));
    }
    parser.used_helpers();
    if !parser.errors.is_empty() {
        return Err(parser.errors);
    }
    // A function without a body has left an error behind.
    let functions: Vec<Function> = parser.functions.into_iter().flatten().collect();
    let numbers: Vec<FunctionId> = functions_of_details.iter().map(|(_, function)| *function).collect();
    let closures: Vec<Closure> = parser.closures.into_iter().flatten().collect();
    let literals = infer(&functions, &closures, &numbers, &parser.literals).map_err(|wrong| {
        let error = |(span, message)| parser.spans.get(span).error(message);
        wrong.into_iter().map(error).collect::<Vec<syn::Error>>()
    })?;
    let ast = Ast { functions, closures, main, details: functions_of_details, calls: parser.calls, literals };
    let (mut buffers, mut named_in_helpers) = (Vec::new(), Vec::new());
    for (helper, path, name) in parser.buffers {
        match helper {
            Some(helper) => named_in_helpers.push((helper, path, name)),
            None => buffers.push((path, name)),
        }
    }
    Ok(Parsed { ast, spans: parser.spans, buffers, named_in_helpers })
}

#[derive(Default)]
struct Parser {
    spans: SpanTable,
    calls: Vec<CallSite>,
    /// A function is `None` between the moment its name is known and the moment its body is parsed.
    functions: Vec<Option<Function>>,
    /// The function at hand.
    function: FunctionId,
    closures: Vec<Option<Closure>>,
    /// The type parameters of the helper function at hand, and of those around it.
    generics: Vec<(String, Type)>,
    /// Types that the body declares, about which there is an error already.
    own_types: Vec<String>,
    scopes: Scopes,
    literals: Vec<LiteralInt>,
    buffers: Vec<(Option<HelperId>, syn::Path, KnownName)>,
    helpers: Rc<Helpers>,
    /// The helpers in use so far, in the order in which they were met.
    used: Vec<(HelperId, FunctionId)>,
    /// The helper that is being parsed.
    helper: Option<HelperId>,
    errors: Vec<syn::Error>,
    /// Expressions around the one at hand.
    depth: usize,
    is_too_deep: bool,
}

/// Expressions within expressions: the stack of the compiler is finite, and each has its own span and text.
const MAX_DEPTH: usize = 200;

impl Parser {
    /// A function that nothing in the algorithm can call.
    fn entry<'a>(
        &mut self,
        name: &Ident,
        params: impl Iterator<Item = (&'a Ident, Type)>,
        body: impl FnOnce(&mut Self) -> Expr,
    ) -> FunctionId {
        let id = self.declare();
        self.function(id, name, Type::Other, |parser| {
            let params = params.map(|(name, ty)| (Pattern::Bind(parser.scopes.bind(name)), ty)).collect();
            (params, body(parser))
        });
        id
    }

    /// Reserves the id of a function.
    fn declare(&mut self) -> FunctionId {
        self.functions.push(None);
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// Parses a function with a frame of its own.
    fn function(
        &mut self,
        id: FunctionId,
        name: &Ident,
        result: Type,
        parts: impl FnOnce(&mut Self) -> (Vec<(Pattern, Type)>, Expr),
    ) {
        let outer = self.scopes.enter_function();
        let around = std::mem::replace(&mut self.function, id);
        let (params, body) = parts(self);
        self.function = around;
        let slots = self.scopes.leave_function(outer);
        let name = name.unraw().to_string();
        self.functions[id.0 as usize] = Some(Function { name, params, slots, result, body });
    }

    fn span(&mut self, tokens: &impl ToTokens) -> SpanId {
        self.spans.add(SpanRange::of(tokens))
    }

    fn call_site(&mut self, method: &Ident, whole: &impl ToTokens) -> CallId {
        let start = method.span().start();
        let (method, span) = (self.span(method), self.span(whole));
        // Locations count columns from 1, spans from 0.
        let (line, column) = (start.line as u32, start.column as u32 + 1);
        self.calls.push(CallSite { line, column, method, span });
        CallId(self.calls.len() as u32 - 1)
    }

    fn error(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(SpanRange::of(at).error(message));
    }

    fn known(&mut self, path: &syn::Path, name: KnownName) {
        let text = |path: &syn::Path| path.to_token_stream().to_string();
        let is_known = |(helper, known, _): &(Option<HelperId>, syn::Path, KnownName)| {
            *helper == self.helper && text(known) == text(path)
        };
        if !self.buffers.iter().any(is_known) {
            self.buffers.push((self.helper, path.clone(), name));
        }
    }

    /// What a name means: something in the body, or in the module.
    fn lookup(&mut self, name: &str) -> Option<Name> {
        self.scopes.lookup(name).or_else(|| self.lookup_helper(name).map(Name::Item))
    }

    /// As [`Parser::lookup`], where only a constant is more than a new variable.
    fn lookup_constant(&mut self, name: &str) -> Option<FunctionId> {
        let found = match self.scopes.lookup(name) {
            Some(found) => Some(found),
            None => {
                let helper = self.helpers.find(name)?;
                let is_constant = matches!(self.helpers.get(helper), Some(Helper::Constant(_)));
                if is_constant { self.lookup_helper(name).map(Name::Item) } else { None }
            }
        };
        match found {
            Some(Name::Item(Item::Constant(id))) => Some(id),
            _ => None,
        }
    }

    /// A function or constant of the module; it is parsed after the algorithm.
    fn lookup_helper(&mut self, name: &str) -> Option<Item> {
        let helper = self.helpers.find(name)?;
        let known = self.used.iter().find(|(used, _)| *used == helper).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let id = self.declare();
            self.used.push((helper, id));
            id
        });
        Some(match self.helpers.get(helper)? {
            Helper::Function(function) => Item::Function { id, params: function.sig.inputs.len() },
            Helper::Constant(_) => Item::Constant(id),
        })
    }

    /// Parses the helpers in use, and those that they use.
    fn used_helpers(&mut self) {
        let helpers = self.helpers.clone();
        let mut next = 0;
        while let Some((helper, id)) = self.used.get(next).copied() {
            next += 1;
            self.helper = Some(helper);
            let mut outline = Outline { parser: self, depth: 0 };
            match helpers.get(helper) {
                Some(Helper::Function(function)) => {
                    outline.visit_item_fn(function);
                    if !self.is_too_deep {
                        self.helper(function, id);
                    }
                }
                Some(Helper::Constant(constant)) => {
                    outline.visit_item_const(constant);
                    if !self.is_too_deep {
                        self.constant(constant, id);
                    }
                }
                None => {}
            }
        }
        self.helper = None;
    }

    /// Records the first expression that is nested too deep.
    fn too_deep(&mut self, at: &impl ToTokens) {
        if !self.is_too_deep {
            self.is_too_deep = true;
            let message = format!(
                "this is nested more than {MAX_DEPTH} expressions deep, too much for build time: use a `for` loop, or \
                 give parts of it a name with `let`"
            );
            self.error(at, message);
        }
    }

    /// Records an error and gives the expression that stands for the one at fault.
    fn invalid(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) -> ExprKind {
        self.error(at, message);
        ExprKind::Invalid
    }
}

/// Looks at the whole once, before it is parsed, for what is nested too deep, and for attributes: others than those
/// for lints and documentation could change what the code means.
struct Outline<'a> {
    parser: &'a mut Parser,
    depth: usize,
}

impl<'ast> Visit<'ast> for Outline<'_> {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        if self.depth == MAX_DEPTH {
            self.parser.too_deep(expr);
            return;
        }
        self.depth += 1;
        syn::visit::visit_expr(self, expr);
        self.depth -= 1;
    }

    // There is an error about them as a whole.
    fn visit_item_struct(&mut self, _: &'ast syn::ItemStruct) {}

    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        const HARMLESS: [&str; 9] =
            ["must_use", "allow", "expect", "warn", "deny", "doc", "rustfmt", "clippy", "inline"];
        let first = attribute.path().segments.first();
        if !first.is_some_and(|segment| HARMLESS.iter().any(|name| segment.ident == name)) {
            self.parser.error(attribute, advice::ATTRIBUTE);
        }
    }
}
