//! [`Switch`]: whether anybody wants to hear of events, and where the recorder writes them, in one word.
//!
//! All threads look at the word at each event, and go on if it is null. The user's observer (`events.rs`) is there for
//! as long as the runtime: then the word's lowest bit is set, always. The rest of the word is a pointer to the
//! recording that the recorder writes to, or null while it is off.
//!
//! # The protocol
//!
//! Those who turn it on and off do so one at a time (`recorder.rs` has the lock).
//!
//! - *On*: the recording is made, or taken from an earlier time, and told when it begins; then the pointer is stored
//!   with release.
//! - *Off*: null is stored, relaxed. What was recorded stays.
//! - *An event*: the word is loaded with acquire. If there is a pointer the thread sees the recording as it was when it
//!   was turned on, and writes a record.
//!
//! Nobody waits for threads that have loaded the pointer before it was taken away: such a thread may write into the
//! recording at any time, also when it is turned on again. So a recording stays until the runtime is gone; and a record
//! has the time of its event, by which a snapshot leaves out what is from before the last start or from after the stop.

use std::ptr;

use crate::primitive::OnceLock;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};

/// The recordings of a runtime, by the binary logarithm of their size, and which of them is written to.
pub(super) struct Switch<R, const SIZES: usize> {
    /// The pointer, and in its lowest bit whether there is an observer.
    word: AtomicPtr<R>,
    off: *mut R,
    kept: [OnceLock<Box<R>>; SIZES],
}

// SAFETY: `off` is no pointer to anything, and `word` only leads to what `kept` has.
unsafe impl<R: Send + Sync, const SIZES: usize> Send for Switch<R, SIZES> {}
// SAFETY: as above.
unsafe impl<R: Send + Sync, const SIZES: usize> Sync for Switch<R, SIZES> {}

/// The lowest bit.
const OBSERVED: usize = 1;

impl<R, const SIZES: usize> Switch<R, SIZES> {
    pub(super) fn new(has_observer: bool) -> Self {
        const { assert!(align_of::<R>() > OBSERVED) };
        let off = if has_observer { ptr::without_provenance_mut(OBSERVED) } else { ptr::null_mut() };
        Self { word: AtomicPtr::new(off), off, kept: [const { OnceLock::new() }; SIZES] }
    }

