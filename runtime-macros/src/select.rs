//! `select!`.
//!
//! ```text
//! {
//!     enum Selected<T0, T1> { Branch0(T0), Branch1(T1), Disabled }
//!     let selected = {
//!         let mut disabled = 0u8;                                 one bit a branch
//!         if !(condition of branch 1) { disabled |= 2; }
//!         let f0 = a; let f1 = b;
//!         let mut f0 = pin!(f0); let mut f1 = pin!(f1);
//!         poll_fn(move |cx| poll those not disabled; the first output that its pattern matches is Ready).await
//!     };                                                          every future is dropped here
//!     match selected {
//!         Branch0(output) => match output { pattern => handler, _ => unreachable!() },
//!         ..
//!         Disabled => the else branch,
//!     }
//! }
//! ```
//!
//! Handlers stand in the last `match`, outside the closure and after the futures are gone. That is why they may use
//! `?`, `break` and `.await`, and borrow mutably what the futures borrowed.
//!
//! Whether an output fits its pattern must be known while the other futures are still running, but the output may only
//! be taken apart in the handler's scope. The bindings of a match arm stay shared borrows for as long as the arm's
//! guard runs; so an arm `pattern if { matched = true; false }` finds out without moving anything, for any pattern
//! there is, and without rewriting it.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, Token};

use crate::join::first_span;

/// One bit each in the word that says which branches are disabled.
const MAX_BRANCHES: usize = 64;

mod keyword {
    syn::custom_keyword!(biased);
}

struct Select {
    /// The `$crate` of the front.
    facade: TokenTree,
    biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<TokenStream>,
}

/// `pattern = future, if condition => handler`
struct Branch {
    pattern: Pat,
    future: Expr,
    condition: Option<Expr>,
    handler: TokenStream,
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let facade = input.parse()?;
        input.parse::<Token![;]>()?;

        let biased = input.peek(keyword::biased) && input.peek2(Token![;]);
        if biased {
            input.parse::<keyword::biased>()?;
            input.parse::<Token![;]>()?;
        }

        let mut select = Select { facade, biased, branches: Vec::new(), otherwise: None };
        while !input.is_empty() {
            if select.otherwise.is_some() {
                return Err(error_here(input, "`else` is the last branch of select!: move it below this one"));
            }
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                input.parse::<Token![=>]>()?;
                select.otherwise = Some(handler(input)?);
            } else if select.branches.len() == MAX_BRANCHES {
                let message = format!("select! takes at most {MAX_BRANCHES} branches: put some in a select! of theirs");
                return Err(error_here(input, message));
            } else {
                select.branches.push(input.parse()?);
            }
        }
        if select.branches.is_empty() && select.otherwise.is_none() {
            return Err(error_here(input, "select! needs a branch: write `pattern = future => handler`"));
        }
        Ok(select)
    }
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const SHAPE: &str = "a branch of select! is `pattern = future => handler`";

        let start = input.span();
        let pattern = input.call(Pat::parse_multi_with_leading_vert).map_err(|_| syn::Error::new(start, SHAPE))?;
        if input.is_empty() || input.peek(Token![=>]) || input.peek(Token![,]) {
            // A call such as `work()` reads as a pattern too, so this is how a forgotten `_ =` shows.
            let message = format!("{SHAPE}: to ignore what the future returns, write `_ = ` before it");
            return Err(syn::Error::new_spanned(pattern, message));
        }
        if !input.peek(Token![=]) || input.peek(Token![==]) {
            return Err(error_here(input, SHAPE));
        }
        input.parse::<Token![=]>()?;
        let future: Expr = input.parse()?;

        let mut condition = None;
        if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            condition = Some(input.parse()?);
        }
        if input.peek(Token![,]) && input.peek2(Token![=>]) {
            return Err(error_here(input, format!("{SHAPE}, with no comma unless there is an `, if condition`")));
        }
        if !input.peek(Token![=>]) {
            let message = format!("{SHAPE}: this one has no `=> handler`");
            return Err(syn::Error::new_spanned(future, message));
        }
        input.parse::<Token![=>]>()?;
        Ok(Branch { pattern, future, condition, handler: handler(input)? })
    }
}

