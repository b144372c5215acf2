//! SQLite by sqlx, in a file: its connections are threads that tasks talk to.

use ecosystem::Directory;
use futures::TryStreamExt;
use futures::future::join_all;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use std::time::Duration;
use tokio::sync::oneshot;

/// A database in a new file with a counter that is at zero.
async fn open(directory: &Directory, connections: u32) -> SqlitePool {
    let options = SqliteConnectOptions::new().filename(directory.path().join("data")).create_if_missing(true);
    // A writer waits for the others as long as it takes.
    let options = options.journal_mode(SqliteJournalMode::Wal).busy_timeout(Duration::from_secs(300));
    let pool = SqlitePoolOptions::new().max_connections(connections).acquire_timeout(Duration::from_secs(300));
    let pool = pool.connect_with(options).await.unwrap();
    sqlx::query("create table counter (n integer not null)").execute(&pool).await.unwrap();
    sqlx::query("insert into counter values (0)").execute(&pool).await.unwrap();
    pool
}

async fn counter(pool: &SqlitePool) -> i64 {
    sqlx::query_scalar("select n from counter").fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_of_many_tasks_is_lost() {
    let directory = Directory::new();
    let pool = open(&directory, 4).await;
    let tasks = (0..50).map(|_| {
        let pool = pool.clone();
        tokio::spawn(async move {
            for _ in 0..10 {
                let mut transaction = pool.begin_with("begin immediate").await.unwrap();
                let n: i64 = sqlx::query_scalar("select n from counter").fetch_one(&mut *transaction).await.unwrap();
                // Others have their turn here, and must not come between.
                tokio::task::yield_now().await;
                let update = sqlx::query("update counter set n = ?").bind(n + 1);
                update.execute(&mut *transaction).await.unwrap();
                transaction.commit().await.unwrap();
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    assert_eq!(counter(&pool).await, 500);
    // What was written is in the file, for those who come later.
    pool.close().await;
    let again = SqliteConnectOptions::new().filename(directory.path().join("data"));
    assert_eq!(counter(&SqlitePool::connect_with(again).await.unwrap()).await, 500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_transaction_is_rolled_back() {
    let directory = Directory::new();
    let pool = open(&directory, 1).await;

    let mut transaction = pool.begin().await.unwrap();
    sqlx::query("update counter set n = 1").execute(&mut *transaction).await.unwrap();
    drop(transaction);
    assert_eq!(counter(&pool).await, 0);

    // The same by the end of a task in the middle of it.
    let (written, is_written) = oneshot::channel();
    let task = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut transaction = pool.begin().await.unwrap();
            sqlx::query("update counter set n = 1").execute(&mut *transaction).await.unwrap();
            written.send(()).unwrap();
            std::future::pending::<()>().await;
            transaction.commit().await.unwrap();
        }
    });
    is_written.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(counter(&pool).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_stream_and_may_be_left_unread() {
    let directory = Directory::new();
    let pool = open(&directory, 1).await;
    let numbers = "with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 100000)
        select n from numbers";
    let mut rows = sqlx::query_scalar::<_, i64>(numbers).fetch(&pool);
    assert_eq!(rows.try_next().await.unwrap(), Some(1));
    drop(rows);
    let rows = sqlx::query_scalar::<_, i64>(numbers).fetch(&pool);
    let sum = rows.try_fold(0, |sum, n| async move { Ok(sum + n) }).await.unwrap();
    assert_eq!(sum, 100_000 * 100_001 / 2);
}
