//! The memory of tasks, asked of the allocator in blocks.
//!
//! A cell begins on a line of the cache and has its lines for itself. So the header, which other processors read and
//! write, is one line and not parts of two, of which one would be a neighbour's as well. General allocators give that
//! only at a price (glibc at nearly twice the memory for a small task), so cells are cut from blocks here, which also
//! makes a new one cheaper.
//!
//! [`Blocks`] belong to an arena ([`TaskArena`](crate::task::arena::TaskArena)) and lie beneath the stacks of dead
//! cells that it keeps ([`CellCache`](super::CellCache)), by which most tasks are served; only when these are empty, or
//! full, a block is touched. The cells of a block have one size, and lie behind its head, which has lines for itself.
//! In the header of each is how far it is from there ([`OFFSET_FIELD`]), whether a task lies in it or not. A block to
//! which all its cells came back goes back to the allocator; so a task that stays may keep the memory of some hundreds
//! of its size, which new tasks of its arena get first. (Dead cells on the stacks do not:
//! [`CellCache::trim_if_sparse`](super::CellCache::trim_if_sparse).)
//!
//! Shutdown finds the tasks of the arena here ([`Blocks::cells`]), so that no task needs to know its neighbours.
//!
//! # Who may touch what
//!
//! Until the arena is closed, everything belongs to the arena's owner, one thread at a time; but for the table of a
//! block's records, which any thread may make that polls one of its tasks (`records.rs`). To close it, the owner
//! gives back every cell that no task lies in, and leaves ([`Blocks::leave`]): no cell is allocated here from then on,
//! and the blocks are left to the tasks that lie in them, to which handles or wakers have outlived the runtime. Each of
//! these counts its cell off on whatever thread it ends ([`free_outstanding`]), and the last one frees the block. A
//! thread that finds an arena closed has acquired what the owner did before; and the count's own AcqRel has the last
//! see what the others have done.

use std::alloc::Layout;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Release;

use super::census::{CellAndRecord, Census, Entry, EntryKind};
use super::free_list::FreeList;
use super::records::{SeenRecord, Table};
use super::size::{LINE, SIZES, Size};
use crate::primitive::atomic::AtomicU32;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use crate::task::cell::Header;

/// The largest block, with its head.
pub(super) const MAX_BLOCK_LINES: usize = 32 * 1024 / LINE;
/// A block has fewer cells.
#[cfg(not(loom))]
pub(super) const MAX_CELLS: usize = MAX_BLOCK_LINES;
/// The first block of a size. Each further one is as large as all of its size together, up to the largest, so that
/// what blocks have to spare is little beside what is in use.
const MIN_BLOCK_LINES: usize = MAX_BLOCK_LINES / 8;
/// The first lines of a block, for its head. (What wakes and polls may read there is on another line than what births
/// and deaths write.)
const HEAD_LINES: u16 = 2;
/// Where in a cell it is said how many lines it lies behind its block's head.
const OFFSET_FIELD: usize = mem::offset_of!(Header, block_offset);
type BlockOffset = u16;

/// An arena is sparse if its blocks have more than this many lines for each line in use, and for each line of a largest
/// block on top.
const SPARSE_FACTOR: usize = 4;

const _: () = assert!(MIN_BLOCK_LINES >= SIZES + HEAD_LINES as usize && MAX_BLOCK_LINES <= BlockOffset::MAX as usize);
const _: () = assert!(align_of::<Constants>() == LINE);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Block>() <= HEAD_LINES as usize * LINE);

/// How many cells of a block are out.
#[derive(Debug)]
struct InUse(AtomicU32);

impl InUse {
    /// For the owner.
    fn take(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }

    /// For the owner. True if it was the last.
    fn give_back(&self) -> bool {
        let left = self.0.load(Relaxed) - 1;
        self.0.store(left, Relaxed);
        left == 0
    }

    /// For the owner.
    fn count(&self) -> usize {
        self.0.load(Relaxed) as usize
    }

    /// After the owner has left. True if it was the last: then the block is the caller's.
    fn count_off(&self) -> bool {
        self.0.fetch_sub(1, AcqRel) == 1
    }
}

/// The head of some memory: what of it is out.
#[repr(C)]
pub(super) struct Block {
    /// In the census. First, so that a pointer to the one is a pointer to the other.
    entry: Entry,
    /// Where the cells lie that have never been out, in lines from the beginning. A walk (`census.rs`) that reads it
    /// sees that the cells before it have been prepared.
    fresh: AtomicU16,
    in_use: InUse,
    /// Cells that came back.
    free: FreeList,
    /// Its neighbours among the blocks of this size that have room.
    prev: *mut Block,
    next: *mut Block,
    constants: Constants,
}

