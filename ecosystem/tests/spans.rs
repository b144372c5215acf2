//! tracing across tasks: what a span is around stays in it over awaits, on whatever worker it goes on, and nothing else
//! gets in.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Instrument, Span, Subscriber, info, info_span, instrument};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// What the subscriber has seen. All tests here share it, as there is one for a process.
#[derive(Default)]
struct Seen {
    /// For each message the spans that it was in, the outermost first.
    events: HashMap<String, Vec<String>>,
    opened: Vec<String>,
    closed: Vec<String>,
}

static SEEN: LazyLock<Mutex<Seen>> = LazyLock::new(|| {
    tracing::subscriber::set_global_default(Registry::default().with(Record)).unwrap();
    Mutex::default()
});

struct Record;

/// A span's name with its field `n`.
struct Name(String);

/// The text of an event, or the field `n` of a span.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if matches!(field.name(), "message" | "n") {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Record {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut text = Text::default();
        attributes.record(&mut text);
        let name = format!("{} {}", attributes.metadata().name(), text.0);
        context.span(id).unwrap().extensions_mut().insert(Name(name.clone()));
        SEEN.lock().unwrap().opened.push(name);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let scope = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let spans = scope.map(|span| span.extensions().get::<Name>().unwrap().0.clone()).collect();
        SEEN.lock().unwrap().events.insert(text.0, spans);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let name = context.span(&id).unwrap().extensions().get::<Name>().unwrap().0.clone();
        SEEN.lock().unwrap().closed.push(name);
    }
}

fn spans_of(message: &str) -> Vec<String> {
    SEEN.lock().unwrap().events.get(message).unwrap_or_else(|| panic!("no {message}")).clone()
}

fn opened_and_closed(name: &str) -> (usize, usize) {
    let seen = SEEN.lock().unwrap();
    let count = |names: &[String]| names.iter().filter(|other| other.starts_with(name)).count();
    (count(&seen.opened), count(&seen.closed))
}

/// Awaits in ways that let other tasks in, and that may take it to another worker.
#[instrument]
async fn query(n: usize) {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    info!("queried {n}");
}

#[instrument]
async fn request(n: usize) {
    info!("begun {n}");
    query(n).await;
    let child = tokio::spawn(async move { query(1000 + n).await }.in_current_span());
    let stranger = tokio::spawn(async move {
        tokio::task::yield_now().await;
        info!("stranger {n}");
        Span::current().is_none()
    });
    child.await.unwrap();
    assert!(stranger.await.unwrap());
    info!("ended {n}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spans_keep_their_parents_over_awaits_and_spawns() {
    drop(SEEN.lock());
    let requests = (0..200).map(|n| tokio::spawn(request(n)));
    futures::future::join_all(requests).await.into_iter().for_each(Result::unwrap);
    for n in 0..200 {
        let request = format!("request {n}");
        assert_eq!(spans_of(&format!("begun {n}")), [request.as_str()]);
        assert_eq!(spans_of(&format!("queried {n}")), [request.as_str(), &format!("query {n}")]);
        assert_eq!(spans_of(&format!("queried {}", 1000 + n)), [request.as_str(), &format!("query {}", 1000 + n)]);
        assert!(spans_of(&format!("stranger {n}")).is_empty());
        assert_eq!(spans_of(&format!("ended {n}")), [request.as_str()]);
    }
    assert_eq!(opened_and_closed("request "), (200, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_span_of_a_task_that_is_aborted_is_closed() {
    drop(SEEN.lock());
    let tasks =
        (0..100).map(|n: usize| tokio::spawn(std::future::pending::<()>().instrument(info_span!("abandoned", n))));
    for task in tasks.collect::<Vec<_>>() {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    assert_eq!(opened_and_closed("abandoned "), (100, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn blocking_work_is_in_the_span_that_it_is_given() {
    drop(SEEN.lock());
    let jobs = (0..50).map(|n: usize| {
        let span = info_span!("blocking", n);
        tokio::task::spawn_blocking(move || span.in_scope(|| info!("blocked {n}")))
    });
    futures::future::join_all(jobs).await.into_iter().for_each(Result::unwrap);
    for n in 0..50 {
        assert_eq!(spans_of(&format!("blocked {n}")), [format!("blocking {n}")]);
    }
    // A thread that is used again is in no span.
    assert!(tokio::task::spawn_blocking(|| Span::current().is_none()).await.unwrap());
}
