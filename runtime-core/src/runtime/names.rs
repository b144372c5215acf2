//! [`Names`]: what a runtime's threads are called.
//!
//! Threads are started by those who must not wait for the user: the monitor, a worker that begins to block in place,
//! the caller of `spawn_blocking`. The user's namer may wait for a lock that a blocked task
//! holds. So none of them calls it: they take a name from a stock that was made before, and if the stock is empty the
//! thread gets one of the runtime's own.
//!
//! The stock is filled when the runtime is built, on the thread that builds it. When half of it is gone a thread of its
//! own fills it up, which ends when that is done. Nobody waits for that thread, and it holds nothing of the runtime but
//! the stock: should the namer never return it stands there, and all further threads get names of the runtime's own.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use crate::task::{contain, discard};

/// Names a thread.
pub type ThreadNamer = Arc<dyn Fn() -> String + Send + Sync>;

/// How the threads of a runtime are to be named.
#[derive(Clone, Default)]
pub enum ThreadNames {
    /// By what they do, with a number: `rt-worker-0`.
    #[default]
    Numbered,
    /// All the same.
    Same(String),
    /// Each by a call of this.
    Each(ThreadNamer),
}

impl fmt::Debug for ThreadNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbered => f.write_str("Numbered"),
            Self::Same(name) => f.debug_tuple("Same").field(name).finish(),
            Self::Each(_) => f.debug_tuple("Each").finish_non_exhaustive(),
        }
    }
}

/// The number of names that are made in advance: enough for those threads that are started while the thread that makes
/// more begins.
const PREPARED_NAMES: usize = 32;

/// Where the threads of a runtime get their names from.
pub(crate) enum Names {
    Numbered,
    Same(String),
    Each(Arc<Stock>),
}

/// Names that the user's namer has made in advance.
pub(crate) struct Stock {
    namer: ThreadNamer,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    /// First made, first used. `None` where the namer panicked, or found a name that no thread can have.
    names: VecDeque<Option<String>>,
    /// A thread fills the stock up, or somebody is about to start it.
    has_thread: bool,
}

impl Names {
    /// Makes names for the first `threads` threads, and a stock for later ones.
    pub(crate) fn new(names: &ThreadNames, threads: usize) -> Self {
        match names {
            ThreadNames::Numbered => Self::Numbered,
            ThreadNames::Same(name) if is_possible(name) => Self::Same(name.clone()),
            ThreadNames::Same(_) => Self::Numbered,
            ThreadNames::Each(namer) => {
                let stock = Stock { namer: Arc::clone(namer), made: Mutex::default() };
                let names = (0..threads + PREPARED_NAMES).map(|_| stock.make()).collect();
                stock.made.lock().names = names;
                Self::Each(Arc::new(stock))
            }
        }
    }

    /// The name of the next thread. Never waits for the user's namer.
    pub(crate) fn next(&self, role: &str, number: u64) -> String {
        let own = match self {
            Self::Numbered => None,
            Self::Same(name) => Some(name.clone()),
            Self::Each(stock) => stock.take(),
        };
        own.unwrap_or_else(|| format!("rt-{role}-{number}"))
    }
}

/// Whether a thread can have this name.
fn is_possible(name: &str) -> bool {
    !name.contains('\0')
}

impl Stock {
    /// Calls the namer, which may panic, or find a name that no thread can have: neither must stop a runtime half-way.
    fn make(&self) -> Option<String> {
        let mut name = None;
        discard(contain(|| name = Some((self.namer)())));
        name.filter(|name| is_possible(name))
    }

    fn take(self: &Arc<Self>) -> Option<String> {
        let mut made = self.made.lock();
        let name = made.names.pop_front();
        let is_to_be_filled = made.names.len() <= PREPARED_NAMES / 2 && !std::mem::replace(&mut made.has_thread, true);
        drop(made);
        if is_to_be_filled {
            let stock = Arc::clone(self);
            let started = thread::Builder::new().name("rt-namer".into()).spawn(move || stock.fill());
            if started.is_err() {
                // The next one to take a name tries again.
                self.made.lock().has_thread = false;
            }
        }
        name.flatten()
    }

    fn fill(&self) {
        loop {
            let mut made = self.made.lock();
            if made.names.len() >= PREPARED_NAMES {
                made.has_thread = false;
                return;
            }
            drop(made);
            let name = self.make();
            self.made.lock().names.push_back(name);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    /// Names by a count, made while the gate is open.
    fn counted(gate: Arc<Mutex<()>>) -> ThreadNames {
        let count = AtomicUsize::new(0);
        ThreadNames::Each(Arc::new(move || {
            let _open = gate.lock();
            format!("own {}", count.fetch_add(1, SeqCst))
        }))
    }

    fn until_filled(names: &Names) {
        let Names::Each(stock) = names else { panic!("no stock") };
        while stock.made.lock().has_thread {
            thread::yield_now();
        }
    }

    #[test]
    fn names_are_used_in_the_order_in_which_they_were_made() {
        let names = Names::new(&counted(Arc::default()), 2);
        for number in 0..10 * PREPARED_NAMES {
            assert_eq!(names.next("worker", 7), format!("own {number}"));
            until_filled(&names);
        }
    }

    #[test]
    fn while_the_namer_blocks_there_is_the_stock_and_then_the_runtimes_own_names() {
        let gate = Arc::default();
        let names = Names::new(&counted(Arc::clone(&gate)), 3);
        let shut = gate.lock();
        for number in 0..PREPARED_NAMES + 3 {
            assert_eq!(names.next("spare", 7), format!("own {number}"));
        }
        assert_eq!(names.next("spare", 8), "rt-spare-8");
        drop(shut);
        until_filled(&names);
        assert_eq!(names.next("spare", 9), format!("own {}", PREPARED_NAMES + 3));
    }

    #[test]
    fn a_namer_that_panics_or_gives_an_impossible_name_is_called_no_more_often_than_another() {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let names = ThreadNames::Each(Arc::new(move || {
            assert!(count.fetch_add(1, SeqCst).is_multiple_of(2), "of the namer");
            "a\0b".into()
        }));
        let names = Names::new(&names, 0);
        for number in 0..PREPARED_NAMES as u64 {
            assert_eq!(names.next("blocking", number), format!("rt-blocking-{number}"));
            until_filled(&names);
        }
        assert!(calls.load(SeqCst) <= 2 * PREPARED_NAMES);
    }

    #[test]
    fn without_a_namer_there_is_nothing_to_make() {
        assert_eq!(Names::new(&ThreadNames::Numbered, 5).next("worker", 4), "rt-worker-4");
        assert_eq!(Names::new(&ThreadNames::Same("all".into()), 5).next("worker", 4), "all");
    }

    #[test]
    fn an_impossible_name_for_all_is_used_for_none() {
        assert_eq!(Names::new(&ThreadNames::Same("a\0b".into()), 5).next("worker", 4), "rt-worker-4");
    }
}