/// What any thread may read that has a reference to a task of the block, on a line of its own.
#[repr(align(64))]
struct Constants {
    /// Of the cells.
    size: Size,
    /// How large the block is, with the head.
    lines: u16,
    /// The records of the cells, from when the first one is needed.
    records: Table,
}

impl Constants {
    /// How many cells the block has.
    fn cells(&self) -> usize {
        ((self.lines - HEAD_LINES) / self.size.lines()).into()
    }
}

impl Block {
    fn layout(lines: u16) -> Layout {
        Layout::from_size_align(lines as usize * LINE, LINE).expect("blocks are small")
    }

    fn new(size: Size, lines: u16) -> NonNull<Self> {
        let block = super::cache::allocate(Self::layout(lines)).cast::<Self>();
        let in_use = InUse(AtomicU32::new(0));
        let null = ptr::null_mut();
        let fresh = AtomicU16::new(HEAD_LINES);
        let entry = Entry::new(EntryKind::Block);
        let constants = Constants { size, lines, records: Table::new() };
        let head = Self { entry, fresh, in_use, free: FreeList::EMPTY, prev: null, next: null, constants };
        // SAFETY: the memory begins with lines for the head.
        unsafe { block.write(head) };
        block
    }

    /// # Safety
    ///
    /// No cell of it is in use, and nobody else knows of it.
    unsafe fn delete(this: NonNull<Self>) {
        // SAFETY: the caller's promise; `new` made it.
        unsafe {
            let layout = Self::layout(this.as_ref().constants.lines);
            this.drop_in_place();
            super::cache::free(this.cast(), layout);
        }
    }

    fn has_room(&self) -> bool {
        let Constants { size, lines, .. } = &self.constants;
        !self.free.is_empty() || self.fresh.load(Relaxed) + size.lines() <= *lines
    }

    /// The cell that begins `line` lines behind the beginning of the block.
    ///
    /// # Safety
    ///
    /// The block is as large.
    unsafe fn cell(this: NonNull<Self>, line: u16) -> NonNull<u8> {
        // SAFETY: the caller's promise.
        unsafe { this.cast::<u8>().add(line as usize * LINE) }
    }

    /// The cells that have ever been out, and where their records are.
    ///
    /// # Safety
    ///
    /// The block is there as long as `'a`.
    pub(super) unsafe fn cells<'a>(this: NonNull<Self>) -> impl Iterator<Item = CellAndRecord<'a>> {
        // Not a reference to all of it, whose owner may be another thread, and about to change the rest.
        // SAFETY: the caller's promise.
        let (fresh, constants) = unsafe { ((*this.as_ptr()).fresh.load(Acquire), Self::constants(this)) };
        (HEAD_LINES..fresh).step_by(constants.size.lines() as usize).enumerate().map(move |(index, line)| {
            // SAFETY: so much of the memory has been cut, and prepared.
            (unsafe { Self::cell(this, line) }, SeenRecord::InTable(&constants.records, index))
        })
    }

    /// # Safety
    ///
    /// The block is there as long as `'a`.
    unsafe fn constants<'a>(this: NonNull<Self>) -> &'a Constants {
        // SAFETY: the caller's promise; nobody changes them, but for the table, which is for any thread.
        unsafe { &(*this.as_ptr()).constants }
    }

    /// The table of the records of the block that a cell is from, how many there are to be, and which is the cell's.
    ///
    /// # Safety
    ///
    /// The cell is from a block, and stays as long as `'a`.
    pub(super) unsafe fn table_of<'a>(cell: NonNull<u8>) -> (&'a Table, usize, usize) {
        // SAFETY: the caller's promise: a block stays as long as any of its cells is out.
        let (constants, line) = unsafe { (Self::constants(Self::of(cell)), Self::line_of(cell)) };
        (&constants.records, constants.cells(), ((line - HEAD_LINES) / constants.size.lines()).into())
    }

    /// # Safety
    ///
    /// The caller owns the block, and it has room.
    unsafe fn take(this: NonNull<Self>) -> NonNull<u8> {
        // SAFETY: the caller's promise: if nothing has come back, there is a cell where `fresh` says.
        unsafe {
            let block = this.as_ptr();
            (*block).in_use.take();
            if let Some(cell) = (*block).free.pop() {
                return cell;
            }
            let fresh = &(*block).fresh;
            let line = fresh.load(Relaxed);
            let cell = Self::cell(this, line);
            cell.add(OFFSET_FIELD).cast::<BlockOffset>().write(line);
            Header::prepare(cell);
            fresh.store(line + Self::constants(this).size.lines(), Release);
            cell
        }
    }

    /// The block of a cell.
    ///
    /// # Safety
    ///
    /// The cell is from a block.
    unsafe fn of(cell: NonNull<u8>) -> NonNull<Self> {
        // SAFETY: the caller's promise; so far behind its block's head it lies.
        unsafe { cell.sub(Self::line_of(cell) as usize * LINE).cast() }
    }

    /// Where in its block a cell begins.
    ///
    /// # Safety
    ///
    /// The cell is from a block.
    unsafe fn line_of(cell: NonNull<u8>) -> BlockOffset {
        // SAFETY: written when the cell was first taken, and its users leave it alone.
        unsafe { cell.add(OFFSET_FIELD).cast::<BlockOffset>().read() }
    }
}

