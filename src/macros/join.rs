/// Waits for several futures at once, and returns all their outputs, in the order in which the futures are written.
///
/// ```
/// async fn name() -> &'static str { "rt" }
/// async fn number() -> u32 { 7 }
///
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// let (name, number) = rt::join!(name(), number());
/// assert_eq!((name, number), ("rt", 7));
/// # }
/// ```
///
/// It can be used only in `async` functions, blocks and closures, and takes up to 64 futures, or anything else that can
/// be awaited.
///
/// # One task
///
/// The futures run concurrently but not in parallel: they are parts of the task that waits for them, and a part that
/// blocks its thread holds up the others. To use several threads, [spawn](crate::spawn) the futures and join the
/// handles.
///
/// # Order
///
/// Each poll of the task starts one future further on, so that none can use up the task's budget before the others get
/// their turn. With `biased;` in front they are always polled from the first to the last. That saves a little and
/// makes the order predictable, and leaves it to you that the first ones let the others through.
///
/// ```
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// # use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// let last = AtomicU32::new(0);
/// rt::join!(biased; async { last.store(1, Relaxed) }, async { last.store(2, Relaxed) });
/// assert_eq!(last.load(Relaxed), 2);
/// # }
/// ```
///
/// # Dropping
///
/// A future is dropped as soon as it is done. If the `join!` itself is dropped before its end, so are the futures that
/// still run and the outputs of those that do not, in the order in which they are written.
#[macro_export]
macro_rules! join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::macros::support::join_internal!($crate; biased; $(($future))*)
    };
    ($($future:expr),* $(,)?) => {
        $crate::macros::support::join_internal!($crate; rotate; $(($future))*)
    };
}

/// Waits for several futures at once, until all have succeeded or one has failed.
///
/// Every future returns a [`Result`], all with the same type of error. If each of them is `Ok`, the result is `Ok` of a
/// tuple, in the order in which the futures are written; the first `Err` ends the wait and is the result, and the
/// futures that still run are dropped.
///
/// ```
/// async fn good() -> Result<u32, String> { Ok(7) }
/// async fn bad() -> Result<u32, String> { Err("out of numbers".to_owned()) }
///
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(rt::try_join!(good(), good()), Ok((7, 7)));
/// assert_eq!(rt::try_join!(good(), bad()), Err("out of numbers".to_owned()));
/// # }
/// ```
///
/// For everything else it is like [`join!`](crate::join): where it can be used, how the futures take turns, and what
/// `biased;` in front of them does.
///
/// # Cancel safety
///
/// An error cancels the other futures where they are. What is said of [`select!`](crate::select) holds here too: a
/// future that must not be cut short should be spawned, and its handle joined.
#[macro_export]
macro_rules! try_join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::macros::support::try_join_internal!($crate; biased; $(($future))*)
    };
    ($($future:expr),* $(,)?) => {
        $crate::macros::support::try_join_internal!($crate; rotate; $(($future))*)
    };
}
