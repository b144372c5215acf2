//! Futures of files that are dropped before they are done: what is lost, and what is not.

use std::future::Future;
use std::io::{Read as _, SeekFrom};
use std::pin::pin;
use std::task::{Context, Waker};

use rt::fs::{File, OpenOptions};
use rt::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::temporary::Directory;
use rt_test_util::{on_each_runtime, watchdog};

/// Polls once, and drops the future. Its result, if it was done already.
fn begin<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// Reads of a clone are never done at once, so these are really under way when they are dropped.
async fn slow(file: File) -> File {
    file.try_clone().await.unwrap()
}

#[test]
fn reads_lose_no_bytes() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let bytes: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
            let mut file = slow(File::open(directory.file("a", &bytes)).await.unwrap()).await;
            let mut read = Vec::new();
            for length in (1..).map(|n| n * 37 % 1000 + 1) {
                let mut memory = vec![0; length];
                let count = match begin(file.read(&mut memory)) {
                    Some(count) => count.unwrap(),
                    None => file.read(&mut memory[..length.div_ceil(2)]).await.unwrap(),
                };
                if count == 0 {
                    break;
                }
                read.extend_from_slice(&memory[..count]);
            }
            assert!(read == bytes);
        });
    });
}

#[test]
fn a_write_after_a_read_that_was_dropped_goes_where_the_reader_is() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", "0123456789");
            let file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
            let mut file = slow(file).await;
            let at = if begin(file.read(&mut [0; 5])).is_some() { 5 } else { 0 };
            file.write_all(b"x").await.unwrap();
            file.flush().await.unwrap();
            assert_eq!(std::fs::read(&path).unwrap().iter().position(|&byte| byte == b'x'), Some(at));
            assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), at as u64 + 1);
        });
    });
}

#[test]
fn what_is_done_with_the_whole_file_is_done_where_the_reader_is() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", "0123456789");
            for operation in 0..3 {
                let file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
                let mut file = slow(file).await;
                let at = if begin(file.read(&mut [0; 5])).is_some() { 5 } else { 0 };
                match operation {
                    0 => {
                        file.set_len(10).await.unwrap();
                        assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), at);
                    }
                    1 => {
                        let mut clone = file.try_clone().await.unwrap();
                        assert_eq!(clone.seek(SeekFrom::Current(0)).await.unwrap(), at);
                    }
                    _ => {
                        let mut rest = String::new();
                        file.into_std().await.read_to_string(&mut rest).unwrap();
                        assert_eq!(rest, "0123456789"[at as usize..]);
                    }
                }
            }
        });
    });
}

#[test]
fn whatever_is_dropped_under_way_leaves_a_file_that_works() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            // A write that is dropped may have been accepted, and then goes where the file was: all bytes are the same.
            let path = directory.file("a", "4444444444");
            let file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
            let mut file = slow(file).await;
            for _ in 0..20 {
                begin(file.read(&mut [0; 3]));
                begin(file.seek(SeekFrom::Start(4)));
                begin(file.set_len(10));
                begin(file.write(b"4"));
                begin(file.flush());
                begin(file.sync_all());
                begin(file.sync_data());
                begin(file.try_clone());
                begin(file.metadata());
                begin(file.seek(SeekFrom::Start(2)));
                assert_eq!(file.seek(SeekFrom::Start(4)).await.unwrap(), 4);
                let mut memory = [0; 2];
                file.read_exact(&mut memory).await.unwrap();
                assert_eq!(memory, *b"44");
                assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 6);
                file.seek(SeekFrom::Start(4)).await.unwrap();
                file.write_all(b"4").await.unwrap();
                file.flush().await.unwrap();
            }
            let mut std = file.into_std().await;
            let mut rest = String::new();
            std.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "44444");
        });
    });
}

#[test]
fn entries_of_a_directory_are_not_lost() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            for n in 0..500 {
                directory.file(&n.to_string(), "");
            }
            let mut entries = rt::fs::read_dir(directory.path()).await.unwrap();
            let mut seen = 0;
            loop {
                let next = match begin(entries.next_entry()) {
                    Some(next) => next,
                    None => entries.next_entry().await,
                };
                match next.unwrap() {
                    Some(_) => seen += 1,
                    None => break,
                }
            }
            assert_eq!(seen, 500);
        });
    });
}
