//! What scripts can do.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Wake, Waker};

use rt::runtime::Handle;
use rt::task::{JoinError, JoinHandle, coop};

use super::task::{Listener, Output, Payload, Scripted, Thrown, throw_nothing_now_and_then};
use super::{End, Task, Who, claim, goes_on, one_in, read, with};

/// The most tasks in a run, and the most calls of user code within each other. A fault shows with few.
const TASKS: usize = 24;
const DEPTH: usize = 4;

/// Where something is done.
pub(super) struct Scope<'a> {
    pub(super) who: Who,
    pub(super) waker: Option<&'a Waker>,
}

impl Scope<'_> {
    /// In a drop or a wake, or outside of all.
    pub(super) const NOBODY: Self = Scope { who: Who::Nobody, waker: None };
}

/// Does fewer than `limit` things.
pub(super) fn acts(scope: &Scope<'_>, limit: u8) {
    let depth = with(|world| {
        world.depth += 1;
        world.depth
    });
    if depth <= DEPTH {
        for _ in 0..read() % limit {
            act(scope);
        }
    }
    with(|world| world.depth -= 1);
}

fn act(scope: &Scope<'_>) {
    match read() % 16 {
        0 | 1 => spawn(),
        2 => wake_by_ref(),
        3 => wake(),
        4 => clone_or_drop_waker(),
        5 => abort(),
        6 => abort_handle(),
        7 => drop_abort_handle(),
        8 => drop_join_handle(),
        9..=11 => poll_join_handle(scope),
        12 => with(|world| world.listeners.push((Listener::new(), 0))),
        13 | 14 => leave_waker(scope),
        _ => wake_self(scope),
    }
}

fn spawn() {
    let place = with(|world| {
        let runtime = world.runtime.clone().filter(|_| world.tasks.len() < TASKS)?;
        world.tasks.push(Task { notified: true, ..Task::default() });
        Some((runtime, world.tasks.len() - 1))
    });
    let Some((runtime, me)) = place else { return };
    let local = one_in(2) && Handle::try_current().is_ok();
    let handle = if local { rt::spawn_local(Scripted(me)) } else { runtime.spawn(Scripted(me)) };
    with(|world| {
        world.tasks[me].id = Some(handle.id());
        world.tasks[me].handle = Some(handle);
    });
}

/// The entry of a list of `len` entries that the script picks.
fn pick(len: usize) -> Option<usize> {
    (len > 0).then(|| usize::from(read()) % len)
}

/// Takes one of the tasks' handles, so that no other act uses it meanwhile.
fn take_handle() -> Option<(usize, JoinHandle<Output>)> {
    let task = pick(with(|world| world.tasks.len()))?;
    with(|world| Some((task, world.tasks[task].handle.take()?)))
}

fn put_handle_back(task: usize, handle: JoinHandle<Output>) {
    with(|world| world.tasks[task].handle = Some(handle));
}

fn mark_woken(task: usize) {
    with(|world| world.tasks[task].notified = true);
}

fn take_waker() -> Option<(usize, Waker)> {
    let which = pick(with(|world| world.wakers.len()))?;
    Some(with(|world| world.wakers.swap_remove(which)))
}

fn wake() {
    if let Some((task, waker)) = take_waker() {
        mark_woken(task);
        waker.wake();
    }
}

fn wake_by_ref() {
    if let Some((task, waker)) = take_waker() {
        mark_woken(task);
        waker.wake_by_ref();
        with(|world| world.wakers.push((task, waker)));
    }
}

fn clone_or_drop_waker() {
    if let Some((task, waker)) = take_waker() {
        if one_in(2) {
            return drop(waker);
        }
        with(|world| world.wakers.extend([(task, waker.clone()), (task, waker)]));
    }
}

fn leave_waker(scope: &Scope<'_>) {
    if let (Who::Task(me), Some(waker)) = (scope.who, scope.waker) {
        with(|world| world.wakers.push((me, waker.clone())));
    }
}

fn wake_self(scope: &Scope<'_>) {
    if let (Who::Task(me), Some(waker)) = (scope.who, scope.waker) {
        mark_woken(me);
        waker.wake_by_ref();
    }
}

