//! Many tasks, few connections.

use std::collections::HashSet;
use std::time::Duration;

use ecosystem::Postgres;
use futures::future::join_all;
use tokio_postgres::types::ToSql;

use crate::{deadpool, options, sqlx_pool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx_shares_four_connections_among_200_tasks() {
    let server = Postgres::start();
    let pool = sqlx_pool(&server, 4);
    sqlx::query("create table numbers (n bigint primary key)").execute(&pool).await.unwrap();
    let tasks = (0..200_i64).map(|n| {
        let pool = pool.clone();
        tokio::spawn(async move {
            sqlx::query("insert into numbers values ($1)").bind(n).execute(&pool).await.unwrap();
            let read = sqlx::query_as("select n, pg_backend_pid() from numbers where n = $1").bind(n);
            let (read, connection): (i64, i32) = read.fetch_one(&pool).await.unwrap();
            assert_eq!(read, n);
            connection
        })
    });
    let connections: HashSet<i32> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert!(connections.len() <= 4, "{connections:?}");
    let sum: i64 = sqlx::query_scalar("select sum(n)::bigint from numbers").fetch_one(&pool).await.unwrap();
    assert_eq!(sum, 199 * 200 / 2);
    pool.close().await;
    assert_eq!(pool.size(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadpool_shares_four_connections_among_200_tasks() {
    let server = Postgres::start();
    let pool = deadpool(&server, 4);
    pool.get().await.unwrap().batch_execute("create table numbers (n bigint primary key)").await.unwrap();
    let tasks = (0..200_i64).map(|n| {
        let pool = pool.clone();
        tokio::spawn(async move {
            let client = pool.get().await.unwrap();
            let insert = client.prepare_cached("insert into numbers values ($1)").await.unwrap();
            assert_eq!(client.execute(&insert, &[&n]).await.unwrap(), 1);
            // Of one connection, several at a time.
            let key: [&(dyn ToSql + Sync); 1] = [&n];
            let read = client.query_one("select n from numbers where n = $1", &key);
            let connection = client.query_one("select pg_backend_pid()", &[]);
            let (read, connection) = tokio::try_join!(read, connection).unwrap();
            assert_eq!(read.get::<_, i64>(0), n);
            connection.get::<_, i32>(0)
        })
    });
    let connections: HashSet<i32> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert!(connections.len() <= 4, "{connections:?}");
    let sum = pool.get().await.unwrap().query_one("select sum(n)::bigint from numbers", &[]).await.unwrap();
    assert_eq!(sum.get::<_, i64>(0), 199 * 200 / 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_too_long_for_a_connection_is_told() {
    let server = Postgres::start();

    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(2));
    let pool = pool.connect_lazy_with(options(&server));
    let only = pool.acquire().await.unwrap();
    assert!(matches!(pool.acquire().await, Err(sqlx::Error::PoolTimedOut)));
    drop(only);
    pool.acquire().await.unwrap();

    let pool = deadpool(&server, 1);
    let only = pool.get().await.unwrap();
    let mut timeouts = pool.timeouts();
    timeouts.wait = Some(Duration::from_millis(20));
    assert!(matches!(pool.timeout_get(&timeouts).await, Err(deadpool_postgres::PoolError::Timeout(_))));
    drop(only);
    drop(pool.get().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_outlive_a_restart_of_the_server() {
    let mut server = Postgres::start();
    let (sqlx, deadpool) = (sqlx_pool(&server, 2), deadpool(&server, 2));
    sqlx::query("create table notes as select 'kept' as note").execute(&sqlx).await.unwrap();
    deadpool.get().await.unwrap().batch_execute("select 1").await.unwrap();

    server.restart();

    // Which connections are dead they find out as they look at them, or at the next use.
    let note = loop {
        match sqlx::query_scalar::<_, String>("select note from notes").fetch_one(&sqlx).await {
            Ok(note) => break note,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(note, "kept");
    let note = loop {
        match deadpool.get().await.unwrap().query_one("select note from notes", &[]).await {
            Ok(row) => break row.get::<_, String>(0),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(note, "kept");
}
