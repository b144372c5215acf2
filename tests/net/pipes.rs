//! Pipes, with a name and without.
//!
//! Mutations that these tests are for: readiness that is cleared after a short read (a pipe in packet mode stops after
//! each packet); an end that is dropped and does not end the other; a descriptor that is let in though it is no pipe,
//! or the wrong end, or is left in the wrong mode.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::unix::pipe;

use rt_test_util::*;

#[test]
fn many_bytes_go_through_and_the_end_is_told() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut sender, mut receiver) = pipe::pipe().unwrap();
            let bytes: Vec<u8> = (0..1_000_000u32).map(|n| (n ^ (n >> 8)) as u8).collect();
            let copy = bytes.clone();
            let sending = rt::spawn(async move {
                sender.write_all(&copy).await.unwrap();
                sender.shutdown().await.unwrap();
                sender.write_all(b"!").await.unwrap();
            });
            let mut received = Vec::new();
            receiver.read_to_end(&mut received).await.unwrap();
            sending.await.unwrap();
            assert!(received.pop() == Some(b'!') && received == bytes);
        });
    });
}

#[test]
fn a_writer_that_waits_is_told_that_nobody_reads_any_more() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut sender, receiver) = pipe::pipe().unwrap();
            let waiting = Signal::new();
            let tell = waiting.clone();
            let sending = rt::spawn(async move {
                let bytes = vec![0; 10 << 20];
                let mut write = std::pin::pin!(sender.write_all(&bytes));
                assert!(poll_once(write.as_mut()).await.is_pending());
                tell.set();
                write.await
            });
            waiting.wait().await;
            drop(receiver);
            assert_eq!(sending.await.unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
    });
}

#[test]
#[cfg(target_os = "linux")]
fn all_packets_are_read_on_one_event() {
    use nix::fcntl::OFlag;
    use nix::unistd::pipe2;

    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (reader, writer) = pipe2(OFlag::O_DIRECT | OFlag::O_NONBLOCK).unwrap();
            let mut writer = File::from(writer);
            for _ in 0..5 {
                writer.write_all(b"packet").unwrap();
            }
            // Registered only now: there is one event, for all of them.
            let mut receiver = pipe::Receiver::from_owned_fd(reader).unwrap();
            let mut buffer = [0; 100];
            for _ in 0..5 {
                assert_eq!(receiver.read(&mut buffer).await.unwrap(), 6);
            }
            assert!(poll_once(std::pin::pin!(receiver.read(&mut buffer))).await.is_pending());
        });
    });
}

#[test]
fn what_never_waits_says_that_it_would() {
    let _watchdog = watchdog();
    current().block_on(async {
        let (sender, receiver) = pipe::pipe().unwrap();
        let mut buffer = Vec::with_capacity(100);
        assert_eq!(receiver.try_read_buf(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        sender.writable().await.unwrap();
        assert_eq!(sender.try_write(b"hello").unwrap(), 5);
        receiver.readable().await.unwrap();
        assert_eq!(receiver.try_read_buf(&mut buffer).unwrap(), 5);
        assert_eq!(buffer, b"hello");
        assert_eq!(receiver.try_read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let full = loop {
            if let Err(error) = sender.try_write(&[0; 4096]) {
                break error.kind();
            }
        };
        assert_eq!(full, ErrorKind::WouldBlock);
        receiver.readable().await.unwrap();
        while receiver.try_read(&mut [0; 4096]).is_ok() {}
        sender.writable().await.unwrap();
        assert_eq!(sender.try_io(|| Ok(7)).unwrap(), 7);
    });
}

#[test]
fn only_the_right_end_of_a_pipe_is_let_in_and_goes_out_in_the_mode_that_was_asked_for() {
    let _watchdog = watchdog();
    current().block_on(async {
        let kind = |error: std::io::Error| error.kind();
        let (reader, writer) = std::io::pipe().unwrap();
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let copy = reader.try_clone().unwrap();
        assert_eq!(kind(pipe::Sender::from_owned_fd(copy).unwrap_err()), ErrorKind::InvalidInput);
        let copy = writer.try_clone().unwrap();
        assert_eq!(kind(pipe::Receiver::from_owned_fd(copy).unwrap_err()), ErrorKind::InvalidInput);
        let file = File::open("/dev/null").unwrap();
        assert_eq!(kind(pipe::Receiver::from_file(file).unwrap_err()), ErrorKind::InvalidInput);

        let mut sender = pipe::Sender::from_owned_fd(writer).unwrap();
        let receiver = pipe::Receiver::from_owned_fd(reader).unwrap();
        let descriptor = receiver.into_nonblocking_fd().unwrap();
        let mut file = File::from(descriptor);
        assert_eq!(kind(file.read(&mut [0; 10]).unwrap_err()), ErrorKind::WouldBlock);
        let receiver = pipe::Receiver::from_file_unchecked(file).unwrap();
        let mut file = File::from(receiver.into_blocking_fd().unwrap());
        let reading = std::thread::spawn(move || {
            let mut byte = [0];
            file.read_exact(&mut byte).map(|()| byte)
        });
        sender.write_all(b"x").await.unwrap();
        assert_eq!(reading.join().unwrap().unwrap(), *b"x");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_with_a_name_outlives_its_writers() {
    let _watchdog = watchdog();
    current().block_on(async {
        let path = std::env::temp_dir().join(format!("rt-test-fifo-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
        let nobody = pipe::OpenOptions::new().open_sender(&path).unwrap_err();
        assert_eq!(nobody.raw_os_error(), Some(nix::libc::ENXIO));
        // For both directions, so that it works without a reader.
        drop(pipe::OpenOptions::new().read_write(true).open_sender(&path).unwrap());
        let mut receiver = pipe::OpenOptions::new().open_receiver(&path).unwrap();
        for _ in 0..3 {
            let mut sender = pipe::OpenOptions::new().open_sender(&path).unwrap();
            sender.write_all(b"hello").await.unwrap();
            drop(sender);
            let mut text = String::new();
            receiver.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "hello");
        }
        std::fs::remove_file(&path).unwrap();

        let file = std::env::temp_dir().join(format!("rt-test-no-fifo-{}", std::process::id()));
        std::fs::write(&file, "").unwrap();
        let refused = pipe::OpenOptions::new().open_receiver(&file).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(pipe::OpenOptions::new().unchecked(true).open_receiver(&file).is_err(), "a file cannot be waited for");
        std::fs::remove_file(&file).unwrap();
    });
}
