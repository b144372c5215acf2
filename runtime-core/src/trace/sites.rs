//! [`Sites`]: where tasks were spawned, and their names, each with a number that fits into a record.
//!
//! A task says both by one word, its [`Site`]: a pointer to what stays for ever. The table has a place for each such
//! word; the place's number is the one in the record. It is filled by the threads that have events, while they are in
//! the middle of the scheduler. So nobody waits here, and nothing is allocated: the table is as large as it ever gets
//! when the recording is made.
//!
//! # The protocol
//!
//! A place is null, or a site. It is filled once, by a compare-exchange, and then stays as it is.
//!
//! - *To find* a site's number a thread looks at the places from the one on that its address says (*open addressing*).
//!   If it finds the site, that is it: one load, most of the time. If it finds an empty place first it fills that.
//! - *To read*, a thread loads a place with acquire, which pairs with the release of the filling: it is about to follow
//!   the pointer, and may not have seen before what it leads to. A thread that has an event has a task of that site in
//!   hand, and has seen it.
//!
//! A thread that has read a record sees the place that the record refers to: the writer filled it or found it filled
//! before it wrote the record, whose number in the ring is stored with release and loaded with acquire.
//!
//! After [`MAX_LOOKS`] places that others have, the site gets no number ([`NONE`]). That takes a program with some ten
//! thousand sites, so one that makes up names as it runs.

use std::panic::Location;
use std::ptr;

use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::task::Site;

/// The number of places. Numbers in records have 16 bits.
const PLACES: usize = 1 << 14;

/// How many places are looked at. With three quarters of the places taken, nearly all sites find theirs in a dozen.
const MAX_LOOKS: usize = 64;

/// What a site leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpawnedAt {
    pub(super) location: &'static Location<'static>,
    pub(super) name: Option<&'static str>,
}

/// The number of a site that has none.
pub(super) const NONE: u16 = 0;

/// The table, with a power of two of places.
pub(super) struct Sites<const N: usize = PLACES> {
    places: Box<[AtomicPtr<()>]>,
}

impl<const N: usize> Sites<N> {
    pub(super) fn new() -> Self {
        const { assert!(N.is_power_of_two() && N <= u16::MAX as usize) };
        Self { places: std::iter::repeat_with(|| AtomicPtr::new(ptr::null_mut())).take(N).collect() }
    }

    /// The number of a site.
    #[inline]
    pub(super) fn number(&self, site: *mut ()) -> u16 {
        // The product's upper bits depend on all of the address (Fibonacci hashing, Knuth 6.4).
        let hash = (site.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> (u64::BITS - N.ilog2())) as usize;
        if self.places[first].load(Relaxed) == site { number_of(first) } else { self.search(first, site) }
    }

    #[cold]
    fn search(&self, first: usize, site: *mut ()) -> u16 {
        for look in 0..MAX_LOOKS.min(N) {
            let place = (first + look) % N;
            let mut found = self.places[place].load(Relaxed);
            if found.is_null() {
                // Another thread may have filled it meanwhile, perhaps for the same site.
                found = match self.places[place].compare_exchange(ptr::null_mut(), site, Release, Relaxed) {
                    Ok(_) => site,
                    Err(other) => other,
                };
            }
            if found == site {
                return number_of(place);
            }
        }
        NONE
    }

    /// All places, the one with number 1 first, each with its site or null.
    fn read(&self) -> impl Iterator<Item = *mut ()> {
        self.places.iter().map(|place| place.load(Acquire))
    }
}

impl Sites {
    /// All places, the one with number 1 first, each with what its site leads to if it has one.
    pub(super) fn all(&self) -> Vec<Option<SpawnedAt>> {
        // SAFETY: null, or what `as_ptr` gave to a thread that had an event of a task with this site.
        let sites = self.read().map(|site| unsafe { Site::from_ptr(site) });
        sites.map(|site| site.map(|site| SpawnedAt { location: site.location(), name: site.name() })).collect()
    }
}

