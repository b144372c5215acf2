//! The facade's macros, used the way a program uses them.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::task::{consume_budget, yield_now};
use rt::time::sleep;

/// A future that is polled `polls` times before it is done, and tells when it is polled and dropped.
struct Probe<'a> {
    name: &'static str,
    polls: usize,
    log: &'a RefCell<Vec<String>>,
}

impl<'a> Probe<'a> {
    fn new(name: &'static str, polls: usize, log: &'a RefCell<Vec<String>>) -> Self {
        Probe { name, polls, log }
    }
}

impl Future for Probe<'_> {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'static str> {
        self.log.borrow_mut().push(format!("poll {}", self.name));
        self.polls -= 1;
        if self.polls == 0 {
            Poll::Ready(self.name)
        } else {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        self.log.borrow_mut().push(format!("drop {}", self.name));
    }
}

/// Polls once, for a look at what a macro's future does in one poll.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

mod main_attribute {
    use super::*;

    #[rt::main]
    async fn on_the_default_runtime() -> u32 {
        rt::spawn(async { 7 }).await.unwrap()
    }

    #[rt::main(flavor = "multi_thread", worker_threads = 1)]
    async fn on_one_worker() -> u32 {
        rt::spawn(async { 7 }).await.unwrap()
    }

    #[rt::main(flavor = "current_thread")]
    async fn on_this_thread() -> std::thread::ThreadId {
        rt::spawn(async { std::thread::current().id() }).await.unwrap()
    }

    #[rt::main(flavor = "current_thread")]
    async fn with_a_local_task() -> u32 {
        let shared = Rc::new(Cell::new(6));
        let local = Rc::clone(&shared);
        rt::task::spawn_local(async move { local.set(local.get() + 1) }).await.unwrap();
        shared.get()
    }

    #[rt::main(flavor = "current_thread", start_paused = true)]
    async fn with_the_clock_stopped() {
        sleep(Duration::from_secs(24 * 3600)).await;
    }

    #[rt::main(flavor = "current_thread")]
    async fn fails() -> Result<(), io::Error> {
        Err(io::Error::other("on purpose"))?;
        Ok(())
    }

    #[rt::main(flavor = "current_thread")]
    async fn opaque() -> impl std::process::Termination {
        yield_now().await;
    }

    /// A pattern, a name, a generic argument, a borrowed result.
    #[rt::main(flavor = "current_thread")]
    async fn longest<'a, T: AsRef<str> + ?Sized, const N: usize>(
        (a, b): (&'a T, &'a T),
        mut runtime: Vec<u8>,
    ) -> &'a str {
        runtime.push(0);
        assert_eq!(runtime.len(), N);
        if a.as_ref().len() > b.as_ref().len() { a.as_ref() } else { b.as_ref() }
    }

    mod under_other_names {
        use ::rt as other_name;

        /// In the way of any expansion that says `rt` and not `::rt`.
        mod rt {}

        #[::rt::main]
        pub(super) async fn by_default() -> u32 {
            0
        }

        #[::rt::main(crate = other_name)]
        pub(super) async fn by_path() -> u32 {
            other_name::select! { n = async { 1 } => other_name::join!(async { n }).0 }
        }

        #[::rt::main(crate = "other_name", flavor = "current_thread")]
        pub(super) async fn by_string() -> u32 {
            2
        }
    }

    macro_rules! main_with {
        ($name:ident, $threads:literal, $flavor:literal) => {
            #[rt::main(flavor = $flavor, worker_threads = $threads)]
            async fn $name() -> u32 {
                3
            }
        };
    }
    main_with!(made_by_a_macro, 1, "multi_thread");

    #[test]
    fn the_function_becomes_a_plain_one() {
        assert_eq!(on_the_default_runtime(), 7);
        assert_eq!(on_one_worker(), 7);
        assert_eq!(on_this_thread(), std::thread::current().id());
        assert_eq!(with_a_local_task(), 7);
        with_the_clock_stopped();
        assert_eq!(fails().unwrap_err().to_string(), "on purpose");
        let _ = opaque();
        assert_eq!(longest::<str, 2>(("ab", "a"), vec![0]), "ab");
        assert_eq!(made_by_a_macro(), 3);
    }

    #[test]
    fn the_facade_is_found_under_any_name() {
        assert_eq!(under_other_names::by_default(), 0);
        assert_eq!(under_other_names::by_path(), 1);
        assert_eq!(under_other_names::by_string(), 2);
    }

    #[test]
    fn a_panic_in_the_body_reaches_the_caller() {
        #[rt::main(flavor = "current_thread")]
        async fn panics() {
            panic!("out of the body");
        }
        let panic = std::panic::catch_unwind(panics).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of the body"));
    }
}

mod test_attribute {
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
}

mod select {
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

        assert_eq!(
            rt::select! { Pair { left, right: Some(right) } = pair() => (left, right) },
            (NotCopy(1), NotCopy(2))
        );
        assert_eq!(rt::select! { mut n = ready(NotCopy(1)) => { n.0 += 1; n } }, NotCopy(2));
        assert_eq!(rt::select! { ref mut n = ready(NotCopy(1)) => { n.0 += 1; n.0 } }, 2);
        assert_eq!(rt::select! { &n = ready(&borrowed) => n }, 3);
        assert_eq!(rt::select! { all @ Some(NotCopy(_)) = ready(Some(NotCopy(4))) => all.unwrap() }, NotCopy(4));
        assert_eq!(rt::select! { Ok(n) | Err(n) = ready(Err::<u32, u32>(5)) => n }, 5);
        assert_eq!(rt::select! { | Ok(n) | Err(n) = ready(Ok::<u32, u32>(5)) => n }, 5);
        assert_eq!(rt::select! { SEVEN = ready(8) => "seven", else => "other" }, "other");
        assert_eq!(rt::select! { None = ready(None::<NotCopy>) => "none", else => "some" }, "none");
        assert_eq!(rt::select! { 0..=9 = ready(8) => "digit", else => "number" }, "digit");
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
        let lock = std::sync::Mutex::new(1);
        // Would be a deadlock if the guard of the first expression lived on.
        let sum = rt::select! {
            n = ready(*lock.lock().unwrap()), if *lock.lock().unwrap() == 1 => n + *lock.lock().unwrap(),
            n = ready(*lock.lock().unwrap() + 1), if *lock.lock().unwrap() == 1 => n,
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
}

mod join {
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
}

mod pin {
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
}
