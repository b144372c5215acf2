//! Reading tokens one after the other.
//!
//! The macros split what the user wrote into parts, and leave it to the compiler to parse the parts. So they need no
//! parser for Rust: a [`Tokens`] with some look-ahead, and [`Tokens::expression`], which finds where an expression
//! ends.

mod expression;

use std::vec::IntoIter;

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The tokens that are still to be read.
#[derive(Clone)]
pub(crate) struct Tokens(IntoIter<TokenTree>);

impl Tokens {
    pub(crate) fn new(tokens: TokenStream) -> Self {
        Tokens(tokens.into_iter().collect::<Vec<_>>().into_iter())
    }

    /// The token that is `ahead` tokens behind the next one.
    pub(crate) fn peek(&self, ahead: usize) -> Option<&TokenTree> {
        self.0.as_slice().get(ahead)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    pub(crate) fn is_punct(&self, ahead: usize, character: char) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    /// Whether an operator of two characters, such as `=>`, comes next.
    pub(crate) fn is_operator(&self, operator: [char; 2]) -> bool {
        let joint = matches!(self.peek(0), Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint);
        joint && self.is_punct(0, operator[0]) && self.is_punct(1, operator[1])
    }

    pub(crate) fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Ident(ident)) if ident == word)
    }

    pub(crate) fn is_group(&self, delimiter: Delimiter) -> bool {
        matches!(self.peek(0), Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
    }

    /// Reads as many tokens, or all there are.
    pub(crate) fn read(&mut self, count: usize) -> TokenStream {
        self.0.by_ref().take(count).collect()
    }

    /// Reads what `read` reads, and returns it as tokens.
    pub(crate) fn all_of(&mut self, read: impl FnOnce(&mut Self)) -> TokenStream {
        let mut after = self.clone();
        read(&mut after);
        self.read(self.0.len() - after.0.len())
    }

    /// Opens the invisible groups at the front, in which `macro_rules!` puts a fragment such as `$vis` or `$item`.
    pub(crate) fn open_invisible(&mut self) {
        while self.is_group(Delimiter::None)
            && let Some(TokenTree::Group(group)) = self.0.next()
        {
            *self = Tokens(group.stream().into_iter().chain(self.0.by_ref()).collect::<Vec<_>>().into_iter());
        }
    }

    /// Reads `< .. >` to the closing bracket. The one of an arrow closes nothing.
    pub(crate) fn angle_brackets(&mut self) {
        let mut depth = 0usize;
        while !self.is_empty() {
            if self.is_operator(['-', '>']) {
                self.read(2);
                continue;
            }
            depth += usize::from(self.is_punct(0, '<'));
            if self.is_punct(0, '>') {
                depth -= 1;
            }
            self.read(1);
            if depth == 0 {
                break;
            }
        }
    }
}

impl Iterator for Tokens {
    type Item = TokenTree;

    fn next(&mut self) -> Option<TokenTree> {
        self.0.next()
    }
}

impl ToTokens for Tokens {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.clone());
    }
}

/// The group inside any number of invisible ones, if that is all there is in them.
pub(crate) fn visible_group(token: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else { return None };
    if group.delimiter() != Delimiter::None {
        return Some(group.clone());
    }
    let mut inside = group.stream().into_iter();
    let only = inside.next()?;
    if inside.next().is_some() { None } else { visible_group(&only) }
}

/// Where the user wrote an expression that may come wrapped in invisible groups.
pub(crate) fn first_span(tokens: TokenStream) -> Span {
    match tokens.into_iter().next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => first_span(group.stream()),
        Some(token) => token.span(),
        None => Span::call_site(),
    }
}
