use super::*;

#[rt::test]
async fn the_first_to_be_done_wins() {
    let winner = rt::select! {
        () = pending() => "never",
        number = ready(3) => if number == 3 { "three" } else { "wrong" },
    };
    assert_eq!(winner, "three");
}

#[rt::test(start_paused = true)]
async fn timers_race() {
    let winner = rt::select! {
        _ = sleep(Duration::from_millis(20)) => { 20 }
        _ = sleep(Duration::from_millis(10)) => { 10 }
        _ = sleep(Duration::from_millis(30)) => { 30 }
    };
    assert_eq!(winner, 10);
}

#[rt::test]
async fn biased_polls_from_the_top_and_stops_at_the_winner() {
    for _ in 0..50 {
        let log = RefCell::default();
        let winner = rt::select! {
            biased;
            name = Probe::new("a", 2, &log) => name,
            name = Probe::new("b", 1, &log) => name,
            name = Probe::new("c", 1, &log) => name,
        };
        assert_eq!(winner, "b");
        assert_eq!(log.borrow()[..2], ["poll a", "poll b"]);
        assert!(!log.borrow().contains(&"poll c".to_owned()));
    }
}

#[rt::test]
async fn every_branch_that_is_always_ready_gets_its_turn() {
    let mut wins = [0; 4];
    for _ in 0..1000 {
        rt::select! {
            () = ready(()) => wins[0] += 1,
            () = ready(()) => wins[1] += 1,
            () = ready(()) => wins[2] += 1,
            () = ready(()) => wins[3] += 1,
        }
    }
    assert_eq!(wins.iter().sum::<i32>(), 1000);
    assert!(wins.iter().all(|wins| *wins > 100), "{wins:?}");
}

#[rt::test]
async fn a_loop_over_ready_branches_lets_other_tasks_run() {
    let ran = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&ran);
    let looping = rt::spawn(async move {
        rt::spawn(async move { other.store(1, Relaxed) });
        let mut rounds = 0;
        while ran.load(Relaxed) == 0 {
            rt::select! {
                // Spends the task's budget. Once that is gone the select! has to say so, or the branch that knows
                // nothing of budgets would win for ever.
                () = consume_budget() => {}
                () = ready(()) => {}
            }
            rounds += 1;
            assert!(rounds < 100_000, "the other task never ran");
        }
    });
    looping.await.unwrap();
}

#[rt::test]
async fn one_that_is_reached_without_budget_is_held_back_once_and_keeps_its_order() {
    async fn begin() -> &'static str {
        rt::select! {
            biased;
            () = consume_budget() => "first",
            () = ready(()) => "knows nothing of budgets",
        }
    }
    // To the unit: the last one still has it.
    while rt::task::coop::has_budget_remaining() {
        assert_eq!(begin().await, "first");
    }
    let mut held_back = Box::pin(begin());
    assert!(poll_once(held_back.as_mut()).is_pending());
    yield_now().await;
    assert_eq!(held_back.await, "first");
}

#[cfg(target_pointer_width = "64")]
#[rt::test]
async fn the_future_is_larger_than_those_of_up_to_32_branches_by_three_words() {
    let one = async {
        rt::select! { _ = ready(1) => {} }
    };
    let two = async {
        rt::select! { _ = ready(1) => {}, _ = ready(2) => {} }
    };
    let four = async {
        rt::select! { _ = ready(1) => {}, _ = ready(2) => {}, _ = ready(3) => {}, _ = ready(4) => {} }
    };
    let sizes = [size_of_val(&one), size_of_val(&two), size_of_val(&four)];
    assert_eq!(sizes, [1, 2, 4].map(|branches| branches * size_of_val(&ready(1)) + 24));
    rt::join!(one, two, four);
}

#[rt::test]
async fn futures_are_dropped_before_the_handler_runs() {
    let log = RefCell::default();
    rt::select! {
        biased;
        _ = Probe::new("loser", 5, &log) => unreachable!(),
        _ = Probe::new("winner", 1, &log) => log.borrow_mut().push("handler".to_owned()),
    }
    let log = log.into_inner();
    assert_eq!(log[..2], ["poll loser", "poll winner"]);
    assert_eq!(log[4], "handler");
    assert!(log[2..4].contains(&"drop loser".to_owned()) && log[2..4].contains(&"drop winner".to_owned()));
}

#[rt::test]
async fn a_handler_may_borrow_what_the_futures_borrowed() {
    async fn take(numbers: &mut Vec<u32>) -> Option<u32> {
        numbers.pop()
    }
    let mut numbers = vec![1, 2];
    let mut others = vec![];
    rt::select! {
        Some(number) = take(&mut numbers) => {
            numbers.push(number * 10);
            others.push(number);
        }
        Some(_) = take(&mut others) => numbers.clear(),
    }
    assert_eq!((numbers, others), (vec![1, 20], vec![2]));
}

