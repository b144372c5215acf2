//! LISTEN and NOTIFY.

use ecosystem::Postgres;
use futures::StreamExt;
use sqlx::postgres::PgListener;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, NoTls};

use crate::{config, connect, sqlx_pool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx_hears_all_in_order_also_after_its_connection_was_lost() {
    let server = Postgres::start();
    let pool = sqlx_pool(&server, 3);
    let mut listener = PgListener::connect_with(&pool).await.unwrap();
    listener.listen_all(["news", "weather"]).await.unwrap();
    let notify = async |n: u32| {
        let notify = sqlx::query("select pg_notify($1, $2)").bind("news").bind(n.to_string());
        notify.execute(&pool).await.unwrap();
    };

    let heard = tokio::spawn(async move {
        for n in 0..100 {
            let news = listener.recv().await.unwrap();
            assert_eq!((news.channel(), news.payload()), ("news", &*n.to_string()));
        }
        listener
    });
    for n in 0..100 {
        notify(n).await;
    }
    let mut listener = heard.await.unwrap();

    // Those that have listened, and are not this one.
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'";
    assert_eq!(sqlx::query(end).fetch_all(&pool).await.unwrap().len(), 1);
    // It says that it may have missed something, and listens anew.
    assert!(listener.try_recv().await.unwrap().is_none());
    notify(100).await;
    assert_eq!(listener.recv().await.unwrap().payload(), "100");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_postgres_hears_all_in_order() {
    let server = Postgres::start();
    let (client, mut connection) = config(&server).connect(NoTls).await.unwrap();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let driver = tokio::spawn(async move {
        let mut messages = futures::stream::poll_fn(move |context| connection.poll_message(context));
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message.unwrap() {
                sender.send(notification).unwrap();
            }
        }
    });
    client.batch_execute("listen news").await.unwrap();
    let other = connect(&server).await;
    // Those of one transaction come when it is committed, and not at all when it is not.
    other.batch_execute("begin; notify news, 'lost'; rollback").await.unwrap();
    for n in 0..100 {
        other.batch_execute(&format!("notify news, '{n}'")).await.unwrap();
    }
    for n in 0..100 {
        let news = receiver.recv().await.unwrap();
        assert_eq!((news.channel(), news.payload()), ("news", &*n.to_string()));
    }
    // The connection ends with its client.
    drop(client);
    driver.await.unwrap();
    assert!(receiver.recv().await.is_none());
}
