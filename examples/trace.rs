//! What `.await` does: two tasks that sleep, and every step of the runtime that runs them.
//!
//! ```text
//! cargo run --example trace
//! ```
//!
//! What tasks say about themselves is printed by them; what happens to them, by the runtime's observer, which is told
//! of every step; and that a timer fires, by a waker of our own, which the timer is given in place of the task's.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use rt::runtime::{Builder, TaskEvent, TaskEventKind};
use rt::task;
use rt::time::{Duration, Instant, sleep};

fn main() -> io::Result<()> {
    let clock = Clock::start();
    // One thread, so that only one thing happens at a time, and the order of the lines is the order of things.
    let runtime =
        Builder::new_current_thread().enable_time().on_task_event(move |event| explain(clock, event)).build()?;
    runtime.block_on(async {
        let tea = task::Builder::new().name("tea").spawn(brew(clock, "tea", [30, 40])).unwrap();
        let egg = task::Builder::new().name("egg").spawn(brew(clock, "egg", [50])).unwrap();
        let (tea, egg) = rt::join!(tea, egg);
        tea?;
        egg?;
        io::Result::Ok(())
    })?;
    println!(
        "
A task runs until it has to wait: its poll returns `Pending`, and the thread goes on with another task or, if there is
none, sleeps. What it waits for keeps its waker; calling that puts the task into the queue, and so it is polled again."
    );
    Ok(())
}

/// The work of a task: some waiting, in steps.
async fn brew<const N: usize>(clock: Clock, name: &'static str, steps: [u64; N]) {
    for milliseconds in steps {
        clock.print(name, &format!("    \"I sleep for {milliseconds} ms\""));
        Announced { clock, name, future: pin!(sleep(Duration::from_millis(milliseconds))) }.await;
        clock.print(name, &format!("    \"{milliseconds} ms are over\""));
    }
}

/// Prints a step of the runtime. Observers must be quick; for a demonstration, printing is quick enough.
fn explain(clock: Clock, event: &TaskEvent) {
    let step = match event.kind {
        TaskEventKind::Spawned => "spawned: it is in the queue",
        TaskEventKind::Polled => "picked from the queue, and polled",
        TaskEventKind::Pending => "its poll returned Pending: it waits",
        TaskEventKind::Woken => "woken: it is in the queue again",
        TaskEventKind::Completed => "completed",
        _ => return,
    };
    clock.print(event.name.unwrap_or("a task"), step);
}

/// The time since the start.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        println!("      time  task  step");
        Self(Instant::now())
    }

    fn print(self, task: &str, step: &str) {
        println!("{:>7.2} ms  {task:<4}  {step}", 1e3 * self.0.elapsed().as_secs_f64());
    }
}

/// A future that lets us know when what it waits for calls its waker.
struct Announced<'a, F> {
    clock: Clock,
    name: &'static str,
    future: Pin<&'a mut F>,
}

impl<F: Future> Future for Announced<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // What the inner future keeps is this waker, and not the task's own.
        let bell = Bell { clock: self.clock, name: self.name, task: cx.waker().clone() };
        self.future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::new(bell))))
    }
}

/// A waker that says so before it wakes the task.
struct Bell {
    clock: Clock,
    name: &'static str,
    task: Waker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.clock.print(self.name, "the timer fired, and calls the waker");
        self.task.wake_by_ref();
    }
}
