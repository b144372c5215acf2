//! Which slots of a level hold nodes.

use super::SLOTS;

const WORD: usize = u64::BITS as usize;
const WORDS: usize = SLOTS / WORD;

/// A set of slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bitmap([u64; WORDS]);

impl Bitmap {
    #[inline]
    pub(super) fn insert(&mut self, slot: usize) {
        self.0[slot / WORD] |= 1 << (slot % WORD);
    }

    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        self.0[slot / WORD] &= !(1 << (slot % WORD));
    }

    /// The lowest slot in the set.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * WORD + self.0[word].trailing_zeros() as usize)
    }

    /// The slots in the set, from the lowest up.
    pub(super) fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let slot = self.first()?;
            self.remove(slot);
            Some(slot)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back_in_order() {
        let mut bitmap = Bitmap::default();
        assert_eq!(bitmap.first(), None);
        for slot in [SLOTS - 1, 0, 64, 63, 64] {
            bitmap.insert(slot);
        }
        bitmap.remove(0);
        assert_eq!(bitmap.first(), Some(63));
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), [63, 64, SLOTS - 1]);
    }
}
