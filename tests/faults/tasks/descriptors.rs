//! User code inside of `AsyncFd`: the object's own functions and its drop, and the operations on it.
//!
//! Mutations that these tests are for: a registration that is lost, or left in the poller, when the object panics; a
//! place in the list of waiters that is never given back.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use rt::io::Interest;
use rt::io::unix::AsyncFd;
use rt::runtime::Runtime;
use rt_test_util::*;

use super::on_each;

/// A stream that panics when it is asked for its descriptor, or when it is dropped, once it is told to.
struct Bad {
    stream: UnixStream,
    when_asked: Arc<AtomicBool>,
    when_dropped: bool,
    blast: Blast,
}

impl AsRawFd for Bad {
    fn as_raw_fd(&self) -> RawFd {
        if self.when_asked.load(SeqCst) {
            self.blast.go_off();
        }
        self.stream.as_raw_fd()
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        if self.when_dropped {
            self.blast.go_off();
        }
    }
}

fn bad(blast: Blast, when_dropped: bool) -> (Bad, UnixStream, Arc<AtomicBool>) {
    let (stream, theirs) = UnixStream::pair().unwrap();
    stream.set_nonblocking(true).unwrap();
    let when_asked = Arc::new(AtomicBool::new(false));
    (Bad { stream, when_asked: when_asked.clone(), when_dropped, blast }, theirs, when_asked)
}

fn registered(runtime: &Runtime) -> u64 {
    runtime.metrics().drivers().io_registered
}

/// The other end sees that the descriptor was closed.
fn assert_closed(mut theirs: UnixStream) {
    assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
}

#[test]
fn an_object_that_panics_when_asked_for_its_descriptor_leaves_nothing_behind() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let _guard = runtime.enter();
        let before = registered(runtime);
        // On the way in; on the ways out it is not asked.
        for way in 0..3 {
            let (object, theirs, fails) = bad(blast, false);
            fails.store(way == 0, SeqCst);
            let panicked = survives(|| {
                let fd = AsyncFd::new(object).unwrap();
                fails.store(true, SeqCst);
                if way == 1 { drop(fd) } else { drop(fd.into_inner()) }
            });
            assert_eq!(panicked, way == 0);
            assert_closed(theirs);
            assert_eq!(registered(runtime), before);
        }
    });
}

#[test]
fn an_object_that_panics_when_dropped_is_still_taken_out_of_the_driver() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let before = registered(runtime);
        let (object, mut theirs, _) = bad(blast, true);
        let task = runtime.spawn(async move {
            let fd = AsyncFd::new(object).unwrap();
            let _ = fd.async_io(Interest::READABLE, |object| (&object.stream).read(&mut [0; 8])).await.unwrap();
        });
        theirs.write_all(b"x").unwrap();
        let error = runtime.block_on(task).unwrap_err();
        assert!(error.is_panic());
        defuse(error.into_panic());
        assert_closed(theirs);
        assert_eq!(registered(runtime), before);
    });
}

#[test]
fn an_operation_that_panics_leaves_the_descriptor_as_it_was() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let (object, mut theirs, _) = bad(blast, false);
        let fd = {
            let _guard = runtime.enter();
            Arc::new(AsyncFd::with_interest(object, Interest::READABLE).unwrap())
        };
        theirs.write_all(b"xyz").unwrap();
        let inner = fd.clone();
        let task = runtime.spawn(async move {
            let _: usize = inner.async_io(Interest::READABLE, |_| blast.go_off()).await.unwrap();
        });
        let error = runtime.block_on(task).unwrap_err();
        defuse(error.into_panic());
        assert!(survives(|| drop(fd.try_io(Interest::READABLE, |_| -> std::io::Result<()> { blast.go_off() }))));
        runtime.block_on(async {
            let mut guard = fd.readable().await.unwrap();
            assert!(survives(|| drop(guard.try_io(|_| -> std::io::Result<()> { blast.go_off() }))));
            // What was there to read still is, and once it is read, that is known.
            let mut buffer = [0; 8];
            let n = fd.async_io(Interest::READABLE, |object| (&object.stream).read(&mut buffer)).await.unwrap();
            assert_eq!(&buffer[..n], b"xyz");
            let again = fd.try_io(Interest::READABLE, |object| (&object.stream).read(&mut buffer));
            assert_eq!(again.unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    });
}
