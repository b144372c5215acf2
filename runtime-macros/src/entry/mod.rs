//! `#[rt::main]` and `#[rt::test]`.
//!
//! The user's `async fn` becomes two functions, one inside the other:
//!
//! ```text
//! fn main() -> Output {
//!     async fn main() -> Output { the user's body }
//!     let runtime = ..;
//!     runtime.block_on(main())
//! }
//! ```
//!
//! Wrapping the body in an `async` block would be shorter, but such a block has no declared output. The compiler would
//! infer one from the body and complain about the call to `block_on`, a place the user never wrote. Inside a real
//! `async fn`, every error about the body is the one that the user would get without the attribute.
//!
//! The body is never parsed: it goes through as one group of tokens. That is quicker, and a body that an editor is in
//! the middle of changing still expands.

mod options;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{FnArg, GenericParam, Pat, Signature, Visibility};

use options::{Errors, Flavor, Options};

/// Which of the two attributes is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    Main,
    Test,
}

impl Attribute {
    fn name(self) -> &'static str {
        match self {
            Attribute::Main => "`#[rt::main]`",
            Attribute::Test => "`#[rt::test]`",
        }
    }
}

/// A function whose body nobody has looked into.
struct Function {
    attributes: Vec<syn::Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(syn::Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let body: Group = input.parse()?;
        if body.delimiter() != Delimiter::Brace {
            return Err(syn::Error::new(body.span(), "expected a function body"));
        }
        Ok(Function { attributes, visibility, signature, body })
    }
}

