//! Groups of tasks (`JoinSet`, `LocalSet`), task-locals, and what tells runtimes apart, seen through the facade.

mod identity;
mod join_set;
mod local_set;
mod task_local;
