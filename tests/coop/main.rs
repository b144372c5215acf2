//! The coop budget beside what is not the runtime's: other crates' executors and combinators, and deadlines.

mod combinators;
mod nested;
mod timers;
