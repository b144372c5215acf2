//! What stands in the parentheses of `#[rt::main(..)]`, `#[rt::test(..)]` and their namesakes of the drop-in.
//!
//! A wrong option never stops the expansion: it is reported and then treated as if it were absent, so that the function
//! below it is still a function and the one message is not followed by others that it caused.

mod value;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use super::{Attribute, Facade, Kind};
use crate::error::Errors;

const OPTIONS: [&str; 6] = ["flavor", "worker_threads", "start_paused", "unhandled_panic", "name", "crate"];
// A `current_thread` runtime is local, too: see `run_on_runtime`.
const FLAVORS: [&str; 3] = ["multi_thread", "current_thread", "local"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    MultiThread,
    CurrentThread,
}

pub(super) struct Options {
    pub(super) flavor: Flavor,
    pub(super) worker_threads: Option<usize>,
    pub(super) start_paused: Option<bool>,
    /// A variant of `UnhandledPanic`.
    pub(super) unhandled_panic: Option<&'static str>,
    /// What the runtime is called.
    pub(super) name: Option<String>,
    /// The path under which the user's crate knows the facade.
    pub(super) facade: TokenStream,
}

/// One option that was given a usable value, and the token that names it, for complaints about combinations.
struct Given<T> {
    name: Ident,
    value: T,
}

/// What has been read so far. The outer `Option` of each says whether the option was written at all, the inner one
/// whether its value made sense.
#[derive(Default)]
struct Parsed {
    flavor: Option<Option<Flavor>>,
    worker_threads: Option<Option<Given<usize>>>,
    start_paused: Option<Option<Given<bool>>>,
    unhandled_panic: Option<Option<Given<&'static str>>>,
    name: Option<Option<String>>,
    facade: Option<Option<TokenStream>>,
}

pub(super) fn parse(attribute: Attribute, tokens: TokenStream, errors: &mut Errors) -> Options {
    let mut parsed = Parsed::default();
    for piece in split_at_commas(tokens, errors) {
        parsed.read(piece, errors);
    }
    parsed.finish(attribute, errors)
}

impl Parsed {
    /// Reads one `name = value`.
    fn read(&mut self, piece: Vec<TokenTree>, errors: &mut Errors) {
        let mut piece = piece.into_iter();
        let name = match piece.next() {
            Some(TokenTree::Ident(name)) => name,
            other => {
                let message = format!("expected `option = value`; the options are {}", list(&OPTIONS));
                return errors.report(other, message);
            }
        };
        let text = name.to_string();

        if !OPTIONS.contains(&text.as_str()) {
            let message = if FLAVORS.contains(&text.as_str()) {
                format!("a flavor is given by name: write `flavor = \"{text}\"`")
            } else {
                let options = list(&OPTIONS);
                match nearest(&text, &OPTIONS) {
                    Some(near) => format!("unknown option `{text}`, did you mean `{near}`? The options are {options}"),
                    None => format!("unknown option `{text}`: the options are {options}"),
                }
            };
            return errors.report(name, message);
        }

        let value: TokenStream = match piece.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => piece.collect(),
            _ => TokenStream::new(),
        };
        if value.is_empty() {
            let message = format!("`{text}` needs a value: write `{}`", example(&text));
            return errors.report(name, message);
        }

        let (value, next) = split_at_next_option(value);
        if let Some(next) = next {
            errors.report(next.first().cloned(), "a comma is missing before this option");
            self.read(next, errors);
        }

