/// Pins values to the current scope, each under its own name.
///
/// A future that is to be polled through a reference, so that it can be polled again later, has to be pinned first.
/// `pin!(future)` moves `future` to a place it cannot leave, and from there on `future` is a `Pin<&mut _>` to it.
///
/// [`std::pin::pin!`] does the same as an expression; this is the statement, which takes the old name out of reach.
///
/// # Examples
///
/// ```
/// # async fn first_half() {}
/// # async fn second_half() {}
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// let first = first_half();
/// let second = second_half();
/// rt::pin!(first, second);
///
/// rt::select! {
///     () = &mut first => second.await,
///     () = &mut second => first.await,
/// }
/// # }
/// ```
///
/// The second form also makes the variables:
///
/// ```
/// # async fn first_half() {}
/// # async fn second_half() {}
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// rt::pin! {
///     let first = first_half();
///     let second = second_half();
/// }
/// first.await;
/// second.await;
/// # }
/// ```
///
/// A value is moved, so it has to be named: `pin!(work())` is an error, and `pin! { let work = work(); }` is what it
/// wants to be. As part of an expression, use [`std::pin::pin!`].
#[macro_export]
macro_rules! pin {
    ($($value:ident),* $(,)?) => {
        $(
            #[allow(unused_mut)]
            let mut $value = ::core::pin::pin!($value);
        )*
    };
    ($(let $value:ident = $init:expr;)+) => {
        $(
            #[allow(unused_mut)]
            let mut $value = ::core::pin::pin!($init);
        )+
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "pin! takes variables, and not expressions: write `pin! { let name = future; }`, or use \
             `std::pin::pin!(future)`"
        )
    };
}
