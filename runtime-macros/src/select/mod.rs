//! `select!`.
//!
//! ```text
//! {
//!     enum Selected<T0, T1> { Branch0(T0), Branch1(T1), Disabled }
//!     let selected = {
//!         let mut disabled = 0u8;                                 one bit a branch
//!         if !(condition of branch 1) { disabled |= 2; }
//!         let f0 = a; let f1 = b;
//!         let f0 = into_future(f0); let f1 = into_future(f1);
//!         let mut futures = (f0, f1);                             dropped in this order
//!         let futures = &mut futures;                             one pointer for all: see `pinned`
//!         race_fn(move |cx| poll those not disabled; the first output that its pattern matches is Ready).await
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

mod parse;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::join::into_future;
use crate::tokens::first_span;
use parse::{Branch, Select};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match parse::parse(input) {
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
    let convert = branches.iter().zip(&futures).map(|(branch, name)| into_future(name, &branch.future));
    let poll: Vec<TokenStream> = branches
        .iter()
        .enumerate()
        .map(|(index, branch)| {
            let variant = &variants[index];
            let output = quote_spanned!(here=> #selected::#variant);
            poll_branch(&support, branch, &futures[index], index, &output)
        })
        .collect();
    let poll_all = if select.biased || branches.len() == 1 {
        quote_spanned!(here=> #(#poll)*)
    } else {
        from_random_start(&support, &poll)
    };
    let arms = branches.iter().zip(&variants).map(|(branch, variant)| {
        let Branch { pattern, handler, .. } = branch;
        if branch.is_plain() {
            // If there is no such output, as with `!`, the compiler would call a pattern of the user's unreachable.
            return quote_spanned!(here=> #selected::#variant(#pattern) => #handler,);
        }
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
            #(#convert)*
            let mut futures = (#(#futures,)*);
            let futures = &mut futures;
            let mut begun = false;
            // A future that never ends has an output of which there is none.
            #[allow(unreachable_code)]
            let output = #support::race_fn(move |cx| {
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
            // Behind the name of a constant, which leaves something over.
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!(),
        }
    }}
}

/// The future at `index` of the tuple that `futures` refers to, pinned.
///
/// Expansions have only this `unsafe`. It is sound because of what they do around it: the tuple is a variable of the
/// future that awaits the macro, and so does not move once that is polled; a reference with the same name hides it at
/// once; no code of a user's can name either, as both have the hygiene of the macro's definition; and the closure that
/// polls has the tuple by reference only, so that the closure may be moved. A tuple has no destructor of its own.
fn pinned(support: &TokenStream, index: usize) -> TokenStream {
    let here = Span::mixed_site();
    let index = Literal::usize_unsuffixed(index);
    quote_spanned!(here=> unsafe { #support::Pin::new_unchecked(&mut futures.#index) })
}

/// Polls one branch's future, unless the branch is disabled.
///
/// A future that has returned `Ready` is not to be polled again, so its branch is disabled whether or not its output
/// fits.
fn poll_branch(
    support: &TokenStream,
    branch: &Branch,
    future: &Ident,
    index: usize,
    output: &TokenStream,
) -> TokenStream {
    let here = Span::mixed_site();
    let (bit, pinned) = (bit(index), pinned(support, index));
    let Branch { pattern, .. } = branch;
    let finish = quote_spanned!(here=> return #support::Poll::Ready(#output(output)););
    let finish = if branch.ignores_output() {
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
    let at = here.located_at(first_span(branch.future.clone()));
    let located = Ident::new(&future.to_string(), at);
    let poll = quote_spanned!(at=> ::core::future::Future::poll(#located, cx));
    quote_spanned! {here=>
        if disabled & #bit == 0 {
            'polled: {
                let #future = #pinned;
                // Mutable for the sake of a pattern with `ref mut`. The arm that leaves the block also gives an output
                // of which nothing else is known (`poll_fn(|_| panic!())`) a type: that of what never returns.
                #[allow(unused_mut)]
                let mut output = match #poll {
                    #support::Poll::Ready(output) => output,
                    #support::Poll::Pending => {
                        pending = true;
                        break 'polled;
                    }
                };
                disabled |= #bit;
                #finish
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
