//! What a file does when all goes well.

use std::io::{IoSlice, SeekFrom};
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use rt::fs::{self, File, FileTimes, OpenOptions};
use rt::io::{AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

use crate::temporary::Directory;
use rt_test_util::{on_each_runtime, watchdog};

#[test]
fn what_is_written_and_flushed_is_in_the_file_and_can_be_read() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.path().join("a");
            let mut file = File::create(&path).await.unwrap();
            // Of any size: longer than a read at once takes, and than a write takes.
            let bytes: Vec<u8> = (0..3_000_000u32).map(|n| n.wrapping_mul(n) as u8).collect();
            for part in bytes.chunks(777_777) {
                file.write_all(part).await.unwrap();
            }
            file.flush().await.unwrap();
            assert!(std::fs::read(&path).unwrap() == bytes);
            for length in [100_000, 1 << 20, 4 << 20] {
                let mut file = File::open(&path).await.unwrap();
                let (mut read, mut memory) = (Vec::new(), vec![0; length]);
                loop {
                    match file.read(&mut memory).await.unwrap() {
                        0 => break,
                        count => read.extend_from_slice(&memory[..count]),
                    }
                }
                assert!(read == bytes, "{length}");
            }
        });
    });
}

#[test]
fn small_reads_and_writes_keep_their_order() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.path().join("a");
            let mut file = File::create(&path).await.unwrap();
            for n in 0..10_000u32 {
                file.write_all(&n.to_le_bytes()).await.unwrap();
            }
            file.flush().await.unwrap();
            let mut file = File::open(&path).await.unwrap();
            for n in 0..10_000u32 {
                let mut bytes = [0; 4];
                file.read_exact(&mut bytes).await.unwrap();
                assert_eq!(u32::from_le_bytes(bytes), n);
            }
            assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 0);
        });
    });
}

#[test]
fn a_read_gets_all_that_was_asked_for_or_the_rest() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", vec![7; 200_000]);
            for length in [1, 4096, 65_536, 65_537, 150_000] {
                let mut file = File::open(&path).await.unwrap();
                let mut memory = vec![0; length];
                assert_eq!(file.read(&mut memory).await.unwrap(), length);
                file.seek(SeekFrom::End(-5)).await.unwrap();
                assert_eq!(file.read(&mut memory).await.unwrap(), length.min(5));
            }
        });
    });
}

#[test]
fn seeking_is_from_where_the_reader_is() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", "0123456789");
            let mut file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
            let mut memory = [0; 3];
            file.read_exact(&mut memory).await.unwrap();
            assert_eq!(file.seek(SeekFrom::Current(1)).await.unwrap(), 4);
            file.read_exact(&mut memory).await.unwrap();
            assert_eq!(&memory, b"456");
            assert_eq!(file.seek(SeekFrom::End(-2)).await.unwrap(), 8);
            file.write_all(b"xy").await.unwrap();
            assert_eq!(file.seek(SeekFrom::Start(7)).await.unwrap(), 7);
            file.read_exact(&mut memory).await.unwrap();
            assert_eq!(&memory, b"7xy");
            assert!(file.seek(SeekFrom::Current(-100)).await.is_err());
            assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 10, "it stays");
        });
    });
}

#[test]
fn what_others_write_is_seen_at_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", "aaaa");
            let mut file = File::open(&path).await.unwrap();
            let mut memory = [0; 2];
            file.read_exact(&mut memory).await.unwrap();
            std::fs::write(&path, "bbbbbb").unwrap();
            file.read_exact(&mut memory).await.unwrap();
            assert_eq!(&memory, b"bb", "nothing is read ahead");
        });
    });
}

#[test]
fn clones_share_the_position() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.path().join("a");
            let mut file = OpenOptions::new().read(true).write(true).create(true).open(&path).await.unwrap();
            file.set_max_buf_size(1000);
            file.write_all(b"one").await.unwrap();
            let mut clone = file.try_clone().await.unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"one", "it has waited for the write");
            assert_eq!(clone.max_buf_size(), 1000);
            clone.write_all(b"two").await.unwrap();
            clone.flush().await.unwrap();
            assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 6);
            file.seek(SeekFrom::Start(0)).await.unwrap();
            let mut memory = [0; 2];
            for (of_clone, expected) in [(false, b"on"), (true, b"et"), (false, b"wo")] {
                let file = if of_clone { &mut clone } else { &mut file };
                assert_eq!(file.read(&mut memory).await.unwrap(), 2);
                assert_eq!(&memory, expected);
            }
        });
    });
}

#[test]
fn into_std_and_back() {
    use std::io::{Read as _, Write as _};
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.path().join("a");
            let mut file = File::create_new(&path).await.unwrap();
            for _ in 0..100 {
                file.write_all(b"hello ").await.unwrap();
            }
            let mut std = file.into_std().await;
            std.write_all(b"world").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), ["hello ".repeat(100).as_bytes(), b"world"].concat());

            let mut file = File::from_std(std::fs::File::open(&path).unwrap());
            let mut memory = [0; 6];
            file.read_exact(&mut memory).await.unwrap();
            let mut std = file.try_into_std().expect("nothing goes on");
            std.read_exact(&mut memory).unwrap();
            assert_eq!(&memory, b"hello ");
        });
    });
}

