//! `#[rt::main]` and `#[rt::test]`, and the same two as `#[tokio::main]` and `#[tokio::test]`.
//!
//! The user's `async fn` loses its `async`, and its body becomes an `async` block that a runtime runs:
//!
//! ```text
//! fn main() -> Output {
//!     let future = async {
//!         if false { return never_called::<Output>(); }
//!         { the user's body }
//!     };
//!     let runtime = ..;
//!     runtime.block_on(future)
//! }
//! ```
//!
//! The signature goes through otherwise unchanged, so whatever is allowed there is allowed here: generics, `self`,
//! patterns, attributes of arguments.
//!
//! An `async` block declares no output. The compiler would infer one from the body and complain about the call to
//! `block_on`, a place the user never wrote. The `return` that is never reached comes first and settles the type, so
//! that what is wrong with the body is reported in the body, as in any `async fn`.

mod function;
mod options;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::error::{Error, Errors};
use crate::tokens::first_span;
use function::Function;
use options::{Flavor, Options};

/// Which of the two attributes is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

/// The crate through which the user has the attribute. What it expands to goes through that crate too, unless the
/// option `crate` names another: the user's crate may know no other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Facade {
    Rt,
    /// The package `tokio` that stands in for Tokio.
    Tokio,
}

#[derive(Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) kind: Kind,
    pub(crate) facade: Facade,
}

impl Attribute {
    /// As the user wrote it.
    fn name(self) -> String {
        let facade = match self.facade {
            Facade::Rt => "rt",
            Facade::Tokio => "tokio",
        };
        let kind = match self.kind {
            Kind::Main => "main",
            Kind::Test => "test",
        };
        format!("`#[{facade}::{kind}]`")
    }
}

pub(crate) fn expand(attribute: Attribute, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = options::parse(attribute, options, &mut errors);

    let item = match Function::parse(item.clone()) {
        Ok(function) => match function.asyncness.clone() {
            Some(asyncness) => expand_function(attribute, function, &asyncness, &options, &mut errors),
            None => {
                let message =
                    format!("{} needs an async function: write `async fn {}`", attribute.name(), function.name);
                errors.report(&function.keyword, message);
                item
            }
        },
        Err(Error { first, last, message }) => {
            let message = format!("{} goes on an `async fn` with a body: {message}", attribute.name());
            errors.push(Error { first, last, message });
            item
        }
    };
    // Beside the function, not in it: a test is compiled only in a test build, but its errors show in all.
    let errors = errors.into_compile_errors();
    quote!(#item #errors)
}

fn expand_function(
    attribute: Attribute,
    function: Function,
    asyncness: &Ident,
    options: &Options,
    errors: &mut Errors,
) -> TokenStream {
    let standard_test = function.attributes.iter().find(|attribute| attribute.is_standard_test());
    let already_test = standard_test.is_some();
    if attribute.kind == Kind::Test
        && let Some(standard_test) = standard_test
    {
        let name = attribute.name();
        let message = format!(
            "{name} already makes this a test: remove this attribute, or, if another one brought it, put that one below \
             {name}"
        );
        errors.report(&standard_test.tokens, message);
    }
    if !check_arguments(attribute, &function, errors) {
        return never_called(function, asyncness);
    }

    let body = run_on_runtime(options, future(&function, asyncness, options));
    let mut block = Group::new(Delimiter::Brace, body);
    block.set_span(function.body.span());
    // A function with arguments is no test itself: an attribute of another crate makes tests that call it.
    let is_test = attribute.kind == Kind::Test && !already_test && function.arguments.stream().is_empty();
    // The last of the attributes, so that those of other crates, which take effect before it, see that this is a test.
    let test = is_test.then(|| quote!(#[::core::prelude::v1::test]));
    let Function { attributes, qualifiers, keyword, name, generics, arguments, rest, inner_attributes, .. } = function;
    let attributes = attributes.into_iter().map(|attribute| attribute.tokens);
    quote! {
        #(#attributes)*
        #inner_attributes
        #test
        #qualifiers #keyword #name #generics #arguments #rest #block
    }
}

/// Reports arguments where nothing could give any, and says whether there were none.
fn check_arguments(attribute: Attribute, function: &Function, errors: &mut Errors) -> bool {
    let Function { name, generics, .. } = function;
    let arguments = function.arguments.stream();
    if attribute.kind == Kind::Main {
        if name != "main" || arguments.is_empty() {
            return true;
        }
        let message = "`main` has no arguments: write `async fn main()`, and find those of the command line in \
                       `std::env::args()`";
        errors.report(arguments, message);
        return false;
    }
    // The attribute of another crate may be one that makes tests of a function with arguments.
    if !function.attributes.iter().all(function::Attribute::is_of_the_language) {
        return true;
    }
    let mut callable = true;
    if !arguments.is_empty() {
        errors.report(arguments, format!("a test has no arguments: write `async fn {name}()`"));
        callable = false;
    }
    // Nobody has to choose a lifetime. Attributes of other crates bring some in.
    if has_types(generics) {
        let message = format!("a test cannot be generic, as nothing could choose a type: write `async fn {name}()`");
        errors.report(generics, message);
        callable = false;
    }
    callable
}

/// Whether there is a type or a constant among the parameters, and not only lifetimes.
fn has_types(generics: &TokenStream) -> bool {
    let mut begins = false;
    for token in generics.clone() {
        match token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), '<' | ',') => begins = true,
            // What follows is a lifetime's name.
            TokenTree::Punct(punct) if punct.as_char() == '\'' => begins = false,
            TokenTree::Ident(_) if begins => return true,
            _ => {}
        }
    }
    false
}