/// The blocks of an arena. For one thread at a time.
pub(super) struct Blocks {
    /// Has all blocks.
    census: Arc<Census>,
    /// Those with room, by size.
    with_room: [*mut Block; SIZES],
    /// The lines of all, by size.
    lines: [usize; SIZES],
    /// The lines of all.
    total_lines: usize,
    /// Those of them that are in cells that are out.
    lines_in_use: usize,
}

// SAFETY: the blocks are nobody else's, and memory may be freed on any thread.
unsafe impl Send for Blocks {}

impl Blocks {
    pub(super) fn new(census: Arc<Census>) -> Self {
        Self { census, with_room: [ptr::null_mut(); SIZES], lines: [0; SIZES], total_lines: 0, lines_in_use: 0 }
    }

    /// A cell.
    pub(super) fn allocate(&mut self, size: Size) -> NonNull<u8> {
        let block = NonNull::new(self.with_room[size.index()]).unwrap_or_else(|| self.grow(size));
        self.lines_in_use += size.lines() as usize;
        // SAFETY: the blocks are the caller's; those of this list have room.
        unsafe {
            let cell = Block::take(block);
            if !block.as_ref().has_room() {
                self.unlink(block, size);
            }
            cell
        }
    }

    #[cold]
    fn grow(&mut self, size: Size) -> NonNull<Block> {
        let most = self.lines[size.index()].clamp(MIN_BLOCK_LINES, MAX_BLOCK_LINES) - HEAD_LINES as usize;
        let lines = HEAD_LINES as usize + most - most % size.lines() as usize;
        let block = Block::new(size, lines as u16);
        self.lines[size.index()] += lines;
        self.total_lines += lines;
        // SAFETY: new, and so neither in a census nor on a list.
        unsafe {
            self.census.add(block.cast());
            self.link(block, size);
        }
        block
    }

    /// Takes a cell back, and with the last one of a block gives that to the allocator.
    ///
    /// # Safety
    ///
    /// It is the caller's, and came from here as one of this size.
    pub(super) unsafe fn free(&mut self, cell: NonNull<u8>, size: Size) {
        self.lines_in_use -= size.lines() as usize;
        // SAFETY: the caller's promise. A block is on the list while it has room, and only then.
        unsafe {
            let block = Block::of(cell);
            let had_room = block.as_ref().has_room();
            if block.as_ref().in_use.give_back() {
                if had_room {
                    self.unlink(block, size);
                }
                let lines = block.as_ref().constants.lines as usize;
                self.lines[size.index()] -= lines;
                self.total_lines -= lines;
                // If a walk looks at it, that is waited for.
                self.census.remove(block.cast());
                Block::delete(block);
                return;
            }
            (*block.as_ptr()).free.push(cell);
            if !had_room {
                self.link(block, size);
            }
        }
    }

    /// Whether the cells that are out lie so far apart that little of the memory is used.
    pub(super) fn is_sparse(&self) -> bool {
        self.total_lines > SPARSE_FACTOR * self.lines_in_use + SPARSE_FACTOR * MAX_BLOCK_LINES
    }

    /// Every cell that is out, and also some that were: their first bytes are as they were left.
    pub(super) fn cells(&self) -> impl Iterator<Item = NonNull<u8>> {
        // Without the lock while the caller runs: until it is done no block comes or goes.
        // SAFETY: the blocks are this thread's.
        self.blocks().flat_map(|block| unsafe { Block::cells(block) }).map(|(cell, _)| cell)
    }

    /// How many cells are out.
    pub(super) fn count(&self) -> usize {
        // SAFETY: the blocks are this thread's.
        self.blocks().map(|block| unsafe { block.as_ref() }.in_use.count()).sum()
    }

