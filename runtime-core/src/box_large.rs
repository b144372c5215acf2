//! Large futures and closures go into a box before anything else is done with them.
//!
//! On its way into a task a future is moved from call to call. The compiler leaves out most of these copies, but not
//! all of them, and in unoptimised code next to none: each has its place on the stack. A box is one more allocation,
//! which is nothing beside the copies of something so large.

/// What is larger than this, in bytes, is large: so that the copies of what is not find room on a thread's usual stack.
pub(crate) const MAX_UNBOXED_SIZE: usize = 16 << 10;

/// Does something with a value or, if that is large, with a box that has it.
macro_rules! boxed_if_large {
    ($value:ident: $type:ty, $into_box:path => $then:expr) => {
        if const { size_of::<$type>() > crate::box_large::MAX_UNBOXED_SIZE } {
            let $value = $into_box($value);
            $then
        } else {
            $then
        }
    };
}

pub(crate) use boxed_if_large;
