//! Panics in a task's own code: in its poll, in the drop of its future, of its output, and of what it threw. However
//! the task ends, everything is dropped once, and its neighbours do not notice.
//!
//! Mutations that these tests are for: a call of user code outside of `catch_unwind`; a drop that is tried again after
//! it panicked; a budget or a place that a panic leaves changed.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rt::runtime::{Builder, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

use super::on_each;

/// Where a task panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Poll,
    FutureDrop,
    OutputDrop,
    PollAndDrop,
}

const PLACES: [Place; 4] = [Place::Poll, Place::FutureDrop, Place::OutputDrop, Place::PollAndDrop];

/// How it comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Joined,
    /// The handle goes first.
    Detached,
    /// The handle goes last, and takes the output with it.
    HandleDropped,
    AbortedAtOnce,
    AbortedIdle,
}

const ENDS: [End; 5] = [End::Joined, End::Detached, End::HandleDropped, End::AbortedAtOnce, End::AbortedIdle];

/// The output: a bomb, or harmless. (What it is made of is all there is to it.)
#[allow(dead_code)]
enum Output {
    Bomb(Bomb),
    Token(Token),
    Nothing,
}

/// Panics in one place.
struct Bad {
    place: Place,
    blast: Blast,
    /// Waits for ever, instead of coming to its end.
    waits: bool,
    outputs: Drops,
    _token: Token,
}

impl Future for Bad {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Output> {
        if self.waits {
            return Poll::Pending;
        }
        match self.place {
            Place::Poll | Place::PollAndDrop => self.blast.go_off(),
            Place::OutputDrop => Poll::Ready(Output::Bomb(Bomb::of(self.blast, &self.outputs))),
            Place::FutureDrop => Poll::Ready(Output::Token(self.outputs.token())),
        }
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        if matches!(self.place, Place::FutureDrop | Place::PollAndDrop) {
            self.blast.go_off();
        }
    }
}

fn bad(place: Place, blast: Blast, waits: bool, futures: &Drops, outputs: &Drops) -> Bad {
    Bad { place, blast, waits, outputs: outputs.clone(), _token: futures.token() }
}

async fn until(so: impl Fn() -> bool) {
    while !so() {
        rt::task::yield_now().await;
    }
}

/// Sees a task to its end, from within the runtime.
async fn see_off(task: JoinHandle<Output>, place: Place, end: End) {
    match end {
        End::Detached => drop(task),
        End::HandleDropped => {
            until(|| task.is_finished()).await;
            assert!(!survives(|| drop(task)), "what the runtime drops stays with the runtime");
        }
        End::Joined | End::AbortedAtOnce | End::AbortedIdle => {
            if end == End::AbortedIdle {
                (0..3).for_each(|_| drop(rt::spawn(async {})));
                rt::task::yield_now().await;
            }
            if end != End::Joined {
                task.abort();
            }
            match task.await {
                // Aborted too late.
                Ok(output) => assert_eq!(survives(|| drop(output)), place == Place::OutputDrop),
                Err(error) if error.is_panic() => {
                    survives(|| drop(error));
                }
                Err(error) => assert!(error.is_cancelled() && end != End::Joined),
            }
        }
    }
}

/// Every place and every end, beside a task that must not notice.
async fn all_of_it(spawn: impl Fn(Bad) -> JoinHandle<Output>, blast: Blast, futures: &Drops, outputs: &Drops) {
    let stop = Signal::new();
    let stopped = stop.clone();
    let neighbour = rt::spawn(async move {
        while !stopped.is_set() {
            rt::task::yield_now().await;
        }
        "never noticed"
    });
    for place in PLACES {
        for end in ENDS {
            let waits = end == End::AbortedIdle;
            see_off(spawn(bad(place, blast, waits, futures, outputs)), place, end).await;
        }
    }
    until(|| futures.count() == PLACES.len() * ENDS.len()).await;
    stop.set();
    assert_eq!(neighbour.await.unwrap(), "never noticed");
}

/// And some for the shutdown.
fn leave_behind(runtime: &Runtime, blast: Blast, futures: &Drops, outputs: &Drops) -> Vec<JoinHandle<Output>> {
    PLACES.iter().map(|&place| runtime.spawn(bad(place, blast, true, futures, outputs))).collect()
}

#[test]
fn a_task_may_panic_anywhere() {
    let _watchdog = watchdog();
    for blast in Blast::ALL {
        for runtime in [current(), multi(1), multi(2), multi(4)] {
            let (futures, outputs) = (Drops::new(), Drops::new());
            runtime.block_on(all_of_it(|bad| rt::spawn(bad), blast, &futures, &outputs));
            let left = leave_behind(&runtime, blast, &futures, &outputs);
            runtime.block_on(rt::task::yield_now());
            assert_unhurt(&runtime);
            drop(runtime);
            futures.assert_all();
            outputs.assert_all();
            for task in left {
                let error = current().block_on(task).map(|_| ()).unwrap_err();
                survives(|| drop(error));
            }
        }
    }
}

