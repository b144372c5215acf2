//! However much there is to do, a task gives way now and then: a `timeout` around a loop ends it.

use std::io::Cursor;
use std::pin::pin;
use std::time::Duration;

use rt::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter, copy, copy_bidirectional,
    copy_buf, duplex, empty, repeat, sink,
};
use rt::time::timeout;

use super::foreign::{Endless, Trickle};
use super::{polled_once, run};

/// Repeats the operation in one poll, and expects it to be refused before long.
async fn gives_way(what: &str, mut operation: impl AsyncFnMut()) {
    let mut count = 0;
    let looping = pin!(async {
        loop {
            operation().await;
            count += 1;
            assert!(count < 100_000, "{what} never gives way");
        }
    });
    assert!(polled_once(looping).await.is_pending());
    // The budget is a new one.
    rt::task::yield_now().await;
}

#[test]
fn readers_in_memory() {
    run(async {
        let mut buf = [0; 4];
        gives_way("a slice", async || _ = (&b""[..]).read(&mut buf).await.unwrap()).await;
        gives_way("a slice's buffer", async || _ = (&b"x"[..]).fill_buf().await.unwrap()).await;
        let mut cursor = Cursor::new(b"x");
        gives_way("a cursor", async || _ = cursor.read(&mut buf).await.unwrap()).await;
        gives_way("a cursor's buffer", async || _ = cursor.fill_buf().await.unwrap()).await;
        gives_way("empty", async || _ = empty().read(&mut buf).await.unwrap()).await;
        gives_way("the buffer of empty", async || _ = empty().fill_buf().await.unwrap()).await;
        gives_way("the position of empty", async || _ = empty().rewind().await.unwrap()).await;
        gives_way("repeat", async || _ = repeat(1).read(&mut buf).await.unwrap()).await;
        let mut repeating = repeat(1);
        gives_way("numbers", async || _ = repeating.read_u8().await.unwrap()).await;
        gives_way("whole buffers", async || _ = repeating.read_exact(&mut buf).await.unwrap()).await;
        gives_way("what is appended", async || _ = repeating.read_buf(&mut vec![]).await.unwrap()).await;
    });
}

#[test]
fn readers_around_others() {
    run(async {
        let mut buf = [0; 4];
        let mut taken = repeat(1).take(0);
        gives_way("take at its limit", async || _ = taken.read(&mut buf).await.unwrap()).await;
        let mut taken = BufReader::new(repeat(1)).take(0);
        gives_way("the buffer of take at its limit", async || _ = taken.fill_buf().await.unwrap()).await;
        let mut chained = empty().chain(empty());
        gives_way("chain", async || _ = chained.read(&mut buf).await.unwrap()).await;
        let mut buffered = BufReader::new(empty());
        gives_way("a buffered reader", async || _ = buffered.read(&mut buf).await.unwrap()).await;
        let mut buffered = BufReader::with_capacity(16, repeat(1));
        gives_way("numbers from a buffer", async || _ = buffered.read_u32().await.unwrap()).await;
        let mut lines = BufReader::new(empty()).lines();
        gives_way("lines", async || assert!(lines.next_line().await.unwrap().is_none())).await;
        let mut segments = BufReader::with_capacity(16, repeat(b',')).split(b',');
        gives_way("segments", async || assert!(segments.next_segment().await.unwrap().is_some())).await;
        // These never end by themselves, and are in one operation.
        assert!(polled_once(Trickle(repeat(1)).read_to_end(&mut vec![])).await.is_pending());
        rt::task::yield_now().await;
        assert!(polled_once(Trickle(repeat(1)).read_to_string(&mut String::new())).await.is_pending());
        rt::task::yield_now().await;
        assert!(polled_once(BufReader::new(repeat(1)).read_until(2, &mut vec![])).await.is_pending());
    });
}

#[test]
fn writers_in_memory() {
    run(async {
        gives_way("a vector", async || _ = vec![].write(b"x").await.unwrap()).await;
        let mut cursor = Cursor::new(vec![]);
        gives_way("a cursor", async || _ = cursor.write(b"x").await.unwrap()).await;
        gives_way("sink", async || sink().write_all(b"x").await.unwrap()).await;
        gives_way("flushing sink", async || sink().flush().await.unwrap()).await;
        gives_way("numbers", async || sink().write_u64(5).await.unwrap()).await;
        gives_way("empty", async || empty().write_all(b"x").await.unwrap()).await;
        gives_way("a `Buf`", async || sink().write_all_buf(&mut &b"x"[..]).await.unwrap()).await;
        let mut buffered = BufWriter::with_capacity(16, sink());
        gives_way("a buffered writer", async || buffered.write_all(b"12345").await.unwrap()).await;
    });
}

#[test]
fn streams_between_tasks() {
    run(async {
        let (mut one, mut other) = duplex(64);
        gives_way("duplex", async || {
            one.write_all(b"ping").await.unwrap();
            other.read_exact(&mut [0; 4]).await.unwrap();
        })
        .await;
        drop(one);
        gives_way("the end of duplex", async || _ = other.read(&mut [0; 4]).await.unwrap()).await;
        gives_way("the end of duplex for writers", async || _ = other.write(b"x").await.unwrap_err()).await;
        let (mut reader, mut writer) = rt::io::simplex(64);
        gives_way("simplex", async || {
            writer.write_all(b"ping").await.unwrap();
            reader.read_exact(&mut [0; 4]).await.unwrap();
        })
        .await;
    });
}

#[test]
fn copies() {
    run(async {
        gives_way("copies of nothing", async || _ = copy(&mut empty(), &mut sink()).await.unwrap()).await;
        gives_way("buffered copies of nothing", async || _ = copy_buf(&mut empty(), &mut sink()).await.unwrap()).await;
        assert!(polled_once(copy(&mut repeat(1), &mut sink())).await.is_pending());
        rt::task::yield_now().await;
        // Of streams that spend nothing themselves.
        let (mut a, mut b) = (Endless::default(), Endless::default());
        assert!(polled_once(copy(&mut a, &mut b)).await.is_pending());
        rt::task::yield_now().await;
        assert!(polled_once(copy_buf(&mut a, &mut b)).await.is_pending());
        rt::task::yield_now().await;
        assert!(polled_once(copy_bidirectional(&mut a, &mut b)).await.is_pending());
    });
}

#[test]
fn a_timeout_ends_what_never_ends_by_itself() {
    run(async {
        let brief = Duration::from_millis(1);
        let mut buf = [0; 64];
        let reading = async {
            loop {
                empty().read(&mut buf).await.unwrap();
            }
        };
        assert!(timeout(brief, reading).await.is_err());
        assert!(timeout(brief, copy(&mut repeat(1), &mut sink())).await.is_err());
        let (mut a, mut b) = (Endless::default(), Endless::default());
        assert!(timeout(brief, copy_bidirectional(&mut a, &mut b)).await.is_err());
    });
}
