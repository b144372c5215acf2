//! Runtimes: building, holding and observing them.
//!
//! Most programs need only [`macro@crate::main`]. To choose the number of threads, to have several runtimes, or to run
//! async code from a place that is not async, make one with a [`Builder`]:
//!
//! ```
//! let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
//! let sum = runtime.block_on(async {
//!     let tasks: Vec<_> = (0..10).map(|n| rt::spawn(async move { n * n })).collect();
//!     let mut sum = 0;
//!     for task in tasks {
//!         sum += task.await.unwrap();
//!     }
//!     sum
//! });
//! assert_eq!(sum, 285);
//! ```
//!
//! Runtimes share nothing: a process can have any number of them, side by side.

mod builder;
mod drivers;
mod driving;
mod owned;
mod stall;
pub mod trace;

pub use self::builder::Builder;
pub use self::owned::{LocalRuntime, Runtime};

pub use runtime_core::RngSeed;
pub use runtime_core::blocked::{Activity, BlockedTask};
pub use runtime_core::driver::DriverCounters;
pub use runtime_core::events::{TaskEvent, TaskEventKind};
pub use runtime_core::metrics::{Counts, Histogram, WorkerState};
pub use runtime_core::runtime::{
    EnterGuard, Handle, HistogramConfiguration, HistogramScale, Id, InvalidHistogramConfiguration, LocalOptions,
    LogHistogram, LogHistogramBuilder, PolledTask, RuntimeFlavor, RuntimeMetrics, TryCurrentError, UnhandledPanic,
    WeakHandle, WorkerActivity, is_rt_shutdown_err, worker_index,
};
pub use runtime_core::stall::{Stall, StalledTask};
pub use runtime_core::task::{ChannelKind, LockKind, SocketKind, TaskInfo, TaskState, WaitsFor};
pub use runtime_core::task_hooks::TaskMeta;
