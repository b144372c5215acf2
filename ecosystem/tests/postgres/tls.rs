//! TLS by rustls, after a start in the clear.

use ecosystem::{Certificate, Postgres};
use sqlx::postgres::{PgPoolOptions, PgSslMode};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{config, options};

const IS_TLS: &str = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx_speaks_tls() {
    let server = Postgres::start();
    let options = options(&server).ssl_mode(PgSslMode::VerifyFull);
    let trusting = options.clone().ssl_root_cert(server.certificate_file());
    let pool = PgPoolOptions::new().connect_with(trusting).await.unwrap();
    assert!(sqlx::query_scalar::<_, bool>(IS_TLS).fetch_one(&pool).await.unwrap());
    // The server's is none that the world trusts.
    let error = PgPoolOptions::new().connect_with(options).await.unwrap_err();
    assert!(matches!(error, sqlx::Error::Tls(_) | sqlx::Error::Io(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_postgres_speaks_tls() {
    let server = Postgres::start();
    let mut config = config(&server);
    let config = config.ssl_mode(SslMode::Require);
    let (client, connection) = config.connect(MakeRustlsConnect::new(server.certificate.client(&[]))).await.unwrap();
    let driver = tokio::spawn(connection);
    assert!(client.query_one(IS_TLS, &[]).await.unwrap().get::<_, bool>(0));
    drop(client);
    driver.await.unwrap().unwrap();
    let other = MakeRustlsConnect::new(Certificate::new().client(&[]));
    assert!(config.connect(other).await.is_err());
}
