//! What becomes of the wakers of tasks, told to `tracing` in Tokio's words: for tokio-console, which counts the wakes
//! of a task, and warns of one that nobody has a waker of.
//!
//! An event names the span of the task. A waker knows the task's number only, so there is a table of the two. A task is
//! in it from when its span is made until its future is dropped. It is looked at only while somebody listens to events
//! of this level ([`hear`]).
//!
//! The subscriber is user code. A panic of it is contained here, so that the waker of a task never panics. It is not
//! called under a lock: there, wakers are cloned in silence or not at all (`task::clone_if_plain`). Nor is it called
//! while a worker of a multi-thread runtime has the drivers: what these wake is [`Untold`] until it has given them
//! back.
//!
//! Without the feature nobody hears, and nothing of this is there.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::*;
#[cfg(feature = "tracing")]
pub(crate) use self::on::*;
