//! Models of the whole protocol, with the code that ships: a task on one thread, jobs on others.
//!
//! A wake that is lost leaves the task waiting: loom reports a deadlock. A job that is not ended does, too.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Waker;

use loom::future::block_on;
use loom::thread;
use runtime_core::primitive::Mutex;

use super::*;

/// A file in memory, whose jobs run on threads of their own.
struct Memory {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    bytes: Vec<u8>,
    position: usize,
    /// The writes until one fails.
    fails_after: Option<usize>,
    /// A call is under way: there may be no other.
    is_called: bool,
}

impl Memory {
    fn call<R>(&self, call: impl FnOnce(&mut Inner) -> R) -> R {
        let is_called = std::mem::replace(&mut self.inner.lock().is_called, true);
        assert!(!is_called, "two operations have the device");
        let result = call(&mut self.inner.lock());
        self.inner.lock().is_called = false;
        result
    }
}

impl Device for Memory {
    fn start(job: Job<Self>) {
        thread::spawn(move || job.run());
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.call(|inner| {
            let count = into.len().min(inner.bytes.len() - inner.position);
            into[..count].copy_from_slice(&inner.bytes[inner.position..][..count]);
            inner.position += count;
            Ok(count)
        })
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        self.call(|inner| {
            if let Some(left) = &mut inner.fails_after {
                *left = left.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            }
            inner.bytes.truncate(inner.position);
            inner.bytes.extend_from_slice(bytes);
            inner.position = inner.bytes.len();
            Ok(())
        })
    }

    fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        self.call(|inner| {
            let SeekFrom::Current(distance) = to else { unreachable!("only what moves back") };
            inner.position = inner.position.checked_add_signed(distance as isize).expect("within the file");
            Ok(inner.position as u64)
        })
    }
}

fn file(inner: Inner) -> Background<Memory> {
    Background::new(Memory { inner: Mutex::new(inner) })
}

impl Background<Memory> {
    async fn read(&self, length: usize) -> io::Result<Vec<u8>> {
        let mut memory = vec![0; length];
        let mut buf = ReadBuf::new(&mut memory);
        poll_fn(|cx| self.poll_read(cx, &mut buf, DEFAULT_MAX_BUF_SIZE)).await?;
        Ok(buf.filled().to_vec())
    }

    async fn write(&self, bytes: &[u8], max: usize) -> io::Result<usize> {
        poll_fn(|cx| self.poll_write(cx, &[IoSlice::new(bytes)], max)).await
    }

    async fn flush(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Polls once, as if its task then lost interest. Says whether it was done then.
fn begin(future: impl Future) -> bool {
    pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Writes that are queued while the job that writes is about to end: none is left behind, and the flush waits for all.
#[test]
fn loom_what_is_written_is_flushed() {
    check(|| {
        let file = file(Inner::default());
        block_on(async {
            for byte in *b"ab" {
                assert_eq!(file.write(&[byte], 40).await.unwrap(), 1);
            }
            file.flush().await.unwrap();
        });
        assert_eq!(file.device().inner.lock().bytes, b"ab");
    });
}

/// The same where a write waits until the job has taken the one before.
#[test]
fn loom_a_write_that_waits_for_room_is_woken() {
    check(|| {
        let file = file(Inner::default());
        block_on(async {
            for byte in *b"ab" {
                // So much that the queue has room for one.
                assert_eq!(file.write(&[byte], 18).await.unwrap(), 1);
            }
            file.flush().await.unwrap();
        });
        assert_eq!(file.device().inner.lock().bytes, b"ab");
    });
}

/// One of two writes fails: it is told once, by a write or by the flush, and nothing is written behind it until it was
/// told.
#[test]
fn loom_a_failed_write_is_told() {
    check(|| {
        let file = file(Inner { fails_after: Some(0), ..Inner::default() });
        block_on(async {
            let results =
                [file.write(b"a", 40).await.map(drop), file.write(b"b", 40).await.map(drop), file.flush().await];
            // The second may have been queued behind the first, or have failed itself.
            assert!(results.iter().any(Result::is_err));
            file.device().inner.lock().fails_after = None;
            while file.flush().await.is_err() {}
        });
        assert_eq!(file.device().inner.lock().bytes, b"");
    });
}

/// A read whose future is dropped, at whatever point, loses nothing: not to a read, and not to a write, which goes to
/// where the reader is.
#[test]
fn loom_a_read_that_is_dropped_loses_nothing() {
    for then_write in [false, true] {
        check(move || {
            let file = file(Inner { bytes: b"abc".to_vec(), ..Inner::default() });
            if begin(file.read(2)) {
                return;
            }
            block_on(async {
                if then_write {
                    file.write(b"x", 40).await.unwrap();
                    file.flush().await.unwrap();
                    assert_eq!(file.device().inner.lock().bytes, b"x");
                } else {
                    assert_eq!(file.read(1).await.unwrap(), b"a");
                    assert_eq!(file.read(3).await.unwrap(), b"b");
                }
            });
        });
    }
}

/// Two readers of one device, as two handles of standard input are: each gets a part, and neither waits for ever.
#[test]
fn loom_two_readers_share() {
    check(|| {
        let file = Arc::new(file(Inner { bytes: b"ab".to_vec(), ..Inner::default() }));
        let other = {
            let file = file.clone();
            thread::spawn(move || block_on(file.read(1)).unwrap())
        };
        let mine = block_on(file.read(1)).unwrap();
        let mut both = [mine, other.join().unwrap()].concat();
        both.sort_unstable();
        assert_eq!(both, b"ab");
    });
}

/// A task that has waited until no job uses the device is its owner.
#[test]
fn loom_the_device_is_given_back_when_no_job_uses_it() {
    check(|| {
        let file = file(Inner::default());
        block_on(async {
            file.write(b"a", 40).await.unwrap();
            file.unused().await;
            let device = file.try_into_device().map_err(drop).expect("nothing uses it");
            assert_eq!(device.inner.lock().bytes, b"a");
        });
    });
}
