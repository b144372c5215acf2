//! opentelemetry's exporter of spans in batches, by a task: full batches, at intervals, and the rest at the end.

use std::time::Duration;

use futures::future::join_all;
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::runtime;
use opentelemetry_sdk::trace::span_processor_with_async_runtime::BatchSpanProcessor;
use opentelemetry_sdk::trace::{BatchConfigBuilder, SdkTracerProvider, SpanData, SpanExporter};
use tokio::sync::{Mutex, mpsc};

/// What the exporter is told.
#[derive(Debug)]
enum Told {
    Batch(Vec<String>),
    Shutdown,
}

#[derive(Debug)]
struct Exporter {
    sender: mpsc::UnboundedSender<Told>,
    /// Two exports at a time would both try to have it.
    one_at_a_time: Mutex<()>,
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let _alone = self.one_at_a_time.try_lock().unwrap();
        // It takes time as a network would.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let names = batch.into_iter().map(|span| span.name.into_owned()).collect();
        self.sender.send(Told::Batch(names)).unwrap();
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        self.sender.send(Told::Shutdown).unwrap();
        Ok(())
    }
}

/// Exports in batches of ten, and what there is at this interval.
fn provider(interval: Duration) -> (SdkTracerProvider, mpsc::UnboundedReceiver<Told>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let exporter = Exporter { sender, one_at_a_time: Mutex::new(()) };
    let config = BatchConfigBuilder::default().with_max_export_batch_size(10).with_max_queue_size(1000);
    let config = config.with_scheduled_delay(interval).build();
    let processor = BatchSpanProcessor::builder(exporter, runtime::Tokio).with_batch_config(config).build();
    (SdkTracerProvider::builder().with_span_processor(processor).build(), receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_go_in_batches_and_the_rest_at_the_end() {
    let (provider, mut told) = provider(Duration::from_secs(3600));
    let tasks = (0..95).map(|n| {
        let tracer = provider.tracer("test");
        tokio::spawn(async move {
            let mut span = tracer.start(format!("span {n}"));
            tokio::task::yield_now().await;
            span.end();
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    // They block the thread until the task has done its part, on a worker.
    provider.force_flush().unwrap();
    provider.tracer("test").start("the last").end();
    provider.shutdown().unwrap();
    // Nobody wants it any more.
    provider.tracer("test").start("too late").end();

    let mut names = Vec::new();
    for size in [10; 9].into_iter().chain([5, 1]) {
        let Some(Told::Batch(batch)) = told.recv().await else { panic!("a batch of {size}") };
        assert_eq!(batch.len(), size);
        names.extend(batch);
    }
    assert!(matches!(told.recv().await, Some(Told::Shutdown)));
    assert_eq!(names.pop().unwrap(), "the last");
    names.sort_unstable();
    let mut expected: Vec<_> = (0..95).map(|n| format!("span {n}")).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    // The task has ended, and the exporter with it.
    assert!(told.recv().await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_less_than_a_batch_goes_at_the_interval() {
    let (provider, mut told) = provider(Duration::from_millis(10));
    for n in 0..3 {
        let name = format!("span {n}");
        provider.tracer("test").start(name.clone()).end();
        let Some(Told::Batch(batch)) = told.recv().await else { panic!("a batch") };
        assert_eq!(batch, [name]);
    }
}
