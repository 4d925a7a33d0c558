//! The arguments of the attribute.
//!
//! ```text
//! #[collective(KIND, in_place, chunks = EXPR, root = EXPR, …, defaults(NAME = N, …), build(NAME = N, …), options(…))]
//! ```

use collective_dsl::embedded::DEFAULT_BUDGET;
use collective_dsl::msccl::Target;
use collective_dsl::{CollectiveKind, ElementType, Options, Protocol, Replication, Setting, Size};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, Meta, MetaList, MetaNameValue, Token};

use crate::detail::{Detail, impossible};
use crate::show::Show;
use crate::span::SpanRange;
use crate::values::{
    self, read_bool, read_budget, read_instances, read_name, read_show, read_size, whole_number,
};

/// What the attribute says. Each list is in the order in which it was written.
pub(crate) struct Arguments {
    pub(crate) kind: CollectiveKind,
    pub(crate) in_place: bool,
    /// In the order of [`Detail`].
    pub(crate) details: Vec<(Detail, Expr)>,
    pub(crate) defaults: Vec<Assignment>,
    pub(crate) builds: Vec<BuildArguments>,
    /// How the program is lowered.
    pub(crate) options: Options,
    /// What the embedded traces are for.
    pub(crate) size: Size,
    /// The runtime whose limits hold.
    pub(crate) target: Option<Target>,
    /// The most bytes of traces that are embedded as they are.
    pub(crate) budget: u64,
    /// Whether tests are generated.
    pub(crate) tests: bool,
    /// What is written to the target folder.
    pub(crate) show: Show,
}

/// `NAME = N`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) value: usize,
}

/// `NAME = N`, `NAME = [N, …]` or `NAME = N..=N`.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    /// At least one, each once, in the order in which they stand.
    pub(crate) values: Vec<usize>,
}

/// One `build(…)`: an instance for each combination of values.
#[derive(Debug)]
pub(crate) struct BuildArguments {
    pub(crate) range: SpanRange,
    pub(crate) given: Vec<Choice>,
    /// Whether all of it could be read.
    pub(crate) is_complete: bool,
}

/// The size of the traces where none is given.
pub(crate) const DEFAULT_BYTES: u64 = 1 << 20;

/// What there is, for messages.
fn grammar() -> String {
    format!(
        "the arguments are the collective ({}), then any of in_place, out_of_place, {}, defaults(…), build(…), options(…), \
         show = …",
        kinds(),
        Detail::ALL.map(|detail| format!("{} = …", detail.name())).join(", ")
    )
}

fn kinds() -> String {
    let kinds = CollectiveKind::ALL.iter().filter(|kind| **kind != CollectiveKind::AllToAllV);
    kinds.map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl Arguments {
    /// Reads as much as there is; what is wrong goes to `errors`.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Vec<syn::Error>) -> Self {
        let metas = match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(metas) => metas,
            Err(error) => {
                errors.push(syn::Error::new(error.span(), format!("{error}; {}", grammar())));
                Punctuated::new()
            }
        };
        let mut reader = Reader::new(errors);
        let (mut defaults, mut builds) = (None, Vec::new());
        for meta in &metas {
            match meta {
                Meta::Path(path) => reader.word(path),
                Meta::NameValue(pair) if pair.path.is_ident("show") => {
                    reader.option(pair, |reader| &mut reader.show, read_show);
                }
                Meta::NameValue(pair) => reader.detail(pair),
                Meta::List(list) if list.path.is_ident("defaults") => {
                    let values = reader.assignments(list);
                    if defaults.replace(values).is_some() {
                        reader.error(meta, "`defaults` is given twice: put all values into one");
                    }
                }
                Meta::List(list) if list.path.is_ident("build") => {
                    let errors = reader.errors.len();
                    let given = reader.choices(list);
                    let is_complete = reader.errors.len() == errors;
                    builds.push(BuildArguments { range: SpanRange::of(meta), given, is_complete });
                }
                Meta::List(list) if list.path.is_ident("options") => reader.options(list),
                _ => reader.error(meta, format!("this is no argument of `collective`: {}", grammar())),
            }
        }
        let kind = reader.kind.unwrap_or_else(|| {
            let missing = format!(
                "say which collective this is, as in `#[collective(all_reduce)]`: one of {}",
                kinds()
            );
            // An argument that could not be read may have been the collective.
            if reader.errors.is_empty() {
                reader.errors.push(syn::Error::new(Span::call_site(), missing));
            }
            CollectiveKind::AllReduce
        });
        reader.check_kind();
        let element = reader.element.unwrap_or_default();
        let size = Size::bytes(reader.size.unwrap_or(DEFAULT_BYTES)).with_type(element);
        if let Err(error) = size.elements() {
            reader.errors.push(syn::Error::new(Span::call_site(), error));
        }
        let mut details = reader.details;
        details.sort_by_key(|(detail, _)| *detail);
        let default = Options::default();
        Self {
            kind,
            in_place: reader.in_place.is_some_and(|(in_place, _)| in_place),
            details: details.into_iter().map(|(detail, pair)| (detail, pair.value)).collect(),
            defaults: defaults.unwrap_or_default(),
            builds,
            options: Options {
                protocol: reader.protocol.unwrap_or(default.protocol),
                instances: reader.instances.unwrap_or(default.instances),
                replication: reader.replication.unwrap_or(default.replication),
                fusion: reader.fusion.unwrap_or(default.fusion),
            },
            size,
            target: reader.target,
            budget: reader.budget.unwrap_or(DEFAULT_BUDGET),
            tests: reader.tests.unwrap_or(true),
            show: reader.show.unwrap_or_default(),
        }
    }
}

