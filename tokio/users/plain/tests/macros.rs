//! Every macro, in a crate that has no `rt`.

use std::time::Duration;

tokio::task_local! {
    static NAME: &'static str;
}

#[tokio::main]
async fn on_workers() -> u32 {
    let flavor = tokio::runtime::Handle::current().runtime_flavor();
    assert_eq!(flavor, tokio::runtime::RuntimeFlavor::MultiThread);
    tokio::spawn(async { 7 }).await.unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn on_this_thread() -> Result<u32, String> {
    let flavor = tokio::runtime::Handle::current().runtime_flavor();
    assert_eq!(flavor, tokio::runtime::RuntimeFlavor::CurrentThread);
    Ok(3)
}

#[test]
fn main_runs_the_function_on_a_runtime() {
    assert_eq!(on_workers(), 7);
    assert_eq!(on_this_thread(), Ok(3));
}

#[tokio::test]
async fn a_test_has_a_runtime() {
    assert_eq!(tokio::spawn(async { 1 + 1 }).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_on_two_workers() {
    assert_eq!(tokio::runtime::Handle::current().metrics().num_workers(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_test_with_the_clock_paused() {
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
}

#[tokio::test]
async fn select_join_pin_and_task_local() {
    let slow = std::future::pending::<()>();
    tokio::pin!(slow);
    let winner = tokio::select! {
        biased;
        () = &mut slow => "slow",
        number = async { 1 }, if true => { assert_eq!(number, 1); "fast" }
        else => "none",
    };
    assert_eq!(winner, "fast");

    assert_eq!(tokio::join!(async { 1 }, async { "two" }), (1, "two"));
    assert_eq!(tokio::try_join!(async { Ok::<_, ()>(1) }, async { Ok(2) }), Ok((1, 2)));
    assert_eq!(tokio::try_join!(async { Err::<(), _>(3) }, std::future::pending::<Result<(), i32>>()), Err(3));

    NAME.scope("here", async { assert_eq!(NAME.get(), "here") }).await;
}

/// A module of the user's is found before the crate, as with Tokio's own attributes.
mod from_another_crate {
    use plain_user::tokio;

    #[tokio::test]
    async fn it_is_found() {
        tokio::task::yield_now().await;
    }
}

/// Nothing says what type of output the first future has, and it is not needed.
#[tokio::test]
async fn select_takes_a_future_of_no_type_in_particular() {
    let never = std::future::poll_fn(|_| panic!());
    tokio::select! {
        _ = never, if false => unreachable!(),
        () = async {} => {}
    }
}