/// A function that can be called, with the user's in it for the sake of its body, which may have other things wrong
/// with it.
fn never_called(function: Function, asyncness: &Ident) -> TokenStream {
    let Function { qualifiers, keyword, name, generics, arguments, rest, body, .. } = function;
    quote! {
        #qualifiers #keyword #name() {
            #[allow(dead_code, clippy::unused_async)]
            #asyncness #keyword #name #generics #arguments #rest #body
        }
    }
}

/// The `async` block that the body becomes.
fn future(function: &Function, asyncness: &Ident, options: &Options) -> TokenStream {
    let settled_output = settled_output(function, options);
    let body = &function.body;
    // With the label the compiler does not call these braces, the user's, unnecessary.
    let labelled = quote_spanned!(body.span()=> '_body: #body);
    let mut block = Group::new(Delimiter::Brace, quote!(#settled_output #labelled));
    block.set_span(body.span());
    // What is wrong with the block as a whole is wrong with the `async fn`. Of the arguments it takes what the body
    // does. The others are dropped behind the runtime, and may block then.
    quote_spanned!(Span::mixed_site().located_at(asyncness.span())=> async #block)
}

/// A `return` that is never reached, of the type that the function returns.
///
/// There is none for an `impl Trait`, which cannot be written here, and for a `!`, of which there is no value.
fn settled_output(function: &Function, options: &Options) -> TokenStream {
    let (output, at) = match &function.output {
        Some(output) if is_never(output) || contains_impl(output.clone()) => return TokenStream::new(),
        Some(output) => (output.clone(), first_span(output.clone())),
        None => (quote!(()), function.name.span()),
    };
    // All of it has the position of the output: there the compiler points to say which type was expected.
    let facade = options.facade.clone().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(at));
        token
    });
    quote_spanned! {at=>
        if false {
            return #(#facade)*::macros::support::never_called::<#output>();
        }
    }
}

fn is_never(output: &TokenStream) -> bool {
    output.to_string() == "!"
}

fn contains_impl(output: TokenStream) -> bool {
    output.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "impl",
        TokenTree::Group(group) => contains_impl(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn run_on_runtime(options: &Options, future: TokenStream) -> TokenStream {
    let facade = &options.facade;
    let here = Span::mixed_site();
    // A current_thread runtime is bound to its thread, which is what lets the body spawn futures that are not `Send`.
    let (new, build) = match options.flavor {
        Flavor::MultiThread => (quote_spanned!(here=> new_multi_thread), quote_spanned!(here=> build())),
        Flavor::CurrentThread => (
            quote_spanned!(here=> new_current_thread),
            quote_spanned!(here=> build_local(::core::default::Default::default())),
        ),
    };
    let worker_threads = options.worker_threads.map(|number| {
        let number = Literal::usize_unsuffixed(number);
        quote_spanned!(here=> .worker_threads(#number))
    });
    let name = options.name.as_ref().map(|name| quote_spanned!(here=> .name(#name)));
    let start_paused = options.start_paused.map(|paused| quote_spanned!(here=> .start_paused(#paused)));
    let unhandled_panic = options.unhandled_panic.map(|behavior| {
        let behavior = Ident::new(behavior, here);
        quote_spanned!(here=> .unhandled_panic(#facade::runtime::UnhandledPanic::#behavior))
    });

    let options = quote_spanned!(here=> .enable_all() #worker_threads #start_paused #unhandled_panic #name);
    let build = quote_spanned!(here=> #facade::runtime::Builder::#new() #options .#build);
    quote_spanned! {here=>
        let runtime = match #build {
            ::core::result::Result::Ok(runtime) => runtime,
            ::core::result::Result::Err(error) => ::core::panic!("could not start the rt runtime: {}", error),
        };
        runtime.block_on(#future)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attributes on what becomes of a function under `#[rt::test]`.
    fn attributes(function: TokenStream) -> Vec<String> {
        let attribute = Attribute { kind: Kind::Test, facade: Facade::Rt };
        let expanded = expand(attribute, TokenStream::new(), function).to_string();
        assert!(!expanded.contains("compile_error"), "{expanded}");
        let (attributes, _) = expanded.split_once(" fn ").unwrap();
        attributes.split('#').skip(1).map(|attribute| attribute.replace(' ', "")).collect()
    }

    #[test]
    fn it_becomes_a_test_behind_the_attributes_of_other_crates() {
        let attributes = attributes(quote! {
            #[test_log::test]
            #[serial]
            #[ignore]
            async fn stacked() {}
        });
        assert_eq!(attributes, ["[test_log::test]", "[serial]", "[ignore]", "[::core::prelude::v1::test]"]);
    }

    #[test]
    fn with_arguments_it_is_left_to_others_to_make_a_test_of_it() {
        let attributes = attributes(quote! {
            #[test_case(1)]
            async fn stacked(number: u32) {}
        });
        assert_eq!(attributes, ["[test_case(1)]"]);
    }

    /// The crates in which what becomes of an empty function looks for the runtime.
    fn crates_named(kind: Kind, facade: Facade, options: TokenStream) -> Vec<String> {
        let expanded = expand(
            Attribute { kind, facade },
            options,
            quote!(
                async fn main() {}
            ),
        )
        .to_string();
        let words: Vec<&str> = expanded.split_whitespace().collect();
        let paths = words.windows(3).filter(|words| words[1] == "::" && ["runtime", "macros"].contains(&words[2]));
        let mut names: Vec<String> = paths.map(|words| words[0].to_owned()).collect();
        assert_eq!(names.len(), 2, "one for the builder, one for what settles the output: {expanded}");
        names.dedup();
        names
    }

    #[test]
    fn each_attribute_names_the_crate_it_came_through_and_no_other() {
        for kind in [Kind::Main, Kind::Test] {
            assert_eq!(crates_named(kind, Facade::Rt, quote!()), ["rt"]);
            assert_eq!(crates_named(kind, Facade::Tokio, quote!()), ["tokio"]);
            assert_eq!(crates_named(kind, Facade::Tokio, quote!(crate = "other")), ["other"]);
        }
    }

    #[test]
    fn messages_have_the_attribute_as_the_user_wrote_it() {
        for (facade, name) in [(Facade::Rt, "#[rt::main]"), (Facade::Tokio, "#[tokio::main]")] {
            let attribute = Attribute { kind: Kind::Main, facade };
            let expanded = expand(
                attribute,
                TokenStream::new(),
                quote!(
                    fn main() {}
                ),
            )
            .to_string();
            assert!(expanded.contains(&format!("`{name}` needs an async function")), "{expanded}");
        }
    }
}