/// The name of an argument, with or without a value.
fn name_of(at: &impl ToTokens) -> String {
    at.to_token_stream().into_iter().next().map(|name| name.to_string()).unwrap_or_default()
}

struct Reader<'a> {
    errors: &'a mut Vec<syn::Error>,
    kind: Option<CollectiveKind>,
    in_place: Option<(bool, SpanRange)>,
    details: Vec<(Detail, MetaNameValue)>,
    size: Option<u64>,
    element: Option<ElementType>,
    protocol: Option<Protocol>,
    instances: Option<u32>,
    replication: Option<Replication>,
    fusion: Option<bool>,
    target: Option<Target>,
    budget: Option<u64>,
    tests: Option<bool>,
    show: Option<Show>,
}

impl<'a> Reader<'a> {
    fn new(errors: &'a mut Vec<syn::Error>) -> Self {
        Self {
            errors,
            kind: None,
            in_place: None,
            details: Vec::new(),
            size: None,
            element: None,
            protocol: None,
            instances: None,
            replication: None,
            fusion: None,
            target: None,
            budget: None,
            tests: None,
            show: None,
        }
    }

    fn error(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(SpanRange::of(at).error(message));
    }

    /// Stores an argument that may stand only once.
    fn once<T>(&mut self, at: &impl ToTokens, field: impl Fn(&mut Self) -> &mut Option<T>, value: T) {
        if field(self).replace(value).is_some() {
            let name = name_of(at);
            self.error(at, format!("`{name}` is given twice: remove one"));
        }
    }

    /// The collective, `in_place` or `out_of_place`.
    fn word(&mut self, path: &syn::Path) {
        let word = path.get_ident().map(ToString::to_string).unwrap_or_default();
        let range = SpanRange::of(path);
        match (CollectiveKind::from_name(&word), word.as_str()) {
            (Some(CollectiveKind::AllToAllV), _) => self.error(
                path,
                "the size table of all-to-all-v cannot be an argument: leave out `#[collective]`, and call the \
                 function at run time with `Program::new(collective::Collective::all_to_all_v(&table)?)`, where \
                 `table: Vec<Vec<usize>>` has the chunks from each rank to each rank",
            ),
            (Some(kind), _) => match self.kind {
                Some(known) if known != kind => self.error(
                    path,
                    format!("the collective is already {}: remove one of the two", known.name()),
                ),
                _ => self.once(path, |reader| &mut reader.kind, kind),
            },
            (_, "in_place" | "out_of_place") if self.is_placed_otherwise(&word) => {
                self.error(path, "`in_place` and `out_of_place` exclude each other: remove one");
            }
            (_, "in_place") => self.once(path, |reader| &mut reader.in_place, (true, range)),
            (_, "out_of_place") => self.once(path, |reader| &mut reader.in_place, (false, range)),
            (_, "build" | "defaults" | "options") => {
                self.error(path, format!("`{word}` needs its values in parentheses"));
            }
            _ => self.error(path, format!("`{word}` is no argument of `collective`: {}", grammar())),
        }
    }

    /// Whether the other one of `in_place` and `out_of_place` stands before.
    fn is_placed_otherwise(&self, word: &str) -> bool {
        self.in_place.is_some_and(|(in_place, _)| in_place != (word == "in_place"))
    }

    /// `chunks = EXPR` and its like.
    fn detail(&mut self, pair: &MetaNameValue) {
        let Some(detail) = Detail::ALL.into_iter().find(|detail| pair.path.is_ident(detail.name())) else {
            return self.error(pair, format!("this is no argument of `collective`: {}", grammar()));
        };
        if self.details.iter().any(|(known, _)| *known == detail) {
            return self.error(pair, format!("`{}` is given twice: remove one", detail.name()));
        }
        self.details.push((detail, pair.clone()));
    }

