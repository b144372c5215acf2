//! PostgreSQL by sqlx, and by tokio-postgres with deadpool-postgres, with a server of its own for each test.

mod postgres {
    mod cancel;
    mod copy;
    mod notify;
    mod pool;
    mod tls;
}

use std::time::Duration;

use ecosystem::Postgres;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgSslMode};
use tokio_postgres::NoTls;

/// sqlx's way to the server, by TCP or by its socket.
fn options(server: &Postgres) -> PgConnectOptions {
    let options = PgConnectOptions::new_without_pgpass().host("localhost").port(server.port());
    options.username("postgres").database("postgres").ssl_mode(PgSslMode::Disable)
}

/// sqlx's pool, of at most so many connections.
fn sqlx_pool(server: &Postgres, size: u32) -> PgPool {
    // Many tasks on a busy machine take their time.
    let pool = PgPoolOptions::new().max_connections(size).acquire_timeout(Duration::from_secs(300));
    pool.connect_lazy_with(options(server).socket(server.socket()))
}

/// tokio-postgres's way to the server, by TCP.
fn config(server: &Postgres) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config.host("localhost").hostaddr([127, 0, 0, 1].into()).port(server.port()).user("postgres").dbname("postgres");
    config
}

/// deadpool's pool of tokio-postgres's connections, of at most so many.
fn deadpool(server: &Postgres, size: usize) -> deadpool_postgres::Pool {
    let manager = deadpool_postgres::Manager::new(config(server), NoTls);
    let builder = deadpool_postgres::Pool::builder(manager).max_size(size);
    builder.runtime(deadpool_postgres::Runtime::Tokio1).build().unwrap()
}

/// One connection of tokio-postgres, driven by a task.
async fn connect(server: &Postgres) -> tokio_postgres::Client {
    let (client, connection) = config(server).connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
