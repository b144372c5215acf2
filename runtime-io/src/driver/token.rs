//! The token that the poller reports for a registration: its slot, and which registration of that slot it is.
//!
//! The upper bits are the generation, as wide as in the readiness word; below it the number of the shard, then that of
//! the slot in its shard. Arithmetic only.

use mio::Token;

use crate::readiness::GENERATION_BITS;

/// The token of the driver's own wake-up. No registration has it: slots have numbers below [`SLOT_MASK`].
pub(super) const WAKE: Token = Token(usize::MAX);

/// The token of the timer that ends short waits, where there is one. No registration has it, for the same reason.
pub(super) const TIMER: Token = Token(SLOT_MASK);

/// The token of the descriptor that tells of signals, where there is one. No registration has it either.
pub(super) const SIGNALS: Token = Token((1 << SLOT_BITS) | SLOT_MASK);

const SHARD_BITS: u32 = if usize::BITS >= 64 { 8 } else { 4 };
/// How wide the number of a slot within its shard is.
pub(super) const SLOT_BITS: u32 = usize::BITS - GENERATION_BITS - SHARD_BITS;

/// How many shards a token can tell apart.
pub(super) const MAX_SHARDS: usize = 1 << SHARD_BITS;
/// The bits of a slot's number, and at the same time the upper bound of the numbers.
const SLOT_MASK: usize = (1 << SLOT_BITS) - 1;

/// The parts of a token: the shard, the slot in it, and the generation of the registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) generation: usize,
    pub(super) shard: usize,
    pub(super) slot: usize,
}

impl Address {
    pub(super) fn token(self) -> Token {
        debug_assert!(self.shard < MAX_SHARDS && self.slot < SLOT_MASK);
        Token((((self.generation << SHARD_BITS) | self.shard) << SLOT_BITS) | self.slot)
    }

    pub(super) fn of(token: Token) -> Self {
        Self {
            generation: token.0 >> (SHARD_BITS + SLOT_BITS),
            shard: (token.0 >> SLOT_BITS) & (MAX_SHARDS - 1),
            slot: token.0 & SLOT_MASK,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_apart_as_it_was_put_together() {
        let last_generation = usize::MAX >> (SHARD_BITS + SLOT_BITS);
        for generation in [0, 1, last_generation] {
            for shard in [0, 1, MAX_SHARDS - 1] {
                for slot in [0, 1, SLOT_MASK - 1] {
                    let address = Address { generation, shard, slot };
                    assert_eq!(Address::of(address.token()), address);
                    assert_ne!(address.token(), WAKE);
                }
            }
        }
    }
}
