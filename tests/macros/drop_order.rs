//! In which order the macros drop what they were given. It is that in which it is written, as with Tokio's macros, so
//! that what a later future lends to an earlier one stays until the end.

use super::*;

/// Says when it is made, and makes a [`Probe`].
struct Making<'a>(&'static str, usize, &'a RefCell<Vec<String>>);

impl<'a> IntoFuture for Making<'a> {
    type Output = &'static str;
    type IntoFuture = Probe<'a>;

    fn into_future(self) -> Probe<'a> {
        self.2.borrow_mut().push(format!("make {}", self.0));
        Probe::new(self.0, self.1, self.2)
    }
}

/// A future that returns a value which tells when it is dropped.
async fn output<'a>(name: &'static str, log: &'a RefCell<Vec<String>>) -> Probe<'a> {
    Probe::new(name, 0, log)
}

/// What was logged by the drops since the last call.
fn drops(log: &RefCell<Vec<String>>) -> String {
    let log = std::mem::take(&mut *log.borrow_mut());
    let drops: Vec<_> = log.iter().filter_map(|entry| entry.strip_prefix("drop ")).collect();
    drops.join(" ")
}

#[rt::test]
async fn a_select_that_ends_drops_the_first_future_first() {
    let log = RefCell::default();
    for winner in ["a", "b", "c"] {
        let polls = |name| if name == winner { 1 } else { 9 };
        rt::select! {
            _ = Probe::new("a", polls("a"), &log) => assert_eq!(drops(&log), "a b c"),
            _ = Probe::new("b", polls("b"), &log) => assert_eq!(drops(&log), "a b c"),
            _ = Probe::new("c", polls("c"), &log) => assert_eq!(drops(&log), "a b c"),
        }
    }
}

#[rt::test]
async fn a_select_whose_branches_are_all_disabled_drops_the_first_future_first() {
    let log = RefCell::default();
    rt::select! {
        "x" = Probe::new("a", 1, &log) => unreachable!(),
        "x" = Probe::new("b", 2, &log) => unreachable!(),
        else => assert_eq!(drops(&log), "a b"),
    }
}

#[rt::test]
async fn a_select_that_is_dropped_drops_the_first_future_first() {
    let log = RefCell::default();
    let mut select = Box::pin(async {
        rt::select! {
            _ = Probe::new("a", 9, &log) => {}
            _ = Probe::new("b", 9, &log), if false => {}
            _ = Probe::new("c", 9, &log) => {}
        }
    });
    assert!(poll_once(select.as_mut()).is_pending());
    drop(select);
    assert_eq!(drops(&log), "a b c");
}

#[rt::test]
async fn an_output_outlives_the_handler_unless_the_handler_takes_it() {
    let log = RefCell::default();
    rt::select! { _ = output("a", &log) => log.borrow_mut().push("drop handler".to_owned()) }
    assert_eq!(drops(&log), "handler a");
    rt::select! { _probe = output("a", &log) => log.borrow_mut().push("drop handler".to_owned()) }
    assert_eq!(drops(&log), "handler a");
    rt::select! {
        probe = output("a", &log) => {
            drop(probe);
            log.borrow_mut().push("drop handler".to_owned());
        }
    }
    assert_eq!(drops(&log), "a handler");
}

#[rt::test]
async fn expressions_become_futures_in_the_order_in_which_they_are_written() {
    let log = RefCell::default();
    rt::select! {
        biased;
        _ = Making("a", 1, &log) => {}
        _ = Making("b", 1, &log) => {}
    }
    rt::join!(biased; Making("c", 1, &log), Making("d", 1, &log));
    let made: Vec<_> = log.take().into_iter().filter(|entry| entry.starts_with("make")).collect();
    assert_eq!(made, ["make a", "make b", "make c", "make d"]);
}

#[rt::test]
async fn a_join_that_is_dropped_drops_futures_and_outputs_the_first_first() {
    let log = RefCell::default();
    for done in ["a", "b", "c"] {
        let part = async |name| {
            let output = output(name, &log).await;
            if name != done {
                pending::<()>().await;
            }
            (output,)
        };
        let mut join = Box::pin(async { rt::join!(part("a"), part("b"), part("c")) });
        assert!(poll_once(join.as_mut()).is_pending());
        drop(join);
        assert_eq!(drops(&log), "a b c");
    }
}

#[rt::test]
async fn a_try_join_that_fails_drops_the_failed_future_and_then_the_first_first() {
    let log = RefCell::default();
    let probe = Probe::new("failed", 0, &log);
    // Holds what it captured until it is dropped, other than an `async` block.
    let fails = poll_fn(move |_| {
        let _ = &probe;
        Poll::Ready(Err::<(), ()>(()))
    });
    let result = rt::try_join!(
        biased;
        async { Ok(output("a", &log).await) },
        async { Ok(Probe::new("b", 9, &log).await) },
        fails,
    );
    assert!(result.is_err());
    assert_eq!(drops(&log), "failed a b");
}
