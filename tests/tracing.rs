//! With the feature `tracing` each task has a span, with Tokio's names, which is entered around its polls; and blocked
//! polls are events, and so is what becomes of a task's wakers.
//!
//! Mutations that these tests are for: a way to spawn that makes no span, or two; an identifier in the span that is not
//! the task's; a span that is not entered for each poll, or not closed when the task is gone; a waker that is woken,
//! cloned or dropped in silence, by the drivers or by other tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rt::runtime::Builder;
use rt_test_util::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// What is kept of a span.
#[derive(Clone, Debug, Default)]
struct Span {
    target: String,
    name: String,
    fields: BTreeMap<String, String>,
    is_root: bool,
    entered: u32,
    exited: u32,
    is_closed: bool,
}

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    spans: Vec<Span>,
    events: Vec<(String, BTreeMap<String, String>)>,
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Recorder {
    fn with_span(&self, id: &Id, f: impl FnOnce(&mut Span)) {
        f(&mut self.0.lock().spans[id.into_u64() as usize - 1]);
    }

    /// The spans of tasks of a kind.
    fn tasks(&self, kind: &str) -> Vec<Span> {
        let recorded = self.0.lock();
        let spans = recorded.spans.iter();
        spans.filter(|span| span.fields.get("kind").is_some_and(|of| of == kind)).cloned().collect()
    }
}

/// What is told of the wakers of such a task makes the subscriber panic.
const PANICS: &str = "its wakers are no good to listen to";

/// When the subscriber is told of the second wake of such tasks it blocks until one of them has run.
const IN_A_BATCH: &str = "woken together with another";
static TOLD_OF_BATCH: AtomicUsize = AtomicUsize::new(0);
static RAN_OF_BATCH: AtomicUsize = AtomicUsize::new(0);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tokio::task") || metadata.target() == "rt::blocked"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        let (target, name) = (metadata.target().to_owned(), metadata.name().to_owned());
        let mut span = Span { target, name, is_root: attributes.is_root(), ..Span::default() };
        attributes.record(&mut Fields(&mut span.fields));
        let mut recorded = self.0.lock();
        recorded.spans.push(span);
        Id::from_u64(recorded.spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let mut recorded = self.0.lock();
        let of = fields.get("task.id").and_then(|id| id.parse::<usize>().ok());
        let of = of.and_then(|id| recorded.spans.get(id.checked_sub(1)?)?.fields.get("task.name").cloned());
        let is_wake = fields.get("op").is_some_and(|op| op == "waker.wake");
        recorded.events.push((event.metadata().target().to_owned(), fields));
        drop(recorded);
        if is_wake && of.as_deref() == Some(IN_A_BATCH) && TOLD_OF_BATCH.fetch_add(1, SeqCst) == 1 {
            while RAN_OF_BATCH.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
        }
        if event.metadata().target() == "tokio::task::waker" && of.as_deref() == Some(PANICS) {
            std::panic::resume_unwind(Box::new("a bad subscriber"));
        }
    }

    fn enter(&self, id: &Id) {
        self.with_span(id, |span| span.entered += 1);
    }

    fn exit(&self, id: &Id) {
        self.with_span(id, |span| span.exited += 1);
    }

    fn try_close(&self, id: Id) -> bool {
        self.with_span(&id, |span| span.is_closed = true);
        true
    }
}

/// One for all tests of the process, as workers have threads of their own; each test looks for the tasks of its names.
fn recorder() -> Recorder {
    static RECORDER: std::sync::OnceLock<Recorder> = std::sync::OnceLock::new();
    let make = || {
        let recorder = Recorder::default();
        tracing::dispatcher::set_global_default(Dispatch::new(recorder.clone())).unwrap();
        recorder
    };
    RECORDER.get_or_init(make).clone()
}

fn named(recorder: &Recorder, kind: &str, name: &str) -> Span {
    let mut spans = recorder.tasks(kind);
    spans.retain(|span| span.fields["task.name"] == name);
    assert_eq!(spans.len(), 1, "one span for {name}");
    spans.remove(0)
}

