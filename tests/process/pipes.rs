//! What parent and child say to each other.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use rt::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use rt::process::{ChildStderr, ChildStdin, ChildStdout};
use rt::time::timeout;

use super::*;

#[test]
fn output_is_collected_from_both_streams() {
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let output = shell("printf out; printf err >&2; exit 3").output().await.unwrap();
            assert_eq!((output.status.code(), &*output.stdout, &*output.stderr), (Some(3), &b"out"[..], &b"err"[..]));
            let child = shell("printf out").stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
            let output = child.wait_with_output().await.unwrap();
            assert_eq!((&*output.stdout, &*output.stderr), (&b"out"[..], &b""[..]));
        });
    });
}

/// Streams that are piped, and that `status` has no use for, keep nobody waiting.
#[test]
fn a_status_is_not_held_up_by_pipes() {
    current().block_on(async {
        let mut child = shell("cat; exec head -c 1000000 /dev/zero");
        child.stdin(Stdio::piped()).stdout(Stdio::piped());
        // It finds its input at its end, and its output unread.
        assert!(!child.status().await.unwrap().success());
    });
}

/// 100 MiB in and 100 MiB out at once, through a child that reads and writes in small pieces.
#[test]
fn much_goes_in_and_out_at_once() {
    const LENGTH: usize = 100 << 20;
    for runtime in [current(), multi(2)] {
        runtime.block_on(async {
            let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writer = rt::spawn(async move {
                let piece: Vec<u8> = (0..1 << 20).map(|n: u32| (n % 251) as u8).collect();
                for _ in 0..LENGTH / piece.len() {
                    stdin.write_all(&piece).await.unwrap();
                }
            });
            let output = child.wait_with_output().await.unwrap();
            writer.await.unwrap();
            assert!(output.status.success());
            assert_eq!(output.stdout.len(), LENGTH);
            let expected = |n: usize| ((n % (1 << 20)) % 251) as u8;
            assert!(output.stdout.iter().enumerate().all(|(n, byte)| *byte == expected(n)));
        });
    }
}

/// One that has half of it before it must wait is woken for the rest.
#[test]
fn a_reader_is_woken_for_each_part() {
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut child = shell("while read line; do printf \"<$line>\"; printf \"[$line]\" >&2; done");
            let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (mut stdin, mut stdout, mut stderr) =
                (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
            for n in 0..50 {
                let mut buf = [0; 64];
                let mut cx = Context::from_waker(Waker::noop());
                assert!(pin!(stdout.read(&mut buf)).poll(&mut cx).is_pending());
                assert!(pin!(stderr.read(&mut buf)).poll(&mut cx).is_pending());
                stdin.write_all(format!("{n}\n").as_bytes()).await.unwrap();
                let mut both = [0; 64];
                let wanted = format!("<{n}>");
                stdout.read_exact(&mut both[..wanted.len()]).await.unwrap();
                assert_eq!(&both[..wanted.len()], wanted.as_bytes());
                let wanted = format!("[{n}]");
                stderr.read_exact(&mut both[..wanted.len()]).await.unwrap();
                assert_eq!(&both[..wanted.len()], wanted.as_bytes());
            }
            drop(stdin);
            assert_eq!(stdout.read(&mut [0; 8]).await.unwrap(), 0);
            assert_eq!(stdout.read(&mut [0; 8]).await.unwrap(), 0, "the end stays the end");
            assert!(child.wait().await.unwrap().success());
        });
    });
}

/// A reader that is dropped before it is ready has taken nothing.
#[test]
fn a_read_that_is_dropped_loses_nothing() {
    multi(2).block_on(async {
        let mut child = shell("for n in 1 2 3 4 5 6 7 8 9; do sleep 0.01; printf $n; done");
        let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut all = Vec::new();
        loop {
            let mut buf = [0; 3];
            match timeout(Duration::from_millis(3), stdout.read(&mut buf)).await {
                Ok(Ok(0)) => break,
                Ok(count) => all.extend_from_slice(&buf[..count.unwrap()]),
                Err(_) => {}
            }
        }
        assert_eq!(all, b"123456789");
        child.wait().await.unwrap();
    });
}

#[test]
fn a_writer_waits_for_room_and_learns_that_nobody_reads() {
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut child = endless();
            let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writer = rt::spawn(async move {
                loop {
                    if let Err(error) = stdin.write_all(&[0; 5000]).await {
                        return error.kind();
                    }
                }
            });
            rt::time::sleep(Duration::from_millis(20)).await;
            assert!(!writer.is_finished());
            child.kill().await.unwrap();
            assert_eq!(writer.await.unwrap(), ErrorKind::BrokenPipe);
        });
    });
}