        let first_time = match text.as_str() {
            "flavor" => self.flavor.replace(flavor(value, errors)).is_none(),
            "worker_threads" => {
                let value = worker_threads(value, errors).map(|value| Given { name: name.clone(), value });
                self.worker_threads.replace(value).is_none()
            }
            "start_paused" => {
                let value = start_paused(value, errors).map(|value| Given { name: name.clone(), value });
                self.start_paused.replace(value).is_none()
            }
            "unhandled_panic" => {
                let value = unhandled_panic(value, errors).map(|value| Given { name: name.clone(), value });
                self.unhandled_panic.replace(value).is_none()
            }
            "name" => self.name.replace(runtime_name(value, errors)).is_none(),
            _ => self.facade.replace(facade(value, errors)).is_none(),
        };
        if !first_time {
            errors.report(name, format!("`{text}` is given twice: remove one of them"));
        }
    }

    /// Checks the options against each other, and fills in what was left out.
    fn finish(self, attribute: Attribute, errors: &mut Errors) -> Options {
        let default = match attribute.kind {
            Kind::Main => Flavor::MultiThread,
            Kind::Test => Flavor::CurrentThread,
        };
        // A flavor that could not be read says nothing about which options go with it.
        let unreadable_flavor = self.flavor == Some(None);
        let flavor = self.flavor.flatten().unwrap_or(default);
        let worker_threads = self.worker_threads.flatten();
        let start_paused = self.start_paused.flatten();
        let unhandled_panic = self.unhandled_panic.flatten();

        if !unreadable_flavor
            && flavor == Flavor::CurrentThread
            && let Some(Given { name, .. }) = &worker_threads
        {
            let why = match attribute.kind {
                Kind::Test => "the `multi_thread` flavor, and a test is `current_thread` by default",
                Kind::Main => "the `multi_thread` flavor",
            };
            let message = format!("`worker_threads` needs {why}: add `flavor = \"multi_thread\"`, or remove it");
            errors.report(name, message);
        }
        if !unreadable_flavor
            && flavor == Flavor::MultiThread
            && let Some(Given { name, .. }) = &start_paused
        {
            let message = "`start_paused` needs the `current_thread` flavor, the only one whose clock can stand still: \
                           add `flavor = \"current_thread\"`, or remove it";
            errors.report(name, message);
        }

        if !unreadable_flavor
            && flavor == Flavor::MultiThread
            && let Some(Given { name, .. }) = &unhandled_panic
        {
            let message = "`unhandled_panic` needs the `current_thread` flavor: add `flavor = \"current_thread\"`, or \
                           remove it";
            errors.report(name, message);
        }

        let facade = match (self.facade.flatten(), attribute.facade) {
            (Some(path), _) => path,
            // With the leading colons a module of the user's that happens to be called `rt` is not in the way.
            (None, Facade::Rt) => quote_spanned!(Span::call_site()=> ::rt),
            // Without them, as in Tokio's own: a crate that has Tokio from another one writes `use other::tokio;`, and
            // expects the attribute to find it.
            (None, Facade::Tokio) => quote_spanned!(Span::call_site()=> tokio),
        };
        Options {
            flavor,
            worker_threads: worker_threads.map(|given| given.value),
            start_paused: start_paused.map(|given| given.value),
            unhandled_panic: unhandled_panic.map(|given| given.value),
            name: self.name.flatten(),
            facade,
        }
    }
}

/// The value of an option, and what comes behind it if that is another option with its own.
fn split_at_next_option(value: TokenStream) -> (TokenStream, Option<Vec<TokenTree>>) {
    let mut tokens: Vec<_> = value.into_iter().collect();
    let begins_option = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(_), TokenTree::Punct(punct)] => punct.as_char() == '=',
        _ => false,
    };
    let next = tokens.windows(2).skip(1).position(begins_option).map(|at| tokens.split_off(at + 1));
    (tokens.into_iter().collect(), next)
}

fn flavor(value: TokenStream, errors: &mut Errors) -> Option<Flavor> {
    let Some(name) = value::string(value.clone()) else {
        let text = value.to_string();
        let name = if FLAVORS.contains(&text.as_str()) { &text } else { FLAVORS[0] };
        errors.report(value, format!("a flavor is a string: write `flavor = \"{name}\"`"));
        return None;
    };
    match name.as_str() {
        "multi_thread" => Some(Flavor::MultiThread),
        "current_thread" | "local" => Some(Flavor::CurrentThread),
        other => {
            let message = match nearest(other, &FLAVORS) {
                Some(near) => format!("unknown flavor, did you mean `{near}`? The flavors are {}", list(&FLAVORS)),
                None => format!("unknown flavor: the flavors are {}", list(&FLAVORS)),
            };
            errors.report(value, message);
            None
        }
    }
}

