//! Tasks that keep all threads computing, by the hundred: they get no thread each, and yet hold up nothing else.
//!
//! They spin until something has happened that needs a worker. One that keeps free of them is all there is.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Handle, Runtime};
use rt::task::{JoinHandle, block_in_place};
use rt_test_util::*;

use crate::{builder, runtime};

/// Spins until told to stop, and counts that it has begun.
#[derive(Clone, Default)]
struct Spin {
    end: Arc<AtomicBool>,
    begun: Arc<AtomicUsize>,
}

impl Spin {
    async fn spin(self) {
        self.begun.fetch_add(1, SeqCst);
        while !self.end.load(SeqCst) {
            // Not in the way of the one thread that matters, where a sanitizer has all threads take turns.
            (0..1000).for_each(|_| std::hint::spin_loop());
        }
    }

    fn begun(&self) -> usize {
        self.begun.load(SeqCst)
    }
}

/// Spawns `tasks` tasks that spin, all in one place.
fn spawn_spinning(runtime: &Handle, spin: &Spin, tasks: usize) -> Vec<JoinHandle<()>> {
    (0..tasks).map(|_| runtime.spawn(spin.clone().spin())).collect()
}

fn join(runtime: &Runtime, tasks: Vec<JoinHandle<()>>) {
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

async fn greet(mut stream: TcpStream) {
    let mut message = [0; 5];
    stream.read_exact(&mut message).await.unwrap();
    stream.write_all(&message).await.unwrap();
}

/// A timer, an accept, reads, a task that is spawned, and one that is woken.
async fn everything_else() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = rt::spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        rt::time::sleep(Duration::from_millis(1)).await;
        stream.write_all(b"hello").await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    });
    let (stream, _) = listener.accept().await.unwrap();
    rt::spawn(greet(stream)).await.unwrap();
    assert_eq!(client.await.unwrap(), b"hello");
}

#[test]
fn i7_hundreds_of_tasks_that_compute_hold_up_nothing_else() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let spin = Spin::default();
    let spinning = spawn_spinning(runtime.handle(), &spin, 300);
    // Again and again, behind those three hundred.
    for _ in 0..5 {
        runtime.block_on(runtime.spawn(everything_else())).unwrap();
    }
    assert!(spin.begun() < 300, "not a thread for each");
    spin.end.store(true, SeqCst);
    join(&runtime, spinning);
    assert_eq!(spin.begun(), 300);
    eventually(|| runtime.handle().metrics().num_spare_threads() == 0);
    assert_eq!(runtime.handle().metrics().num_alive_tasks(), 0);
}

/// Spawns a task that spins.
type SpawnSpinning = fn(&Runtime, Spin) -> JoinHandle<()>;

/// A place each: what a macro repeats would be one.
const PLACES: [SpawnSpinning; 12] = [
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
    |runtime, spin| runtime.spawn(spin.spin()),
];

#[test]
fn i7_tasks_that_compute_spawned_in_many_places_hold_up_nothing_else() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let spin = Spin::default();
    // The responder cannot know them before it has tried one of each.
    let spawn = |place: SpawnSpinning| (0..10).map(move |_| place);
    let spinning = PLACES.into_iter().flat_map(spawn).map(|spawn| spawn(&runtime, spin.clone())).collect();
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    assert!(spin.begun() < 120, "not a thread for each");
    spin.end.store(true, SeqCst);
    join(&runtime, spinning);
    eventually(|| runtime.handle().metrics().num_spare_threads() == 0);
}

#[test]
fn i7_tasks_that_sleep_and_then_compute_hold_up_nothing_else() {
    const SLEEPERS: usize = 60;
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (spin, all_are_there) = (Spin::default(), Arc::new(Barrier::new(SLEEPERS)));
    let sleep_and_spin = || {
        let (spin, all_are_there) = (spin.clone(), all_are_there.clone());
        runtime.spawn(async move {
            all_are_there.wait();
            spin.spin().await;
        })
    };
    // Each gets a thread, because the others sleep.
    let mut spinning: Vec<_> = (0..SLEEPERS).map(|_| sleep_and_spin()).collect();
    eventually(|| spin.begun() == SLEEPERS);
    // Now none of them sleeps, and each worker that keeps free in turn takes a task of a new place.
    for spawn in PLACES {
        spinning.push(spawn(&runtime, spin.clone()));
        runtime.block_on(runtime.spawn(everything_else())).unwrap();
    }
    spin.end.store(true, SeqCst);
    join(&runtime, spinning);
    eventually(|| runtime.handle().metrics().num_spare_threads() == 0);
}