/// Aborts by one handle or the other. The end that a task has come to is not undone.
fn abort() {
    if one_in(2) {
        let Some(which) = pick(with(|world| world.aborts.len())) else { return };
        let (task, handle) = with(|world| world.aborts[which].clone());
        with(|world| world.tasks[task].aborted = true);
        handle.abort();
    } else if let Some((task, handle)) = take_handle() {
        with(|world| world.tasks[task].aborted = true);
        handle.abort();
        put_handle_back(task, handle);
    }
}

fn abort_handle() {
    if let Some((task, handle)) = take_handle() {
        let abort = handle.abort_handle();
        claim!(abort.is_finished() == handle.is_finished() && abort.id() == handle.id(), "handles disagree");
        with(|world| world.aborts.push((task, abort)));
        put_handle_back(task, handle);
    }
}

fn drop_abort_handle() {
    if let Some(which) = pick(with(|world| world.aborts.len())) {
        let handle = with(|world| world.aborts.swap_remove(which));
        drop(handle);
    }
}

fn drop_join_handle() {
    if let Some((task, handle)) = take_handle() {
        drop_handle(task, handle);
    }
}

fn drop_handle(task: usize, handle: JoinHandle<Output>) {
    settle(task, &handle);
    with(|world| {
        world.tasks[task].joiner = None;
        world.tasks[task].handle_gone = true;
    });
    claim!(catch_unwind(AssertUnwindSafe(|| drop(handle))).is_ok(), "the drop of a join handle panicked");
}

/// If the task is finished, its joiner has been woken.
fn settle(task: usize, handle: &JoinHandle<Output>) {
    if !handle.is_finished() {
        return;
    }
    with(|world| {
        claim!(world.tasks[task].end.is_some(), "task {task} is finished, and has not ended");
        claim!(world.tasks[task].future_dropped, "task {task} is finished, and its future was not dropped");
        match world.tasks[task].joiner.take() {
            Some(Who::Task(joiner)) => world.tasks[joiner].notified = true,
            Some(Who::Listener(joiner)) => world.listeners[joiner].1 += 1,
            Some(Who::Main | Who::Nobody) | None => {}
        }
    });
}

/// A waker that remembers whether it was called.
struct Watched {
    waker: Waker,
    woken: AtomicBool,
}

impl Wake for Watched {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Relaxed);
        self.waker.wake_by_ref();
    }
}

fn poll_join_handle(scope: &Scope<'_>) {
    let Some((task, mut handle)) = take_handle() else { return };
    settle(task, &handle);
    let (who, waker) = match scope.waker {
        Some(waker) if one_in(2) => (scope.who, waker.clone()),
        _ => match pick(with(|world| world.listeners.len())) {
            Some(which) => (Who::Listener(which), Waker::from(with(|world| world.listeners[which].0.clone()))),
            None => return put_handle_back(task, handle),
        },
    };
    let finished = handle.is_finished();
    // Without budget the handle wakes the waker and does not look at the task, unless so many operations were refused
    // in this poll that the budget is renewed.
    let has_budget = coop::has_budget_remaining();
    let watched = Arc::new(Watched { waker: waker.clone(), woken: AtomicBool::new(false) });
    let waker = if has_budget { waker } else { Waker::from(watched.clone()) };
    let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut handle).poll(&mut Context::from_waker(&waker))));
    match polled {
        Ok(Poll::Ready(answer)) => {
            claim!(finished, "a join handle of a task that goes on was ready");
            with(|world| world.tasks[task].handle_gone = true);
            drop(handle);
            check_answer(task, answer);
            return;
        }
        Ok(Poll::Pending) if !watched.woken.load(Relaxed) => {
            claim!(!finished, "task {task} is finished, and its handle is not ready");
            with(|world| world.tasks[task].joiner = Some(who));
        }
        // The handle was refused, so the waker was woken at once; and it may have panicked.
        Ok(Poll::Pending) | Err(_) => {
            if let Err(payload) = polled {
                claim!(!has_budget && payload.is::<Thrown>(), "polling a join handle panicked");
            }
            match who {
                Who::Task(me) => mark_woken(me),
                Who::Listener(which) => with(|world| world.listeners[which].1 += 1),
                Who::Main | Who::Nobody => {}
            }
        }
    }
    put_handle_back(task, handle);
}

