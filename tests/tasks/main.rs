//! Tasks from their spawn to their end, and the runtimes that run them, seen through the facade.

mod abort;
mod batches;
mod block_on;
mod charges;
mod driving;
mod entering;
mod giving_way;
mod hooks;
mod local;
mod measures;
mod metrics;
mod options;
mod panics;
mod places;
mod script_model;
mod scripts;
mod spawn;
mod task_hooks;
mod unhandled_panics;
