//! One step at a time: the jobs of this device are run by hand. Here is the device, and what the tests say with it.

mod reads;
mod seeks;
mod turns;
mod writes;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Wake, Waker};

use runtime_core::primitive::{Mutex, MutexGuard};

use super::*;

const MAX: usize = DEFAULT_MAX_BUF_SIZE;

/// What the device was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    Read(usize),
    Write(Vec<u8>),
    Seek(SeekFrom),
    Flush,
}
use Call::{Flush, Read, Seek, Write};

thread_local! {
    /// What waits for a thread, of this test.
    static JOBS: RefCell<VecDeque<Job<Memory>>> = const { RefCell::new(VecDeque::new()) };
}

fn jobs() -> usize {
    JOBS.with_borrow(VecDeque::len)
}

fn run_job() {
    let job = JOBS.with_borrow_mut(VecDeque::pop_front).expect("a job was started");
    job.run();
}

/// A file in memory.
#[derive(Default)]
struct Memory {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    bytes: Vec<u8>,
    position: usize,
    /// It has no position: reads and writes are two streams.
    is_terminal: bool,
    can_at_once: bool,
    /// A read at once ends here, and would block.
    cached: usize,
    fails: Option<io::ErrorKind>,
    calls: Vec<Call>,
    refuses: bool,
}

impl Inner {
    fn call(&mut self, call: Call) -> io::Result<()> {
        self.calls.push(call);
        self.fails.take().map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn take(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.bytes.len().saturating_sub(self.position));
        into[..count].copy_from_slice(&self.bytes[self.position..][..count]);
        self.position += count;
        count
    }
}

impl Device for Memory {
    const HAS_BUFFER: bool = true;

    fn start(job: Job<Self>) {
        if job.device().inner.lock().refuses {
            return drop(job);
        }
        JOBS.with_borrow_mut(|jobs| jobs.push_back(job));
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut inner = self.inner.lock();
        inner.call(Read(into.len()))?;
        Ok(inner.take(into))
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner.lock();
        inner.call(Write(bytes.to_vec()))?;
        let inner = &mut *inner;
        if !inner.is_terminal {
            let end = inner.position + bytes.len();
            inner.bytes.resize(inner.bytes.len().max(end), 0);
            inner.bytes[inner.position..end].copy_from_slice(bytes);
            inner.position = end;
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.inner.lock().call(Flush)
    }

    fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        let mut inner = self.inner.lock();
        inner.call(Seek(to))?;
        if inner.is_terminal {
            return Err(io::ErrorKind::NotSeekable.into());
        }
        let position = match to {
            SeekFrom::Start(position) => position as i64,
            SeekFrom::Current(distance) => inner.position as i64 + distance,
            SeekFrom::End(distance) => inner.bytes.len() as i64 + distance,
        };
        inner.position = usize::try_from(position).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(position as u64)
    }

    fn read_at_once(&self, into: &mut ReadBuf<'_>, limit: usize) -> AtOnce {
        let mut inner = self.inner.lock();
        if !inner.can_at_once {
            return AtOnce::Blocks;
        }
        let there = limit.min(inner.cached.saturating_sub(inner.position));
        let mut bytes = vec![0; there];
        let count = inner.take(&mut bytes);
        into.put_slice(&bytes[..count]);
        if count == limit || inner.position == inner.bytes.len() { AtOnce::Done } else { AtOnce::Blocks }
    }

    fn seeks_at_once(&self, _: SeekFrom) -> bool {
        self.inner.lock().can_at_once
    }
}

fn with(inner: Inner) -> Background<Memory> {
    Background::new(Memory { inner: Mutex::new(inner) })
}

fn file(bytes: &[u8]) -> Background<Memory> {
    with(Inner { bytes: bytes.to_vec(), ..Inner::default() })
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Background<Memory> {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.device().inner.lock()
    }

    fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.inner().calls)
    }

    fn read(&self, length: usize) -> Poll<io::Result<Vec<u8>>> {
        self.read_with(Waker::noop(), length)
    }

    fn read_with(&self, waker: &Waker, length: usize) -> Poll<io::Result<Vec<u8>>> {
        let mut memory = vec![0; length];
        let mut buf = ReadBuf::new(&mut memory);
        ready!(self.poll_read(&mut Context::from_waker(waker), &mut buf, MAX))?;
        Poll::Ready(Ok(buf.filled().to_vec()))
    }

    fn write(&self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write_max(bytes, MAX)
    }

    fn write_max(&self, bytes: &[u8], max: usize) -> Poll<io::Result<usize>> {
        self.poll_write(&mut Context::from_waker(Waker::noop()), &[IoSlice::new(bytes)], max)
    }

    fn flush(&self) -> Poll<io::Result<()>> {
        self.poll_flush(&mut Context::from_waker(Waker::noop()))
    }

    fn complete(&self) -> Poll<io::Result<u64>> {
        self.poll_complete(&mut Context::from_waker(Waker::noop()))
    }
}

/// It is ready, with this.
#[track_caller]
fn assert_ready<T: PartialEq + fmt::Debug>(poll: Poll<io::Result<T>>, expected: T) {
    match poll {
        Poll::Ready(Ok(value)) => assert_eq!(value, expected),
        other => panic!("expected {expected:?}, got {other:?}"),
    }
}

#[track_caller]
fn assert_fails<T: fmt::Debug>(poll: Poll<io::Result<T>>, kind: io::ErrorKind) {
    match poll {
        Poll::Ready(Err(error)) => assert_eq!(error.kind(), kind),
        other => panic!("expected {kind:?}, got {other:?}"),
    }
}
