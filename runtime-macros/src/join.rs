//! `join!` and `try_join!`.
//!
//! The front has the compiler parse the futures and passes each in parentheses, so there is nothing to parse here: the
//! work is to number them. What comes out is one `poll_fn` around one `Slot` (`rt::macros::support`) a future; of
//! `try_join!` it is a `race_fn`:
//!
//! ```text
//! {
//!     let f0 = a; let f1 = b;
//!     let f0 = into_future(f0); let f1 = into_future(f1);
//!     let mut f1 = pin!(Slot::new(f1)); let mut f0 = pin!(Slot::new(f0));
//!     let mut first = 0;
//!     poll_fn(move |cx| { poll f0 and f1, from `first` on; once both are done, Ready((f0.take(), f1.take())) }).await
//! }
//! ```

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};

use crate::error::Error;
use crate::tokens::first_span;

/// As many as `select!` takes, where the limit has a reason: one bit of a word each.
const MAX_FUTURES: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Join,
    TryJoin,
}

/// What the front hands over: `$crate; (rotate | biased); (future) (future) ..`.
struct Input {
    facade: TokenTree,
    biased: bool,
    futures: Vec<TokenStream>,
}

pub(crate) fn expand(kind: Kind, input: TokenStream) -> TokenStream {
    let input = read(input);
    match input.futures.len() {
        0 => nothing_to_wait_for(kind),
        1..=MAX_FUTURES => emit(kind, &input),
        _ => {
            let name = if kind == Kind::Join { "join!" } else { "try_join!" };
            let message =
                format!("{name} takes at most {MAX_FUTURES} futures: put some of them in a `{name}` of theirs");
            Error::new(&input.futures[MAX_FUTURES], message).into_compile_error()
        }
    }
}

fn read(input: TokenStream) -> Input {
    let mut tokens = input.into_iter();
    let facade = tokens.next().expect("the front begins with $crate");
    let mut biased = false;
    let mut futures = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(mode) => biased = mode == "biased",
            TokenTree::Group(future) => futures.push(future.stream()),
            _ => {}
        }
    }
    Input { facade, biased, futures }
}

fn nothing_to_wait_for(kind: Kind) -> TokenStream {
    let here = Span::mixed_site();
    match kind {
        Kind::Join => quote_spanned!(here=> ()),
        Kind::TryJoin => quote_spanned!(here=> ::core::result::Result::Ok(())),
    }
}

fn emit(kind: Kind, input: &Input) -> TokenStream {
    let here = Span::mixed_site();
    let Input { facade, biased, futures } = input;
    let support = quote_spanned!(here=> #facade::macros::support);
    let names: Vec<Ident> = (0..futures.len()).map(|n| format_ident!("future_{n}", span = here)).collect();

    // Every expression is a statement of its own, so that a lock guard in one of them is gone when the next one runs.
    let evaluate = names.iter().zip(futures).map(|(name, future)| quote_spanned!(here=> let #name = #future;));
    let convert = names.iter().zip(futures).map(|(name, future)| into_future(name, future));
    // The last first: variables are dropped in reverse, so the futures are dropped in the order in which they are
    // written.
    let pin = names
        .iter()
        .rev()
        .map(|name| quote_spanned!(here=> let mut #name = #support::pin!(#support::Slot::new(#name));));
    let poll: Vec<TokenStream> =
        names.iter().zip(futures).map(|(name, future)| poll_one(kind, &support, name, future)).collect();
    let output = quote_spanned!(here=> (#(#names.as_mut().take(),)*));
    let output = match kind {
        Kind::Join => output,
        Kind::TryJoin => quote_spanned!(here=> ::core::result::Result::Ok(#output)),
    };

    let poll_fn = match kind {
        Kind::Join => quote_spanned!(here=> #support::poll_fn),
        // After an error the others still wait.
        Kind::TryJoin => quote_spanned!(here=> #support::race_fn),
    };

    let (state, poll_all) =
        if *biased { (TokenStream::new(), quote_spanned!(here=> #(#poll)*)) } else { rotating(&poll) };

    quote_spanned! {here=> {
        #(#evaluate)*
        #(#convert)*
        #(#pin)*
        #state
        // A future that never ends has an output of which there is none.
        #[allow(unreachable_code)]
        let output = #poll_fn(move |cx| {
            let mut pending = false;
            #poll_all
            if pending { #support::Poll::Pending } else { #support::Poll::Ready(#output) }
        })
        .await;
        output
    }}
}

/// Makes a future of what the expression returned.
pub(crate) fn into_future(name: &Ident, expression: &TokenStream) -> TokenStream {
    let here = Span::mixed_site();
    // An expression that is no future is reported at this call: let it have the user's position.
    let at = here.located_at(first_span(expression.clone()));
    let located = Ident::new(&name.to_string(), at);
    let future = quote_spanned!(at=> ::core::future::IntoFuture::into_future(#located));
    quote_spanned!(here=> let #name = #future;)
}

/// Polls one future, unless it is done already.
fn poll_one(kind: Kind, support: &TokenStream, name: &Ident, future: &TokenStream) -> TokenStream {
    let here = Span::mixed_site();
    // What is wrong with the future is reported at these tokens: let them have the user's position.
    let at = here.located_at(first_span(future.clone()));
    let located = Ident::new(&name.to_string(), at);
    match kind {
        Kind::Join => {
            let poll = quote_spanned!(at=> #located.as_mut().poll(cx));
            quote_spanned!(here=> pending |= #poll.is_pending();)
        }
        Kind::TryJoin => {
            let poll = quote_spanned!(at=> #located.as_mut().try_poll(cx));
            let failed = quote_spanned!(at=> ::core::result::Result::Err(error));
            quote_spanned! {here=>
                match #poll {
                    #support::Poll::Ready(::core::result::Result::Ok(())) => {}
                    #support::Poll::Ready(::core::result::Result::Err(error)) => {
                        return #support::Poll::Ready(#failed);
                    }
                    #support::Poll::Pending => pending = true,
                }
            }
        }
    }
}

/// Begins each poll one future further on, so that the task's budget, which the first ones may use up, reaches all.
fn rotating(poll: &[TokenStream]) -> (TokenStream, TokenStream) {
    let here = Span::mixed_site();
    // Of four bytes: it is part of the user's future.
    let count = Literal::u32_suffixed(u32::try_from(poll.len()).expect("at most MAX_FUTURES"));
    let index = (0..poll.len()).map(Literal::usize_unsuffixed);
    let state = quote_spanned!(here=> let mut first = 0u32;);
    let poll_all = quote_spanned! {here=>
        let mut current = first;
        first = if first + 1 == #count { 0 } else { first + 1 };
        for _ in 0..#count {
            match current {
                #(#index => { #poll })*
                _ => ::core::unreachable!(),
            }
            current = if current + 1 == #count { 0 } else { current + 1 };
        }
    };
    (state, poll_all)
}