/// An error at the next token. Unlike [`ParseStream::error`] it says nothing about the end of the input, which is not
/// something that the user sees.
fn error_here(input: ParseStream<'_>, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(input.span(), message)
}

/// Reads a handler and the comma after it, which only a block can go without.
///
/// A block is not looked into: handlers are where most of the code is, and the compiler parses them anyway.
fn handler(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let ahead = input.fork();
    let is_block = input.peek(syn::token::Brace)
        && ahead.parse::<TokenTree>().is_ok()
        && !ahead.peek(Token![.])
        && !ahead.peek(Token![?]);
    let handler = if is_block {
        input.parse::<TokenTree>()?.into_token_stream()
    } else {
        input.parse::<Expr>()?.into_token_stream()
    };

    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    } else if !is_block && !input.is_empty() {
        return Err(error_here(input, "expected `,` before this: only a handler that is a block can go without"));
    }
    Ok(handler)
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match syn::parse2::<Select>(input) {
        Ok(select) => emit(&select),
        Err(error) => error.into_compile_error(),
    }
}

fn emit(select: &Select) -> TokenStream {
    let here = Span::mixed_site();
    let Select { facade, branches, .. } = select;
    let support = quote_spanned!(here=> #facade::macros::support);
    // Hygiene does not cover items: the name must be one that no handler uses.
    let selected = format_ident!("__RtSelected", span = here);

    let otherwise = match &select.otherwise {
        Some(handler) => handler.clone(),
        // At the call site, so that the panic names the line of the `select!`.
        None => quote_spanned! {Span::call_site()=>
            ::core::panic!("every branch of select! is disabled, and it has no `else` branch")
        },
    };
    if branches.is_empty() {
        return quote_spanned!(here=> { #otherwise });
    }

    let types: Vec<Ident> = (0..branches.len()).map(|n| format_ident!("T{n}", span = here)).collect();
    let variants: Vec<Ident> = (0..branches.len()).map(|n| format_ident!("Branch{n}", span = here)).collect();
    let futures: Vec<Ident> = (0..branches.len()).map(|n| format_ident!("future_{n}", span = here)).collect();
    let word = word(branches.len());

    let conditions = branches.iter().enumerate().filter_map(|(index, branch)| {
        let condition = branch.condition.as_ref()?;
        let bit = bit(index);
        Some(quote_spanned! {here=>
            let enabled: bool = #condition;
            if !enabled { disabled |= #bit; }
        })
    });
    // Every expression is a statement of its own, so that a lock guard in one of them is gone when the next one runs.
    let evaluate = branches.iter().zip(&futures).map(|(branch, name)| {
        let future = &branch.future;
        quote_spanned!(here=> let #name = #future;)
    });
    // An expression that is no future is reported at this call: let it have the user's position.
    let pin = branches.iter().zip(&futures).map(|(branch, name)| {
        let at = here.located_at(first_span(branch.future.to_token_stream()));
        let located = Ident::new(&name.to_string(), at);
        let future = quote_spanned!(at=> ::core::future::IntoFuture::into_future(#located));
        quote_spanned!(here=> let mut #name = #support::pin!(#future);)
    });
    let poll: Vec<TokenStream> = branches
        .iter()
        .enumerate()
        .map(|(index, branch)| {
            let variant = &variants[index];
            let output = quote_spanned!(here=> #selected::#variant);
            poll_branch(&support, branch, &futures[index], &bit(index), &output)
        })
        .collect();
    let poll_all = if select.biased || branches.len() == 1 {
        quote_spanned!(here=> #(#poll)*)
    } else {
        from_random_start(&support, &poll)
    };
    let arms = branches.iter().zip(&variants).map(|(branch, variant)| {
        let Branch { pattern, handler, .. } = branch;
        // The pattern has a match of its own, the same as in `poll_branch`: the compiler, which finds the same mistake
        // in both, then describes it in the same words, and says it once.
        quote_spanned! {here=>
            #[allow(unused_mut)]
            #selected::#variant(mut output) => match output {
                #pattern => #handler,
                #[allow(unreachable_patterns)]
                _ => ::core::unreachable!(),
            },
        }
    });

    quote_spanned! {here=> {
        enum #selected<#(#types),*> {
            #(#variants(#types),)*
            Disabled,
        }

        let selected = {
            let mut disabled: #word = 0;
            #(#conditions)*
            #(#evaluate)*
            #(#pin)*
            let mut begun = false;
            let output = #support::poll_fn(move |cx| {
                if !begun {
                    begun = true;
                    if #support::poll_begin(cx).is_pending() {
                        return #support::Poll::Pending;
                    }
                }
                let mut pending = false;
                #poll_all
                if pending { #support::Poll::Pending } else { #support::Poll::Ready(#selected::Disabled) }
            })
            .await;
            output
        };
        match selected {
            #(#arms)*
            #selected::Disabled => #otherwise,
        }
    }}
}

/// Polls one branch's future, unless the branch is disabled.
///
/// A future that has returned `Ready` is not to be polled again, so its branch is disabled whether or not its output
/// fits.
fn poll_branch(
    support: &TokenStream,
    branch: &Branch,
    future: &Ident,
    bit: &Literal,
    output: &TokenStream,
) -> TokenStream {
    let here = Span::mixed_site();
    let Branch { pattern, .. } = branch;
    let finish = quote_spanned!(here=> return #support::Poll::Ready(#output(output)););
    let finish = if matches!(pattern, Pat::Wild(_)) {
        finish
    } else {
        // The bindings are the user's, and it is in the handler that they are used or not.
        quote_spanned! {here=>
            #[allow(unused_variables, unused_mut, unreachable_patterns)]
            let matched = {
                let mut matched = false;
                match output {
                    #pattern if { matched = true; false } => ::core::unreachable!(),
                    _ => {}
                }
                matched
            };
            if matched {
                #finish
            }
        }
    };
    let at = here.located_at(first_span(branch.future.to_token_stream()));
    let located = Ident::new(&future.to_string(), at);
    let poll = quote_spanned!(at=> ::core::future::Future::poll(#located.as_mut(), cx));
    quote_spanned! {here=>
        if disabled & #bit == 0 {
            match #poll {
                // Mutable for the sake of a pattern with `ref mut`.
                #[allow(unused_mut)]
                #support::Poll::Ready(mut output) => {
                    disabled |= #bit;
                    #finish
                }
                #support::Poll::Pending => pending = true,
            }
        }
    }
}

/// Begins each poll at a branch picked at random, and goes round once from there.
fn from_random_start(support: &TokenStream, poll: &[TokenStream]) -> TokenStream {
    let here = Span::mixed_site();
    let count = Literal::usize_unsuffixed(poll.len());
    let index = (0..poll.len()).map(Literal::usize_unsuffixed);
    quote_spanned! {here=>
        let mut current: u32 = #support::thread_rng_n(#count);
        for _ in 0..#count {
            match current {
                #(#index => { #poll })*
                _ => ::core::unreachable!(),
            }
            current = if current + 1 == #count { 0 } else { current + 1 };
        }
    }
}

/// The smallest integer type with a bit for each branch: the word is part of the user's future.
fn word(branches: usize) -> Ident {
    let name = match branches {
        0..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    };
    Ident::new(name, Span::mixed_site())
}

/// The bit of the branch at `index`.
fn bit(index: usize) -> Literal {
    Literal::u64_unsuffixed(1 << index)
}
