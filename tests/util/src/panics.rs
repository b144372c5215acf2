//! What panics say.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The message of a panic, and its place.
#[derive(Debug)]
pub struct Caught {
    /// The message.
    pub message: String,
    /// The file of the place that the panic names.
    pub file: String,
    /// The line of that place.
    pub line: u32,
}

thread_local! {
    static LAST_PANIC: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Runs a closure that must panic.
#[track_caller]
pub fn catch<R>(f: impl FnOnce() -> R) -> Caught {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map(|at| (at.file().to_owned(), at.line()));
            LAST_PANIC.with(|last| *last.borrow_mut() = at);
            before(info);
        }));
    });
    let payload = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("there was no panic"),
        Err(payload) => payload,
    };
    let (file, line) = LAST_PANIC.with(|last| last.borrow_mut().take()).expect("the hook saw the panic");
    Caught { message: message_of(&*payload), file, line }
}

/// The message in the payload of a panic. Empty if the payload is not a message.
pub fn message_of(payload: &(dyn Any + Send)) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_default(),
    }
}