/// The joiner is told what has happened.
fn check_answer(task: usize, answer: Result<Output, JoinError>) {
    let (end, id) = with(|world| (world.tasks[task].end, world.tasks[task].id));
    let end = end.expect("looked at by `settle`");
    match answer {
        Ok(output) => {
            claim!(end == End::Returned && output.0 == task, "task {task} ended with {end:?} and gave {output:?}");
            drop_contained(output);
        }
        Err(error) => {
            claim!(Some(error.id()) == id, "the error of task {task} is of {:?}", error.id());
            claim!(
                error.is_cancelled() == (end == End::Cancelled),
                "task {task} ended with {end:?} and gave {error:?}"
            );
            match error.try_into_panic().map(|payload| payload.downcast::<Payload>()) {
                Ok(Ok(payload)) => {
                    claim!(
                        payload.of == task && payload.when == end,
                        "task {task} ended with {end:?}, not {:?}",
                        payload.when
                    );
                    drop_contained(payload);
                }
                Ok(Err(_)) => claim!(false, "the payload of task {task} is not its own"),
                Err(_) => claim!(end == End::Cancelled, "task {task} ended with {end:?} and gave no payload"),
            }
        }
    }
}

fn drop_contained<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        claim!(payload.is::<Thrown>(), "a drop panicked with somebody else's payload");
    }
}

/// Drops one of the things that are left at the end.
pub(super) fn drop_something(mut which: usize) {
    let (wakers, aborts) = with(|world| (world.wakers.len(), world.aborts.len()));
    if which < wakers {
        let waker = with(|world| world.wakers.swap_remove(which));
        return drop(waker);
    }
    which -= wakers;
    if which < aborts {
        let handle = with(|world| world.aborts.swap_remove(which));
        return drop(handle);
    }
    which -= aborts;
    let task = with(|world| {
        let mut left = world.tasks.iter().enumerate().filter(|(_, task)| task.handle.is_some());
        left.nth(which).map(|(n, _)| n)
    });
    let Some(task) = task else { return };
    let handle = with(|world| world.tasks[task].handle.take());
    drop_handle(task, handle.expect("just seen"));
}

/// The main future: acts and yields in turn, and at its end waits until all queues are empty.
pub(super) async fn main() {
    loop {
        poll_fn(|cx| {
            acts(&Scope { who: Who::Main, waker: Some(cx.waker()) }, 8);
            Poll::Ready(())
        })
        .await;
        throw_nothing_now_and_then();
        if !goes_on(8) {
            break;
        }
        rt::task::yield_now().await;
    }
    let metrics = with(|world| world.runtime.clone()).expect("it is running").metrics();
    let mut turns = 0;
    while metrics.worker_queue_depth(0) != Some(0) || metrics.global_queue_depth() > 0 {
        turns += 1;
        claim!(turns < 100_000, "the queues do not become empty");
        rt::task::yield_now().await;
    }
    check_quiet();
    let alive = with(|world| world.tasks.iter().filter(|task| task.end.is_none()).count());
    claim!(metrics.num_alive_tasks() == alive, "the runtime counts {} tasks, not {alive}", metrics.num_alive_tasks());
}

/// With all queues empty, every task that was woken has been polled, every task that was aborted has ended, and every
/// joiner has been told.
fn check_quiet() {
    for n in 0..with(|world| world.tasks.len()) {
        if let Some(handle) = with(|world| world.tasks[n].handle.take()) {
            settle(n, &handle);
            with(|world| claim!(handle.is_finished() == world.tasks[n].end.is_some(), "task {n} is not finished"));
            put_handle_back(n, handle);
        }
    }
    with(|world| {
        for (n, task) in world.tasks.iter().enumerate() {
            let over = task.end.is_some();
            claim!(over || !task.notified, "task {n} was woken and not polled");
            claim!(over || !task.aborted, "task {n} was aborted and goes on");
            claim!(over == task.future_dropped, "the future of task {n} was not dropped");
        }
        for (listener, expected) in &world.listeners {
            claim!(listener.woken() == *expected, "a joiner was woken {} times, not {expected}", listener.woken());
        }
    });
}