#[test]
fn many_buffers_are_written_at_once_and_memory_is_not_initialised_first() {
    current().block_on(async {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        assert!(stdin.is_write_vectored());
        let bufs = [IoSlice::new(b"one "), IoSlice::new(b"two "), IoSlice::new(b"three")];
        let written = poll_fn(|cx| Pin::new(&mut stdin).poll_write_vectored(cx, &bufs)).await.unwrap();
        assert_eq!(written, 13);
        stdin.flush().await.unwrap();
        // It does nothing: dropping closes.
        stdin.shutdown().await.unwrap();
        stdin.write_all(b"!").await.unwrap();
        drop(stdin);

        let mut stdout = child.stdout.take().unwrap();
        let mut memory = [MaybeUninit::uninit(); 64];
        let mut buf = ReadBuf::uninit(&mut memory);
        while buf.filled().len() < 14 {
            poll_fn(|cx| Pin::new(&mut stdout).poll_read(cx, &mut buf)).await.unwrap();
        }
        assert_eq!(buf.filled(), b"one two three!");
        assert_eq!(buf.initialized().len(), 14, "what was not read is not initialised");
        child.wait().await.unwrap();
    });
}

/// The pipes of one child become the standard streams of another, in blocking mode.
#[test]
fn a_pipe_is_given_to_another_child() {
    current().block_on(async {
        let mut first = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn().unwrap();
        let pipe: Stdio = first.stdout.take().unwrap().try_into().unwrap();
        let second = Command::new("tr").args(["a-z", "A-Z"]).stdin(pipe).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(second.wait_with_output().await.unwrap().stdout, b"HELLO\n");
        first.wait().await.unwrap();

        let mut third = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin: Stdio = third.stdin.take().unwrap().try_into().unwrap();
        assert!(Command::new("echo").arg("there").stdout(stdin).status().await.unwrap().success());
        assert_eq!(third.wait_with_output().await.unwrap().stdout, b"there\n");
    });
}

#[test]
fn descriptors_come_out_in_blocking_mode_and_go_in_again() {
    current().block_on(async {
        let mut child = shell("printf out; exec >&-; printf err >&2; exec cat >&2");
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        assert_eq!(stdout.as_raw_fd(), stdout.as_fd().as_raw_fd());
        let number = stdout.as_raw_fd();
        let stdout = stdout.into_owned_fd().unwrap();
        assert_eq!(stdout.as_raw_fd(), number);
        // A read of the thread's, which waits.
        let mut text = String::new();
        std::fs::File::from(stdout).read_to_string(&mut text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(text, "out");

        let stderr = std::process::ChildStderr::from(child.stderr.take().unwrap().into_owned_fd().unwrap());
        let stdin = std::process::ChildStdin::from(child.stdin.take().unwrap().into_owned_fd().unwrap());
        let (mut stdin, mut stderr) = (ChildStdin::from_std(stdin).unwrap(), ChildStderr::from_std(stderr).unwrap());
        stdin.write_all(b"!").await.unwrap();
        drop(stdin);
        let mut text = String::new();
        stderr.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "err!");
        child.wait().await.unwrap();

        // A file, which nobody can wait for, is refused.
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let refused = ChildStdout::from_std(std::process::ChildStdout::from(std::os::fd::OwnedFd::from(file)));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::PermissionDenied);
    });
}

/// Each read and write is ready at once: only the budget ends the loop.
#[test]
fn a_loop_over_a_pipe_lets_others_run() {
    multi(1).block_on(async {
        let task = rt::spawn(async {
            let mut source =
                Command::new("cat").arg("/dev/zero").stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
            let mut zeros = source.stdout.take().unwrap();
            let reads = async {
                loop {
                    zeros.read(&mut [0; 1]).await.unwrap();
                }
            };
            timeout(Duration::from_millis(20), reads).await.unwrap_err();
            let mut sink = shell("exec cat >/dev/null").stdin(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
            let mut stdin = sink.stdin.take().unwrap();
            let writes = async {
                loop {
                    stdin.write_all(b"0").await.unwrap();
                }
            };
            timeout(Duration::from_millis(20), writes).await.unwrap_err();
        });
        task.await.unwrap();
    });
}

/// The pipes belong to the runtime, and say so when it is gone.
#[test]
fn pipes_fail_when_their_runtime_is_gone() {
    let runtime = current();
    let mut child = runtime.block_on(async {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap()
    });
    drop(runtime);
    current().block_on(async {
        let mut buf = [0; 8];
        child.stdout.as_mut().unwrap().read(&mut buf).await.unwrap_err();
        child.stdin.as_mut().unwrap().write_all(b"x").await.unwrap_err();
        let pinned = Pin::new(child.stdin.as_mut().unwrap());
        assert!(matches!(pinned.poll_flush(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
        assert!(child.wait().await.unwrap().success());
    });
}
