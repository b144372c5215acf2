//! Files that cannot be opened, read or written: each error comes to the caller, with its kind, and the file and the
//! runtime go on.
//!
//! Mutations that these tests are for: an error of a background write that is dropped, or told twice; a queue that is
//! written on behind a write that failed; a file that waits for ever after an error.

use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::PermissionsExt;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Uid, seteuid};
use rt::fs::{self, File, OpenOptions};
use rt::io::{AsyncReadExt, AsyncWriteExt};

use rt_test_util::*;

#[test]
fn a_full_disk_is_told_by_a_later_call_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for _ in 0..100 {
                let mut file = OpenOptions::new().write(true).open("/dev/full").await.unwrap();
                file.write_all(b"hello").await.unwrap();
                assert_eq!(file.flush().await.unwrap_err().kind(), ErrorKind::StorageFull);
                file.flush().await.unwrap();

                let mut write = file.write(b"hello").await;
                while write.is_ok() {
                    rt::task::yield_now().await;
                    write = file.write(b"hello").await;
                }
                assert_eq!(write.unwrap_err().kind(), ErrorKind::StorageFull);

                // What was queued behind the write that failed has failed with it, or by itself.
                let _ = file.flush().await;
                file.write_all(b"hello").await.unwrap();
                assert_eq!(file.sync_all().await.unwrap_err().kind(), ErrorKind::StorageFull);
                file.write_all(b"hello").await.unwrap();
                drop(file.into_std().await);
            }
        });
    });
}

#[test]
fn what_is_not_there_or_of_another_kind() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let missing = "/proc/self/no such file";
            assert_eq!(File::open(missing).await.unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(fs::read(missing).await.unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(fs::read_dir(missing).await.unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(fs::read("/").await.unwrap_err().kind(), ErrorKind::IsADirectory);
            assert_eq!(File::create("/").await.unwrap_err().kind(), ErrorKind::IsADirectory);
            assert_eq!(fs::read_dir("/dev/null").await.unwrap_err().kind(), ErrorKind::NotADirectory);
            let mut directory = File::open("/").await.unwrap();
            for _ in 0..3 {
                assert_eq!(directory.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::IsADirectory);
            }
            let mut read_only = File::open("/proc/self/stat").await.unwrap();
            read_only.write_all(b"x").await.unwrap();
            read_only.flush().await.unwrap_err();
            assert_ne!(read_only.read(&mut [0; 8]).await.unwrap(), 0);
        });
    });
}

#[test]
fn what_is_not_allowed() {
    in_own_process(|| {
        let path = std::env::temp_dir().join(format!("rt-test-not-allowed-{}", std::process::id()));
        std::fs::write(&path, "secret").unwrap();
        let nobody = PermissionsExt::from_mode(0o000);
        std::fs::set_permissions(&path, nobody).unwrap();
        if Uid::effective().is_root() {
            // Root may do everything.
            seteuid(Uid::from_raw(65534)).unwrap();
        }
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                assert_eq!(File::open(&path).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
                assert_eq!(fs::read(&path).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
            });
        });
        if Uid::current().is_root() {
            seteuid(Uid::from_raw(0)).unwrap();
        }
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn no_descriptors_are_left() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let file = File::open("/dev/null").await.unwrap();
                let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
                setrlimit(Resource::RLIMIT_NOFILE, file.as_raw_fd() as u64 + 1, hard).unwrap();
                let mut held = Vec::new();
                while let Ok(fd) = file.as_fd().try_clone_to_owned() {
                    held.push(fd);
                }
                for error in [
                    File::open("/dev/null").await.unwrap_err(),
                    file.try_clone().await.unwrap_err(),
                    fs::read("/dev/null").await.unwrap_err(),
                    fs::read_dir("/").await.unwrap_err(),
                ] {
                    assert_eq!(error.raw_os_error(), Some(nix::errno::Errno::EMFILE as i32));
                }
                drop(held);
                setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
                file.try_clone().await.unwrap();
                File::open("/dev/null").await.unwrap();
            });
        });
    });
}

/// A pipe is a file, too: a read takes what is there, and does not wait for more.
#[test]
fn a_pipe_is_read_as_it_is_filled() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (reader, writer) = nix::unistd::pipe().unwrap();
            let (mut reader, mut writer) = (File::from(reader), File::from(writer));
            let mut memory = [0; 100];
            for text in [&b"one"[..], b"another", b"x"] {
                writer.write_all(text).await.unwrap();
                let count = reader.read(&mut memory).await.unwrap();
                assert_eq!(&memory[..count], text);
            }
            drop(writer.into_std().await);
            assert_eq!(reader.read(&mut memory).await.unwrap(), 0);
        });
    });
}

/// Each write is a call of its own: here the kernel tells what one call has written from the next.
#[test]
fn writes_are_not_joined() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (reader, writer) = nix::unistd::pipe2(nix::fcntl::OFlag::O_DIRECT).unwrap();
            let (mut reader, mut writer) = (File::from(reader), File::from(writer));
            for n in 1..=10 {
                writer.write_all(&vec![b'x'; n]).await.unwrap();
            }
            writer.flush().await.unwrap();
            for n in 1..=10 {
                assert_eq!(reader.read(&mut [0; 100]).await.unwrap(), n);
            }
        });
    });
}
