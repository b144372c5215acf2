//! `DelayQueue`: against a model, and what it promises about wakes, budgets and its one timer.
//!
//! Mutations that these tests are for: an order other than that of deadlines and insertions; a value that is early; an
//! insertion, a reset or a removal that does not wake the task, or leaves the timer where it was; a key that means
//! another value later; a queue that lets no other task run.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use rt::runtime::{Builder, Runtime};
use rt::time::delay_queue::Key;
use rt::time::{DelayQueue, Instant, advance};
use rt_test_util::*;

fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[derive(Clone, Debug)]
enum Act {
    Insert(u64),
    /// At this many milliseconds since the start, past or to come.
    InsertAt(u64),
    Remove(prop::sample::Index),
    Reset(prop::sample::Index, u64),
    ResetAt(prop::sample::Index, u64),
    Poll,
    Advance(u64),
    Clear,
    Compact,
}

fn act() -> impl Strategy<Value = Act> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (0..20u64).prop_map(Act::Insert),
        2 => (0..60u64).prop_map(Act::InsertAt),
        2 => index().prop_map(Act::Remove),
        2 => (index(), 0..20u64).prop_map(|(which, after)| Act::Reset(which, after)),
        1 => (index(), 0..60u64).prop_map(|(which, at)| Act::ResetAt(which, at)),
        6 => Just(Act::Poll),
        4 => (1..15u64).prop_map(Act::Advance),
        1 => Just(Act::Clear),
        1 => Just(Act::Compact),
    ]
}

/// One value: its deadline, its place in line, its key, and what it is.
#[derive(Clone, Copy)]
struct Waiting {
    deadline: Instant,
    place: usize,
    key: Key,
    value: usize,
}

/// The queue, and a list that does the same.
struct Pair {
    start: Instant,
    queue: DelayQueue<usize>,
    model: Vec<Waiting>,
    /// Of all values that have left.
    void: Vec<Key>,
    places: usize,
    wakes: Arc<Wakes>,
    /// The wakes up to the last poll, if that was to wait: for the first deadline, or for any value at all.
    waits: Option<(usize, Option<Instant>)>,
}

