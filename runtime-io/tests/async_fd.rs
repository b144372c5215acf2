//! `AsyncFd` through the public interface, on a whole runtime.

#![cfg(all(unix, not(loom)))]

use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use futures_lite::future::zip;
use rt::io::unix::AsyncFd;
use rt::io::{Interest, Ready, Result};
use rt::runtime::Builder;

fn run<T>(test: impl Future<Output = Result<T>>) -> T {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test).unwrap()
}

fn pair() -> Result<(AsyncFd<UnixStream>, UnixStream)> {
    pair_after(b"")
}

/// With something to read before our end is registered. What came right after that could be told of twice: by the event
/// of the registration, if that was looked into late, and by its own.
fn pair_after(message: &[u8]) -> Result<(AsyncFd<UnixStream>, UnixStream)> {
    let (ours, mut theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.write_all(message)?;
    Ok((AsyncFd::new(ours)?, theirs))
}

#[test]
fn a_guard_takes_back_what_turns_out_not_to_hold() {
    run(async {
        let (fd, mut theirs) = pair_after(b"hello")?;
        let mut buffer = [0; 16];
        let mut guard = fd.readable().await?;
        assert!(guard.ready().is_readable());
        assert_eq!(guard.try_io(|fd| fd.get_ref().read(&mut buffer)).unwrap()?, 5);
        guard.try_io(|fd| fd.get_ref().read(&mut buffer)).unwrap_err();
        assert!(guard.ready().is_empty());
        let refused = fd.try_io(Interest::READABLE, |_| -> Result<()> { unreachable!("it is not ready") });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::WouldBlock);

        let (waiting, written) = zip(fd.readable(), async { theirs.write_all(b"more") }).await;
        written?;
        let mut guard = waiting?;
        guard.retain_ready();
        drop(guard);
        fd.readable().await?.clear_ready();
        assert!(fd.try_io(Interest::READABLE, |_| Ok(())).is_err());
        Ok(())
    });
}

#[test]
fn clearing_one_direction_leaves_the_other() {
    run(async {
        let (fd, _theirs) = pair_after(b"x")?;
        fd.readable().await?.retain_ready();
        let mut guard = fd.ready(Interest::READABLE | Interest::WRITABLE).await?;
        assert!(guard.ready().is_readable() && guard.ready().is_writable());
        guard.clear_ready_matching(Ready::READABLE);
        assert!(!guard.ready().is_readable() && guard.ready().is_writable());
        assert!(fd.try_io(Interest::READABLE, |_| Ok(())).is_err());
        assert!(fd.try_io(Interest::WRITABLE, |_| Ok(())).is_ok());
        Ok(())
    });
}

#[test]
fn operations_are_tried_until_they_work() {
    run(async {
        let (mut fd, mut theirs) = pair()?;
        let mut buffer = [0; 16];
        let reading = fd.async_io(Interest::READABLE, |mut stream| stream.read(&mut buffer));
        let (read, written) = zip(reading, async { theirs.write_all(b"hello") }).await;
        written?;
        assert_eq!(read?, 5);
        assert_eq!(fd.async_io_mut(Interest::WRITABLE, |stream| stream.write(b"answer")).await?, 6);
        theirs.read_exact(&mut buffer[..6])?;
        drop(theirs);
        loop {
            let mut guard = fd.readable().await?;
            if guard.ready().is_read_closed() {
                guard.clear_ready();
                break;
            }
            guard.clear_ready();
        }
        assert!(fd.readable().await?.ready().is_read_closed(), "the end is not cleared away");
        assert_eq!(fd.async_io_mut(Interest::READABLE, |stream| stream.read(&mut buffer)).await?, 0);
        let mut guard = fd.writable_mut().await?;
        assert!(guard.try_io(|fd| fd.get_mut().write(b"x")).unwrap().is_err());
        Ok(())
    });
}

#[test]
fn polling_and_taking_it_back() {
    run(async {
        let (fd, mut theirs) = pair()?;
        poll_fn(|cx| fd.poll_write_ready(cx).map_ok(drop)).await?;
        let (polled, written) =
            zip(poll_fn(|cx| fd.poll_read_ready(cx).map_ok(drop)), async { theirs.write_all(b"x") }).await;
        polled?;
        written?;
        let raw = fd.as_raw_fd();
        let stream = fd.into_inner();
        assert_eq!(stream.as_raw_fd(), raw);
        let again = AsyncFd::with_interest(stream, Interest::READABLE)?;
        again.readable().await?.retain_ready();
        Ok(())
    });
}

#[test]
fn without_a_runtime_the_panic_is_at_the_caller() {
    use std::sync::Arc;

    use runtime_core::primitive::Mutex;

    let place = Arc::new(Mutex::new(String::new()));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new({
        let place = place.clone();
        move |info| *place.lock() = info.location().map(|at| at.file().to_owned()).unwrap_or_default()
    }));
    let outcome = std::thread::spawn(|| AsyncFd::new(UnixStream::pair().unwrap().0).map(drop)).join();
    std::panic::set_hook(hook);
    assert!(outcome.is_err());
    assert_eq!(*place.lock(), file!());
}
