//! I4: on a worker with K runnable tasks, each is polled within `4 * K * 61/60 + 61` ticks of its wake, whatever the
//! others do (`scheduler/multi/run_queue.rs`), and one that has given way within 61 more. Where polls are long and the
//! injector is never empty, every second tick may be the injector's: `4 * K * 2 + 61`. A tick is a poll; the tests
//! count them in the futures themselves.
//!
//! Mutations that these tests are for: no turn for the oldest task of the LIFO queue (tasks that wake each other starve
//! what lies under them); no turn for the FIFO queue; yielding tasks put onto the LIFO queue, or the FIFO queue; none
//! of them released; tasks that others woke in their polls put onto the FIFO queue; no turn for the injector, or one
//! that takes the others' turns.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

/// The clock of these tests, and what was measured by it.
#[derive(Default)]
struct Ticks {
    now: AtomicUsize,
    stop: AtomicBool,
    longest: AtomicUsize,
}

impl Ticks {
    /// Begins a poll, of a task that was woken (or spawned) at a tick. Returns this poll's tick.
    fn poll(&self, woken_at: usize) -> usize {
        let now = self.now.fetch_add(1, SeqCst) + 1;
        self.longest.fetch_max(now - woken_at, SeqCst);
        now
    }

    fn now(&self) -> usize {
        self.now.load(SeqCst)
    }

    fn stopped(&self) -> bool {
        self.stop.load(SeqCst)
    }
}

