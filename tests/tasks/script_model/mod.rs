//! Tasks whose every step is read from a string of bytes, and an account of what must be true of them.
//!
//! A script decides what the main future, the polls and drops of tasks, the drops of outputs, and the wakers of
//! joiners do: spawn, wake, clone and drop wakers, abort, poll and drop join handles, return, or panic. All of it
//! happens on one thread, so the account says at any time what must be true of each task. Everything that the runtime
//! calls compares itself with it:
//!
//! - a task is polled only if it was spawned or woken since its last poll, and not after its end or an abort;
//! - by the time the queues are empty, each task that was woken has been polled, and each that was aborted has ended;
//! - a future is dropped once, after its end or for an abort or the shutdown, before any joiner hears of it;
//! - an output is given to the joiner, or dropped once it cannot be asked for any more, and so is a panic's payload; if
//!   the future's drop panics the joiner is given that, and the output is dropped;
//! - the joiner's waker is woken once, if it is the latest that was left, and the answer is what happened to the task;
//! - with the last handle and waker goes the last of the runtime.
//!
//! At the end of the script nothing acts any more, so every run ends.

mod act;
mod task;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::task::Waker;

use rt::runtime::{Builder, Handle, LocalRuntime};
use rt::task::{AbortHandle, Id, JoinHandle};

use act::{Scope, acts};
use task::{Listener, Output, Thrown};

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Fails the run, unless something is so. The runtime contains the panics of tasks, so this one is remembered as well.
macro_rules! claim {
    ($so:expr, $($message:tt)+) => {
        if !$so {
            $crate::script_model::fail(format!($($message)+));
        }
    };
}
use claim;

fn fail(message: String) {
    FAILURE.with(|failure| failure.borrow_mut().get_or_insert_with(|| message.clone()).len());
    if !std::thread::panicking() {
        panic!("{message}");
    }
}

/// Everything that exists, and the account of it.
struct World {
    script: Vec<u8>,
    at: usize,
    /// How many calls of user code within each other act.
    depth: usize,
    runtime: Option<Handle>,
    /// The shutdown has begun.
    closing: bool,
    tasks: Vec<Task>,
    wakers: Vec<(usize, Waker)>,
    aborts: Vec<(usize, AbortHandle)>,
    listeners: Vec<(Arc<Listener>, usize)>,
    /// Payloads of panics that were thrown and not dropped.
    payloads: usize,
}

/// The account of one task.
#[derive(Default)]
struct Task {
    id: Option<Id>,
    handle: Option<JoinHandle<Output>>,
    /// The join handle was dropped, or is being dropped.
    handle_gone: bool,
    polling: bool,
    /// It must be polled before the queues are empty, and may be.
    notified: bool,
    aborted: bool,
    end: Option<End>,
    future_dropped: bool,
    /// An output exists: in the task, or on its way to the joiner.
    has_output: bool,
    /// Whose waker the join handle has.
    joiner: Option<Who>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Returned,
    Panicked,
    Cancelled,
    PanickedInDrop,
}

/// Whose code runs, and whose waker that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Nobody,
    Main,
    Task(usize),
    Listener(usize),
}

/// For a moment in which no user code runs.
fn with<R>(f: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with(|world| f(world.borrow_mut().as_mut().expect("only while a script runs")))
}

/// The next byte of the script; zeros when it is at its end.
fn read() -> u8 {
    with(|world| {
        let byte = world.script.get(world.at).copied().unwrap_or(0);
        world.at += 1;
        byte
    })
}

/// Whether something with a chance of one in `n` happens. Nothing does at the end of the script.
fn one_in(n: u8) -> bool {
    read() % n == n - 1
}

/// Whether something that happens again and again does so once more, which it does `n - 1` times out of `n`.
fn goes_on(n: u8) -> bool {
    !read().is_multiple_of(n)
}

/// Does what the script says.
///
/// # Panics
///
/// If the runtime breaks a promise.
pub(crate) fn run(script: &[u8]) {
    let world = World {
        script: script.to_vec(),
        at: 0,
        depth: 0,
        runtime: None,
        closing: false,
        tasks: Vec::new(),
        wakers: Vec::new(),
        aborts: Vec::new(),
        listeners: Vec::new(),
        payloads: 0,
    };
    // What a failed run left behind would compare itself with an account that is not its own.
    std::mem::forget(WORLD.with(|place| place.replace(Some(world))));
    FAILURE.with(|failure| failure.borrow_mut().take());
    let unwound = catch_unwind(live);
    if let Some(message) = FAILURE.with(|failure| failure.borrow_mut().take()) {
        panic!("{message}");
    }
    if let Err(payload) = unwound {
        std::panic::resume_unwind(payload);
    }
    WORLD.with(|world| world.take());
}

fn live() {
    // Lives as long as the runtime's memory.
    let memory = Arc::new(());
    let runtime = build(&memory);
    let memory = Arc::downgrade(&{ memory });
    with(|world| world.runtime = Some(runtime.handle().clone()));
    loop {
        {
            let _entered = one_in(2).then(|| runtime.enter());
            acts(&Scope::NOBODY, 8);
        }
        let main = catch_unwind(AssertUnwindSafe(|| runtime.block_on(act::main())));
        claim!(!main.is_err_and(|payload| !payload.is::<Thrown>()), "block_on panicked");
        if !goes_on(4) {
            break;
        }
    }
    acts(&Scope::NOBODY, 4);
    with(|world| world.closing = true);
    if one_in(2) {
        runtime.shutdown_background();
    } else {
        drop(runtime);
    }
    check_shutdown();
    acts(&Scope::NOBODY, 16);
    wind_up(&memory);
}

fn build(memory: &Arc<()>) -> LocalRuntime {
    let budget = u32::from(read() % 8) + 1;
    let held = Arc::clone(memory);
    Builder::new_current_thread()
        .coop_budget(budget)
        .global_queue_interval(u32::from(read() % 4) + 1)
        .on_thread_park(move || _ = &held)
        .build_local(Default::default())
        .expect("nothing that it needs can run out")
}

fn check_shutdown() {
    with(|world| {
        for (n, task) in world.tasks.iter().enumerate() {
            claim!(task.end.is_some() && task.future_dropped, "task {n} has outlived its runtime");
            claim!(task.handle.as_ref().is_none_or(|handle| handle.is_finished()), "task {n} is not finished");
        }
    });
}

/// Drops all that is left, in an order of the script, and checks that nothing remains.
fn wind_up(memory: &Weak<()>) {
    while let Some(left) = with(|world| {
        let left = world.wakers.len() + world.aborts.len() + world.tasks.iter().filter(|t| t.handle.is_some()).count();
        (left > 0).then_some(left)
    }) {
        act::drop_something(usize::from(read()) % left);
    }
    with(|world| world.runtime = None);
    claim!(memory.upgrade().is_none(), "the runtime's memory leaked, and a task's with it");
    with(|world| {
        claim!(world.payloads == 0, "{} payloads of panics leaked", world.payloads);
        for (n, task) in world.tasks.iter().enumerate() {
            claim!(!task.has_output, "the output of task {n} leaked");
        }
        for (listener, expected) in &world.listeners {
            claim!(listener.woken() == *expected, "a joiner was woken {} times, not {expected}", listener.woken());
            claim!(Arc::strong_count(listener) == 1, "a joiner's waker leaked");
        }
    });
}