#[test]
fn a_local_task_may_panic_anywhere() {
    let _watchdog = watchdog();
    for blast in Blast::ALL {
        let (futures, outputs) = (Drops::new(), Drops::new());
        let runtime = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
        runtime.block_on(all_of_it(|bad| rt::spawn_local(bad), blast, &futures, &outputs));
        PLACES.iter().for_each(|&place| drop(runtime.spawn_local(bad(place, blast, true, &futures, &outputs))));
        runtime.block_on(async { rt::spawn_local(rt::task::yield_now()).await.unwrap() });
        drop(runtime);
        futures.assert_all();
        outputs.assert_all();
    }
}

#[test]
fn a_blocking_job_may_panic_anywhere() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let (closures, outputs) = (Drops::new(), Drops::new());
        for end in [End::Joined, End::Detached, End::HandleDropped] {
            // In the call, in the drop of what it had captured, in the drop of the output.
            for place in [Place::Poll, Place::FutureDrop, Place::OutputDrop] {
                let captured = match place {
                    Place::FutureDrop => Output::Bomb(Bomb::of(blast, &closures)),
                    _ => Output::Token(closures.token()),
                };
                let made = outputs.clone();
                let job = runtime.spawn_blocking(move || {
                    let _captured = captured;
                    match place {
                        Place::Poll => blast.go_off(),
                        Place::OutputDrop => Output::Bomb(Bomb::of(blast, &made)),
                        // Rust itself leaks what a function returns when a drop at its end panics.
                        _ => Output::Nothing,
                    }
                });
                runtime.block_on(see_off(job, place, end));
            }
        }
        runtime.block_on(until(|| closures.count() == 9 && outputs.count() == 3));
    });
}

#[test]
fn a_blocking_job_that_never_ran_may_panic_when_it_is_dropped() {
    let _watchdog = watchdog();
    for blast in Blast::ALL {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
        let (gate, closures) = (Gate::new(), Drops::new());
        let held = gate.clone();
        runtime.spawn_blocking(move || held.pass());
        gate.wait_for(1);
        let queue = || {
            let bomb = Bomb::of(blast, &closures);
            runtime.spawn_blocking(move || drop(bomb))
        };
        let aborted = [queue(), queue()];
        aborted.iter().for_each(JoinHandle::abort);
        let behind = runtime.spawn_blocking(|| 1);
        gate.open();
        assert_eq!(runtime.block_on(behind).unwrap(), 1);
        assert_eq!(closures.count(), 2);
        // And some that the shutdown drops.
        let gate = Gate::new();
        let held = gate.clone();
        runtime.spawn_blocking(move || held.pass());
        gate.wait_for(1);
        let left = [queue(), queue()];
        scope(|scope| {
            scope.spawn(|| drop(runtime));
            eventually(|| left.iter().all(JoinHandle::is_finished));
            gate.open();
        });
        closures.assert_all();
        for job in aborted.into_iter().chain(left) {
            let error = current().block_on(job).unwrap_err();
            assert!(error.is_panic());
            survives(|| drop(error));
        }
    }
}

#[test]
fn block_on_hands_a_panic_through_wherever_it_comes_from() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let (futures, outputs) = (Drops::new(), Drops::new());
        // (Not in both: the second panic would end the process, as in any function.)
        for place in [Place::Poll, Place::FutureDrop, Place::OutputDrop] {
            assert!(survives(|| drop(runtime.block_on(bad(place, blast, false, &futures, &outputs)))));
        }
        futures.assert_all();
        outputs.assert_all();
    });
}

#[test]
fn a_panic_inside_of_a_budget_or_a_timeout_leaves_both_as_they_were() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let task = runtime.spawn(async move {
            let mut panics = Box::pin(rt::task::unconstrained(async move { blast.go_off() }));
            assert!(survives(|| _ = panics.as_mut().poll(&mut Context::from_waker(Waker::noop())).map(|()| ())));
            // There is a budget again, and an end to it.
            let mut units = 0;
            while rt::task::coop::has_budget_remaining() {
                rt::task::consume_budget().await;
                units += 1;
                assert!(units < 1000, "no budget is left");
            }
            rt::task::yield_now().await;
            let mut panics =
                Box::pin(rt::time::timeout(std::time::Duration::from_secs(3600), async move { blast.go_off() }));
            assert!(survives(|| _ = panics.as_mut().poll(&mut Context::from_waker(Waker::noop())).map_ok(|()| ())));
            drop(panics);
            rt::time::sleep(std::time::Duration::from_micros(200)).await;
            rt::task::try_id().is_some()
        });
        assert!(runtime.block_on(task).unwrap());
    });
}
