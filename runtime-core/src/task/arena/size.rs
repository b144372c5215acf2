//! [`Size`]: the sizes that cells have.

use std::alloc::Layout;

/// A line of the cache: the step from one size to the next, and the alignment of cells.
pub(super) const LINE: usize = 64;
/// Sizes up to `LINE * SIZES` bytes. To make a larger task is so much work that its allocation hardly counts.
pub(super) const SIZES: usize = 16;

/// Whether every cell is an allocation. (See `cache.rs`.)
pub(super) const PLAIN: bool = cfg!(any(rt_plain_cells, loom));

/// The cells for this layout, unless each is an allocation.
#[inline]
pub(super) const fn kept_as(layout: Layout) -> Option<Size> {
    if PLAIN { None } else { Size::of(layout) }
}

/// The size of a cell, in lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(u8);

impl Size {
    pub(super) const SMALLEST: Self = Self(1);

    /// The cells that something of this layout fits into, if there are such.
    #[inline]
    pub(super) const fn of(layout: Layout) -> Option<Self> {
        let lines = layout.size().div_ceil(LINE);
        if lines <= SIZES && layout.align() <= LINE { Some(Self(lines as u8)) } else { None }
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=SIZES as u8).map(Self)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 % SIZES as u8 + 1)
    }

    #[inline]
    pub(super) const fn lines(self) -> u16 {
        self.0 as u16
    }

    #[inline]
    pub(super) const fn bytes(self) -> usize {
        self.0 as usize * LINE
    }

    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_lines() {
        let of = |bytes, align| Size::of(Layout::from_size_align(bytes, align).unwrap());
        assert_eq!([1, 64, 65, 128, 129].map(|bytes| of(bytes, 8).unwrap().bytes()), [64, 64, 128, 128, 192]);
        assert!(of(1024, 64).is_some());
        assert!(of(1025, 8).is_none());
        assert!(of(8, 128).is_none());
    }
}