    /// Whether anybody wants to hear of events.
    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        // Relaxed: what a thread does just before it sees that the recorder runs is not recorded.
        !self.word.load(Relaxed).is_null()
    }

    /// What is written to, if the recorder is on.
    #[inline]
    pub(super) fn current(&self) -> Option<&R> {
        let recording = self.word.load(Acquire).map_addr(|addr| addr & !OBSERVED);
        // SAFETY: null, or what `turn_on` has stored: a pointer to what `kept` has for as long as `self` lives. The
        // acquire sees it as it was made.
        unsafe { recording.as_ref() }
    }

    /// That of a size, if there was ever one.
    pub(super) fn kept(&self, size: usize) -> Option<&R> {
        self.kept[size].get().map(|recording| &**recording)
    }

    /// Has it write to that of a size, which is made if there is none, and made ready. For one thread at a time.
    pub(super) fn turn_on(&self, size: usize, make: impl FnOnce() -> R, make_ready: impl FnOnce(&R)) {
        let recording = &**self.kept[size].get_or_init(|| Box::new(make()));
        make_ready(recording);
        let observed = self.off.addr();
        self.word.store(ptr::from_ref(recording).cast_mut().map_addr(|addr| addr | observed), Release);
    }

    /// Has it write nowhere. For one thread at a time.
    pub(super) fn turn_off(&self) {
        self.word.store(self.off, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_heard_while_it_is_on_or_observed() {
        for has_observer in [false, true] {
            let switch = Switch::<u32, 3>::new(has_observer);
            assert_eq!((switch.is_heard(), switch.current(), switch.kept(2)), (has_observer, None, None));
            switch.turn_on(2, || 7, |made| assert_eq!(*made, 7));
            assert_eq!((switch.is_heard(), switch.current(), switch.kept(2)), (true, Some(&7), Some(&7)));
            switch.turn_on(1, || 8, |_| ());
            assert_eq!((switch.current(), switch.kept(2)), (Some(&8), Some(&7)));
            switch.turn_off();
            assert_eq!((switch.is_heard(), switch.current(), switch.kept(1)), (has_observer, None, Some(&8)));
            switch.turn_on(2, || panic!("there is one"), |_| ());
            assert_eq!(switch.current(), Some(&7));
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::primitive::atomic::AtomicU64;
    use crate::primitive::{Arc, UnsafeCell};
    use crate::trace::lane::Lane;
    use crate::trace::record::{Kind, Record};

    /// As much of a recording as there is to the protocol. The time is counted, not measured.
    struct Recording {
        /// Written by the thread that makes it, and by nobody else: what a thread must not see half made.
        made: UnsafeCell<u64>,
        started: AtomicU64,
        lane: Lane,
    }

    struct Model {
        switch: Switch<Recording, 2>,
        time: AtomicU64,
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Self { switch: Switch::new(false), time: AtomicU64::new(0) })
        }

        fn now(&self) -> u64 {
            self.time.fetch_add(1, Relaxed) + 1
        }

        /// When it was started.
        fn start(&self, size: usize) -> u64 {
            let now = self.now();
            let make = || Recording { made: UnsafeCell::new(1), started: AtomicU64::new(0), lane: Lane::new(8, false) };
            self.switch.turn_on(size, make, |recording| recording.started.store(now, Relaxed));
            now
        }

        /// Has an event. If it was recorded, says which start the thread knew of.
        fn event(&self, kind: Kind) -> Option<u64> {
            let recording = self.switch.current()?;
            // SAFETY: nobody writes it any more, which the model sees to.
            recording.made.with(|made| assert_eq!(unsafe { *made }, 1));
            let started = recording.started.load(Relaxed);
            assert_ne!(started, 0, "written to before it was started");
            recording.lane.task_event(kind, 0, 0, started, || self.now());
            Some(started)
        }

        /// When a snapshot has events that are not older than `from`.
        fn read(&self, size: usize, from: u64) -> Vec<u64> {
            let records = self.switch.kept(size).expect("it was started").lane.read();
            let times = records.into_iter().map(|words| Record::unpack(words, 1000).expect("whole").ticks);
            times.filter(|&at| at >= from).collect()
        }
    }

    /// One thread has events while another one starts, stops, and starts again with another size.
    #[test]
    fn loom_a_writer_sees_the_recording_that_was_started() {
        loom::model(|| {
            let model = Model::new();
            let writer = {
                let model = Arc::clone(&model);
                loom::thread::spawn(move || (0..2).for_each(|_| _ = model.event(Kind::Woken)))
            };
            model.start(0);
            model.switch.turn_off();
            model.start(1);
            writer.join().unwrap();
        });
    }

    /// A thread has events, perhaps of both times, while the recorder is stopped, and started again with the same
    /// memory.
    #[test]
    fn loom_after_a_new_start_no_event_is_taken_for_an_old_one() {
        loom::model(|| {
            let model = Model::new();
            model.start(0);
            let writer = {
                let model = Arc::clone(&model);
                loom::thread::spawn(move || [Kind::Pending, Kind::Polled].map(|kind| model.event(kind)))
            };
            model.switch.turn_off();
            let second = model.start(0);
            let meanwhile = model.read(0, second).len();
            let events = writer.join().unwrap();
            let shown = model.read(0, second);
            assert!(meanwhile <= shown.len() && shown.is_sorted());
            // A thread that was late to notice has had its event now, too.
            let known = events.iter().filter(|started| **started == Some(second)).count();
            assert!(shown.len() >= known, "{events:?} {shown:?}");
        });
    }
}
