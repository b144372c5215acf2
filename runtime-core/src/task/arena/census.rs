//! [`Census`]: what memory an arena has, for a thread that walks it to inspect the tasks.
//!
//! The blocks and the large cells of an arena, in a lock. Its owner takes the lock when it adds or frees one of them,
//! which is seldom; everything else it does to cells, births and deaths included, needs no lock, and goes on beside a
//! walk. A walk holds the lock, so that no memory goes, and runs nothing of a user's meanwhile. What it reads in the
//! cells, and how it knows that this is of one task, is in `published.rs`.
//!
//! Before an arena is closed, the census is ([`Census::close`]): its memory is freed without the lock from then on, and
//! no walk looks at it.
//!
//! The lock is not a model's: nothing of a model's happens beneath it.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::blocks::Block;
use super::large::Node;

/// See the module.
pub(super) struct Census(Mutex<Memory>);

/// The memory of an arena.
pub(super) struct Memory {
    /// Each knows its place here.
    pub(super) blocks: Vec<NonNull<Block>>,
    /// The first of the large cells' list.
    pub(super) first_large: *mut Node,
    is_closed: bool,
}

// SAFETY: the memory that it points to is freed by a thread that holds the lock, or after the census was closed.
unsafe impl Send for Memory {}

impl Census {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Memory { blocks: Vec::new(), first_large: ptr::null_mut(), is_closed: false })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock()
    }

    /// Nobody walks the arena from now on.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Passes each cell on that has a task, or has had one, or is about to have one. The closure takes no lock of a
    /// runtime's, and runs nothing of a user's.
    #[cfg(not(loom))]
    pub(super) fn visit(&self, mut each: impl FnMut(NonNull<u8>)) {
        let memory = self.lock();
        if memory.is_closed {
            return;
        }
        for block in &memory.blocks {
            // SAFETY: the lock keeps the block.
            unsafe { Block::cells(*block) }.for_each(&mut each);
        }
        // SAFETY: the lock keeps the list as it is.
        unsafe { Node::cells(memory.first_large) }.for_each(each);
    }
}
