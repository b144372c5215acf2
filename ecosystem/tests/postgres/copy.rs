//! COPY of a million rows, in and out.

use std::fmt::Write;

use bytes::Bytes;
use ecosystem::Postgres;
use futures::{SinkExt, Stream, TryStreamExt};
use sqlx::postgres::PgPoolCopyExt;

use crate::{connect, sqlx_pool};

const ROWS: u64 = 1_000_000;
const CREATE: &str = "create table rows (n bigint, name text)";
const IN: &str = "copy rows from stdin";
const OUT: &str = "copy (select * from rows order by n) to stdout";

/// All rows, a thousand in each piece.
fn pieces() -> impl Iterator<Item = Bytes> {
    (0..ROWS / 1000).map(|piece| {
        let mut text = String::new();
        for n in piece * 1000..(piece + 1) * 1000 {
            writeln!(text, "{n}\tname {n}").unwrap();
        }
        text.into()
    })
}

/// Compares what comes with what went, byte by byte, however it is cut up.
async fn is_the_same<E: std::fmt::Debug>(copy: impl Stream<Item = Result<Bytes, E>>) {
    let mut expected = pieces();
    let mut left = Bytes::new();
    let mut copy = std::pin::pin!(copy);
    while let Some(mut part) = copy.try_next().await.unwrap() {
        while !part.is_empty() {
            if left.is_empty() {
                left = expected.next().expect("there is more than there was");
            }
            let length = left.len().min(part.len());
            assert_eq!(left.split_to(length), part.split_to(length));
        }
    }
    assert!(left.is_empty() && expected.next().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_postgres_copies_a_million_rows() {
    let server = Postgres::start();
    let client = connect(&server).await;
    client.batch_execute(CREATE).await.unwrap();

    // One that is given up leaves nothing.
    let mut sink = Box::pin(client.copy_in(IN).await.unwrap());
    for piece in pieces().take(100) {
        sink.feed(piece).await.unwrap();
    }
    drop(sink);
    assert_eq!(client.query_one("select count(*) from rows", &[]).await.unwrap().get::<_, i64>(0), 0);

    let mut sink = Box::pin(client.copy_in(IN).await.unwrap());
    sink.send_all(&mut futures::stream::iter(pieces().map(Ok))).await.unwrap();
    assert_eq!(sink.as_mut().finish().await.unwrap(), ROWS);
    is_the_same(client.copy_out(OUT).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx_copies_a_million_rows() {
    let server = Postgres::start();
    let pool = sqlx_pool(&server, 2);
    sqlx::query(CREATE).execute(&pool).await.unwrap();

    let mut copy = pool.copy_in_raw(IN).await.unwrap();
    for piece in pieces() {
        copy.send(piece).await.unwrap();
    }
    assert_eq!(copy.finish().await.unwrap(), ROWS);
    is_the_same(pool.copy_out_raw(OUT).await.unwrap()).await;

    // One that is given up in the middle costs nobody else anything.
    let mut copy = pool.copy_out_raw(OUT).await.unwrap();
    copy.try_next().await.unwrap().unwrap();
    drop(copy);
    assert_eq!(sqlx::query_scalar::<_, i64>("select count(*) from rows").fetch_one(&pool).await.unwrap(), 1_000_000);
}
