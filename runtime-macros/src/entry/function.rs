//! Taking apart the function that an attribute stands on, as far as the attributes care.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::error::Error;
use crate::tokens::{Tokens, visible_group};

/// A function, cut where an attribute has something to look at, to leave out or to put in.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    /// What stands before `fn`, other than `async`: visibility, `unsafe`, `extern "C"`.
    pub(super) qualifiers: TokenStream,
    /// The word `async`.
    pub(super) asyncness: Option<Ident>,
    pub(super) keyword: Ident,
    pub(super) name: Ident,
    /// With the angle brackets, and empty without them.
    pub(super) generics: TokenStream,
    pub(super) arguments: Group,
    /// What stands behind the `->`.
    pub(super) output: Option<TokenStream>,
    /// The arrow and the output, and the `where` clause.
    pub(super) rest: TokenStream,
    /// Those at the beginning of the body, in the form that stands before the function.
    pub(super) inner_attributes: TokenStream,
    /// Nobody looks into it: that is quicker, and a body that an editor is in the middle of changing still expands.
    pub(super) body: Group,
}

pub(super) struct Attribute {
    pub(super) tokens: TokenStream,
    /// What stands in the brackets before any arguments, such as `test_log::test`, without spaces.
    path: String,
}

impl Attribute {
    /// Whether this is the `#[test]` of the language, by any of its names.
    ///
    /// Another crate's attribute may be called `test` too, and still leave a function alone that has this one already.
    pub(super) fn is_standard_test(&self) -> bool {
        let path = self.path.trim_start_matches("::");
        let of_prelude = path.starts_with("core::prelude::") || path.starts_with("std::prelude::");
        path == "test" || of_prelude && path.ends_with("::test")
    }

    /// Whether this attribute is known to be one of the language's.
    pub(super) fn is_of_the_language(&self) -> bool {
        const NAMES: [&str; 14] = [
            "allow",
            "cfg",
            "cold",
            "deny",
            "deprecated",
            "doc",
            "expect",
            "forbid",
            "ignore",
            "inline",
            "must_use",
            "should_panic",
            "track_caller",
            "warn",
        ];
        NAMES.contains(&&*self.path) || self.is_standard_test()
    }
}

impl Function {
    pub(super) fn parse(item: TokenStream) -> Result<Self, Error> {
        let mut tokens = Tokens::new(item);
        let attributes = attributes(&mut tokens);

        let mut qualifiers = TokenStream::new();
        let mut asyncness = None;
        let keyword = loop {
            tokens.open_invisible();
            match tokens.next() {
                Some(TokenTree::Ident(word)) if word == "fn" => break word,
                Some(TokenTree::Ident(word)) if word == "async" => asyncness = Some(word),
                Some(TokenTree::Ident(word)) if is_qualifier(&word) => qualifiers.extend([TokenTree::Ident(word)]),
                // Of `pub(crate)`, and of `extern "C"`.
                Some(token @ (TokenTree::Group(_) | TokenTree::Literal(_))) if !qualifiers.is_empty() => {
                    qualifiers.extend([token]);
                }
                other => return Err(Error::new(other, "expected `fn`")),
            }
        };

        tokens.open_invisible();
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) => name,
            other => return Err(Error::new(other, "expected the name of the function")),
        };
        let generics = if tokens.is_punct(0, '<') { tokens.all_of(Tokens::angle_brackets) } else { TokenStream::new() };
        let arguments = match tokens.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
            other => return Err(Error::new(other, "expected the arguments of the function")),
        };

        let mut signature: Vec<TokenTree> = tokens.collect();
        let body = match signature.pop() {
            Some(last) => visible_group(&last)
                .filter(|body| body.delimiter() == Delimiter::Brace)
                .ok_or_else(|| Error::new(last, "expected a function body"))?,
            None => return Err(Error::new(name, "expected a function body")),
        };
        let (inner_attributes, body) = split_inner_attributes(body);
        let rest: TokenStream = signature.into_iter().collect();
        Ok(Function {
            attributes,
            qualifiers,
            asyncness,
            keyword,
            name,
            generics,
            arguments,
            output: output(rest.clone()),
            rest,
            inner_attributes,
            body,
        })
    }
}

fn is_qualifier(word: &Ident) -> bool {
    ["pub", "crate", "const", "unsafe", "safe", "extern"].iter().any(|qualifier| word == qualifier)
}

fn attributes(tokens: &mut Tokens) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    loop {
        tokens.open_invisible();
        match (tokens.is_punct(0, '#'), tokens.peek(1)) {
            (true, Some(TokenTree::Group(brackets))) => {
                let path = path(brackets.stream());
                attributes.push(Attribute { tokens: tokens.read(2), path });
            }
            _ => return attributes,
        }
    }
}

fn path(attribute: TokenStream) -> String {
    let mut tokens = Tokens::new(attribute);
    let mut path = String::new();
    loop {
        tokens.open_invisible();
        match tokens.next() {
            Some(TokenTree::Ident(word)) => path += &word.to_string(),
            Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => path.push(':'),
            _ => return path,
        }
    }
}

/// The type in `-> type where ..`.
fn output(rest: TokenStream) -> Option<TokenStream> {
    let mut tokens = Tokens::new(rest);
    if !tokens.is_operator(['-', '>']) {
        return None;
    }
    tokens.read(2);
    let is_where = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "where");
    Some(tokens.take_while(|token| !is_where(token)).collect())
}

/// Takes the attributes `#![..]` off the beginning of the body, which becomes a block and may have none. As `#[..]`
/// before the function they mean the same.
fn split_inner_attributes(body: Group) -> (TokenStream, Group) {
    let mut tokens = Tokens::new(body.stream());
    let mut attributes = TokenStream::new();
    while tokens.is_punct(0, '#') && tokens.is_punct(1, '!') {
        attributes.extend(tokens.next());
        tokens.next();
        attributes.extend(tokens.next());
    }
    let mut rest = Group::new(Delimiter::Brace, tokens.collect());
    rest.set_span(body.span());
    (attributes, rest)
}
