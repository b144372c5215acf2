//! Transactions and queries that are given up in the middle.

use ecosystem::Postgres;
use tokio::sync::oneshot;
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

use crate::{connect, deadpool, sqlx_pool};

/// What a connection does when the lock is held by another.
const WAIT: &str = "select pg_advisory_xact_lock(1)";

/// Holds the lock that others wait for.
async fn hold(client: &tokio_postgres::Client) {
    client.batch_execute("create table rows (n bigint primary key)").await.unwrap();
    client.batch_execute("select pg_advisory_lock(1)").await.unwrap();
    // So that a transaction that is left open fails the test.
    client.batch_execute("set lock_timeout = '300s'").await.unwrap();
}

/// Returns when one waits for the lock: it is in the middle of its query, for sure.
async fn somebody_waits(client: &tokio_postgres::Client) {
    let waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
    while client.query_opt(waiting, &[]).await.unwrap().is_none() {
        tokio::task::yield_now().await;
    }
}

/// Fails if the row is there. Waits until no transaction has it in hand, which is the first question.
async fn row_is_free(client: &tokio_postgres::Client) {
    client.batch_execute("insert into rows values (1)").await.unwrap();
    client.batch_execute("delete from rows").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_transaction_of_sqlx_leaves_no_row() {
    let server = Postgres::start();
    let control = connect(&server).await;
    hold(&control).await;
    // So that it is the same connection each time.
    let pool = sqlx_pool(&server, 1);
    let pid = || sqlx::query_scalar::<_, i32>("select pg_backend_pid()").fetch_one(&pool);
    let before = pid().await.unwrap();

    // Between two queries.
    let (inserted, is_inserted) = oneshot::channel();
    let task = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut transaction = pool.begin().await.unwrap();
            sqlx::query("insert into rows values (1)").execute(&mut *transaction).await.unwrap();
            inserted.send(()).unwrap();
            std::future::pending::<()>().await;
            transaction.commit().await.unwrap();
        }
    });
    is_inserted.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    row_is_free(&control).await;
    // The connection is as good as it was.
    assert_eq!(pid().await.unwrap(), before);

    // In the middle of a query.
    let task = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut transaction = pool.begin().await.unwrap();
            sqlx::query("insert into rows values (1)").execute(&mut *transaction).await.unwrap();
            sqlx::query(WAIT).execute(&mut *transaction).await.unwrap();
            transaction.commit().await.unwrap();
        }
    });
    somebody_waits(&control).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    control.batch_execute("select pg_advisory_unlock(1)").await.unwrap();
    row_is_free(&control).await;
    // It is used again, or another has come in its place.
    pid().await.unwrap();
    assert_eq!(pool.size(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_transaction_of_tokio_postgres_leaves_no_row() {
    let server = Postgres::start();
    let control = connect(&server).await;
    hold(&control).await;
    let pool = deadpool(&server, 1);
    let task = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut client = pool.get().await.unwrap();
            let transaction = client.transaction().await.unwrap();
            transaction.execute("insert into rows values (1)", &[]).await.unwrap();
            transaction.batch_execute(WAIT).await.unwrap();
            transaction.commit().await.unwrap();
        }
    });
    somebody_waits(&control).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    control.batch_execute("select pg_advisory_unlock(1)").await.unwrap();
    row_is_free(&control).await;
    let client = pool.get().await.unwrap();
    assert_eq!(client.query_one("select count(*) from rows", &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_cancelled_by_its_token() {
    let server = Postgres::start();
    let control = connect(&server).await;
    hold(&control).await;
    let client = connect(&server).await;
    let token = client.cancel_token();
    let task = tokio::spawn(async move {
        let result = client.batch_execute(WAIT).await;
        (client, result)
    });
    somebody_waits(&control).await;
    token.cancel_query(NoTls).await.unwrap();
    let (client, result) = task.await.unwrap();
    assert_eq!(result.unwrap_err().code(), Some(&SqlState::QUERY_CANCELED));
    client.batch_execute("select 1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_has_its_time() {
    let server = Postgres::start();
    let pool = sqlx_pool(&server, 1);
    sqlx::query("set statement_timeout = '50ms'").execute(&pool).await.unwrap();
    let error = sqlx::query("select pg_sleep(600)").execute(&pool).await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().as_deref(), Some(SqlState::QUERY_CANCELED.code()));
    sqlx::query("reset statement_timeout").execute(&pool).await.unwrap();
}