#[test]
fn lengths_times_and_permissions() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.path().join("a");
            let mut file = File::create(&path).await.unwrap();
            file.write_all(b"0123456789").await.unwrap();
            file.set_len(4).await.unwrap();
            assert_eq!(file.metadata().await.unwrap().len(), 4, "the write was before");
            file.set_len(6).await.unwrap();
            file.sync_all().await.unwrap();
            file.sync_data().await.unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"0123\0\0");

            let (read, changed) = (Duration::from_secs(1_600_000_000), Duration::from_secs(1_500_000_000));
            let (read, changed) = (SystemTime::UNIX_EPOCH + read, SystemTime::UNIX_EPOCH + changed);
            file.write_all(b"x").await.unwrap();
            file.set_times(FileTimes::new().set_accessed(read).set_modified(changed)).await.unwrap();
            let metadata = file.metadata().await.unwrap();
            assert_eq!((metadata.accessed().unwrap(), metadata.modified().unwrap()), (read, changed));
            file.set_modified(read).await.unwrap();
            assert_eq!(file.metadata().await.unwrap().modified().unwrap(), read);

            let mut permissions = file.metadata().await.unwrap().permissions();
            permissions.set_readonly(true);
            file.set_permissions(permissions).await.unwrap();
            assert!(fs::metadata(&path).await.unwrap().permissions().readonly());
        });
    });
}

#[test]
fn the_most_that_one_operation_moves() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.file("a", "hello");
            let mut file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
            assert_eq!(file.max_buf_size(), 2 * 1024 * 1024);
            file.set_max_buf_size(2);
            assert_eq!(file.read(&mut [0; 5]).await.unwrap(), 2);
            assert_eq!(file.write(b"abc").await.unwrap(), 2);
            let bufs = [IoSlice::new(b"a"), IoSlice::new(b"bc")];
            assert!(file.is_write_vectored());
            let written = std::future::poll_fn(|cx| Pin::new(&mut file).poll_write_vectored(cx, &bufs)).await;
            assert_eq!(written.unwrap(), 2);
            file.shutdown().await.unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"heabab");
        });
    });
}

#[test]
#[should_panic(expected = "`max_buf_size` must be greater than 0")]
fn a_file_that_moves_nothing_is_refused() {
    let directory = Directory::new();
    let mut file = File::from_std(std::fs::File::open(directory.file("a", "")).unwrap());
    file.set_max_buf_size(0);
}

/// A loop over a file, whatever it does at once, lets other tasks of its worker run.
#[test]
fn operations_spend_budget() {
    let _watchdog = watchdog();
    let runtime = rt_test_util::current();
    runtime.block_on(async {
        let directory = Directory::new();
        let path = directory.file("a", "hello");
        let tasks = [
            rt::spawn({
                let path = path.clone();
                async move {
                    let mut file = File::open(path).await.unwrap();
                    loop {
                        file.read(&mut [0; 9]).await.unwrap();
                        file.seek(SeekFrom::Start(0)).await.unwrap();
                    }
                }
            }),
            rt::spawn(async move {
                let mut file = OpenOptions::new().append(true).open(path).await.unwrap();
                loop {
                    file.write(b"x").await.unwrap();
                    file.seek(SeekFrom::Start(0)).await.unwrap();
                }
            }),
            rt::spawn(async {
                loop {
                    rt::io::stdout().flush().await.unwrap()
                }
            }),
        ];
        for _ in 0..1000 {
            rt::task::yield_now().await;
        }
        for task in tasks {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    });
}

#[test]
fn whole_files() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
            fs::write(&a, "hello").await.unwrap();
            assert_eq!(fs::read(&a).await.unwrap(), b"hello");
            assert_eq!(fs::copy(&a, &b).await.unwrap(), 5);
            assert_eq!(fs::read_to_string(&b).await.unwrap(), "hello");
            fs::write(&b, [0xff]).await.unwrap();
            assert_eq!(fs::read_to_string(&b).await.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
        });
    });
}

/// Many at once, on few threads.
#[test]
fn a_thousand_files_at_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = std::sync::Arc::new(Directory::new());
            let tasks: Vec<_> = (0..1000)
                .map(|n: usize| {
                    let directory = directory.clone();
                    rt::spawn(async move {
                        let path = directory.path().join(n.to_string());
                        fs::write(&path, n.to_string()).await?;
                        let mut text = String::new();
                        File::open(&path).await?.read_to_string(&mut text).await?;
                        assert_eq!(text, n.to_string());
                        fs::remove_file(path).await
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap().unwrap();
            }
        });
    });
}
