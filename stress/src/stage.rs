//! What actors get to work with: one runtime, its life, and the ledger.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::Handle;

use crate::ledger::{Count, Kind, Ledger};
use crate::office::Office;
use crate::plan::{Options, Rng, one_in};
use crate::tracked::{Joined, Life, Record, Target, Tracked, tracked_job};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Stage(Arc<Shared>);

struct Shared {
    handle: Handle,
    /// There can be as many spare workers as tasks that block.
    has_spares: bool,
    ledger: Arc<Ledger>,
    life: Arc<Life>,
    office: Arc<Office>,
    /// Tasks that may be aborted by anybody at any time. `None`: nobody is.
    targets: Option<Arc<Mutex<Vec<Target>>>>,
    /// Handles that outlive their runtimes, the inner ones' too.
    kept: Arc<Mutex<Vec<Joined<()>>>>,
}

impl Stage {
    pub(crate) fn new(
        handle: Handle,
        options: &Options,
        ledger: &Arc<Ledger>,
        office: &Arc<Office>,
        is_rough: bool,
    ) -> Self {
        ledger.count(Count::Runtimes);
        Self(Arc::new(Shared {
            handle,
            has_spares: options.has_spares(),
            ledger: Arc::clone(ledger),
            life: Arc::default(),
            office: Arc::clone(office),
            targets: is_rough.then(Arc::default),
            kept: Arc::default(),
        }))
    }

    /// A stage for a runtime inside of this one's.
    pub(crate) fn nested(&self, handle: Handle, options: &Options) -> Self {
        let Shared { ledger, office, targets, kept, .. } = &*self.0;
        ledger.count(Count::Runtimes);
        ledger.count(Count::Nested);
        Self(Arc::new(Shared {
            handle,
            has_spares: options.has_spares(),
            ledger: Arc::clone(ledger),
            life: Arc::default(),
            office: Arc::clone(office),
            targets: targets.is_some().then(Arc::default),
            kept: Arc::clone(kept),
        }))
    }

    /// A stage for tasks on this runtime that may end before it does, all together.
    pub(crate) fn for_set(&self) -> Self {
        let Shared { handle, has_spares, ledger, office, targets, kept, .. } = &*self.0;
        Self(Arc::new(Shared {
            handle: handle.clone(),
            has_spares: *has_spares,
            ledger: Arc::clone(ledger),
            life: Arc::new(Life::of_set()),
            office: Arc::clone(office),
            targets: targets.clone(),
            kept: Arc::clone(kept),
        }))
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.0.handle
    }

    pub(crate) fn has_spares(&self) -> bool {
        self.0.has_spares
    }

    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.0.ledger
    }

    pub(crate) fn life(&self) -> &Arc<Life> {
        &self.0.life
    }

    pub(crate) fn office(&self) -> &Office {
        &self.0.office
    }

    pub(crate) fn record(&self, kind: Kind) -> Arc<Record> {
        Record::new(kind, &self.0.ledger, &self.0.life)
    }

    /// Spawns a task, from inside the runtime.
    pub(crate) fn spawn<F>(&self, kind: Kind, future: F) -> Joined<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_numbered(kind, |_| future)
    }

    /// Spawns a task that knows its number.
    pub(crate) fn spawn_numbered<F>(&self, kind: Kind, future: impl FnOnce(u64) -> F) -> Joined<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let record = self.record(kind);
        Joined::new(rt::spawn(Tracked::new(future(record.id), &record)), record)
    }

    /// Spawns a task through the runtime's handle, from anywhere.
    pub(crate) fn spawn_from_outside<F>(&self, kind: Kind, future: F) -> Joined<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let record = self.record(kind);
        Joined::new(self.0.handle.spawn(Tracked::new(future, &record)), record)
    }

    /// Spawns a task that stays on this thread.
    pub(crate) fn spawn_local<F: Future + 'static>(&self, future: F) -> Joined<F::Output> {
        let record = self.record(Kind::Local);
        Joined::new(rt::spawn_local(Tracked::new(future, &record)), record)
    }

    /// Hands a job that knows its number to the blocking pool.
    pub(crate) fn spawn_blocking<R: Send + 'static>(&self, job: impl FnOnce(u64) -> R + Send + 'static) -> Joined<R> {
        let record = self.record(Kind::Job);
        let (id, stage) = (record.id, self.clone());
        let job = move || {
            let result = job(id);
            stage.0.ledger.count(Count::Jobs);
            result
        };
        Joined::new(self.0.handle.spawn_blocking(tracked_job(job, &record)), record)
    }

    /// Leaves a task to the mercy of those who abort, once in `one_of` times.
    pub(crate) fn expose<T>(&self, task: &Joined<T>, rng: &mut Rng, one_of: u32) {
        self.expose_target(|| task.target(), rng, one_of);
    }

    /// The same for a task that has no handle.
    pub(crate) fn expose_target(&self, target: impl FnOnce() -> Target, rng: &mut Rng, one_of: u32) {
        // The decision is the plan's, whether it is used or not.
        let chosen = one_in(rng, one_of);
        if let (true, Some(targets)) = (chosen, &self.0.targets) {
            targets.lock().push(target());
        }
    }

    /// Aborts one of those that are exposed.
    pub(crate) fn abort_somebody(&self, rng: &mut Rng) {
        let draw = rng.u64(..);
        let Some(targets) = &self.0.targets else { return };
        let target = {
            let mut targets = targets.lock();
            if targets.is_empty() {
                return;
            }
            let chosen = draw as usize % targets.len();
            targets.swap_remove(chosen)
        };
        target.abort();
    }

    /// Keeps a handle until after the end.
    pub(crate) fn keep(&self, task: Joined<()>) {
        self.0.kept.lock().push(task);
    }

    /// The handles that were kept.
    pub(crate) fn take_kept(&self) -> Vec<Joined<()>> {
        std::mem::take(&mut self.0.kept.lock())
    }

    /// Waits until no task of this runtime is alive. Detached ones must come to an end by themselves.
    pub(crate) async fn settled(&self) {
        while self.0.life.alive() > 0 {
            rt::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
