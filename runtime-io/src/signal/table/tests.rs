//! Tests of one thread; those of several are models.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use runtime_core::driver::WakeAtOnce;

use super::*;

const NUMBERS: usize = 70;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn deliver(table: &Table) {
    let mut wakes = WakeBatch::new();
    table.deliver(&mut wakes);
    wakes.give_to(&mut WakeAtOnce);
}

fn is_ready(listener: &Listener) -> bool {
    listener.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn signals_that_come_before_a_poll_are_one() {
    let table = Arc::new(Table::new(NUMBERS));
    let listener = table.listen(10);
    assert!(!is_ready(&listener));
    for _ in 0..3 {
        table.note(10);
    }
    assert!(!is_ready(&listener), "not delivered yet");
    deliver(&table);
    table.note(10);
    deliver(&table);
    assert!(is_ready(&listener));
    assert!(!is_ready(&listener));
    deliver(&table);
    assert!(!is_ready(&listener), "a driver that comes too late delivers nothing");
}

#[test]
fn each_listener_hears_its_own_number_and_no_other() {
    let table = Arc::new(Table::new(NUMBERS));
    let listeners: Vec<_> = (1..NUMBERS).map(|number| table.listen(number)).collect();
    for number in 1..NUMBERS {
        let twin = table.listen(number);
        table.note(number);
        deliver(&table);
        assert!(is_ready(&twin));
        for listener in &listeners {
            assert_eq!(is_ready(listener), listener.number() == number as i32);
        }
    }
}

#[test]
fn a_dropped_listener_takes_its_waker_along_and_leaves_the_others() {
    let table = Arc::new(Table::new(NUMBERS));
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let (first, second) = (table.listen(33), table.listen(33));
    for listener in [&first, &second] {
        assert!(listener.poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(Arc::strong_count(&count), 4);
    drop(first);
    assert_eq!(Arc::strong_count(&count), 3);
    table.note(33);
    deliver(&table);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(is_ready(&second));
}