#[test]
fn a_task_has_a_span_that_is_entered_for_each_poll() {
    let _watchdog = watchdog();
    let recorder = recorder();
    for (builder, name) in
        [(Builder::new_multi_thread as fn() -> Builder, "of many"), (Builder::new_current_thread, "of one")]
    {
        let runtime = builder().worker_threads(2).build().unwrap();
        let (id, line) = runtime.block_on(async {
            let line = line!() + 1;
            let task = rt::task::Builder::new().name(name).spawn(async {
                rt::task::yield_now().await;
                rt::task::yield_now().await;
                rt::task::id()
            });
            (task.unwrap().await.unwrap(), line)
        });
        drop(runtime);
        let span = named(&recorder, "task", name);
        assert_eq!((span.target.as_str(), span.name.as_str()), ("tokio::task", "runtime.spawn"));
        assert!(span.is_root && span.is_closed);
        assert_eq!(span.fields["task.id"], id.to_string(), "the task's own identifier");
        assert_eq!(span.fields["loc.file"], file!());
        assert_eq!(span.fields["loc.line"].parse(), Ok(line));
        assert!(span.fields.contains_key("loc.col") && span.fields.contains_key("size.bytes"));
        // Three polls, and the drop of the future.
        assert_eq!((span.entered, span.exited), (4, 4));
    }
}

#[test]
fn the_span_of_a_large_future_tells_that_it_was_put_into_a_box() {
    let _watchdog = watchdog();
    let recorder = recorder();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        const SIZE: usize = 100_000;
        let large = async {
            let bytes = [1_u8; SIZE];
            rt::task::yield_now().await;
            std::hint::black_box(&bytes);
        };
        let size = size_of_val(&large);
        let spawn = |name| rt::task::Builder::new().name(name);
        spawn("boxed").spawn(large).unwrap().await.unwrap();
        spawn("not boxed").spawn(rt::task::yield_now()).unwrap().await.unwrap();
        let bytes = [1_u8; SIZE];
        spawn("boxed job").spawn_blocking(move || _ = std::hint::black_box(&bytes)).unwrap().await.unwrap();
        let fields = |kind, name| named(&recorder, kind, name).fields;
        assert_eq!(fields("task", "boxed")["original_size.bytes"], size.to_string());
        assert!(fields("task", "boxed")["size.bytes"].parse::<usize>().unwrap() < 1000);
        assert!(!fields("task", "not boxed").contains_key("original_size.bytes"));
        assert!(fields("blocking", "boxed job")["original_size.bytes"].parse::<usize>().unwrap() >= SIZE);
    });
}

#[test]
fn each_way_to_spawn_makes_one_span() {
    let _watchdog = watchdog();
    let recorder = recorder();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    fn name(name: &str) -> rt::task::Builder<'_> {
        rt::task::Builder::new().name(name)
    }
    let outside = name("from outside").spawn_on(async {}, runtime.handle()).unwrap();
    runtime.block_on(async {
        outside.await.unwrap();
        name("large").spawn(std::future::ready([0_u8; 100_000])).unwrap().await.unwrap();
        let mut set = rt::task::JoinSet::new();
        set.spawn(async { name("inner").spawn(async {}).unwrap().await.unwrap() });
        set.join_next().await.unwrap().unwrap();
        name("a job").spawn_blocking(|| ()).unwrap().await.unwrap();
    });
    let local = rt::task::LocalSet::new();
    runtime.block_on(local.run_until(async {
        name("in a set").spawn_local(async {}).unwrap().await.unwrap();
    }));
    drop(runtime);
    for task in ["from outside", "large", "inner"] {
        assert!(named(&recorder, "task", task).is_closed, "{task}");
    }
    assert!(named(&recorder, "local", "in a set").is_closed);
    let job = named(&recorder, "blocking", "a job");
    assert_eq!((job.target.as_str(), job.entered, job.is_closed), ("tokio::task::blocking", 1, true));
    assert!(job.fields["fn"].contains("each_way_to_spawn"), "{job:?}");
    assert!(recorder.tasks("block_on").iter().any(|span| span.fields["loc.file"] == file!()));
}

#[test]
fn a_refused_task_has_its_span_closed() {
    let _watchdog = watchdog();
    let recorder = recorder();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    drop(rt::task::Builder::new().name("refused").spawn_on(async {}, &handle).unwrap());
    assert!(named(&recorder, "task", "refused").is_closed);
}