pub(crate) fn expand(attribute: Attribute, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = options::parse(attribute, options, &mut errors);

    let mut function = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function,
        Err(reason) => {
            let message = format!("{} goes on an `async fn` with a body: {reason}", attribute.name());
            let error = syn::Error::new(reason.span(), message).into_compile_error();
            return quote!(#item #error);
        }
    };
    let callable = match check_signature(attribute, &function.signature, &mut errors) {
        Ok(callable) => callable,
        Err(Hopeless) => {
            let errors = errors.into_compile_error();
            return quote!(#item #errors);
        }
    };
    if attribute == Attribute::Test {
        remove_other_test_attributes(&mut function.attributes, &mut errors);
    }

    let function = assemble(attribute, function, &options, callable);
    // Beside the function, not in it: a test is compiled only in a test build, but its errors show in all.
    let errors = errors.into_compile_error();
    quote!(#function #errors)
}

/// The function cannot be expanded at all, and is emitted as it was.
struct Hopeless;

/// Reports what the signature must not have, and says whether the outer function can call the inner one: `main` and
/// tests are called by code that has no arguments to give.
fn check_signature(attribute: Attribute, signature: &Signature, errors: &mut Errors) -> Result<bool, Hopeless> {
    let name = &signature.ident;
    if signature.asyncness.is_none() {
        let message = format!("{} needs an async function: write `async fn {name}`", attribute.name());
        errors.report(signature.fn_token, message);
        return Err(Hopeless);
    }
    if let Some(receiver) = signature.receiver() {
        let message = format!(
            "{} goes on a free function, and this one has a `self`: start a runtime with `rt::runtime::Runtime::new()` \
             and give the async function to its `block_on`",
            attribute.name()
        );
        errors.report(receiver, message);
        return Err(Hopeless);
    }

    let mut callable = true;
    if attribute == Attribute::Test && !signature.inputs.is_empty() {
        errors.report(&signature.inputs, format!("a test has no arguments: write `async fn {name}()`"));
        callable = false;
    } else if name == "main" && !signature.inputs.is_empty() {
        let message = "`main` has no arguments: write `async fn main()`, and find those of the command line in \
                       `std::env::args()`";
        errors.report(&signature.inputs, message);
        callable = false;
    }
    if attribute == Attribute::Test && !signature.generics.params.is_empty() {
        let message = format!("a test cannot be generic, as nothing could choose a type: write `async fn {name}()`");
        errors.report(&signature.generics, message);
        callable = false;
    }
    Ok(callable)
}

/// With a second test attribute the test would be registered twice, or be run on two runtimes at once.
fn remove_other_test_attributes(attributes: &mut Vec<syn::Attribute>, errors: &mut Errors) {
    attributes.retain(|attribute| {
        let is_test = attribute.path().segments.last().is_some_and(|segment| segment.ident == "test");
        if is_test {
            errors.report(attribute, "`#[rt::test]` already makes this a test: remove this attribute");
        }
        !is_test
    });
}

fn assemble(attribute: Attribute, function: Function, options: &Options, callable: bool) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let (outer, arguments) = outer_signature(&signature, callable);
    let inner = Signature { abi: None, ..signature };

    let test = (attribute == Attribute::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let (hush, run) = if callable {
        (None, run_on_runtime(options, call(&inner, &arguments)))
    } else {
        // The inner function is there for the sake of its body, which may have other things wrong with it.
        (Some(quote!(#[allow(dead_code)])), quote!(::core::unreachable!()))
    };

    quote! {
        #test
        #(#attributes)*
        #visibility #outer {
            // The attribute asks for `async`, whether or not the body ever awaits.
            #[allow(clippy::unused_async)]
            #hush
            #inner #body

            #run
        }
    }
}

/// The signature that callers see, and the names under which it passes the arguments on.
///
/// An argument that is a plain name keeps it, since it shows in documentation; a pattern is left to the inner function.
fn outer_signature(signature: &Signature, callable: bool) -> (Signature, Vec<Ident>) {
    let mut outer = signature.clone();
    outer.asyncness = None;
    if !callable {
        outer.inputs.clear();
        outer.generics = syn::Generics::default();
    }

    let mut arguments = Vec::new();
    for (position, input) in outer.inputs.iter_mut().enumerate() {
        let FnArg::Typed(argument) = input else { continue };
        let name = match &*argument.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => pattern.ident.clone(),
            _ => format_ident!("argument_{position}", span = Span::mixed_site()),
        };
        argument.attrs.clear();
        *argument.pat = syn::parse_quote!(#name);
        arguments.push(name);
    }
    (outer, arguments)
}

/// The call of the inner function: its future.
fn call(inner: &Signature, arguments: &[Ident]) -> TokenStream {
    let name = &inner.ident;
    // Lifetimes are left out: the compiler finds them, and most may not be named in a call.
    let generics: Vec<_> = inner
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
    let call = quote!(#name #turbofish (#(#arguments),*));
    match inner.unsafety {
        Some(_) => quote!(unsafe { #call }),
        None => call,
    }
}

fn run_on_runtime(options: &Options, future: TokenStream) -> TokenStream {
    let facade = &options.facade;
    let here = Span::mixed_site();
    // A current_thread runtime is bound to its thread, which is what lets the body spawn futures that are not `Send`.
    let (new, build) = match options.flavor {
        Flavor::MultiThread => (quote_spanned!(here=> new_multi_thread), quote_spanned!(here=> build)),
        Flavor::CurrentThread => (quote_spanned!(here=> new_current_thread), quote_spanned!(here=> build_local)),
    };
    let worker_threads = options.worker_threads.map(|number| {
        let number = Literal::usize_unsuffixed(number);
        quote_spanned!(here=> .worker_threads(#number))
    });
    let start_paused = options.start_paused.map(|paused| quote_spanned!(here=> .start_paused(#paused)));

    let build =
        quote_spanned!(here=> #facade::runtime::Builder::#new().enable_all() #worker_threads #start_paused .#build());
    quote_spanned! {here=>
        let runtime = match #build {
            ::core::result::Result::Ok(runtime) => runtime,
            ::core::result::Result::Err(error) => ::core::panic!("could not start the rt runtime: {}", error),
        };
        runtime.block_on(#future)
    }
}