    fn blocks(&self) -> impl Iterator<Item = NonNull<Block>> + use<> {
        self.census.entries(EntryKind::Block).into_iter().map(NonNull::cast)
    }

    /// Leaves the blocks that have cells in use to these, which may have freed some already. Nothing is allocated here
    /// any more.
    pub(super) fn leave(&mut self) {
        self.census.leave();
        *self = Self::new(Arc::clone(&self.census));
    }

    /// # Safety
    ///
    /// The block is of this size, and on no list.
    unsafe fn link(&mut self, block: NonNull<Block>, size: Size) {
        let first = &mut self.with_room[size.index()];
        // SAFETY: the caller's promise, and those on the list are the list's.
        unsafe {
            (*block.as_ptr()).prev = ptr::null_mut();
            (*block.as_ptr()).next = *first;
            if let Some(next) = NonNull::new(*first) {
                (*next.as_ptr()).prev = block.as_ptr();
            }
        }
        *first = block.as_ptr();
    }

    /// # Safety
    ///
    /// The block is on the list of this size.
    unsafe fn unlink(&mut self, block: NonNull<Block>, size: Size) {
        // SAFETY: the caller's promise, and so its neighbours are on the list as well.
        unsafe {
            let (prev, next) = (block.as_ref().prev, block.as_ref().next);
            match NonNull::new(prev) {
                Some(prev) => (*prev.as_ptr()).next = next,
                None => self.with_room[size.index()] = next,
            }
            if let Some(next) = NonNull::new(next) {
                (*next.as_ptr()).prev = prev;
            }
        }
    }
}

/// Frees a cell of an arena that was closed.
///
/// # Safety
///
/// It is the caller's, and from a block; and the caller has found the arena closed.
pub(super) unsafe fn free_outstanding(cell: NonNull<u8>) {
    // SAFETY: the caller's promise; the last to count itself off is alone with the block.
    unsafe {
        let block = Block::of(cell);
        if block.as_ref().in_use.count_off() {
            Block::delete(block);
        }
    }
}

#[cfg(all(test, not(any(rt_plain_cells, loom))))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::primitive::UnsafeCell;
    use crate::primitive::atomic::Ordering::Acquire;

    /// Marks an arena that was closed.
    const CLOSED: u32 = u32::MAX;

    /// Two tasks of a block end elsewhere while its owner closes the arena: each comes back, or finds it closed and was
    /// counted before. The thread that frees the block is the only one, and all others have done with it. (How a task
    /// comes back or finds its arena closed is a copy here of `TaskArena::free_remotely` and `ArenaGuard::close`, which
    /// have models of their own, without blocks.)
    #[test]
    fn loom_the_last_of_owner_and_outstanding_tasks_frees_the_block() {
        loom::model(|| {
            // How many cells came back; the count; and the block, of which each of the three uses a part.
            let shared = Arc::new((AtomicU32::new(0), InUse(AtomicU32::new(0)), [(); 3].map(|()| UnsafeCell::new(()))));
            (0..2).for_each(|_| shared.1.take());
            let free = |block: &[UnsafeCell<()>; 3]| block.iter().for_each(|part| part.with_mut(|_| ()));
            let outstanding = [0, 1].map(|task| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (came_back, in_use, block) = &*shared;
                    block[task].with_mut(|_| ());
                    let mut came = came_back.load(Acquire);
                    while came != CLOSED {
                        match came_back.compare_exchange(came, came + 1, AcqRel, Acquire) {
                            Ok(_) => return (0, 0),
                            Err(actual) => came = actual,
                        }
                    }
                    let is_last = in_use.count_off();
                    if is_last {
                        free(block);
                    }
                    (usize::from(is_last), 1)
                })
            });
            let (came_back, in_use, block) = &*shared;
            let mut freed = 0;
            let left = loop {
                block[2].with_mut(|_| ());
                let left = in_use.count();
                if came_back.compare_exchange(0, CLOSED, AcqRel, Acquire).is_ok() {
                    break left;
                }
                for _ in 0..came_back.swap(0, AcqRel) {
                    block[2].with_mut(|_| ());
                    if in_use.give_back() {
                        free(block);
                        freed += 1;
                    }
                }
                if freed > 0 {
                    // There is no block to count in.
                    break 0;
                }
            };
            let (freed, outstanding) = outstanding
                .into_iter()
                .map(|task| task.join().unwrap())
                .fold((freed, 0), |sums, task| (sums.0 + task.0, sums.1 + task.1));
            assert_eq!((freed, outstanding), (1, left));
        });
    }
}
