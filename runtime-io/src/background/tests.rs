//! One step at a time: the jobs of this device are run by hand.

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

#[test]
fn a_read_is_done_by_one_job_which_wakes_its_task() {
    let file = file(b"hello");
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    assert!(file.read_with(&waker, 10).is_pending());
    assert!(file.read_with(&waker, 10).is_pending(), "it is under way");
    assert_eq!((jobs(), woken.0.load(Relaxed)), (1, 0));
    run_job();
    assert_eq!(woken.0.load(Relaxed), 1, "once, though it was polled twice");
    assert_ready(file.read_with(&waker, 10), b"hello".to_vec());
    assert_eq!(file.calls(), [Read(10)]);
    assert!(file.read(10).is_pending());
    run_job();
    assert_ready(file.read(10), Vec::new());
}

#[test]
fn everybody_who_waits_is_woken() {
    let file = file(b"hello");
    let woken: [_; 3] = std::array::from_fn(|_| Arc::new(Count::default()));
    for count in &woken {
        assert!(file.read_with(&Waker::from(count.clone()), 10).is_pending());
    }
    run_job();
    assert_eq!(woken.map(|count| count.0.load(Relaxed)), [1, 1, 1]);
}

#[test]
fn a_wakers_owner_may_poll_at_once() {
    struct Polls(Background<Memory>);
    impl Wake for Polls {
        fn wake(self: Arc<Self>) {
            assert!(self.0.read(2).is_ready());
        }
    }
    let polls = Arc::new(Polls(file(b"hello")));
    assert!(polls.0.read_with(&Waker::from(polls.clone()), 10).is_pending());
    run_job();
}

#[test]
fn a_read_that_was_dropped_loses_no_bytes() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(4), b"hell".to_vec());
    assert_ready(file.read(10), b"o wor".to_vec());
    assert_eq!(jobs(), 0, "these were there");
    assert!(file.read(10).is_pending());
    run_job();
    assert_ready(file.read(10), b"ld".to_vec());
}

#[test]
fn nothing_is_read_that_was_not_asked_for() {
    let file = file(b"hello world");
    assert!(file.read(3).is_pending());
    run_job();
    assert_eq!(file.inner().position, 3);
    assert_ready(file.read(0), Vec::new());
    assert_eq!(file.calls(), [Read(3)]);
}

#[test]
fn an_error_of_a_read_is_told_once() {
    let file = file(b"hello");
    file.inner().fails = Some(io::ErrorKind::IsADirectory);
    assert!(file.read(5).is_pending());
    run_job();
    assert_fails(file.read(5), io::ErrorKind::IsADirectory);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
}

#[test]
fn an_interrupted_read_is_made_again() {
    let file = file(b"hello");
    file.inner().fails = Some(io::ErrorKind::Interrupted);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
    assert_eq!(file.calls(), [Read(5), Read(5)]);
}

#[test]
fn what_is_cached_takes_no_job() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 8, ..Inner::default() });
    assert_ready(file.read(4), b"hell".to_vec());
    assert_ready(file.read(4), b"o wo".to_vec());
    assert_eq!(jobs(), 0);
    assert!(file.read(4).is_pending());
    run_job();
    assert_ready(file.read(4), b"rld".to_vec());
}

#[test]
fn what_is_cached_in_part_is_read_whole_and_not_lost_if_that_is_dropped() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 3, ..Inner::default() });
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(8), b"hello wo".to_vec());
    assert_eq!(file.calls(), [Read(5)]);

    file.inner().position = 0;
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    assert_ready(file.read(8), b"llo wo".to_vec());
}

#[test]
fn an_error_behind_what_is_cached_does_not_take_it_away() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 3, ..Inner::default() });
    file.inner().fails = Some(io::ErrorKind::Other);
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(8), b"hel".to_vec());
    assert_fails(file.read(8), io::ErrorKind::Other);
}

#[test]
fn writes_are_queued_behind_the_one_job_and_stay_calls_of_their_own() {
    let file = file(b"");
    for bytes in [b"a", b"b", b"c"] {
        assert_ready(file.write(bytes), 1);
    }
    assert_eq!(jobs(), 1);
    assert!(file.flush().is_pending());
    run_job();
    assert_ready(file.flush(), ());
    assert_eq!(file.calls(), [Write(b"a".to_vec()), Write(b"b".to_vec()), Write(b"c".to_vec()), Flush]);
    assert_eq!(jobs(), 0, "the flush was the same job's");
    assert_ready(file.flush(), ());
    assert_eq!(jobs(), 0, "there is nothing to flush");
}