impl Pair {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            queue: DelayQueue::new(),
            model: Vec::new(),
            void: Vec::new(),
            places: 0,
            wakes: Arc::default(),
            waits: None,
        }
    }

    fn first(&self) -> Option<Waiting> {
        self.model.iter().copied().min_by_key(|waiting| (waiting.deadline, waiting.place))
    }

    fn place(&mut self) -> usize {
        self.places += 1;
        self.places
    }

    fn add(&mut self, deadline: Instant, insert: impl FnOnce(&mut DelayQueue<usize>, usize) -> Key) {
        let place = self.place();
        let key = insert(&mut self.queue, place);
        self.model.push(Waiting { deadline, place, key, value: place });
    }

    fn pick(&self, which: &prop::sample::Index) -> Option<usize> {
        (!self.model.is_empty()).then(|| which.index(self.model.len()))
    }

    fn reset(
        &mut self,
        which: &prop::sample::Index,
        deadline: Instant,
        reset: impl FnOnce(&mut DelayQueue<usize>, &Key),
    ) {
        let Some(at) = self.pick(which) else { return };
        let place = self.place();
        reset(&mut self.queue, &self.model[at].key);
        (self.model[at].deadline, self.model[at].place) = (deadline, place);
    }

    fn leave(&mut self, waiting: Waiting) {
        self.model.retain(|other| other.place != waiting.place);
        self.void.push(waiting.key);
    }

    fn poll(&mut self) {
        let waker = Waker::from(self.wakes.clone());
        let polled = self.queue.poll_expired(&mut Context::from_waker(&waker));
        self.waits = None;
        match (self.first(), polled) {
            (None, Poll::Ready(None)) => self.waits = Some((self.wakes.count(), None)),
            (Some(first), Poll::Ready(Some(expired))) => {
                assert!(first.deadline <= Instant::now(), "it is early");
                assert_eq!((expired.key(), expired.deadline()), (first.key, first.deadline));
                assert_eq!(expired.into_inner(), first.value);
                self.leave(first);
            }
            (Some(first), Poll::Pending) => {
                assert!(first.deadline > Instant::now(), "it is late");
                self.waits = Some((self.wakes.count(), Some(first.deadline)));
            }
            (_, polled) => panic!("{:?} is not what is in it", polled.map(|expired| expired.map(|it| it.into_inner()))),
        }
    }

    async fn act(&mut self, act: &Act) {
        let now = Instant::now();
        match act {
            Act::Insert(after) => self.add(now + ms(*after), |queue, value| queue.insert(value, ms(*after))),
            Act::InsertAt(at) => {
                let at = self.start + ms(*at);
                self.add(at, |queue, value| queue.insert_at(value, at));
            }
            Act::Remove(which) => {
                if let Some(at) = self.pick(which) {
                    let waiting = self.model[at];
                    assert_eq!(self.queue.remove(&waiting.key).into_inner(), waiting.value);
                    self.leave(waiting);
                }
            }
            Act::Reset(which, after) => self.reset(which, now + ms(*after), |queue, key| queue.reset(key, ms(*after))),
            Act::ResetAt(which, at) => {
                let at = self.start + ms(*at);
                self.reset(which, at, |queue, key| queue.reset_at(key, at));
            }
            Act::Poll => self.poll(),
            Act::Advance(by) => advance(ms(*by)).await,
            Act::Clear => {
                self.queue.clear();
                self.void.extend(self.model.drain(..).map(|waiting| waiting.key));
            }
            Act::Compact => self.queue.compact(),
        }
    }

    fn check(&mut self) {
        let first = self.first();
        assert_eq!(self.queue.len(), self.model.len());
        assert_eq!(self.queue.is_empty(), self.model.is_empty());
        assert_eq!(self.queue.peek(), first.map(|first| first.key));
        assert!(self.queue.capacity() >= self.model.len());
        for waiting in &self.model {
            assert_eq!(self.queue.deadline(&waiting.key), waiting.deadline);
        }
        for key in &self.void {
            assert!(self.queue.try_remove(key).is_none(), "a void key means something");
        }
        // The waiting thread knows of all that it has to know.
        if let Some((wakes, waits_for)) = self.waits {
            let first = first.map(|first| first.deadline);
            let is_due = first.is_some_and(|first| first <= Instant::now());
            let is_earlier = first.is_some_and(|first| waits_for.is_none_or(|waits_for| first < waits_for));
            let is_empty_now = first.is_none() && waits_for.is_some();
            if is_due || is_earlier || is_empty_now {
                assert!(self.wakes.count() > wakes, "the waiting thread was not woken");
                self.waits = None;
            }
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]
    #[test]
    fn it_does_what_a_sorted_list_does(acts in vec(act(), 0..60)) {
        let _watchdog = watchdog();
        paused().block_on(rt::task::unconstrained(async {
            let mut pair = Pair::new();
            for act in &acts {
                pair.act(act).await;
                pair.check();
            }
        }));
    }
}

/// A task that waits in the queue hears of what others insert, reset and remove.
#[test]
fn who_waits_is_woken_for_what_others_do() {
    let _watchdog = watchdog();
    let runtime = paused();
    let queue = Arc::new(parking_lot::Mutex::new(DelayQueue::new()));
    let late = runtime.block_on(async { queue.lock().insert("late", ms(100)) });
    let (out, shared) = (Arc::new(parking_lot::Mutex::new(Vec::new())), queue.clone());
    let reader = runtime.spawn({
        let out = out.clone();
        async move {
            let start = Instant::now();
            let next = || std::future::poll_fn(|cx| shared.lock().poll_expired(cx));
            while let Some(expired) = next().await {
                out.lock().push((expired.into_inner(), start.elapsed()));
            }
        }
    });
    runtime.block_on(async {
        rt::task::yield_now().await;
        queue.lock().insert("early", ms(10));
        advance(ms(10)).await;
        assert_eq!(*out.lock(), [("early", ms(10))]);
        queue.lock().reset(&late, ms(20));
        advance(ms(20)).await;
        assert_eq!(*out.lock(), [("early", ms(10)), ("late", ms(30))]);
        reader.await.unwrap();
    });

    let runtime = paused();
    let only = runtime.block_on(async { queue.lock().insert("only", ms(100)) });
    let shared = queue.clone();
    let reader =
        runtime.spawn(async move { std::future::poll_fn(|cx| shared.lock().poll_expired(cx)).await.is_none() });
    assert_eq!(runtime.run_until_stalled(), 1);
    queue.lock().remove(&only);
    assert_eq!(runtime.run_until_stalled(), 1, "an empty queue has nothing to wait for");
    assert!(runtime.block_on(reader).unwrap());
}