#[rt::test]
async fn a_handler_may_await_and_leave() {
    async fn run(step: u32) -> Result<u32, String> {
        let mut rounds = 0;
        'outer: loop {
            rounds += 1;
            loop {
                rt::select! {
                    biased;
                    () = ready(()), if step == 0 => break 'outer,
                    () = ready(()), if step == 1 => { yield_now().await; return Ok(rounds * 100) }
                    () = ready(()), if step == 2 => Err("left by the question mark".to_owned())?,
                    () = ready(()), if rounds < 3 => continue 'outer,
                    () = ready(()) => break,
                }
            }
            break;
        }
        Ok(rounds)
    }
    assert_eq!(run(0).await, Ok(1));
    assert_eq!(run(1).await, Ok(100));
    assert_eq!(run(2).await, Err("left by the question mark".to_owned()));
    assert_eq!(run(3).await, Ok(3));
}

#[rt::test]
async fn an_output_that_does_not_fit_disables_its_branch() {
    let log = RefCell::default();
    let winner = rt::select! {
        biased;
        "x" = Probe::new("a", 1, &log) => "fits",
        name = Probe::new("b", 2, &log) => name,
    };
    assert_eq!(winner, "b");
    assert_eq!(log.borrow()[..3], ["poll a", "poll b", "poll b"]);
}

#[rt::test]
async fn patterns_of_every_kind() {
    #[derive(Debug, PartialEq)]
    struct NotCopy(u32);
    struct Pair {
        left: NotCopy,
        right: Option<NotCopy>,
    }
    const SEVEN: u32 = 7;

    let borrowed = 3;
    let pair = || ready(Pair { left: NotCopy(1), right: Some(NotCopy(2)) });

    assert_eq!(rt::select! { Pair { left, right: Some(right) } = pair() => (left, right) }, (NotCopy(1), NotCopy(2)));
    assert_eq!(rt::select! { mut n = ready(NotCopy(1)) => { n.0 += 1; n } }, NotCopy(2));
    assert_eq!(rt::select! { ref mut n = ready(NotCopy(1)) => { n.0 += 1; n.0 } }, 2);
    assert_eq!(rt::select! { &n = ready(&borrowed) => n }, 3);
    assert_eq!(rt::select! { all @ Some(NotCopy(_)) = ready(Some(NotCopy(4))) => all.unwrap() }, NotCopy(4));
    assert_eq!(rt::select! { Ok(n) | Err(n) = ready(Err::<u32, u32>(5)) => n }, 5);
    assert_eq!(rt::select! { | Ok(n) | Err(n) = ready(Ok::<u32, u32>(5)) => n }, 5);
    assert_eq!(rt::select! { SEVEN = ready(8) => "seven", else => "other" }, "other");
    assert_eq!(rt::select! { None = ready(None::<NotCopy>) => "none", else => "some" }, "none");
    assert_eq!(rt::select! { 0..=9 = ready(8) => "digit", else => "number" }, "digit");
    assert_eq!(rt::select! { ..=5 = ready(5) => "few", else => "many" }, "few");
    assert_eq!(rt::select! { [first, .., last] = ready([1, 2, 3]) => first + last }, 4);
    assert_eq!(rt::select! { (a, Some(b)) = async { (NotCopy(1), Some(NotCopy(2))) } => a.0 + b.0 }, 3);
}

#[rt::test]
async fn conditions_disable_branches() {
    for which in 0..2 {
        let winner = rt::select! {
            n = ready(0), if which == 0 => n,
            n = ready(1), if which == 1 => n,
        };
        assert_eq!(winner, which);
    }
}

#[rt::test]
async fn conditions_come_first_and_a_disabled_future_is_made_but_not_polled() {
    let log = RefCell::new(Vec::<String>::new());
    let note = |what: &str| log.borrow_mut().push(what.to_owned());
    rt::select! {
        biased;
        _ = { note("future 1"); Probe::new("1", 1, &log) }, if { note("condition 1"); false } => unreachable!(),
        _ = { note("future 2"); ready(()) }, if { note("condition 2"); true } => note("handler 2"),
    }
    assert_eq!(*log.borrow(), ["condition 1", "condition 2", "future 1", "future 2", "drop 1", "handler 2"],);
}

#[rt::test]
async fn else_runs_when_nothing_is_left() {
    let open = false;
    assert_eq!(rt::select! { n = ready(1), if open => n, else => 2 }, 2);
    assert_eq!(rt::select! { Some(n) = ready(None) => n, Ok(n) = ready(Err(())) => n, else => { 3 } }, 3);
    assert_eq!(rt::select! { else => 4 }, 4);
    assert_eq!(rt::select! { biased; else => 5 }, 5);
}

#[rt::test]
#[should_panic(expected = "every branch of select! is disabled")]
async fn without_else_it_panics_when_nothing_is_left() {
    rt::select! {
        Some(()) = ready(None) => {}
        () = pending(), if false => {}
    }
}

