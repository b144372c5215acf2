//! Models of the protocol: each runs under every interleaving. `RUSTFLAGS="--cfg loom" cargo test -p runtime-io
//! --release --lib loom`.
//!
//! `block_on` here is loom's: a signal that gets lost shows as a deadlock.

use std::future::poll_fn;

use loom::future::block_on;
use loom::sync::{Condvar, Mutex as StdMutex};
use loom::thread;

use runtime_core::driver::WakeAtOnce;

use super::*;

const NUMBER: usize = 3;

/// All interleavings would take hours. Two preemptions find every mutation that we tried.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Stands for the socket that the handlers write, and for the pollers of two drivers that are told of each write.
struct Teller {
    state: StdMutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    has_bytes: bool,
    told: [bool; 2],
    is_over: bool,
}

impl Teller {
    fn new() -> Self {
        Self { state: StdMutex::new(State::default()), changed: Condvar::new() }
    }

    fn write(&self) {
        let mut state = self.state.lock().unwrap();
        // A full one takes nothing more, and tells nobody.
        if !state.has_bytes {
            state.has_bytes = true;
            state.told = [true; 2];
        }
        self.changed.notify_all();
    }

    fn empty(&self) {
        self.state.lock().unwrap().has_bytes = false;
    }

    /// Waits until the driver is told of a write. False if there will be none.
    fn wait(&self, driver: usize) -> bool {
        let mut state = self.state.lock().unwrap();
        loop {
            if std::mem::take(&mut state.told[driver]) {
                // Like the poller, which looks whether there is anything to read.
                if state.has_bytes {
                    return true;
                }
            } else if state.is_over {
                return false;
            } else {
                state = self.changed.wait(state).unwrap();
            }
        }
    }

    fn end(&self) {
        self.state.lock().unwrap().is_over = true;
        self.changed.notify_all();
    }
}

fn handler(table: &Table, teller: &Teller) {
    table.note(NUMBER);
    teller.write();
}

fn drive(driver: usize, table: &Table, teller: &Teller) {
    while teller.wait(driver) {
        teller.empty();
        let mut wakes = WakeBatch::new();
        table.deliver(&mut wakes);
        wakes.give_to(&mut WakeAtOnce);
    }
}

async fn hear(listener: &Listener) {
    poll_fn(|cx| listener.poll(cx)).await;
}

/// One signal after the other, while one driver may still be at work on the first: the listener hears of both.
#[test]
fn a_signal_is_heard_that_comes_while_another_is_delivered() {
    check(|| {
        let shared = Arc::new((Arc::new(Table::new(NUMBER + 1)), Teller::new()));
        let listener = shared.0.listen(NUMBER);
        let driver = thread::spawn({
            let shared = shared.clone();
            move || drive(0, &shared.0, &shared.1)
        });
        let (table, teller) = &*shared;
        handler(table, teller);
        block_on(hear(&listener));
        handler(table, teller);
        block_on(hear(&listener));
        teller.end();
        driver.join().unwrap();
    });
}

/// Two drivers race for one signal, of which one may find the teller empty or the flag taken.
#[test]
fn two_drivers_deliver_a_signal_between_them() {
    check(|| {
        let shared = Arc::new((Arc::new(Table::new(NUMBER + 1)), Teller::new()));
        let listener = shared.0.listen(NUMBER);
        let drivers = [0, 1].map(|driver| {
            let shared = shared.clone();
            thread::spawn(move || drive(driver, &shared.0, &shared.1))
        });
        handler(&shared.0, &shared.1);
        block_on(hear(&listener));
        shared.1.end();
        for driver in drivers {
            driver.join().unwrap();
        }
    });
}

/// Two threads are interrupted by signals, and the teller takes only one byte: what both did before is visible to
/// a task that has heard the last.
#[test]
fn the_last_signal_is_heard_though_the_teller_is_full() {
    use runtime_core::primitive::atomic::AtomicUsize;

    check(|| {
        let shared = Arc::new((Arc::new(Table::new(NUMBER + 1)), Teller::new(), AtomicUsize::new(0)));
        let listener = shared.0.listen(NUMBER);
        let driver = thread::spawn({
            let shared = shared.clone();
            move || drive(0, &shared.0, &shared.1)
        });
        let sender = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.2.fetch_add(1, Relaxed);
                handler(&shared.0, &shared.1);
            }
        });
        shared.2.fetch_add(1, Relaxed);
        handler(&shared.0, &shared.1);
        while shared.2.load(Relaxed) < 2 {
            block_on(hear(&listener));
        }
        shared.1.end();
        sender.join().unwrap();
        driver.join().unwrap();
    });
}

/// Signals of two numbers, whose flags are in one word, come while a driver takes flags: each is heard.
#[test]
fn signals_of_two_numbers_leave_each_other_alone() {
    check(|| {
        let shared = Arc::new((Arc::new(Table::new(NUMBER + 1)), Teller::new()));
        let listeners = [shared.0.listen(NUMBER), shared.0.listen(NUMBER - 1)];
        let driver = thread::spawn({
            let shared = shared.clone();
            move || drive(0, &shared.0, &shared.1)
        });
        let sender = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.0.note(NUMBER - 1);
                shared.1.write();
            }
        });
        handler(&shared.0, &shared.1);
        for listener in &listeners {
            block_on(hear(listener));
        }
        shared.1.end();
        sender.join().unwrap();
        driver.join().unwrap();
    });
}
