//! `AsyncFd` on descriptors that are no sockets of ours: pipes, socket pairs, event counters.
//!
//! Mutations that these tests are for: a descriptor that stays in the poller, or is closed, when it should not be;
//! readiness that is never cleared (a busy loop: the counts here would run over) or cleared too often (a hang).

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rt::io::unix::AsyncFd;
use rt::io::{Interest, Ready};
use rt_test_util::*;

fn nonblocking(fd: impl Into<OwnedFd>) -> OwnedFd {
    let fd = fd.into();
    let socket = UnixStream::from(fd);
    // `UnixStream` sets the flag by `ioctl`, which any descriptor understands.
    socket.set_nonblocking(true).unwrap();
    socket.into()
}

fn pipe() -> (AsyncFd<PipeReader>, AsyncFd<PipeWriter>) {
    let (reader, writer) = io::pipe().unwrap();
    let (reader, writer) = (nonblocking(reader).into(), nonblocking(writer).into());
    (
        AsyncFd::with_interest(reader, Interest::READABLE).unwrap(),
        AsyncFd::with_interest(writer, Interest::WRITABLE).unwrap(),
    )
}

#[test]
fn a_pipe_carries_more_than_it_holds() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (reader, writer) = pipe();
            const TOTAL: usize = 1 << 20;
            let writing = rt::spawn(async move {
                let mut sent = 0;
                while sent < TOTAL {
                    let piece = vec![(sent / 4096) as u8; 4096.min(TOTAL - sent)];
                    sent += writer.async_io(Interest::WRITABLE, |mut pipe| pipe.write(&piece)).await.unwrap();
                }
            });
            let (mut received, mut buffer) = (0, [0; 1000]);
            loop {
                let n = reader.async_io(Interest::READABLE, |mut pipe| pipe.read(&mut buffer)).await.unwrap();
                if n == 0 {
                    break;
                }
                received += n;
            }
            assert_eq!(received, TOTAL);
            writing.await.unwrap();
        });
    });
}

#[test]
fn the_end_of_a_pipe_is_noticed_by_a_waiting_reader() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (reader, writer) = pipe();
            let waiting = Signal::new();
            let tell = waiting.clone();
            let task = rt::spawn(async move {
                let mut readable = std::pin::pin!(reader.readable());
                assert!(poll_once(readable.as_mut()).await.is_pending());
                tell.set();
                let guard = readable.await.unwrap();
                assert!(guard.ready().is_read_closed());
                reader.get_ref().read(&mut [0]).unwrap()
            });
            waiting.wait().await;
            drop(writer);
            assert_eq!(task.await.unwrap(), 0);
        });
    });
}

#[test]
fn a_guard_clears_readiness_until_there_is_more() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, two) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            let one = AsyncFd::new(one).unwrap();
            let (mut tries, mut two) = (0, two);
            for n in 0..100u8 {
                two.write_all(&[n]).unwrap();
                let mut byte = [0];
                loop {
                    tries += 1;
                    let mut guard = one.readable().await.unwrap();
                    if let Ok(read) = guard.try_io(|fd| fd.get_ref().read(&mut byte)) {
                        assert_eq!(read.unwrap(), 1);
                        break;
                    }
                }
                assert_eq!(byte, [n]);
            }
            // At most one vain try each time: had readiness stayed, there would be no end of them.
            assert!(tries <= 200, "{tries} tries");
        });
    });
}

#[test]
fn a_guard_clears_the_flags_that_it_is_told_also_if_it_was_not_made_for_them() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, mut two) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            two.write_all(b"x").unwrap();
            let mut one = AsyncFd::new(one).unwrap();
            // Both flags come with the only event.
            one.readable().await.unwrap().clear_ready_matching(Ready::WRITABLE);
            assert!(poll_once(std::pin::pin!(one.writable())).await.is_pending());
            let mut guard = one.readable_mut().await.unwrap();
            assert_eq!(guard.ready(), Ready::READABLE);
            guard.clear_ready_matching(Ready::ALL);
            assert_eq!(guard.ready(), Ready::EMPTY);
            assert!(poll_once(std::pin::pin!(one.readable())).await.is_pending());
        });
    });
}

