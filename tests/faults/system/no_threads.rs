//! Threads cannot be started (`EAGAIN`, for lack of address space): a runtime is not built, and leaves nothing behind;
//! blocking jobs wait for the threads that there are, or are cancelled if there is none. Nothing hangs.
//!
//! Mutations that these tests are for: workers that wait for ever for one that never came; a failed start that leaves
//! its thread counted (nobody would be summoned for the next job) or its job queued with nobody to come; a report that
//! is lost, or left for the end of the runtime, because there was no thread for it either.

use std::fs;
use std::io::{self, BufRead};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

const MIB: usize = 1 << 20;

/// So large that the memory that the program needs for itself meanwhile is nothing beside it, and that the system does
/// not keep the stacks of threads that have ended for new ones.
pub(super) const STACK: usize = 256 * MIB;

/// The process has little address space left. Gives it back when dropped.
pub(super) struct Narrow(u64);

impl Narrow {
    /// Leaves room for `bytes` more than there are now.
    pub(super) fn with_room_for(bytes: usize) -> Self {
        let (before, hard) = getrlimit(Resource::RLIMIT_AS).unwrap();
        let pages = fs::read_to_string("/proc/self/statm").unwrap().split(' ').next().unwrap().parse::<u64>().unwrap();
        let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).unwrap().unwrap();
        setrlimit(Resource::RLIMIT_AS, pages * page as u64 + bytes as u64, hard).unwrap();
        Self(before)
    }

    /// Leaves room for `n` more threads of large stack, and for no other.
    pub(super) fn with_room_for_threads(n: usize) -> Self {
        Self::with_room_for(n * STACK + STACK / 2)
    }
}

impl Drop for Narrow {
    fn drop(&mut self) {
        let (_, hard) = getrlimit(Resource::RLIMIT_AS).unwrap();
        setrlimit(Resource::RLIMIT_AS, self.0, hard).unwrap();
    }
}

#[test]
fn a_runtime_that_lacks_a_thread_is_not_built_and_ends_those_that_it_has_started() {
    in_own_process(|| {
        let before = (thread_count(), descriptor_count());
        let drops = Drops::new();
        // The first has room for no worker and not even for the monitor, whose stack is of the usual size.
        for room in [None, Some(0), Some(1), Some(2), Some(3)] {
            let started = Arc::new(AtomicUsize::new(0));
            let (count, token) = (started.clone(), drops.token());
            let narrow = room.map_or_else(|| Narrow::with_room_for(MIB), Narrow::with_room_for_threads);
            let refused = Builder::new_multi_thread()
                .worker_threads(4)
                .thread_stack_size(STACK)
                .enable_all()
                .on_thread_start(move || {
                    let _token = &token;
                    count.fetch_add(1, SeqCst);
                })
                .build();
            drop(narrow);
            assert!(refused.unwrap_err().raw_os_error().is_some());
            assert_eq!(started.load(SeqCst), room.unwrap_or(0), "threads that were started");
            // One that was joined may still be listed for a moment.
            eventually(|| thread_count() == before.0);
            assert_eq!(descriptor_count(), before.1);
            drops.assert_all();
        }
        let runtime =
            Builder::new_multi_thread().worker_threads(4).thread_stack_size(STACK).enable_all().build().unwrap();
        runtime.block_on(async { rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap() });
    });
}

fn each_runtime_of_large_stacks(test: impl Fn(Runtime)) {
    let build = |builder: &mut Builder| builder.thread_stack_size(STACK).enable_all().build().unwrap();
    test(build(&mut Builder::new_current_thread()));
    test(build(Builder::new_multi_thread().worker_threads(2)));
}

#[test]
fn a_blocking_job_without_any_thread_is_cancelled_and_one_later_runs() {
    in_own_process(|| {
        each_runtime_of_large_stacks(|runtime| {
            let drops = Drops::new();
            runtime.block_on(async {
                let narrow = Narrow::with_room_for_threads(0);
                for _ in 0..3 {
                    let token = drops.token();
                    assert!(rt::spawn_blocking(move || drop(token)).await.unwrap_err().is_cancelled());
                }
                // A lookup needs such a thread too.
                assert!(rt::net::lookup_host("localhost:1").await.is_err());
                drop(narrow);
                for n in 0..3 {
                    assert_eq!(rt::spawn_blocking(move || n).await.unwrap(), n);
                }
            });
            drops.assert_all();
        });
    });
}

