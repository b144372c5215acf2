/// Waits for several futures at once, and goes on with the first whose output fits; the others are dropped.
///
/// It can be used only in `async` functions, blocks and closures. Each branch, of up to 64, has the form
///
/// ```text
/// pattern = future (, if condition)? => handler,
/// ```
///
/// where the comma may be left out after a handler that is a block. There may be an `else => handler` at the end, and a
/// `biased;` at the beginning.
///
/// ```
/// use rt::time::{Duration, sleep};
///
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// let winner = rt::select! {
///     _ = sleep(Duration::from_secs(3600)) => "the tortoise",
///     _ = sleep(Duration::from_millis(1)) => "the hare",
/// };
/// assert_eq!(winner, "the hare");
/// # }
/// ```
///
/// # What happens
///
/// 1. The conditions are evaluated, in order. A branch whose condition is false is disabled.
/// 2. The expressions for the futures are evaluated, in order, **also those of disabled branches**, whose futures are
///    then not polled.
/// 3. The futures of the branches that are not disabled are polled, as parts of the current task, until one is done.
/// 4. If its output fits the branch's pattern, all the futures are dropped, the first one first, the pattern's
///    variables are bound and the handler runs. What the handler returns is the value of the `select!`.
/// 5. If it does not fit, the output is dropped, the branch is disabled, and the wait goes on at step 3.
/// 6. Once all branches are disabled, the `else` handler runs. Without one, the `select!` panics.
///
/// So at the time a handler runs no future of the `select!` exists, and the handler is free to use what they borrowed.
/// It runs in the place of the `select!`: it can use `.await`, `?`, `break`, `continue` and `return`.
///
/// ```
/// # async fn next(from: &mut std::vec::IntoIter<u32>) -> Option<u32> { from.next() }
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut odd = vec![1, 3].into_iter();
/// let mut even = vec![2].into_iter();
/// let mut sum = 0;
/// loop {
///     rt::select! {
///         Some(number) = next(&mut odd) => sum += number,
///         Some(number) = next(&mut even) => sum += number,
///         else => break,
///     }
/// }
/// assert_eq!(sum, 6);
/// # }
/// ```
///
/// # Order
///
/// Each poll starts at a branch picked at random and goes round from there, so that a branch which is always ready
/// cannot starve the others. The picks come from the runtime's seeded generator, or on a thread that is none of its
/// workers from one that is the same each time.
///
/// With `biased;` the branches are polled from the top. That saves the random number and makes the order something to
/// rely on, such as to look at a signal for shutdown first; and then it is up to you that the upper branches are not
/// ready all the time.
///
/// ```
/// # use std::future::ready;
/// # #[rt::main(flavor = "current_thread")]
/// # async fn main() {
/// let first = rt::select! {
///     biased;
///     number = ready(1) => number,
///     number = ready(2) => number,
/// };
/// assert_eq!(first, 1);
/// # }
/// ```
///
/// # Loops, and futures that go on
///
/// A future that a branch makes is dropped when another branch wins. To go on with it the next time round, make and pin
/// it outside and give the branch a reference; and a condition keeps it from being polled once it is done.
///
/// ```
/// use rt::time::{Duration, interval, sleep};
///
/// # #[rt::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let mut ticks = interval(Duration::from_millis(10));
/// let deadline = sleep(Duration::from_millis(35));
/// rt::pin!(deadline);
///
/// let mut count = 0;
/// loop {
///     rt::select! {
///         _ = ticks.tick() => count += 1,
///         () = &mut deadline => break,
///     }
/// }
/// assert_eq!(count, 4);
/// # }
/// ```
///
/// # Cancel safety
///
/// To be dropped half way is the fate of every future but one, so what matters is what is lost with it. An operation is
/// _cancel safe_ if dropping it before its end loses nothing: waiting for a message, a connection, a tick or a signal
/// is, as either it happened and the future returned it, or it did not. An operation that makes progress in several
/// steps, such as reading an exact number of bytes or writing all of a buffer, is not: what the first steps moved is
/// gone. Keep the state of such an operation outside the loop, by the means shown above, or [spawn](crate::spawn) it
/// and wait for its handle.
///
/// # One task
///
/// All branches share the current task: a branch that blocks its thread holds up the others. A `select!` that is
/// reached when the task's budget for this turn is spent polls no branch until the task has let others run. One that
/// has been waiting polls all of them, so that a deadline among them is seen; then one of the runtime's own futures may
/// be refused for want of budget, and another branch win, though that stands below it in a `biased;` one.
///
/// # Panics
///
/// Panics if all the branches are disabled and there is no `else` branch.
#[macro_export]
macro_rules! select {
    ($($branches:tt)*) => {
        $crate::macros::support::select_internal!($crate; $($branches)*)
    };
}