#[test]
fn a_blocked_poll_is_an_event() {
    let _watchdog = watchdog();
    let recorder = recorder();
    let blocked = || {
        let recorded = recorder.0.lock();
        let mut events = recorded.events.iter();
        events.find(|(target, fields)| target == "rt::blocked" && fields["task.name"] == "blocks").cloned()
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .blocked_threshold(Duration::from_millis(1))
        .on_blocked(|_| {})
        .build()
        .unwrap();
    // Whether a poll is seen to be blocked depends on the machine, too.
    eventually(|| {
        let blocks = async {
            // Something that waits for it.
            rt::spawn(async {});
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(50) {
                std::thread::yield_now();
            }
        };
        runtime.block_on(rt::task::Builder::new().name("blocks").spawn_on(blocks, runtime.handle()).unwrap()).unwrap();
        blocked().is_some()
    });
    let (_, fields) = blocked().unwrap();
    assert_eq!(fields["loc.file"], file!());
    assert!(fields["duration.ns"].parse::<u64>().unwrap() >= 1_000_000, "{fields:?}");
}

/// tokio-console counts the wakes of a task by these, and its wakers: a task without any would never go on.
#[test]
fn what_becomes_of_wakers_is_told() {
    let _watchdog = watchdog();
    let recorder = recorder();
    for (builder, name) in
        [(Builder::new_multi_thread as fn() -> Builder, "woken on many"), (Builder::new_current_thread, "woken on one")]
    {
        let runtime = builder().worker_threads(2).enable_all().build().unwrap();
        let notify = Arc::new(rt::sync::Notify::new());
        let asleep = Arc::new(Signal::new());
        let (waiting, is_asleep) = (notify.clone(), asleep.clone());
        let task = rt::task::Builder::new().name(name).spawn_on(
            async move {
                // By another task, by a timer, by itself.
                let notified = std::pin::pin!(waiting.notified());
                is_asleep.set();
                notified.await;
                rt::time::sleep(Duration::from_millis(20)).await;
                rt::task::yield_now().await;
            },
            runtime.handle(),
        );
        runtime.block_on(async {
            asleep.wait().await;
            notify.notify_one();
            task.unwrap().await.unwrap();
        });
        drop(runtime);

        let recorded = recorder.0.lock();
        let is_it = |span: &Span| span.fields.get("task.name").is_some_and(|of| of == name);
        let span = recorded.spans.iter().position(is_it).unwrap() + 1;
        let count = |what: &str| {
            let events = recorded.events.iter().filter(|(target, _)| target == "tokio::task::waker");
            events.filter(|(_, fields)| fields["task.id"] == span.to_string() && fields["op"] == what).count()
        };
        let (clones, wakes, drops) = (count("waker.clone"), count("waker.wake"), count("waker.drop"));
        assert!((1..=2).contains(&wakes), "by the timer, and by the notification unless it came first: {wakes}");
        assert_eq!(count("waker.wake_by_ref"), 1, "by itself");
        assert_eq!(clones, wakes + drops, "all wakers are gone");
    }
}

/// Of several tasks that the drivers have woken, each is queued as soon as its own wake was told.
#[test]
fn a_subscriber_that_blocks_does_not_hold_up_what_it_was_told_of() {
    let _watchdog = watchdog();
    let _recorder = recorder();
    let runtime = Builder::new_multi_thread().worker_threads(4).rescue_blocked(false).enable_all().build().unwrap();
    runtime.block_on(async {
        let at = rt::time::Instant::now() + Duration::from_millis(30);
        let spawn = |_| {
            let task = async move {
                rt::time::sleep_until(at).await;
                RAN_OF_BATCH.fetch_add(1, SeqCst);
            };
            rt::task::Builder::new().name(IN_A_BATCH).spawn(task).unwrap()
        };
        for task in [(), ()].map(spawn) {
            task.await.unwrap();
        }
    });
}

/// Nothing is lost by that: no wake, no reference to the task, and no worker.
#[test]
fn a_subscriber_that_panics_harms_no_task() {
    let _watchdog = watchdog();
    let recorder = recorder();
    for builder in [Builder::new_multi_thread as fn() -> Builder, Builder::new_current_thread] {
        let runtime = builder().worker_threads(1).enable_all().build().unwrap();
        let drops = Drops::new();
        runtime.block_on(async {
            let (send, receive) = rt::sync::oneshot::channel();
            let token = drops.token();
            let task = rt::task::Builder::new().name(PANICS).spawn(async move {
                let _token = token;
                rt::time::sleep(Duration::from_millis(1)).await;
                rt::task::yield_now().await;
                receive.await.unwrap()
            });
            rt::time::sleep(Duration::from_millis(5)).await;
            send.send(7).unwrap();
            assert_eq!(task.unwrap().await.unwrap(), 7);
            // Several wakers that are dropped in one go.
            let (_sender, mut changes) = rt::sync::watch::channel(());
            let notify = Arc::new(rt::sync::Notify::new());
            let (waiting, token) = (notify.clone(), drops.token());
            let task = rt::task::Builder::new().name(PANICS).spawn(async move {
                let _token = token;
                rt::select! { _ = waiting.notified() => {}, _ = changes.changed() => {} }
            });
            rt::task::yield_now().await;
            let task = task.unwrap();
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        });
        assert_unhurt(&runtime);
        drop(runtime);
        assert_eq!(drops.count(), 2);
    }
    let told = recorder.0.lock().events.iter().filter(|(target, _)| target == "tokio::task::waker").count();
    assert!(told > 0);
}