#[inline]
fn number_of(place: usize) -> u16 {
    place as u16 + 1
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn site(number: usize) -> *mut () {
        ptr::without_provenance_mut(0x7f00_0000 + 24 * number)
    }

    #[test]
    fn each_site_has_one_number_by_which_it_is_found() {
        let sites = Sites::<PLACES>::new();
        // As many as a large program has.
        let numbers: Vec<_> = (0..PLACES / 2).map(|number| sites.number(site(number))).collect();
        assert!((0..PLACES / 2).map(|number| sites.number(site(number))).eq(numbers.iter().copied()));
        let all: Vec<_> = sites.read().collect();
        for (number, &given) in numbers.iter().enumerate() {
            assert_eq!(all[usize::from(given) - 1], site(number));
        }
        assert_eq!(all.iter().filter(|site| !site.is_null()).count(), PLACES / 2);
    }

    #[test]
    fn when_there_is_no_room_a_site_has_no_number_and_others_keep_theirs() {
        let sites = Sites::<8>::new();
        let numbers: Vec<_> = (0..8).map(|number| sites.number(site(number))).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(1..=8));
        assert_eq!([sites.number(site(8)), sites.number(site(9))], [NONE; 2]);
        assert!((0..8).map(|number| sites.number(site(number))).eq(numbers));
    }

    #[test]
    fn threads_agree_on_the_numbers() {
        let sites = Sites::<64>::new();
        let all = || (0..64).map(|number| sites.number(site(number))).collect::<Vec<_>>();
        let numbers: Vec<_> = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(all));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(numbers.iter().all(|numbers| *numbers == all()));
        assert!(!numbers[0].contains(&NONE));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::primitive::{Arc, UnsafeCell};
    use crate::trace::ring::Ring;

    /// A site whose making the model watches.
    type Made = UnsafeCell<u64>;

    struct Model {
        sites: Sites<2>,
        made: [Made; 2],
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Self { sites: Sites::new(), made: [UnsafeCell::new(0), UnsafeCell::new(0)] })
        }

        fn site(&self, which: usize) -> *mut () {
            ptr::from_ref(&self.made[which]).cast_mut().cast()
        }

        fn make(&self, which: usize) {
            // SAFETY: only one thread makes this site.
            self.made[which].with_mut(|made| unsafe { *made = 1 });
        }

        /// Has an event of a site. All of them want the first place: what an address says differs from run to run.
        fn event(&self, which: usize) -> u16 {
            self.sites.search(0, self.site(which))
        }

        /// Follows what a place has.
        fn follow(&self, number: u16) -> *mut () {
            let site = self.sites.read().nth(usize::from(number) - 1).unwrap();
            // SAFETY: a site of the model, which outlives this.
            let made = unsafe { site.cast::<Made>().as_ref() }.expect("the record's site is there");
            // SAFETY: nobody writes it any more, which the model sees to.
            made.with(|made| assert_eq!(unsafe { *made }, 1));
            site
        }
    }

    /// Two threads, each with the first event of another site.
    #[test]
    fn loom_sites_that_want_the_same_place_have_two() {
        loom::model(|| {
            let model = Model::new();
            let other = {
                let model = Arc::clone(&model);
                loom::thread::spawn(move || {
                    model.make(1);
                    model.event(1)
                })
            };
            model.make(0);
            let mine = model.event(0);
            let theirs = other.join().unwrap();
            assert!(mine != NONE && theirs != NONE && mine != theirs);
            assert_eq!([mine, theirs].map(|number| model.follow(number)), [model.site(0), model.site(1)]);
        });
    }

    /// Two threads have the first events of the same site, beside that of another one.
    #[test]
    fn loom_a_site_has_one_number() {
        loom::model(|| {
            let model = Model::new();
            model.make(0);
            model.make(1);
            let other = {
                let model = Arc::clone(&model);
                loom::thread::spawn(move || [1, 0].map(|which| model.event(which)))
            };
            let mine = model.event(0);
            let theirs = other.join().unwrap();
            assert_eq!(mine, theirs[1]);
            assert_ne!(mine, theirs[0]);
            assert_eq!(model.follow(mine), model.site(0));
        });
    }

    /// A thread writes a record with a site that it has just made; another one reads it.
    #[test]
    fn loom_the_site_of_a_record_is_there_for_its_reader() {
        loom::model(|| {
            let model = Model::new();
            let ring = Arc::new(Ring::new(2));
            let writer = {
                let (model, ring) = (Arc::clone(&model), Arc::clone(&ring));
                loom::thread::spawn(move || {
                    model.make(0);
                    ring.push([1, u64::from(model.event(0))]);
                })
            };
            for record in ring.read() {
                assert_eq!(model.follow(record[1] as u16), model.site(0));
            }
            // Also what the table has before there is a record.
            if model.sites.read().any(|site| !site.is_null()) {
                assert_eq!(model.follow(1), model.site(0));
            }
            writer.join().unwrap();
        });
    }
}
