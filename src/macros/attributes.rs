//! The two attributes. They are documented here rather than where they are written, since only here can the examples
//! be compiled.

/// Starts a runtime and runs an `async fn` on it: usually `main`.
///
/// ```
/// #[rt::main]
/// async fn main() {
///     println!("hello");
/// }
/// ```
///
/// does what this does:
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let runtime = rt::runtime::Builder::new_multi_thread().enable_all().build()?;
/// runtime.block_on(async {
///     println!("hello");
/// });
/// # Ok(())
/// # }
/// ```
///
/// The function may return whatever a `main` may return, such as a `Result`:
///
/// ```
/// #[rt::main]
/// async fn main() -> std::io::Result<()> {
///     let manifest = std::fs::read_to_string("Cargo.toml")?;
///     assert!(!manifest.is_empty());
///     Ok(())
/// }
/// ```
///
/// # Options
///
/// | option | default | meaning |
/// |---|---|---|
/// | `flavor = "multi_thread"` | yes | tasks run on several worker threads and may move between them |
/// | `flavor = "current_thread"` | | everything runs on the calling thread; the body may use `rt::task::spawn_local` |
/// | `worker_threads = N` | one for each processor that the process may use, or `RT_WORKER_THREADS`, or `TOKIO_WORKER_THREADS` | how many workers; `multi_thread` only |
/// | `start_paused = bool` | `false` | starts with the clock standing still, for tests; `current_thread` only |
/// | `unhandled_panic = "shutdown_runtime"` | `"ignore"` | a task's panic [ends all](crate::runtime::UnhandledPanic); `current_thread` only |
/// | `flavor = "local"` | | the same as `current_thread` |
/// | `name = "name"` | none | what the runtime is called: see [`Builder::name`](crate::runtime::Builder::name) |
/// | `crate = path` | `::rt` | where to find rt, if a dependency renames or re-exports it |
///
/// When the function returns the runtime ends: tasks are cancelled, and jobs of `spawn_blocking` that run are waited
/// for. One that reads from the terminal keeps the program until somebody types; with a runtime of its own, which it
/// ends by [`shutdown_background`](crate::runtime::Runtime::shutdown_background), a program does not wait.
///
/// A program whose number of workers is known only when it runs uses [`Builder`](crate::runtime::Builder) instead.
///
/// # Other functions
///
/// The attribute works on any function, methods included, and those other than `main` may have arguments and be
/// generic. Each call starts a runtime of its own and blocks the calling thread until the function is done, so it must
/// not be called from asynchronous code.
///
/// ```
/// #[rt::main(flavor = "current_thread")]
/// async fn total(numbers: Vec<u32>) -> u32 {
///     numbers.iter().sum()
/// }
///
/// assert_eq!(total(vec![1, 2, 3]), 6);
/// ```
///
/// Attributes that stand below this one apply to the resulting plain function.
///
/// # Panics
///
/// The function panics if the operating system refuses what the runtime needs to start: threads, or a descriptor to
/// wait for events on.
///
pub use runtime_macros::main;

/// Runs an `async fn` as a test, on a runtime of its own.
///
/// ```no_run
/// #[rt::test]
/// async fn one_and_one() {
///     assert_eq!(rt::spawn(async { 1 + 1 }).await.unwrap(), 2);
/// }
/// ```
///
/// The runtime has the `current_thread` flavor unless the options say otherwise. They are those of
/// [`#[rt::main]`](macro@crate::main):
///
/// ```no_run
/// #[rt::test(flavor = "multi_thread", worker_threads = 2)]
/// async fn on_two_workers() {}
///
/// #[rt::test(start_paused = true)]
/// async fn takes_no_time() {
///     rt::time::sleep(std::time::Duration::from_secs(3600)).await;
/// }
/// ```
///
/// All that goes with `#[test]` goes with this attribute, without the `#[test]`: `#[should_panic]`, `#[ignore]`, and
/// tests that return a `Result`. When the test's body returns, the tasks that it started and that still run are dropped
/// with the runtime.
///
/// # With attributes of other crates
///
/// An attribute that changes a test, such as `#[test_log::test]` or `#[serial]`, goes below this one and finds a plain
/// `#[test]`. One that makes several tests of one function with arguments, such as `#[rstest]` or `#[test_case]`, goes
/// above or below it, as that crate's documentation has it for other runtimes.
pub use runtime_macros::test;