#[test]
fn i7_what_a_computing_task_wakes_and_then_waits_for_does_not_wait_for_it() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let spin = Spin::default();
    let spinning = spawn_spinning(runtime.handle(), &spin, 50);
    // By now a worker keeps free of them.
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    let handle = runtime.handle().clone();
    let waits = runtime.spawn(async move {
        // This blocks the worker that kept free until now, and what it spawns lies on the lanes of that worker.
        let woken = handle.spawn(async {});
        while !woken.is_finished() {
            std::hint::spin_loop();
        }
    });
    runtime.block_on(waits).unwrap();
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    spin.end.store(true, SeqCst);
    join(&runtime, spinning);
}

/// Runs `tasks` tasks of one place, which all wait for each other without sleeping.
fn meet(runtime: &Runtime, tasks: usize) {
    let arrived = Arc::new(AtomicUsize::new(0));
    let meeting = (0..tasks)
        .map(|_| {
            let arrived = arrived.clone();
            runtime.spawn(async move {
                arrived.fetch_add(1, SeqCst);
                while arrived.load(SeqCst) < tasks {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    join(runtime, meeting);
}

#[test]
fn tasks_that_compute_until_they_have_met_meet_if_they_are_not_too_many() {
    let _watchdog = watchdog();
    // Two spares for each worker, and none of them the one that keeps free of such tasks.
    meet(&runtime(1), 3);
    meet(&runtime(2), 6);
}

#[test]
fn the_only_spare_that_is_allowed_keeps_free_of_no_task() {
    let _watchdog = watchdog();
    let runtime = builder(1).0.max_spare_workers(1).build().unwrap();
    meet(&runtime, 2);
    eventually(|| runtime.handle().metrics().num_spare_threads() == 0);
    meet(&runtime, 2);
}

#[test]
fn a_place_is_not_held_against_its_tasks_for_ever() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    for round in 0..3 {
        let spin = Spin::default();
        let spinning = spawn_spinning(runtime.handle(), &spin, 20);
        runtime.block_on(runtime.spawn(everything_else())).unwrap();
        spin.end.store(true, SeqCst);
        join(&runtime, spinning);
        if round == 1 {
            eventually(|| runtime.handle().metrics().num_spare_threads() == 0);
        }
        // With all workers free, or while one still keeps free.
        join(&runtime, spawn_spinning(runtime.handle(), &spin, 20));
    }
}

#[test]
fn a_task_is_not_left_to_others_for_ever() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (others, suspect) = (Spin::default(), Spin::default());
    let spinning = spawn_spinning(runtime.handle(), &others, 50);
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    let spawn = |suspect: Option<Spin>| {
        runtime.spawn(async {
            if let Some(suspect) = suspect {
                suspect.spin().await;
            }
        })
    };
    let suspicious = spawn(Some(suspect.clone()));
    eventually(|| suspect.begun() == 1);
    // When a worker keeps free again it is known which places' tasks are to be left alone.
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    let innocent = spawn(None);
    suspect.end.store(true, SeqCst);
    join(&runtime, vec![suspicious]);
    // The others go on, and no worker takes over what was left to them.
    join(&runtime, vec![innocent]);
    assert!(others.begun() < 50);
    others.end.store(true, SeqCst);
    join(&runtime, spinning);
}

#[test]
fn tasks_that_were_left_to_others_are_dropped_when_they_are_aborted() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let end = Spin::default().end;
    // One that counts for each: which of them begin is a matter of luck.
    let spins: Vec<_> = (0..20).map(|_| Spin { end: end.clone(), ..Spin::default() }).collect();
    let tasks: Vec<_> = spins.iter().map(|spin| runtime.spawn(spin.clone().spin())).collect();
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    let waiting: Vec<_> = tasks.iter().zip(&spins).filter(|(_, spin)| spin.begun() == 0).collect();
    assert!(!waiting.is_empty(), "not a thread for each");
    waiting.iter().for_each(|(task, _)| task.abort());
    // All threads spin until it is over. (And one of these tasks may have begun before it was aborted.)
    eventually(|| waiting.iter().all(|(task, spin)| task.is_finished() || spin.begun() > 0));
    end.store(true, SeqCst);
    for (task, spin) in tasks.into_iter().zip(spins) {
        assert_eq!(runtime.block_on(task).is_err_and(|error| error.is_cancelled()), spin.begun() == 0);
    }
}

#[test]
fn shutdown_drops_the_tasks_that_were_left_to_others() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(2);
    let runtime = builder.build().unwrap();
    drop(builder);
    let spin = Spin::default();
    let drops = Drops::new();
    for _ in 0..100 {
        let (spin, token) = (spin.clone(), drops.token());
        drop(runtime.spawn(async move {
            let _token = token;
            spin.spin().await;
        }));
    }
    runtime.block_on(runtime.spawn(everything_else())).unwrap();
    // Those that have a thread end by themselves, once it has begun to close.
    runtime.shutdown_background();
    spin.end.store(true, SeqCst);
    eventually(|| drops.count() == 100);
    drops.assert_all();
    assert!(spin.begun() < 100, "the others were not polled");
    // Nor does any of them keep the runtime's memory, and with it the hook.
    eventually(|| Arc::strong_count(&reports.0) == 1);
}

/// The responder is not woken for what lies on the queues of a worker that goes on. But this one does not.
/// (Broken, if neither this worker wakes it, nor the monitor, which dismisses it for want of another spare. Then nobody
/// comes.)
#[test]
fn the_responder_comes_for_what_a_task_has_left_that_blocks_in_place() {
    let _watchdog = watchdog();
    for _ in 0..50 {
        let runtime = builder(1).0.max_spare_workers(1).build().unwrap();
        let spin = Spin::default();
        let spinning = spawn_spinning(runtime.handle(), &spin, 1);
        runtime.block_on(runtime.spawn(everything_else())).unwrap();
        spin.end.store(true, SeqCst);
        join(&runtime, spinning);
        let waiting = runtime.spawn(async {
            let (send, receive) = mpsc::channel();
            let sending = rt::spawn(async move { send.send(()) });
            block_in_place(|| receive.recv()).unwrap();
            sending.await
        });
        runtime.block_on(waiting).unwrap().unwrap().unwrap();
    }
}

/// How often workers that no user asked for have gone to sleep, of a runtime with one worker. (A little more, if that
/// one goes to sleep at the moment.)
fn parks_of_spares(runtime: &Runtime) -> u64 {
    let metrics = runtime.metrics();
    assert_eq!(metrics.num_workers(), 1);
    let of_worker = metrics.worker(0).unwrap().parks;
    metrics.totals().parks - of_worker
}

/// The responder leaves tasks to others that were spawned where those were that got stuck. While the workers go on it
/// is not called for such tasks, again and again, to put them into quarantine. (Broken, if it may come for all that is
/// queued at workers: then it comes once a round.)
#[test]
fn the_responder_is_not_called_for_what_workers_have_that_go_on() {
    const ROUNDS: u64 = 1_000;
    let _watchdog = watchdog();
    let mut counts = Vec::new();
    // The spare thread that is left may be another one than the responder, and is called then. Not always.
    let is_left_alone = (0..20).any(|_| {
        let runtime = runtime(1);
        let spin = Spin::default();
        let spinning = spawn_spinning(runtime.handle(), &spin, 5);
        runtime.block_on(runtime.spawn(everything_else())).unwrap();
        spin.end.store(true, SeqCst);
        join(&runtime, spinning);
        // The responder is left, for another second. (If the rounds take as long, this shows nothing.)
        eventually(|| runtime.metrics().num_spare_threads() <= 1);
        let before = parks_of_spares(&runtime);
        let handle = runtime.handle().clone();
        let rounds = runtime.spawn(async move {
            for _ in 0..ROUNDS {
                for task in spawn_spinning(&handle, &spin, 5) {
                    task.await.unwrap();
                }
            }
        });
        runtime.block_on(rounds).unwrap();
        // Those who run the runtime's drivers call it, and the monitor may.
        counts.push(parks_of_spares(&runtime).saturating_sub(before));
        counts.last().is_some_and(|&parks| parks < ROUNDS / 10)
    });
    assert!(is_left_alone, "{counts:?}");
}
