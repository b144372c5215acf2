//! [`Holders`]: which registration is in the poller under which number. `registry.rs` says why that must be known.
//!
//! (The maps are sorted ones because a hash map asks the system for random numbers, which a sandbox may refuse.)

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use mio::Token;
use runtime_core::primitive::Mutex;

/// What the poller knows a descriptor by.
pub(crate) type Number = RawFd;

/// What is registered under a number of its own, which does not change.
pub(crate) trait Numbered {
    fn number(&self) -> Number;
}

impl<T: AsRawFd> Numbered for T {
    fn number(&self) -> Number {
        self.as_raw_fd()
    }
}

/// The holder of each number. The lock of a number covers its note and the system call that goes with it.
#[derive(Debug)]
pub(super) struct Holders(Box<[Stripe]>);

/// The holders of the numbers that leave the same remainder. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(Mutex<BTreeMap<Number, Token>>);

impl Holders {
    /// Makes `locks` stripes, each with its own lock.
    pub(super) fn new(locks: usize) -> Self {
        Self((0..locks).map(|_| Stripe::default()).collect())
    }

    fn stripe(&self, number: Number) -> &Mutex<BTreeMap<Number, Token>> {
        // A negative number may go to any stripe: the poller will refuse it.
        &self.0[number as usize % self.0.len()].0
    }

    /// Calls `put_in`, and if that succeeds notes the new holder. If it fails, the holder stays the same.
    pub(super) fn note(&self, number: Number, token: Token, put_in: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut holders = self.stripe(number).lock();
        put_in()?;
        holders.insert(number, token);
        Ok(())
    }

    /// If the holder is `token`, removes the note and calls `take_out`.
    pub(super) fn forget(
        &self,
        number: Number,
        token: Token,
        take_out: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut holders = self.stripe(number).lock();
        if holders.get(&number) != Some(&token) {
            return Err(io::ErrorKind::NotFound.into());
        }
        holders.remove(&number);
        take_out()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const OLD: Token = Token(1);
    const NEW: Token = Token(2);

    fn succeeds() -> io::Result<()> {
        Ok(())
    }

    fn is_not_called() -> io::Result<()> {
        panic!("the number is somebody else's")
    }

    #[test]
    fn a_number_is_taken_out_once_by_its_holder() {
        let holders = Holders::new(3);
        for number in 0..10 {
            holders.note(number, OLD, succeeds).unwrap();
        }
        for number in 0..10 {
            assert!(holders.forget(number, NEW, is_not_called).is_err());
            holders.forget(number, OLD, succeeds).unwrap();
            assert!(holders.forget(number, OLD, is_not_called).is_err());
        }
    }

    #[test]
    fn who_has_lost_the_number_leaves_it_alone() {
        let holders = Holders::new(1);
        holders.note(7, OLD, succeeds).unwrap();
        holders.note(7, NEW, succeeds).unwrap();
        assert!(holders.forget(7, OLD, is_not_called).is_err());
        holders.forget(7, NEW, succeeds).unwrap();
    }

    #[test]
    fn a_registration_that_is_refused_leaves_the_number_to_its_holder() {
        let holders = Holders::new(1);
        holders.note(7, OLD, succeeds).unwrap();
        assert!(holders.note(7, NEW, || Err(io::ErrorKind::AlreadyExists.into())).is_err());
        holders.forget(7, OLD, succeeds).unwrap();
    }

    #[test]
    fn numbers_that_are_none_are_refused_by_the_poller_and_by_nobody_else() {
        let holders = Holders::new(2);
        for number in [-1, Number::MIN] {
            assert!(holders.note(number, OLD, || Err(io::ErrorKind::InvalidInput.into())).is_err());
            assert!(holders.forget(number, OLD, is_not_called).is_err());
        }
    }
}

#[cfg(all(test, loom))]
mod loom_model {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::sync::atomic::Ordering::{AcqRel, Acquire, Release};
    use loom::thread;

    use super::*;

    /// What the poller has under the number, as a token: nothing if it is zero.
    #[derive(Default)]
    struct Poller(AtomicUsize);

    impl Poller {
        fn put_in(&self, token: Token) -> io::Result<()> {
            self.0.store(token.0, Release);
            Ok(())
        }

        fn take_out(&self) -> io::Result<()> {
            if self.0.swap(0, AcqRel) == 0 { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
        }
    }

    /// A registration whose descriptor was closed goes, while its number is registered for somebody else.
    #[test]
    fn a_registration_that_goes_late_leaves_its_numbers_next_holder_in_the_poller() {
        loom::model(|| {
            let shared = Arc::new((Holders::new(1), Poller::default()));
            let (holders, poller) = &*shared;
            holders.note(7, Token(1), || poller.put_in(Token(1))).unwrap();
            // The close, of which the poller knows by itself.
            poller.take_out().unwrap();
            let next = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (holders, poller) = &*shared;
                    holders.note(7, Token(2), || poller.put_in(Token(2))).unwrap();
                })
            };
            let _ = holders.forget(7, Token(1), || poller.take_out());
            next.join().unwrap();
            assert_eq!(poller.0.load(Acquire), 2, "it was taken out by a stranger");
            holders.forget(7, Token(2), || poller.take_out()).unwrap();
        });
    }
}