    /// Whether the collective has what the other arguments say of it.
    fn check_kind(&mut self) {
        let Some(kind) = self.kind else { return };
        if let Some((true, range)) = self.in_place
            && let Some(refusal) = impossible(&Setting { in_place: true, ..Setting::new("", kind, 2) })
        {
            self.errors.push(range.error(format!("{refusal}: remove `in_place`")));
        }
        for (detail, pair) in &self.details {
            if let Some(refusal) = detail.refusal(kind) {
                self.errors.push(SpanRange::of(pair).error(refusal));
            }
        }
    }

    /// The names of `NAME = …, …`, each once.
    fn named(&mut self, list: &MetaList) -> Vec<(Ident, String, Expr)> {
        let mut named: Vec<(Ident, String, Expr)> = Vec::new();
        for pair in self.pairs(list) {
            let Some(ident) = pair.path.get_ident() else {
                self.error(&pair.path, "write `name = number`");
                continue;
            };
            let name = ident.unraw().to_string();
            if named.iter().any(|(_, known, _)| *known == name) {
                self.error(&pair, format!("`{name}` is given twice: remove one"));
                continue;
            }
            named.push((ident.clone(), name, pair.value));
        }
        named
    }

    /// `NAME = N, …`.
    fn assignments(&mut self, list: &MetaList) -> Vec<Assignment> {
        let mut assignments = Vec::new();
        for (ident, name, value) in self.named(list) {
            match whole_number(&value) {
                Some(value) => assignments.push(Assignment { ident, name, value }),
                None => self.error(&value, "the value of a parameter is a whole number, such as 8"),
            }
        }
        assignments
    }

    /// `NAME = N, NAME = [N, …], NAME = N..=N, …`.
    fn choices(&mut self, list: &MetaList) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (ident, name, value) in self.named(list) {
            match values::read_values(&value) {
                Ok(values) => choices.push(Choice { ident, name, values }),
                Err(error) => self.errors.push(error),
            }
        }
        choices
    }

    /// `size = "1MiB", element_type = "f32", protocol = "LL", instances = 2, replication = "blocked"`.
    fn options(&mut self, list: &MetaList) {
        for pair in self.pairs(list) {
            let name = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "size" => self.option(&pair, |reader| &mut reader.size, read_size),
                "element_type" => self.option(
                    &pair,
                    |reader| &mut reader.element,
                    |value| read_name(value, "an element type is a text such as \"f32\""),
                ),
                "protocol" => self.option(
                    &pair,
                    |reader| &mut reader.protocol,
                    |value| {
                        read_name(value, "a protocol is one of the texts \"Simple\", \"LL\" and \"LL128\"")
                    },
                ),
                "instances" => self.option(&pair, |reader| &mut reader.instances, read_instances),
                "replication" => self.option(
                    &pair,
                    |reader| &mut reader.replication,
                    |value| {
                        read_name(value, "a replication is one of the texts \"interleaved\" and \"blocked\"")
                    },
                ),
                "fusion" => self.option(&pair, |reader| &mut reader.fusion, |value| read_bool(value, "fusion")),
                "target" => self.option(
                    &pair,
                    |reader| &mut reader.target,
                    |value| {
                        read_name(value, "a target is one of the texts \"msccl\", \"msccl-executor\" and \"rccl\"")
                    },
                ),
                "embed" => self.option(&pair, |reader| &mut reader.budget, read_budget),
                "test" => self.option(&pair, |reader| &mut reader.tests, |value| read_bool(value, "test")),
                _ => self.error(
                    &pair.path,
                    format!(
                        "there is no option `{name}`; there are size, element_type, protocol, instances, replication, \
                         fusion, target, embed and test"
                    ),
                ),
            }
        }
    }

    /// Reads the value of an option, which may stand only once.
    fn option<T>(
        &mut self,
        pair: &MetaNameValue,
        field: impl Fn(&mut Self) -> &mut Option<T>,
        read: impl FnOnce(&Expr) -> Result<T, String>,
    ) {
        match read(&pair.value) {
            Ok(value) => self.once(pair, field, value),
            Err(message) => self.error(&pair.value, message),
        }
    }

    fn pairs(&mut self, list: &MetaList) -> Vec<MetaNameValue> {
        // With the list, so that the error about a missing value stands at its end.
        match list.parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated) {
            Ok(pairs) => pairs.into_iter().collect(),
            Err(error) => {
                let example = if list.path.is_ident("options") { "size = \"64KiB\"" } else { "ranks = 8" };
                let message = format!("{error}; write `name = value, …`, such as `{example}`");
                self.errors.push(syn::Error::new(error.span(), message));
                Vec::new()
            }
        }
    }
}