#[test]
fn blocking_jobs_wait_for_the_threads_there_are_when_no_more_can_be_started() {
    in_own_process(|| {
        each_runtime_of_large_stacks(|runtime| {
            let (gate, metrics) = (Gate::new(), runtime.metrics());
            let held = gate.clone();
            let first = runtime.spawn_blocking(move || held.pass());
            gate.wait_for(1);
            let narrow = Narrow::with_room_for_threads(0);
            let most = Arc::new(AtomicUsize::new(0));
            let jobs: Vec<_> = (0..10)
                .map(|n| {
                    let (metrics, most) = (metrics.clone(), most.clone());
                    runtime.spawn_blocking(move || {
                        most.fetch_max(metrics.num_blocking_threads(), SeqCst);
                        n
                    })
                })
                .collect();
            assert_eq!((metrics.num_blocking_threads(), metrics.blocking_queue_depth()), (1, 10));
            gate.open();
            runtime.block_on(async {
                first.await.unwrap();
                for (n, job) in jobs.into_iter().enumerate() {
                    assert_eq!(job.await.unwrap(), n);
                }
            });
            // (One that is being started is counted until that fails.)
            assert!(most.load(SeqCst) <= 2);
            drop(narrow);

            // Each of these waits for the other: they need a thread each, and get it.
            let gate = Gate::new();
            let pair = [gate.clone(), gate.clone()].map(|gate| runtime.spawn_blocking(move || gate.pass()));
            gate.wait_for(2);
            gate.open();
            runtime.block_on(async {
                for job in pair {
                    job.await.unwrap();
                }
            });
        });
    });
}

#[test]
fn a_crowd_of_blocking_jobs_with_few_threads_to_be_had_all_come_to_an_end() {
    in_own_process(|| {
        each_runtime_of_large_stacks(|runtime| {
            let drops = Drops::new();
            let narrow = Narrow::with_room_for_threads(2);
            let outcomes = runtime.block_on(async {
                let callers: Vec<_> = (0..50)
                    .map(|_| {
                        let drops = drops.clone();
                        rt::spawn(async move {
                            let mut run = 0;
                            for _ in 0..10 {
                                let token = drops.token();
                                match rt::spawn_blocking(move || drop(token)).await {
                                    Ok(()) => run += 1,
                                    Err(error) => assert!(error.is_cancelled()),
                                }
                            }
                            run
                        })
                    })
                    .collect();
                let mut run = 0;
                for caller in callers {
                    run += caller.await.unwrap();
                }
                run
            });
            // There is room for two, so only jobs that came before the first thread found none.
            assert!(outcomes > 0 && runtime.metrics().num_blocking_threads() <= 2, "{outcomes} of 500 jobs ran");
            assert_eq!(runtime.metrics().blocking_queue_depth(), 0);
            drops.assert_all();
            drop(runtime);
            drop(narrow);
        });
    });
}

#[test]
fn a_thread_that_cannot_be_started_does_no_more_harm_when_stderr_is_broken() {
    // The process writes its messages into a pipe that has lost its reader.
    let (_, broken) = std::io::pipe().unwrap();
    in_own_process_with(
        |command| {
            command.stderr(Stdio::from(broken));
        },
        || {
            use std::io::Write;
            std::io::stderr().write_all(b"?").unwrap_err();
            each_runtime_of_large_stacks(|runtime| {
                let narrow = Narrow::with_room_for_threads(0);
                runtime.block_on(async {
                    assert!(rt::spawn_blocking(|| ()).await.unwrap_err().is_cancelled());
                    drop(narrow);
                    rt::spawn_blocking(|| ()).await.unwrap();
                });
            });
        },
    );
}

#[test]
fn cancelled_jobs_are_reported_as_soon_as_there_is_a_thread_again() {
    in_own_process(|| {
        let (said, stderr) = io::pipe().unwrap();
        nix::unistd::dup2_stderr(&stderr).unwrap();
        let runtime = Builder::new_current_thread().thread_stack_size(STACK).build().unwrap();
        runtime.block_on(async {
            // Not for the thread that reports, either.
            let narrow = Narrow::with_room_for(MIB);
            assert!(rt::spawn_blocking(|| ()).await.unwrap_err().is_cancelled());
            assert!(rt::task::Builder::new().spawn_blocking(|| ()).is_err());
            drop(narrow);
            rt::spawn_blocking(|| ()).await.unwrap();
        });
        let mut line = String::new();
        io::BufReader::new(said).read_line(&mut line).unwrap();
        assert!(line.contains("1 blocking task(s) cancelled: no thread could be started"), "{line}");
    });
}
