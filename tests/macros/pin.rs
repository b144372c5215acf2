use super::*;

fn assert_pinned<F: Future>(_: &Pin<&mut F>) {}

#[rt::test]
async fn names_become_pins() {
    let first = async { 1 };
    let second = async { 2 };
    rt::pin!(first, second);
    assert_pinned(&first);
    assert_eq!((second.await, first.await), (2, 1));
}

#[rt::test]
async fn variables_can_be_made_on_the_spot() {
    rt::pin! {
        let first = async { 1 };
        let second = poll_fn(|_| Poll::Ready(2));
    }
    assert_pinned(&first);
    assert_eq!(poll_once(second.as_mut()), Poll::Ready(2));
    assert_eq!(first.await, 1);
}

#[rt::test]
async fn values_are_dropped_at_the_end_of_the_scope() {
    let log = RefCell::default();
    {
        let probe = Probe::new("a", 1, &log);
        rt::pin!(probe);
        probe.as_mut().await;
        assert_eq!(*log.borrow(), ["poll a"]);
    }
    assert_eq!(*log.borrow(), ["poll a", "drop a"]);
}
