//! Groups of tasks (`JoinSet`, `LocalSet`, `scope`, `TaskTracker`), task-locals, and what tells runtimes apart, seen
//! through the facade.

mod cancellation;
mod identity;
mod join_set;
mod local_set;
mod local_set_drivers;
mod scope;
mod scope_ends;
mod scope_panics;
mod task_local;
mod task_tracker;
