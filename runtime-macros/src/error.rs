//! Errors at the user's tokens.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// A message, and the first and last of the tokens that it is about.
pub(crate) struct Error {
    pub(crate) first: Span,
    pub(crate) last: Span,
    pub(crate) message: String,
}

impl Error {
    /// An error about these tokens, or about the whole use of the macro if there are none.
    pub(crate) fn new(tokens: impl ToTokens, message: impl Into<String>) -> Self {
        let mut tokens = tokens.into_token_stream().into_iter();
        let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
        let last = tokens.last().map_or(first, |token| token.span());
        Error { first, last, message: message.into() }
    }

    /// `::core::compile_error! { message }`. The compiler underlines from the span of the first token to that of the
    /// last.
    pub(crate) fn into_compile_error(self) -> TokenStream {
        let Error { first, last, message } = self;
        let punct = |character, spacing| {
            let mut punct = Punct::new(character, spacing);
            punct.set_span(first);
            TokenTree::Punct(punct)
        };
        let mut message = Literal::string(&message);
        message.set_span(last);
        let mut braces = Group::new(Delimiter::Brace, message.into_token_stream());
        braces.set_span(last);
        [
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("core", first).into(),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("compile_error", first).into(),
            punct('!', Spacing::Alone),
            braces.into(),
        ]
        .into_iter()
        .collect()
    }
}

/// Collects errors, so that all the mistakes in one attribute show up in one build.
#[derive(Default)]
pub(crate) struct Errors(TokenStream);

impl Errors {
    pub(crate) fn report(&mut self, tokens: impl ToTokens, message: impl Into<String>) {
        self.push(Error::new(tokens, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.extend(error.into_compile_error());
    }

    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0
    }
}
