//! What `tracing` is told of tasks, with the feature of that name: a span for each, entered around its polls, an event
//! for each blocked poll that is reported, and events of wakers (`task/waker_events.rs`). Without the feature nothing
//! of this is there: futures are passed on as they are.
//!
//! Spans have the target, the name and the fields that Tokio's have, so that what was made to read those
//! (tokio-console's list of tasks, filters) reads these. A task's identifier is drawn before the span is made, on
//! whatever thread spawns it, and goes with the task.
//!
//! The subscriber is user code. It is called where a future is spawned, polled or dropped, and a waker is called,
//! cloned or dropped, never under a lock; for blocked polls on the thread that makes reports.

use std::future::Future;

use crate::blocked::BlockedTask;
use crate::task::{Id, SpawnInfo};

/// Gives a future the span of a task, of that kind.
#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(crate) fn task<F: Future>(future: F, _: &mut SpawnInfo, _kind: &'static str) -> F {
    future
}

/// The same for a closure that is to be run on the blocking pool.
#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub(crate) fn blocking<F: FnOnce() -> R, R>(f: F, _: &mut SpawnInfo) -> F {
    f
}

/// The identifier that the task was given with its span, or else the next one.
#[inline(always)]
pub(crate) fn id_or(given: Id, next: impl FnOnce() -> Id) -> Id {
    if cfg!(feature = "tracing") && given.0 != 0 { given } else { next() }
}

/// Tells of a poll that was blocked.
#[cfg(not(feature = "tracing"))]
pub(crate) fn blocked(_: &BlockedTask) {}

#[cfg(feature = "tracing")]
mod on {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use pin_project_lite::pin_project;
    use tracing::Span;
    use tracing::instrument::{Instrument, Instrumented};

    use super::*;
    use crate::runtime::reserve_task_ids;
    use crate::task::waker_events::Listed;

    /// A span as Tokio makes them.
    macro_rules! span {
        ($target:literal, $kind:expr, $info:expr, $size:expr, { $($parent:tt)* } $(, $name:literal = $value:expr)?) => {{
            let info: &SpawnInfo = $info;
            tracing::trace_span!(
                target: $target,
                $($parent)*
                "runtime.spawn",
                kind = %$kind,
                task.name = %info.site.name().unwrap_or_default(),
                task.id = info.id.0,
                $($name = $value,)?
                original_size.bytes = (info.original_size != $size).then_some(info.original_size),
                size.bytes = $size,
                loc.file = info.site.location().file(),
                loc.line = info.site.location().line(),
                loc.col = info.site.location().column(),
            )
        }};
    }

    pin_project! {
        /// A future in the span of its task.
        #[derive(Debug)]
        pub(crate) struct InSpan<F> {
            // Dropped first: no event is to name a span that is closed.
            _listed: Option<Listed>,
            #[pin]
            future: Instrumented<F>,
        }
    }

    impl<F> InSpan<F> {
        /// The future of a task with that number, or one that is none.
        fn new(future: F, task: Option<Id>, span: Span) -> Self {
            let _listed = task.and_then(|task| Listed::new(task, &span));
            Self { _listed, future: future.instrument(span) }
        }
    }

    impl<F: Future> Future for InSpan<F> {
        type Output = F::Output;

        #[inline]
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            self.project().future.poll(cx)
        }
    }

    pub(crate) fn task<F: Future>(future: F, info: &mut SpawnInfo, kind: &'static str) -> InSpan<F> {
        info.id = Id(reserve_task_ids(1));
        // The main future's waker is no task's.
        let task = (kind != "block_on").then_some(info.id);
        InSpan::new(future, task, span!("tokio::task", kind, info, size_of::<F>(), { parent: None, }))
    }

    pub(crate) fn blocking<F: FnOnce() -> R, R>(f: F, info: &mut SpawnInfo) -> impl FnOnce() -> R + use<F, R> {
        info.id = Id(reserve_task_ids(1));
        let function = tracing::field::display(std::any::type_name::<F>());
        let span = span!("tokio::task::blocking", "blocking", info, size_of::<F>(), {}, "fn" = function);
        move || span.in_scope(f)
    }

    pub(crate) fn blocked(blocked: &BlockedTask) {
        tracing::warn!(
            target: "rt::blocked",
            {
                task.id = blocked.id.map(|id| id.0),
                task.name = blocked.name,
                loc.file = blocked.spawned_at.map(|location| location.file()),
                loc.line = blocked.spawned_at.map(|location| location.line()),
                loc.col = blocked.spawned_at.map(|location| location.column()),
                duration.ns = u64::try_from(blocked.duration.as_nanos()).unwrap_or(u64::MAX),
                is_over = blocked.is_over,
                tasks_waiting = blocked.tasks_waiting
            },
            "{blocked}"
        );
    }
}

#[cfg(feature = "tracing")]
pub(crate) use self::on::{blocked, blocking, task};
