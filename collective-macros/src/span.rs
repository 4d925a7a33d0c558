//! Places in the user's source, so that they survive from parsing to the error message.

use proc_macro2::{Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The first and the last token of something. On stable Rust two spans cannot be joined; an error that
/// is made of two tokens is underlined from the one to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanRange {
    first: Span,
    last: Span,
}

impl SpanRange {
    pub(crate) fn of(tokens: &impl ToTokens) -> Self {
        let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
        let first = spans.next().unwrap_or_else(Span::call_site);
        Self { first, last: spans.last().unwrap_or(first) }
    }

    pub(crate) fn error(self, message: impl std::fmt::Display) -> syn::Error {
        let token = |span| {
            let mut punct = Punct::new('.', Spacing::Alone);
            punct.set_span(span);
            TokenTree::from(punct)
        };
        let tokens: TokenStream = [token(self.first), token(self.last)].into_iter().collect();
        syn::Error::new_spanned(tokens, message)
    }

    /// The first token.
    pub(crate) fn first(self) -> Span {
        self.first
    }

    /// The line of the first token, counted from 1.
    pub(crate) fn line(self) -> usize {
        self.first.start().line
    }
}

impl From<Span> for SpanRange {
    fn from(span: Span) -> Self {
        Self { first: span, last: span }
    }
}

/// A place in a [`SpanTable`]. Spans of the compiler belong to its thread, and evaluation runs on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpanId(u32);

/// All places that an error may have to name.
#[derive(Debug, Default)]
pub(crate) struct SpanTable {
    ranges: Vec<SpanRange>,
}

impl SpanTable {
    pub(crate) fn add(&mut self, range: SpanRange) -> SpanId {
        self.ranges.push(range);
        SpanId(self.ranges.len() as u32 - 1)
    }

    pub(crate) fn get(&self, id: SpanId) -> SpanRange {
        self.ranges[id.0 as usize]
    }
}