#[test]
fn a_flush_of_the_devices_buffer_takes_a_job_if_none_is_there() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    run_job();
    assert_eq!(file.calls(), [Write(b"a".to_vec())], "nobody has asked for more");
    assert!(file.flush().is_pending());
    run_job();
    assert_eq!(file.calls(), [Flush]);
    assert_ready(file.flush(), ());
}

#[test]
fn a_vectored_write_is_one_call() {
    let file = file(b"");
    let bufs = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
    assert_ready(file.poll_write(&mut Context::from_waker(Waker::noop()), &bufs, 4), 4);
    assert_ready(file.write(b""), 0);
    run_job();
    assert_eq!(file.calls(), [Write(b"abcd".to_vec())]);
}

#[test]
fn the_queue_is_bounded_and_a_write_that_waits_is_woken_when_there_is_room() {
    const MAX: usize = 100;
    let file = file(b"");
    let mut queued = 0;
    while file.write_max(b"12345678", MAX).is_ready() {
        queued += 1;
        assert!(queued < 100, "it has no bound");
    }
    assert!((1..=MAX / 8).contains(&queued));
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(file.poll_write(&mut cx, &[IoSlice::new(b"x")], MAX).is_ready() == (queued * 16 + 9 <= MAX / 2));
    assert!(file.poll_write(&mut cx, &[IoSlice::new(&[0; 60])], MAX).is_pending());
    run_job();
    assert!(woken.0.load(Relaxed) > 0);
    assert_ready(file.poll_write(&mut cx, &[IoSlice::new(&[0; 60])], MAX), 60);
    run_job();
}

#[test]
fn a_write_is_split_at_the_most_that_is_allowed() {
    let file = file(b"");
    assert_ready(file.write_max(b"hello", 1), 1);
    assert!(file.write_max(b"ello", 1).is_pending(), "there is room for one");
    run_job();
    assert_ready(file.write_max(b"ello", 1), 1);
    run_job();
    assert_eq!(file.calls(), [Write(b"h".to_vec()), Write(b"e".to_vec())]);
}

#[test]
fn a_write_goes_where_the_reader_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    assert!(file.write(b"XY").is_pending(), "the read is under way");
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    assert_ready(file.write(b"XY"), 2);
    run_job();
    assert_eq!(file.calls(), [Read(9), Seek(SeekFrom::Current(-7)), Write(b"XY".to_vec())]);
    assert_eq!(file.inner().bytes, b"heXYo world");
    assert!(file.read(1).is_pending(), "what was read before is not read again from memory");
    run_job();
    assert_ready(file.read(1), b"o".to_vec());
}

#[test]
fn a_terminal_keeps_what_was_read_when_it_is_written_to() {
    let file = with(Inner { bytes: b"typed".to_vec(), is_terminal: true, ..Inner::default() });
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.write(b"prompt"), 6);
    run_job();
    assert_ready(file.read(9), b"typed".to_vec());
    assert!(file.calls().contains(&Write(b"prompt".to_vec())));
}

#[test]
fn a_failed_write_is_told_once_and_what_was_queued_behind_is_dropped() {
    for ask_by_flush in [false, true] {
        let file = file(b"");
        assert_ready(file.write(b"a"), 1);
        assert_ready(file.write(b"b"), 1);
        file.inner().fails = Some(io::ErrorKind::StorageFull);
        run_job();
        assert_eq!(file.calls(), [Write(b"a".to_vec())]);
        // Neither reading nor seeking tells.
        assert!(file.read(1).is_pending());
        run_job();
        assert_ready(file.read(1), Vec::new());
        file.start_seek(SeekFrom::Start(0)).unwrap();
        run_job();
        assert_ready(file.complete(), 0);
        file.calls();
        let kind = io::ErrorKind::StorageFull;
        if ask_by_flush {
            assert_fails(file.flush(), kind);
        } else {
            assert_fails(file.write(b"c"), kind);
        }
        assert_ready(file.write(b"d"), 1);
        run_job();
        assert_eq!(file.calls(), [Write(b"d".to_vec())]);
    }
}

#[test]
fn syncing_tells_of_a_failed_write() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    file.inner().fails = Some(io::ErrorKind::StorageFull);
    run_job();
    let mut cx = Context::from_waker(Waker::noop());
    assert_fails(pin!(file.written()).poll(&mut cx), io::ErrorKind::StorageFull);
    assert!(matches!(pin!(file.written()).poll(&mut cx), Poll::Ready(Ok(_))));
}