#[test]
fn both_directions_of_a_socket_pair_are_waited_for_independently() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, mut two) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            let one = AsyncFd::new(one).unwrap();
            // Full in one direction, empty in the other. (A try before the first event would be refused without
            // trying.)
            one.writable().await.unwrap().retain_ready();
            let piece = [0; 4096];
            let mut held = 0;
            loop {
                match one.try_io(Interest::WRITABLE, |mut socket| socket.write(&piece)) {
                    Ok(n) => held += n,
                    Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            assert!(held > 0);
            let mut readable = std::pin::pin!(one.readable());
            assert!(poll_once(readable.as_mut()).await.is_pending());
            let mut writable = std::pin::pin!(one.writable());
            assert!(poll_once(writable.as_mut()).await.is_pending());
            two.write_all(b"x").unwrap();
            readable.await.unwrap().clear_ready();
            assert!(poll_once(writable.as_mut()).await.is_pending());
            two.read_exact(&mut vec![0; held]).unwrap();
            writable.await.unwrap().retain_ready();
        });
    });
}

/// One task waits for either direction, and finds that it cannot write. The event was for another one, which reads.
#[test]
fn a_task_that_was_woken_reads_though_another_one_is_refused_in_the_meantime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, mut two) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            while (&one).write(&[0; 4096]).is_ok() {}
            let one = std::sync::Arc::new(AsyncFd::new(one).unwrap());
            let writes = one.clone();
            let writer = rt::spawn(async move {
                let both = Interest::READABLE | Interest::WRITABLE;
                writes.async_io(both, |mut socket| socket.write(b"x")).await.map(drop)
            });
            rt::task::yield_now().await;
            for _ in 0..100 {
                let mut read = std::pin::pin!(one.async_io(Interest::READABLE, |mut socket| socket.read(&mut [0; 8])));
                assert!(poll_once(read.as_mut()).await.is_pending());
                two.write_all(b"y").unwrap();
                assert_eq!(read.await.unwrap(), 1);
            }
            assert!(!writer.is_finished());
        });
    });
}

#[test]
fn the_object_comes_back_out_and_its_descriptor_stays_open() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let registered = || runtime.handle().metrics().drivers().io_registered;
        runtime.block_on(async {
            let (one, mut two) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            for _ in 0..50 {
                let fd = AsyncFd::new(one.try_clone().unwrap()).unwrap();
                assert_eq!(registered(), 1);
                two.write_all(b"x").unwrap();
                fd.readable().await.unwrap().retain_ready();
                let mut back = fd.into_inner();
                assert_eq!(registered(), 0);
                assert_eq!(back.read(&mut [0; 8]).unwrap(), 1);
            }
        });
    });
}

#[test]
fn a_file_cannot_be_waited_for_and_comes_back_with_the_error() {
    let _watchdog = watchdog();
    current().block_on(async {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let (mut file, error) = AsyncFd::try_new(file).unwrap_err().into_parts();
        assert!(error.raw_os_error().is_some(), "{error:?}");
        file.read_exact(&mut [0; 4]).unwrap();
    });
}

#[cfg(target_os = "linux")]
#[test]
fn an_event_counter_set_from_a_thread_wakes_its_task_each_time() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        use nix::sys::eventfd::{EfdFlags, EventFd};
        use std::sync::Arc;
        let event = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK).unwrap());
        let (told, seen) = std::sync::mpsc::channel();
        let writer = event.clone();
        let thread = std::thread::spawn(move || {
            for _ in 0..200 {
                writer.write(1).unwrap();
                seen.recv().unwrap();
            }
        });
        runtime.block_on(async {
            let fd = AsyncFd::with_interest(event, Interest::READABLE).unwrap();
            let task = rt::spawn(async move {
                for _ in 0..200 {
                    let count = fd.async_io(Interest::READABLE, |event| event.read().map_err(io::Error::from)).await;
                    assert_eq!(count.unwrap(), 1);
                    told.send(()).unwrap();
                }
            });
            task.await.unwrap();
        });
        thread.join().unwrap();
    });
}
