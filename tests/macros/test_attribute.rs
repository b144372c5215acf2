use super::*;

#[rt::test]
async fn runs_on_one_thread() {
    let here = std::thread::current().id();
    assert_eq!(rt::spawn(async { std::thread::current().id() }).await.unwrap(), here);
}

#[rt::test]
async fn may_spawn_what_is_not_send() {
    let local = Rc::new(7);
    assert_eq!(*rt::task::spawn_local(async move { local }).await.unwrap(), 7);
}

#[rt::test(flavor = "multi_thread", worker_threads = 2)]
async fn may_run_on_workers() {
    // Whichever of the two blocks, the other goes on; on one thread this would never end.
    let (sender, receiver) = std::sync::mpsc::channel();
    let waits = rt::spawn(async move { receiver.recv().unwrap() });
    let sends = rt::spawn(async move { sender.send(7).unwrap() });
    sends.await.unwrap();
    assert_eq!(waits.await.unwrap(), 7);
}

#[rt::test(start_paused = true)]
async fn may_stop_the_clock() {
    let before = rt::time::Instant::now();
    sleep(Duration::from_secs(3600)).await;
    assert!(before.elapsed() >= Duration::from_secs(3600));
}

#[rt::test]
#[should_panic(expected = "as it should")]
async fn may_be_expected_to_panic() {
    yield_now().await;
    panic!("as it should");
}

/// Attributes that are not the macro's business stay: this one takes the test away before anybody looks for the
/// macro in it.
#[rt::test]
#[cfg(any())]
async fn may_have_other_attributes() {
    this_macro_does_not_exist!();
}

#[rt::test]
async fn may_return_a_result() -> Result<(), Box<dyn std::error::Error>> {
    let number: u32 = "7".parse()?;
    assert_eq!(number, 7);
    Ok(())
}

#[rt::test]
#[cfg(any())]
async fn may_be_left_out() {
    this_function_does_not_exist();
}

/// Attributes and comments stay.
#[allow(clippy::assertions_on_constants)]
#[rt::test]
async fn may_have_attributes_above() {
    assert!(true);
}

/// Attributes of other crates make functions with lifetimes of those with cases.
#[allow(clippy::extra_unused_lifetimes)] // It is used in what becomes of the body.
#[rt::test]
async fn a_lifetime_is_nothing_to_choose<'a>() {
    let text: &'a str = "static";
    rt::task::yield_now().await;
    assert_eq!(text.len(), 6);
}