#[rt::test(start_paused = true)]
async fn a_future_by_reference_goes_on_in_the_next_round() {
    let work = async {
        for _ in 0..5 {
            sleep(Duration::from_millis(10)).await;
        }
        "done"
    };
    rt::pin!(work);
    let mut interrupted = 0;
    let output = loop {
        rt::select! {
            output = &mut work => break output,
            () = sleep(Duration::from_millis(3)) => interrupted += 1,
        }
    };
    assert_eq!(output, "done");
    assert!(interrupted >= 5, "{interrupted}");
}

#[rt::test]
async fn dropping_it_drops_its_futures() {
    let log = RefCell::default();
    {
        let mut select = Box::pin(async {
            rt::select! {
                _ = Probe::new("a", 9, &log) => {}
                _ = Probe::new("b", 9, &log) => {}
            }
        });
        assert!(poll_once(select.as_mut()).is_pending());
    }
    let drops = log.borrow().iter().filter(|entry| entry.starts_with("drop")).count();
    assert_eq!(drops, 2);
}

#[rt::test]
async fn temporaries_of_one_branch_do_not_live_into_the_next() {
    let lock = parking_lot::Mutex::new(1);
    // Would be a deadlock if the guard of the first expression lived on.
    let sum = rt::select! {
        n = ready(*lock.lock()), if *lock.lock() == 1 => n + *lock.lock(),
        n = ready(*lock.lock() + 1), if *lock.lock() == 1 => n,
    };
    assert_eq!(sum, 2);
}

#[rt::test]
async fn nests() {
    let n = rt::select! {
        n = async { rt::select! { n = ready(1) => n + 1 } } => rt::select! { m = ready(n) => m + n },
    };
    assert_eq!(n, 4);
}

#[rt::test(flavor = "multi_thread", worker_threads = 1)]
async fn its_future_is_send_when_its_parts_are() {
    let task = rt::spawn(async {
        rt::select! {
            () = yield_now() => {}
            () = sleep(Duration::from_secs(3600)) => yield_now().await,
        }
    });
    task.await.unwrap();
}

#[rt::test]
async fn what_can_be_awaited_can_be_selected() {
    struct Later(u32);
    impl IntoFuture for Later {
        type Output = u32;
        type IntoFuture = std::future::Ready<u32>;
        fn into_future(self) -> Self::IntoFuture {
            ready(self.0)
        }
    }
    assert_eq!(rt::select! { n = Later(1) => n }, 1);
    assert_eq!(rt::join!(Later(1), Later(2)), (1, 2));
}

#[rt::test]
async fn handlers_of_every_form() {
    struct Answer {
        number: u32,
    }
    impl Answer {
        async fn later(self) -> u32 {
            self.number
        }
    }
    let number = rt::select! {
        biased;
        Some(_) = ready(None::<u32>) => { Answer { number: 1 } }.later().await,
        Some(_) = ready(None::<u32>) => match 1 { 1 => 1, _ => 2 },
        (a, b) = ready((1, 2)), if a_generic_call::<u32, u32>() => if a < b { a } else { b },
        _ = ready(()) => panic!("the one above is ready"),
    };
    assert_eq!(number, 1);

    fn a_generic_call<A, B>() -> bool {
        size_of::<A>() == size_of::<B>()
    }
}

#[rt::test]
async fn sixty_four_branches() {
    macro_rules! select_of {
        ($($number:literal)*) => {
            rt::select! { $($number = async { if $number == 63 { $number } else { pending().await } } => $number,)* }
        };
    }
    let winner = select_of!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38
        39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    );
    assert_eq!(winner, 63);
}

#[test]
fn works_without_a_runtime() {
    let mut wins = [0; 3];
    for _ in 0..30 {
        let select = std::pin::pin!(async {
            rt::select! {
                n = ready(0) => n,
                n = ready(1) => n,
                n = ready(2) => n,
            }
        });
        let Poll::Ready(winner) = poll_once(select) else { panic!("all the branches are ready") };
        wins[winner] += 1;
    }
    assert!(wins.iter().all(|wins| *wins > 0), "{wins:?}");
}

/// Nothing says what the first future returns.
#[rt::test]
async fn a_branch_may_have_an_output_of_no_known_type() {
    let never = std::future::poll_fn(|_| panic!("it is disabled"));
    let number = rt::select! {
        _ = never, if false => unreachable!(),
        number = ready(1) => number,
    };
    assert_eq!(number, 1);
}

/// Synchronous code makes the same two calls in each round: neither starts at the same branch each time.
#[test]
fn no_branch_starves_on_a_thread_without_random_numbers_of_its_own() {
    let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let bridge = runtime.spawn_blocking(|| {
        let first = || async {
            rt::select! { _ = async {} => 0, _ = async {} => 1 }
        };
        let mut picks = [[0; 2]; 2];
        for _ in 0..200 {
            for call in &mut picks {
                call[rt::runtime::Handle::current().block_on(first())] += 1;
            }
        }
        picks
    });
    let picks = runtime.block_on(bridge).unwrap();
    assert!(picks.iter().flatten().all(|&picked| picked > 50), "{picks:?}");
}
