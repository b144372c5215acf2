//! The stack of a thread that is stuck: the feature `blocked-backtrace`, on Linux.
//!
//! Only a thread itself can walk its stack. So it is sent a signal, whose handler notes the return addresses and says
//! that it is done; all else (finding their names) happens on the thread that asked. A system call that the signal
//! interrupts is restarted by the kernel, or by the standard library, but for the few that never are (`poll`,
//! `nanosleep` called directly, ...): that is why this is a feature, and not the default.
//!
//! # Process-global state
//!
//! A signal's handler belongs to the process, and so does what it writes to: one [`Sample`], which one runtime uses at
//! a time. It is the one thing that runtimes share. The signal is `SIGURG`, which nobody minds: its default is to be
//! ignored. A handler that the program has for it is called as well (`signal-hook-registry` chains them).
//!
//! # What the handler may do
//!
//! Only what is async-signal-safe: atomic operations, the system calls `gettid` and `futex`, and walking the stack,
//! which takes no lock and no memory with the unwinder of GCC 12 and glibc 2.35 or newer.

use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::time::Duration;

use parking_lot::Mutex;

use super::{DEFAULT_BLOCKED_THRESHOLD, ThreadId};
use crate::clock::Clock;

/// The most frames that are noted.
const FRAMES: usize = 128;
/// A thread that has not answered by then is given up. The monitor waits for it.
const HANDLER_TIMEOUT: Duration = DEFAULT_BLOCKED_THRESHOLD.saturating_mul(10);

/// Parts of the names of functions between the interrupted one and the walk.
const HANDLERS: [&str; 3] = ["__restore_rt", "signal_hook_registry::", "blocked::backtrace::"];

/// Nobody wants a sample.
const IDLE: u32 = 0;
/// The handler is at it.
const BUSY: u32 = u32::MAX;

/// What a handler writes. `state` is [`IDLE`], the number of the thread that is to take the sample, or [`BUSY`]; the
/// asking thread moves it from the first to the second, the handler to the third and back to the first.
struct Sample {
    state: AtomicU32,
    len: AtomicUsize,
    frames: [AtomicUsize; FRAMES],
}

static SAMPLE: Sample =
    Sample { state: AtomicU32::new(IDLE), len: AtomicUsize::new(0), frames: [const { AtomicUsize::new(0) }; FRAMES] };
/// For the thread that asks.
static ASKING: Mutex<()> = Mutex::new(());
/// Whether the handler could be installed.
static INSTALLED: OnceLock<bool> = OnceLock::new();

/// Return addresses, from the innermost out.
#[derive(Clone, Debug)]
pub(crate) struct Stack(Vec<usize>);

impl Stack {
    pub(crate) const CAN_BE_HAD: bool = true;

    /// The stack of another thread at this moment. `None` if it cannot be had.
    pub(crate) fn of(thread: ThreadId) -> Option<Self> {
        // SAFETY: the handler does only what the module says.
        let install = || unsafe { signal_hook_registry::register(libc::SIGURG, note_stack) }.is_ok();
        if !*INSTALLED.get_or_init(install) {
            return None;
        }
        let _asking = ASKING.lock();
        // It fails if a sample was given up in the middle: then the handler may be at it to this day.
        SAMPLE.state.compare_exchange(IDLE, thread.get(), AcqRel, Relaxed).ok()?;
        // SAFETY: plain numbers. Whether there still is such a thread, the kernel checks.
        let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread.get(), libc::SIGURG) } == 0;
        let deadline = Clock::real() + HANDLER_TIMEOUT;
        while sent && SAMPLE.state.load(Acquire) != IDLE && Clock::real() < deadline {
            wait(SAMPLE.state.load(Relaxed));
        }
        if SAMPLE.state.load(Acquire) != IDLE {
            // Not begun: not wanted any more. Begun: lost.
            let _ = SAMPLE.state.compare_exchange(thread.get(), IDLE, AcqRel, Relaxed);
            return None;
        }
        let len = SAMPLE.len.load(Relaxed).min(FRAMES);
        Some(Self(SAMPLE.frames[..len].iter().map(|frame| frame.load(Relaxed)).collect()))
    }

    /// As text: the frames between the signal's and the runtime's own. Slow, because it reads debugging information.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        let mut number = 0;
        for &address in &self.0 {
            let mut names = Vec::new();
            // A return address is that of the next instruction.
            backtrace::resolve(address.wrapping_sub(1) as *mut _, |symbol| {
                let name = symbol.name().map_or_else(|| "?".into(), |name| format!("{name:#}"));
                let at = symbol.filename().map(|file| (file.display().to_string(), symbol.lineno().unwrap_or(0)));
                names.push((name, at));
            });
            for (name, at) in names {
                if HANDLERS.iter().any(|part| name.contains(part)) {
                    // All up to here was the handler.
                    text.clear();
                    number = 0;
                    continue;
                }
                if name.contains("runtime_core::task::cell::") {
                    return text;
                }
                let _ = writeln!(text, "{number:4}: {name}");
                if let Some((file, line)) = at {
                    let _ = writeln!(text, "             at {file}:{line}");
                }
                number += 1;
            }
        }
        text
    }
}

/// The handler.
fn note_stack() {
    // SAFETY: always succeeds.
    let own = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    if SAMPLE.state.compare_exchange(own, BUSY, AcqRel, Relaxed).is_err() {
        // Somebody else's signal.
        return;
    }
    let mut len = 0;
    // SAFETY: its lock is for others that walk stacks by the same library's means at the same time, on platforms whose
    // unwinder is not reentrant; that of Linux is.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            SAMPLE.frames[len].store(frame.ip().addr(), Relaxed);
            len += 1;
            len < FRAMES
        });
    }
    SAMPLE.len.store(len, Relaxed);
    SAMPLE.state.store(IDLE, Release);
    // SAFETY: the address is that of a static.
    unsafe { libc::syscall(libc::SYS_futex, SAMPLE.state.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// Waits, a few milliseconds at most, until the state may be another one.
fn wait(state: u32) {
    let limit = libc::timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    // SAFETY: both addresses are good for the call.
    unsafe {
        let how = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, SAMPLE.state.as_ptr(), how, state, &raw const limit);
    }
}
