//! rt with something switched on or off, so that it can be run beside itself.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use rt::runtime::Builder;
use rt::runtime::trace::TraceConfig;
use rt::task::JoinHandle;

use super::{Joined, Rt, RtHandle};
use crate::runtime::Runtime;

/// How a variant of rt differs from [`Rt`].
pub trait Variant: Send + Sync + 'static {
    /// As it is called in reports.
    const NAME: &'static str;

    /// Makes the difference.
    fn set(builder: &mut Builder) -> &mut Builder;
}

/// Without the measuring of polls and of waits for them.
#[derive(Debug)]
pub enum Unmeasured {}

/// With a flight recorder that runs.
#[derive(Debug)]
pub enum Recorded {}

impl Variant for Unmeasured {
    const NAME: &'static str = "rt-unmeasured";

    fn set(builder: &mut Builder) -> &mut Builder {
        builder.metrics_histograms(false)
    }
}

impl Variant for Recorded {
    const NAME: &'static str = "rt-recorded";

    fn set(builder: &mut Builder) -> &mut Builder {
        builder.trace(TraceConfig::new())
    }
}

/// A multi-thread runtime of rt, built as [`Rt`] but for the variant.
pub struct RtWith<V>(Rt, PhantomData<V>);

impl<V: Variant> Runtime for RtWith<V> {
    const NAME: &'static str = V::NAME;

    type Handle = RtHandle;

    fn start(workers: usize) -> Self {
        Self(Rt::build(workers, V::set), PhantomData)
    }

    fn workers(&self) -> usize {
        self.0.workers()
    }

    fn handle(&self) -> RtHandle {
        self.0.handle()
    }

    fn spawn<F>(&self, future: F) -> Joined<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

impl<V: Variant> fmt::Debug for RtWith<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(V::NAME).field(&self.0).finish()
    }
}
