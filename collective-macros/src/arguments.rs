//! The arguments of the attribute.
//!
//! ```text
//! #[collective(KIND, in_place, chunks = EXPR, defaults(NAME = N, …), build(NAME = N, …), options(…))]
//! ```

use collective_dsl::{CollectiveKind, ElementType, Size};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Meta, MetaNameValue, Token};

use crate::size::parse_bytes;
use crate::span::SpanRange;

/// What the attribute says. Each list is in the order in which it was written.
pub(crate) struct Arguments {
    pub(crate) kind: CollectiveKind,
    pub(crate) in_place: bool,
    pub(crate) chunks: Option<Expr>,
    pub(crate) defaults: Vec<Assignment>,
    pub(crate) builds: Vec<BuildArguments>,
    pub(crate) size: Size,
}

/// `NAME = N`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) value: usize,
}

/// One `build(…)`.
#[derive(Debug)]
pub(crate) struct BuildArguments {
    pub(crate) range: SpanRange,
    pub(crate) given: Vec<Assignment>,
    /// Whether all of it could be read.
    pub(crate) is_complete: bool,
}

/// What there is, for messages.
fn grammar() -> String {
    format!(
        "the arguments are the collective ({}), then any of in_place, out_of_place, chunks = …, defaults(…), build(…), \
         options(…)",
        kinds()
    )
}

fn kinds() -> String {
    CollectiveKind::ALL.map(CollectiveKind::name).join(", ")
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
        let mut reader =
            Reader { errors, kind: None, in_place: None, chunks: None, size: None, element: None };
        let (mut defaults, mut builds) = (None, Vec::new());
        for meta in &metas {
            match meta {
                Meta::Path(path) => reader.word(path),
                Meta::NameValue(pair) if pair.path.is_ident("chunks") => {
                    reader.once(meta, |reader| &mut reader.chunks, pair.value.clone());
                }
                Meta::List(list) if list.path.is_ident("defaults") => {
                    let values = reader.assignments(&list.tokens);
                    if defaults.replace(values).is_some() {
                        reader.error(meta, "`defaults` is given twice: put all values into one");
                    }
                }
                Meta::List(list) if list.path.is_ident("build") => {
                    let errors = reader.errors.len();
                    let given = reader.assignments(&list.tokens);
                    let is_complete = reader.errors.len() == errors;
                    builds.push(BuildArguments { range: SpanRange::of(meta), given, is_complete });
                }
                Meta::List(list) if list.path.is_ident("options") => reader.options(&list.tokens),
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
        let element = reader.element.unwrap_or_default();
        let size = Size::bytes(reader.size.unwrap_or(1 << 20)).with_type(element);
        if let Err(error) = size.elements() {
            reader.errors.push(syn::Error::new(Span::call_site(), error));
        }
        Self {
            kind,
            in_place: reader.in_place.unwrap_or(false),
            chunks: reader.chunks,
            defaults: defaults.unwrap_or_default(),
            builds,
            size,
        }
    }
}

struct Reader<'a> {
    errors: &'a mut Vec<syn::Error>,
    kind: Option<CollectiveKind>,
    in_place: Option<bool>,
    chunks: Option<Expr>,
    size: Option<u64>,
    element: Option<ElementType>,
}

impl Reader<'_> {
    fn error(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(SpanRange::of(at).error(message));
    }

    /// Stores an argument that may stand only once.
    fn once<T>(&mut self, at: &impl ToTokens, field: impl Fn(&mut Self) -> &mut Option<T>, value: T) {
        if field(self).replace(value).is_some() {
            self.error(at, "this is given twice: remove one");
        }
    }

    /// The collective, `in_place` or `out_of_place`.
    fn word(&mut self, path: &syn::Path) {
        let word = path.get_ident().map(ToString::to_string).unwrap_or_default();
        match (CollectiveKind::from_name(&word), word.as_str()) {
            (Some(kind), _) => self.once(path, |reader| &mut reader.kind, kind),
            (_, "in_place") => self.once(path, |reader| &mut reader.in_place, true),
            (_, "out_of_place") => self.once(path, |reader| &mut reader.in_place, false),
            (_, "build" | "defaults" | "options") => {
                self.error(path, format!("`{word}` needs its values in parentheses"));
            }
            _ => self.error(path, format!("`{word}` is no argument of `collective`: {}", grammar())),
        }
    }

    /// `NAME = N, …`, each name once.
    fn assignments(&mut self, tokens: &TokenStream) -> Vec<Assignment> {
        let mut assignments: Vec<Assignment> = Vec::new();
        for pair in self.pairs(tokens) {
            let Some(ident) = pair.path.get_ident() else {
                self.error(&pair.path, "write `name = number`");
                continue;
            };
            let value = match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse::<usize>().ok(),
                _ => None,
            };
            let Some(value) = value else {
                self.error(&pair.value, "the value of a parameter is a whole number, such as 8");
                continue;
            };
            let name = ident.unraw().to_string();
            if assignments.iter().any(|known| known.name == name) {
                self.error(&pair, format!("`{name}` is given twice: remove one"));
                continue;
            }
            assignments.push(Assignment { ident: ident.clone(), name, value });
        }
        assignments
    }

    /// `size = "1MiB", element_type = "f32"`.
    fn options(&mut self, tokens: &TokenStream) {
        for pair in self.pairs(tokens) {
            let name = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "size" => match read_size(&pair.value) {
                    Ok(bytes) => self.once(&pair, |reader| &mut reader.size, bytes),
                    Err(message) => self.error(&pair.value, message),
                },
                "element_type" => match read_element(&pair.value) {
                    Ok(element) => self.once(&pair, |reader| &mut reader.element, element),
                    Err(message) => self.error(&pair.value, message),
                },
                _ => self.error(
                    &pair.path,
                    format!("there is no option `{name}`; there are size and element_type"),
                ),
            }
        }
    }

    fn pairs(&mut self, tokens: &TokenStream) -> Vec<MetaNameValue> {
        match Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(tokens.clone()) {
            Ok(pairs) => pairs.into_iter().collect(),
            Err(error) => {
                self.errors.push(syn::Error::new(error.span(), format!("{error}; write `name = value, …`")));
                Vec::new()
            }
        }
    }
}

fn read_size(value: &Expr) -> Result<u64, String> {
    let wanted = "a size is a number of bytes, or a text such as \"1MiB\" or \"64KB\"";
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(bytes), .. }) => {
            bytes.base10_parse().map_err(|_| wanted.to_owned())
        }
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            parse_bytes(&text.value()).ok_or_else(|| wanted.to_owned())
        }
        _ => Err(wanted.to_owned()),
    }
}

fn read_element(value: &Expr) -> Result<ElementType, String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            text.value().parse().map_err(|error| format!("{error}"))
        }
        _ => Err("an element type is a text such as \"f32\"".to_owned()),
    }
}