fn worker_threads(value: TokenStream, errors: &mut Errors) -> Option<usize> {
    match value::number(value.clone()) {
        Some(0) => {
            errors.report(value, "a runtime needs at least one worker: write `worker_threads = 1`, or more");
            None
        }
        Some(number) => Some(number),
        None => {
            let message = "`worker_threads` takes a whole number, such as `worker_threads = 4`; a number known only \
                           at run time goes to `runtime::Builder::worker_threads`";
            errors.report(value, message);
            None
        }
    }
}

fn start_paused(value: TokenStream, errors: &mut Errors) -> Option<bool> {
    let paused = value.to_string().parse().ok();
    if paused.is_none() {
        errors.report(value, "`start_paused` takes `true` or `false`: write `start_paused = true`");
    }
    paused
}

fn unhandled_panic(value: TokenStream, errors: &mut Errors) -> Option<&'static str> {
    let behavior = match value::string(value.clone()).as_deref() {
        Some("ignore") => Some("Ignore"),
        Some("shutdown_runtime") => Some("ShutdownRuntime"),
        _ => None,
    };
    if behavior.is_none() {
        errors.report(value, "`unhandled_panic` takes `\"ignore\"` or `\"shutdown_runtime\"`");
    }
    behavior
}

fn runtime_name(value: TokenStream, errors: &mut Errors) -> Option<String> {
    let name = value::string(value.clone()).filter(|name| !name.trim().is_empty());
    if name.is_none() {
        errors.report(value, "the name of a runtime is a string that is not empty: write `name = \"my-runtime\"`");
    }
    name
}

fn facade(value: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let path = value::path(value.clone());
    if path.is_none() {
        errors.report(value, "`crate` takes the path under which rt is known here: write `crate = my_rt`");
    }
    path
}

/// The pieces between top-level commas. A comma at the end is fine; one with nothing before it is not.
fn split_at_commas(tokens: TokenStream, errors: &mut Errors) -> Vec<Vec<TokenTree>> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    for token in flatten(tokens) {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                if piece.is_empty() {
                    errors.report(comma, "expected `option = value` before this comma");
                } else {
                    pieces.push(std::mem::take(&mut piece));
                }
            }
            token => piece.push(token),
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Takes off the invisible parentheses that `macro_rules!` puts around a fragment, so that an attribute written inside
/// one (`worker_threads = $n`) reads like any other.
fn flatten(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat.extend(flatten(group.stream())),
            token => flat.push(token),
        }
    }
    flat
}

fn example(option: &str) -> &'static str {
    match option {
        "flavor" => "flavor = \"multi_thread\"",
        "worker_threads" => "worker_threads = 4",
        "start_paused" => "start_paused = true",
        "unhandled_panic" => "unhandled_panic = \"shutdown_runtime\"",
        "name" => "name = \"my-runtime\"",
        _ => "crate = my_rt",
    }
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The candidate that was most likely meant, if any is close enough for that to be a fair guess.
fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    candidates
        .iter()
        .map(|candidate| (edit_distance(&given, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len() / 2)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters have to be added, removed or replaced to make one word of the other.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // `row[j]` is the distance from the part of `from` read so far to the first `j` characters of `to`.
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{FLAVORS, OPTIONS, edit_distance, nearest};

    #[test]
    fn distance_counts_single_character_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("flavour", "flavor"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_near_miss_is_recognised_and_a_wild_one_is_not() {
        assert_eq!(nearest("flavour", &OPTIONS), Some("flavor"));
        assert_eq!(nearest("threads", &OPTIONS), Some("worker_threads"));
        assert_eq!(nearest("multithread", &FLAVORS), Some("multi_thread"));
        assert_eq!(nearest("xyzzy", &OPTIONS), None);
    }
}