/// Yields for ever.
async fn hog(ticks: Arc<Ticks>) {
    let mut woken_at = ticks.now();
    poll_fn(|cx| {
        woken_at = ticks.poll(woken_at);
        if ticks.stopped() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One of a few tasks that wake each other for ever.
#[derive(Default)]
struct Partner {
    waker: Mutex<Option<Waker>>,
    woken_at: AtomicUsize,
}

impl Partner {
    fn wake(&self, now: usize) {
        self.woken_at.store(now, SeqCst);
        if let Some(waker) = self.waker.lock().as_ref() {
            waker.wake_by_ref();
        }
    }
}

async fn player(ticks: Arc<Ticks>, me: Arc<Partner>, other: Arc<Partner>) {
    me.woken_at.store(ticks.now(), SeqCst);
    let stopped = poll_fn(|cx| {
        me.waker.lock().get_or_insert_with(|| cx.waker().clone());
        let now = ticks.poll(me.woken_at.load(SeqCst));
        other.wake(now);
        if ticks.stopped() { Poll::Ready(()) } else { Poll::Pending }
    });
    stopped.await;
}

fn spawn_pair(ticks: &Arc<Ticks>) -> [JoinHandle<()>; 2] {
    spawn_ring(ticks)
}

/// Each wakes the next.
fn spawn_ring<const LENGTH: usize>(ticks: &Arc<Ticks>) -> [JoinHandle<()>; LENGTH] {
    let partners: [_; LENGTH] = std::array::from_fn(|_| Arc::<Partner>::default());
    std::array::from_fn(|place| {
        let (me, next) = (partners[place].clone(), partners[(place + 1) % LENGTH].clone());
        rt::spawn(player(ticks.clone(), me, next))
    })
}

/// Spawns a task at every poll, which waits for its first one.
async fn spawner(ticks: Arc<Ticks>, every: usize) {
    let mut children = Vec::new();
    let mut polls = 0;
    while !ticks.stopped() {
        polls += 1;
        if polls % every == 0 {
            let (ticks, spawned_at) = (ticks.clone(), ticks.now());
            children.push(rt::spawn(async move { _ = ticks.poll(spawned_at) }));
        }
        let woken_at = ticks.now();
        yield_by_hand().await;
        ticks.poll(woken_at);
    }
    for child in children {
        child.await.unwrap();
    }
}

/// Runs the crowd until `end` ticks have passed, and returns how many tasks were runnable at once, at most.
async fn crowd(ticks: Arc<Ticks>, hogs: usize, pairs: usize, end: usize) -> usize {
    let mut tasks = Vec::new();
    // These lie at the bottom of the LIFO lane.
    tasks.push(rt::spawn(spawner(ticks.clone(), 8)));
    for _ in 0..hogs {
        tasks.push(rt::spawn(hog(ticks.clone())));
    }
    for _ in 0..pairs {
        tasks.extend(spawn_pair(&ticks));
    }
    // This one is a hog too, and sees to the end.
    while ticks.now() < end {
        let woken_at = ticks.now();
        yield_by_hand().await;
        ticks.poll(woken_at);
    }
    ticks.stop.store(true, SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    // The spawner, its children (at most one in each of its waits), the hogs, one of each pair (two at the beginning),
    // this.
    1 + 2 + hogs + 2 * pairs + 1
}

/// The bound that `run_queue.rs` states, for an injector that is mostly empty.
fn bound(runnable: usize, injector_interval: usize) -> usize {
    4 * runnable * injector_interval / (injector_interval - 1) + injector_interval + 1
}

/// The same for one that never is. How long the polls are that a worker measures is not in the hands of a test.
fn bound_beside_full_injector(runnable: usize, injector_interval: usize) -> usize {
    4 * runnable * 2 + injector_interval + 1
}

#[test]
fn i4_each_runnable_task_of_a_worker_is_polled_within_the_bound() {
    let _watchdog = watchdog();
    for (hogs, pairs) in [(0, 1), (1, 1), (5, 1), (1, 4), (40, 10), (400, 2)] {
        let runtime = multi(1);
        let ticks = Arc::<Ticks>::default();
        // Waited for by a thread that is not in `block_on`, so that there is one worker and no `block_on` thread.
        let task = runtime.spawn(crowd(ticks.clone(), hogs, pairs, 20_000));
        eventually(|| task.is_finished());
        let runnable = futures_lite_block(task);
        let longest = ticks.longest.load(SeqCst);
        assert!(longest <= bound(runnable, 61), "{longest} ticks, with {runnable} runnable tasks");
    }
}

/// Gives way until the end, and counts its turns.
async fn give_way(ticks: Arc<Ticks>, turns: Arc<AtomicUsize>, end: usize) {
    while !ticks.stopped() && ticks.now() < end {
        let woken_at = ticks.now();
        rt::task::yield_now().await;
        ticks.poll(woken_at);
        turns.fetch_add(1, SeqCst);
    }
}

#[test]
fn i4_tasks_that_give_way_wait_for_a_round_and_not_much_longer() {
    let _watchdog = watchdog();
    const END: usize = 20_000;
    for (givers, pairs) in [(1, 1), (2, 1), (40, 1), (2, 4)] {
        let runtime = multi(1);
        let (ticks, turns) = (Arc::<Ticks>::default(), Arc::new(AtomicUsize::new(0)));
        let task = runtime.spawn({
            let (ticks, turns) = (ticks.clone(), turns.clone());
            async move {
                let mut tasks: Vec<_> = (0..pairs).flat_map(|_| spawn_pair(&ticks)).collect();
                for _ in 1..givers {
                    tasks.push(rt::spawn(give_way(ticks.clone(), turns.clone(), usize::MAX)));
                }
                give_way(ticks.clone(), turns, END).await;
                ticks.stop.store(true, SeqCst);
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
        eventually(|| task.is_finished());
        futures_lite_block(task);
        let (longest, runnable) = (ticks.longest.load(SeqCst), givers + 2 * pairs);
        assert!(longest <= bound(runnable, 61) + 61, "{longest} ticks, with {runnable} runnable tasks");
        let (turns, rounds) = (turns.load(SeqCst), ticks.now().div_ceil(61) + 1);
        assert!(turns <= rounds * givers, "{turns} turns in {rounds} rounds, of {givers}");
    }
}

/// Sleeps and then burns processor time, over and over, so that with a few of these some timer is always due.
async fn late_riser(ticks: Arc<Ticks>) {
    while !ticks.stopped() {
        rt::time::sleep(Duration::from_millis(1)).await;
        ticks.poll(ticks.now());
        let start = rt::time::Instant::now();
        while start.elapsed() < Duration::from_micros(800) {
            std::hint::spin_loop();
        }
    }
}

#[test]
fn i4_a_lone_spawned_task_is_polled_within_the_bound_while_timers_are_always_due() {
    let _watchdog = watchdog();
    const RISERS: usize = 4;
    let runtime = multi(1);
    let ticks = Arc::<Ticks>::default();
    let task = runtime.spawn({
        let ticks = ticks.clone();
        async move {
            let risers: Vec<_> = (0..RISERS).map(|_| rt::spawn(late_riser(ticks.clone()))).collect();
            for _ in 0..20 {
                // A timer, too, so that this task is not on the LIFO lane, and its child is alone there.
                rt::time::sleep(Duration::from_millis(3)).await;
                let (child_ticks, spawned_at) = (ticks.clone(), ticks.now());
                rt::spawn(async move { _ = child_ticks.poll(spawned_at) }).await.unwrap();
            }
            ticks.stop.store(true, SeqCst);
            for riser in risers {
                riser.await.unwrap();
            }
        }
    });
    eventually(|| task.is_finished());
    futures_lite_block(task);
    let (longest, runnable) = (ticks.longest.load(SeqCst), RISERS + 2);
    assert!(longest <= bound(runnable, 61), "{longest} ticks, with {runnable} runnable tasks");
}

#[test]
fn i4_each_runnable_task_of_a_current_thread_runtime_is_polled_within_the_bound() {
    let _watchdog = watchdog();
    for (hogs, pairs) in [(0, 1), (5, 1), (40, 10)] {
        let ticks = Arc::<Ticks>::default();
        let crowd = crowd(ticks.clone(), hogs, pairs, 20_000);
        let runnable = current().block_on(async { rt::spawn(crowd).await.unwrap() });
        let longest = ticks.longest.load(SeqCst);
        // First in, first out: one round, and the injector's turn.
        assert!(longest <= runnable * 61 / 60 + 2, "{longest} ticks, with {runnable} runnable tasks");
    }
}

#[test]
fn i4_a_task_that_yields_lets_all_waiting_tasks_go_first() {
    let _watchdog = watchdog();
    for runtime in [multi(1), current()] {
        for (by_hand, shift) in [false, true].into_iter().flat_map(|by_hand| (0..4).map(move |shift| (by_hand, shift)))
        {
            // The order of the lanes goes in fours: begin at each of them.
            for task in (0..shift).map(|_| runtime.spawn(async {})).collect::<Vec<_>>() {
                runtime.block_on(task).unwrap();
            }
            let log = Arc::new(Mutex::new(Vec::new()));
            let note = log.clone();
            let root = runtime.spawn(async move {
                for n in 0..3 {
                    let note = note.clone();
                    rt::spawn(async move { note.lock().push(n) });
                }
                if by_hand {
                    yield_by_hand().await
                } else {
                    rt::task::yield_now().await
                }
                // On a worker the fair lane has every fourth turn, so some of the three may still wait on the LIFO
                // lane; but the task that yielded does not go on at once.
                note.lock().push(9);
            });
            if runtime.handle().runtime_flavor() == rt::runtime::RuntimeFlavor::CurrentThread {
                runtime.block_on(root).unwrap();
                assert_eq!(*log.lock(), [0, 1, 2, 9]);
            } else {
                eventually(|| root.is_finished());
                assert_ne!(log.lock()[0], 9, "it went on at once");
            }
        }
    }
}

/// Has another thread wake the task that is being polled.
fn wake_from_elsewhere(cx: &std::task::Context<'_>) {
    let waker = cx.waker().clone();
    std::thread::spawn(move || waker.wake()).join().unwrap();
}

/// A timer may fire just as its task goes to sleep.
#[test]
fn i4_a_task_woken_in_its_poll_by_another_does_not_wait_behind_yielding_tasks() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let ticks = Arc::<Ticks>::default();
    let hogs: Vec<_> = (0..200).map(|_| runtime.spawn(hog(ticks.clone()))).collect();
    let clock = ticks.clone();
    let mut woken_at = None;
    let waited = runtime.spawn(poll_fn(move |cx| match woken_at {
        None => {
            wake_from_elsewhere(cx);
            woken_at = Some(clock.poll(0));
            Poll::Pending
        }
        Some(woken_at) => Poll::Ready(clock.poll(0) - woken_at),
    }));
    let waited = runtime.block_on(waited).unwrap();
    assert!(waited <= 10, "{waited} ticks");
    end_hogs(&runtime, &ticks, hogs);
}

#[test]
fn i4_a_task_woken_in_each_poll_by_another_leaves_the_others_their_turns() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let ticks = Arc::<Ticks>::default();
    let hogs: Vec<_> = (0..20).map(|_| runtime.spawn(hog(ticks.clone()))).collect();
    let clock = ticks.clone();
    let mut polls = 0;
    let others = runtime.spawn(poll_fn(move |cx| {
        polls += 1;
        if polls == 300 {
            return Poll::Ready(clock.now());
        }
        wake_from_elsewhere(cx);
        Poll::Pending
    }));
    let others = runtime.block_on(others).unwrap();
    // A fair share for each of the twenty would be 300.
    assert!(others >= 20 * 200, "the others were polled {others} times in all");
    end_hogs(&runtime, &ticks, hogs);
}

fn end_hogs(runtime: &Runtime, ticks: &Ticks, hogs: Vec<JoinHandle<()>>) {
    ticks.stop.store(true, SeqCst);
    runtime.block_on(async {
        for hog in hogs {
            hog.await.unwrap();
        }
    });
}

/// Takes the output of a task that is over.
fn futures_lite_block<T>(task: JoinHandle<T>) -> T {
    let mut task = std::pin::pin!(task);
    let mut cx = std::task::Context::from_waker(Waker::noop());
    match task.as_mut().poll(&mut cx) {
        Poll::Ready(output) => output.unwrap(),
        Poll::Pending => panic!("the task is not over"),
    }
}

/// How long tasks in the injector, and tasks under an everlasting pair, wait on a single worker.
struct Waits {
    /// The ticks at which the injected tasks ran, from the beginning.
    injected: Vec<usize>,
    /// The ticks at which the local ones did.
    local: Vec<usize>,
}

/// How many tasks wake each other, one after the other, for ever.
const RING: usize = 10;

fn flood(runtime: &Runtime, injected: usize, local: usize) -> Waits {
    let ticks = Arc::<Ticks>::default();
    let ran = Arc::new([Mutex::new(Vec::new()), Mutex::new(Vec::new())]);
    let gate = Gate::new();
    let (held, clock, log) = (gate.clone(), ticks.clone(), ran.clone());
    let root = runtime.spawn(async move {
        let note = |which: usize| {
            let (clock, log) = (clock.clone(), log.clone());
            async move {
                let now = clock.poll(0);
                log[which].lock().push(now);
            }
        };
        held.pass();
        let locals: Vec<_> = (0..local).map(|_| rt::spawn(note(1))).collect();
        // More than the queue remembers when it looks for tasks that keep coming back.
        let ring: [_; RING] = spawn_ring(&clock);
        let others: Vec<_> = ring.into_iter().chain([rt::spawn(hog(clock.clone()))]).collect();
        for local in locals {
            local.await.unwrap();
        }
        others
    });
    // The worker is held, so all of these wait in the injector before it takes the first.
    gate.wait_for(1);
    let tasks: Vec<_> = (0..injected)
        .map(|_| {
            let (ticks, ran) = (ticks.clone(), ran.clone());
            runtime.spawn(async move {
                let now = ticks.poll(0);
                ran[0].lock().push(now);
            })
        })
        .collect();
    assert_eq!(runtime.handle().metrics().global_queue_depth(), injected);
    gate.open();
    eventually(|| tasks.iter().all(|task| task.is_finished()) && root.is_finished());
    ticks.stop.store(true, SeqCst);
    let others = futures_lite_block(root);
    eventually(|| others.iter().all(|task| task.is_finished()));
    let [injected, local] = [0, 1].map(|which| ran[which].lock().clone());
    Waits { injected, local }
}

#[test]
fn i4_tasks_in_the_injector_have_their_turn_in_order() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let waits = flood(&runtime, 100, 20);
    assert_eq!(waits.injected.len(), 100);
    for (place, tick) in waits.injected.iter().enumerate() {
        // The worker's own tasks never run out, so it takes one task each 61 ticks.
        assert!(*tick <= 61 * (place + 2), "number {place} of the injector ran at tick {tick}");
    }
    assert!(waits.injected.is_sorted());
}

#[test]
fn i4_tasks_under_an_everlasting_ring_have_their_turn_while_the_injector_is_full() {
    let _watchdog = watchdog();
    // The root, the local tasks, the ring (all of it at the beginning), the hog.
    let (local, runnable) = (20, 1 + 20 + RING + 1);
    let mut too_long = Vec::new();
    for interval in [61, 60, 7, 8, 4, 2, 1] {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .global_queue_interval(interval)
            .rescue_blocked(false)
            .build()
            .unwrap();
        let waits = flood(&runtime, 5_000, local);
        let last = *waits.local.iter().max().unwrap();
        let bound = bound_beside_full_injector(runnable, interval as usize);
        if last > bound {
            too_long.push(format!("{last} ticks, not {bound}, with the injector's turn each {interval} ticks"));
        }
    }
    assert!(too_long.is_empty(), "a task of {runnable} on the worker waited {too_long:#?}");
}
