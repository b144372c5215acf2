use super::*;

#[rt::test]
async fn outputs_keep_their_order() {
    let late = async {
        yield_now().await;
        1
    };
    assert_eq!(rt::join!(late, ready("two"), async { 3.0 }), (1, "two", 3.0));
    assert_eq!(rt::join!(ready(1)), (1,));
    rt::join!();
}

#[rt::test]
async fn the_futures_run_concurrently() {
    let (ping, pong) = (Cell::new(false), Cell::new(false));
    let wait_for = async |flag: &Cell<bool>| {
        while !flag.get() {
            yield_now().await;
        }
    };
    let first = async {
        wait_for(&pong).await;
        ping.set(true);
        1
    };
    let second = async {
        pong.set(true);
        wait_for(&ping).await;
        2
    };
    assert_eq!(rt::join!(first, second), (1, 2));
}

#[rt::test]
async fn each_poll_starts_one_further_on() {
    let log = RefCell::default();
    rt::join!(Probe::new("a", 3, &log), Probe::new("b", 3, &log), Probe::new("c", 3, &log));
    let polls: Vec<_> =
        log.borrow().iter().filter_map(|entry| entry.strip_prefix("poll ").map(str::to_owned)).collect();
    assert_eq!(polls.concat(), "abcbcacab");
}

#[rt::test]
async fn biased_always_starts_at_the_top() {
    let log = RefCell::default();
    rt::join!(biased; Probe::new("a", 3, &log), Probe::new("b", 3, &log));
    let polls: Vec<_> =
        log.borrow().iter().filter_map(|entry| entry.strip_prefix("poll ").map(str::to_owned)).collect();
    assert_eq!(polls.concat(), "ababab");
}

#[rt::test]
async fn a_future_is_dropped_when_it_is_done_and_not_polled_again() {
    let log = RefCell::default();
    rt::join!(biased; Probe::new("a", 1, &log), Probe::new("b", 2, &log));
    assert_eq!(*log.borrow(), ["poll a", "drop a", "poll b", "poll b", "drop b"]);
}

#[rt::test]
async fn dropping_it_drops_futures_and_outputs() {
    let output = Rc::new(());
    let handed_out = Rc::clone(&output);
    let log = RefCell::default();
    {
        let mut join = Box::pin(async { rt::join!(async move { handed_out }, Probe::new("b", 9, &log)) });
        assert!(poll_once(join.as_mut()).is_pending());
        assert_eq!(Rc::strong_count(&output), 2);
    }
    assert_eq!(Rc::strong_count(&output), 1);
    assert_eq!(*log.borrow(), ["poll b", "drop b"]);
}

#[rt::test]
async fn arguments_may_be_borrowed_and_may_leave_the_function() {
    async fn both(fail: bool) -> Result<(usize, usize), String> {
        let text = String::from("text");
        let make = |fail: bool| if fail { Err("no future".to_owned()) } else { Ok(ready(1)) };
        let length = async |text: &str| text.len();
        Ok(rt::join!(length(&text), make(fail)?))
    }
    assert_eq!(both(false).await, Ok((4, 1)));
    assert_eq!(both(true).await, Err("no future".to_owned()));
}

#[rt::test]
async fn try_join_collects_the_values() {
    let both = rt::try_join!(ready(Ok::<_, String>(1)), async { Ok("two") });
    assert_eq!(both, Ok((1, "two")));
    assert_eq!(rt::try_join!(), Ok::<(), ()>(()));
}

#[rt::test]
async fn try_join_ends_with_the_first_error() {
    let log = RefCell::default();
    let both: Result<(&str, ()), &str> = rt::try_join!(
        biased;
        async { Ok(Probe::new("a", 9, &log).await) },
        async {
            yield_now().await;
            Err("failed")
        },
    );
    assert_eq!(both, Err("failed"));
    assert_eq!(log.borrow().last().unwrap(), "drop a");
}

#[rt::test]
async fn try_join_works_with_the_question_mark() {
    async fn run() -> Result<u32, Box<dyn std::error::Error>> {
        let (a, b) = rt::try_join!(async { "1".parse::<u32>() }, async { "x".parse::<u32>() })?;
        Ok(a + b)
    }
    assert!(run().await.is_err());
}

#[cfg(target_pointer_width = "64")]
#[rt::test]
async fn the_future_is_larger_than_its_parts_by_a_word_for_each_and_one_or_two() {
    let one = async { rt::join!(ready(1)) };
    let biased = async { rt::join!(biased; ready(1)) };
    let two = async { rt::join!(ready(1), ready(2)) };
    let part = size_of_val(&ready(1));
    let sizes = [size_of_val(&one), size_of_val(&biased), size_of_val(&two)];
    assert_eq!(sizes, [part + 24, part + 16, 2 * part + 32]);
    assert_eq!(rt::join!(one, biased, two), ((1,), (1,), (1, 2)));
}

#[rt::test]
async fn the_futures_share_the_budget() {
    async fn spend(spent: &AtomicUsize) {
        for _ in 0..2000 {
            consume_budget().await;
            spent.fetch_add(1, Relaxed);
        }
    }
    let task = rt::spawn(async {
        // The first would be through before the second began, if it came first in every poll.
        let spent = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let first = async {
            spend(&spent[0]).await;
            spent[1].load(Relaxed)
        };
        rt::join!(first, spend(&spent[1])).0
    });
    let spent_by_the_second = task.await.unwrap();
    assert!(spent_by_the_second >= 1000, "{spent_by_the_second}");
}

#[rt::test(flavor = "multi_thread", worker_threads = 1)]
async fn its_future_is_send_when_its_parts_are() {
    let task = rt::spawn(async { rt::join!(yield_now(), sleep(Duration::from_millis(1))) });
    task.await.unwrap();
}