/// One timer for all values, and none for a queue whose first value was put off or taken away: the paused clock, which
/// moves to the next timer by itself, passes by.
#[test]
fn there_is_no_timer_but_that_of_the_first_value() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let start = Instant::now();
        let mut queue = DelayQueue::new();
        let first = queue.insert(1, ms(10));
        let second = queue.insert(2, ms(20));
        queue.insert(3, ms(30));
        let mut waiting = Context::from_waker(Waker::noop());
        assert!(queue.poll_expired(&mut waiting).is_pending());
        queue.remove(&first);
        queue.reset(&second, ms(40));
        rt::time::sleep(ms(25)).await;
        assert_eq!(start.elapsed(), ms(25));
        assert_eq!(queue.next().await.unwrap().into_inner(), 3);
        assert_eq!(start.elapsed(), ms(30));
        assert_eq!(queue.next().await.unwrap().into_inner(), 2);
        assert_eq!(start.elapsed(), ms(40));
        assert!(queue.next().await.is_none());
    });
}

/// A crowd of values that are due at once does not keep other tasks from running; and a queue is heard beside a branch
/// that spends the whole budget in each poll.
#[test]
fn values_spend_the_budget_and_a_wait_needs_none() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let mut queue = DelayQueue::new();
        for n in 0..1000 {
            queue.insert(n, Duration::ZERO);
        }
        let turns = Arc::new(AtomicUsize::new(0));
        let other = rt::spawn({
            let turns = turns.clone();
            async move {
                loop {
                    turns.fetch_add(1, SeqCst);
                    rt::task::yield_now().await;
                }
            }
        });
        for n in 0..1000 {
            assert_eq!(queue.next().await.unwrap().into_inner(), n);
        }
        assert!(turns.load(SeqCst) >= 1000 / 128, "the other task had {} turns", turns.load(SeqCst));
        other.abort();
    });

    current().block_on(async {
        let mut queue = DelayQueue::new();
        queue.insert((), ms(1));
        let mut next = pin!(queue.next());
        std::future::poll_fn(|cx| {
            while rt::task::coop::has_budget_remaining() {
                assert!(pin!(rt::task::consume_budget()).poll(cx).is_ready());
            }
            next.as_mut().poll(cx)
        })
        .await;
    });
}

#[test]
fn a_void_key_panics_where_it_is_used() {
    let mut queue = DelayQueue::new();
    let key = queue.insert((), ms(1));
    queue.remove(&key);
    let panics = [
        catch(|| queue.remove(&key)),
        catch(|| queue.reset(&key, ms(1))),
        catch(|| queue.reset_at(&key, Instant::now())),
        catch(|| queue.deadline(&key)),
    ];
    for panic in panics {
        assert!(panic.message.contains("is no value of this queue"), "{panic:?}");
        assert_eq!(panic.file, file!());
    }
    assert!(queue.try_remove(&key).is_none() && queue.peek().is_none());
}

/// The queue needs a runtime only to wait in: values can be inserted before there is one.
#[test]
fn a_queue_may_be_older_than_the_runtime() {
    let _watchdog = watchdog();
    let mut queue = DelayQueue::with_capacity(8);
    assert!(queue.capacity() >= 8);
    queue.insert("soon", ms(1));
    queue.insert("never", Duration::MAX);
    queue.reserve(100);
    assert!(queue.capacity() >= 102);
    queue.shrink_to_fit();
    assert!(queue.capacity() < 102);
    assert_eq!(current().block_on(queue.next()).unwrap().into_inner(), "soon");
    queue.clear();
    assert!(current().block_on(queue.next()).is_none());
    let outside = catch(|| {
        let mut queue = DelayQueue::new();
        queue.insert((), ms(1000));
        queue.poll_expired(&mut Context::from_waker(Waker::noop())).is_pending()
    });
    assert!(outside.message.contains("runtime"), "{outside:?}");
    assert_eq!(outside.file, file!());
}