#[test]
fn an_error_of_a_flush_is_told() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    run_job();
    assert!(file.flush().is_pending());
    file.inner().fails = Some(io::ErrorKind::BrokenPipe);
    run_job();
    assert_fails(file.flush(), io::ErrorKind::BrokenPipe);
}

#[test]
fn a_seek_is_seen_from_where_the_reader_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    file.start_seek(SeekFrom::Current(1)).unwrap();
    assert!(file.start_seek(SeekFrom::Start(0)).is_err(), "one is under way");
    assert!(file.complete().is_pending());
    run_job();
    assert_ready(file.complete(), 3);
    assert_ready(file.complete(), 3);
    assert_eq!(file.calls(), [Read(9), Seek(SeekFrom::Current(-6))]);
    assert!(file.read(2).is_pending());
    run_job();
    assert_ready(file.read(2), b"lo".to_vec());
}

#[test]
fn a_seek_that_fails_leaves_the_reader_where_it_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    for to in [SeekFrom::Current(-10), SeekFrom::End(-100), SeekFrom::Current(i64::MIN)] {
        file.start_seek(to).unwrap();
        run_job();
        assert_fails(file.complete(), io::ErrorKind::InvalidInput);
    }
    let mut next = file.read(3);
    if next.is_pending() {
        run_job();
        next = file.read(3);
    }
    assert_ready(next, b"llo".to_vec());
}

#[test]
fn a_seek_in_a_cached_file_takes_no_job() {
    let file = with(Inner { bytes: b"hello".to_vec(), can_at_once: true, cached: 5, ..Inner::default() });
    file.start_seek(SeekFrom::Start(2)).unwrap();
    assert_ready(file.complete(), 2);
    assert_ready(file.read(9), b"llo".to_vec());
    assert_eq!(jobs(), 0);
}

#[test]
fn the_result_of_a_seek_that_was_dropped_is_forgotten_by_what_comes_next() {
    let file = file(b"hello");
    file.start_seek(SeekFrom::End(-100)).unwrap();
    run_job();
    assert!(file.read(1).is_pending());
    run_job();
    assert_ready(file.complete(), 0);
}

#[test]
fn a_job_that_is_not_run_fails_and_the_file_stays_usable() {
    let file = file(b"hello");
    file.inner().refuses = true;
    assert_fails(file.read(1), io::ErrorKind::Other);
    file.start_seek(SeekFrom::Start(1)).unwrap();
    assert_fails(file.complete(), io::ErrorKind::Other);
    assert_fails(file.write(b"a"), io::ErrorKind::Other);
    assert_fails(file.flush(), io::ErrorKind::Other);
    file.inner().refuses = false;

    // Given up while it is queued.
    assert_ready(file.write(b"b"), 1);
    JOBS.with_borrow_mut(VecDeque::pop_front);
    assert_fails(file.write(b"c"), io::ErrorKind::Other);
    assert_eq!(file.calls(), []);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
}

#[test]
fn the_device_is_given_back_when_no_job_uses_it_and_at_the_readers_position() {
    let file = file(b"hello");
    assert!(file.read(4).is_pending());
    let file = file.try_into_device().map(drop).expect_err("a job uses it");
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pin!(file.unused()).poll(&mut cx).is_pending());
    run_job();
    assert_ready(file.read(1), b"h".to_vec());
    let hold = file.hold();
    assert!(pin!(file.unused()).poll(&mut cx).is_pending());
    let file = file.try_into_device().map(drop).expect_err("it is held");
    drop(hold);
    assert!(pin!(file.unused()).poll(&mut cx).is_ready());
    assert_eq!(file.try_into_device().map(|device| device.inner.lock().position).ok(), Some(1));
}

#[test]
fn a_turn_keeps_others_waiting() {
    let file = file(b"hello");
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(turn) = pin!(file.turn()).poll(&mut cx) else { panic!("nothing goes on") };
    assert!(file.read(1).is_pending());
    assert!(file.write(b"a").is_pending());
    assert!(file.complete().is_pending());
    assert!(pin!(file.turn()).poll(&mut cx).is_pending());
    assert!(file.start_seek(SeekFrom::Start(0)).is_err());
    drop(turn);
    assert_ready(file.write(b"a"), 1);
    run_job();
}
