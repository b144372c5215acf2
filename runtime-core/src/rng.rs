//! Random numbers: one seeded generator a runtime, split into streams.
//!
//! A stream decides one kind of thing: which victim a worker tries to steal from, which branch `select!` polls first.
//! Streams are split off in a fixed order when the runtime is built, so that the same seed gives the same streams.
//! Nothing here is fit for secrets.
//!
//! The algorithm is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for a runtime's random decisions.
///
/// # Example
///
/// ```
/// use rt::runtime::{Builder, RngSeed};
/// let runtime = Builder::new_current_thread().rng_seed(RngSeed::from_u64(42)).build().unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RngSeed(u64);

impl RngSeed {
    /// A seed from a number: the same number, the same decisions.
    pub const fn from_u64(seed: u64) -> Self {
        Self(seed)
    }

    /// A seed from bytes of any length.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(GAMMA, |seed, &byte| mix(seed ^ u64::from(byte)).wrapping_add(GAMMA)))
    }

    /// A seed that differs from runtime to runtime and from run to run.
    ///
    /// It is made of what the process knows anyway: the time, where its stack is, and how many seeds there were. The
    /// system's random numbers would be better than is needed here, and may be refused (std panics if they are).
    pub(crate) fn arbitrary() -> Self {
        static SEEDS: AtomicU64 = AtomicU64::new(0);
        let number = SEEDS.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let place = (&raw const number).addr() as u64;
        Self(mix(mix(mix(time) ^ place) ^ number.wrapping_mul(GAMMA)))
    }
}

/// The runtime's generator, from which streams are split.
#[derive(Debug)]
pub(crate) struct Generator(AtomicU64);

impl Generator {
    pub(crate) fn new(seed: RngSeed) -> Self {
        Self(AtomicU64::new(seed.0))
    }

    /// The next stream.
    pub(crate) fn split(&self) -> Stream {
        let state = self.0.fetch_add(GAMMA, Ordering::Relaxed);
        Stream(Cell::new(mix(state)))
    }
}

/// One stream of random numbers, for one thread.
#[derive(Debug)]
pub(crate) struct Stream(Cell<u64>);

impl Stream {
    /// One without a generator, the same each time.
    pub(crate) const fn fixed() -> Self {
        Self(Cell::new(0))
    }

    pub(crate) fn next_u64(&self) -> u64 {
        let state = self.0.get().wrapping_add(GAMMA);
        self.0.set(state);
        mix(state)
    }

    /// A number below `n`, which is not zero.
    pub(crate) fn below(&self, n: u32) -> u32 {
        // Lemire's multiplication in place of a division; the bias is far below what scheduling could notice.
        (((self.next_u64() >> 32) * u64::from(n)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let draw = |seed| {
            let generator = Generator::new(seed);
            let (a, b) = (generator.split(), generator.split());
            [a.next_u64(), b.next_u64(), a.next_u64(), b.next_u64()]
        };
        assert_eq!(draw(RngSeed::from_u64(7)), draw(RngSeed::from_u64(7)));
        assert_ne!(draw(RngSeed::from_u64(7)), draw(RngSeed::from_u64(8)));
        assert_eq!(RngSeed::from_bytes(b"seed"), RngSeed::from_bytes(b"seed"));
        assert_ne!(RngSeed::from_bytes(b"seed"), RngSeed::from_bytes(b"sees"));
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let stream = Generator::new(RngSeed::from_u64(1)).split();
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[stream.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
    }
}
