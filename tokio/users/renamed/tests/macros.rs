//! The macros in a crate that knows neither `rt` nor `tokio` by its name.

executor::task_local! {
    static NAME: &'static str;
}

#[executor::main(crate = "executor")]
async fn on_workers() -> u32 {
    executor::spawn(async { 7 }).await.unwrap()
}

#[test]
fn main_by_another_name() {
    assert_eq!(on_workers(), 7);
}

#[executor::test(crate = "::executor", flavor = "multi_thread")]
async fn a_test_by_another_name() {
    let future = async { 1 };
    executor::pin!(future);
    let one = executor::select! { one = &mut future => one };
    assert_eq!(executor::join!(async { one }, async { 2 }), (1, 2));
    assert_eq!(executor::try_join!(async { Ok::<_, ()>(1) }), Ok((1,)));
    NAME.scope("here", async { assert_eq!(NAME.get(), "here") }).await;
}

mod given_by_another_crate {
    use plain_user::tokio;

    #[tokio::test]
    async fn it_is_found_by_its_name_in_scope() {
        tokio::task::yield_now().await;
    }
}
