//! The system refuses a call, as a sandbox does (`seccomp`): it says that it has no such call, or that this process may
//! not make it. Whatever rt asks of the system beyond what its poller, its sockets and std's threads cannot do without,
//! it asks to be quicker, or to know more. It must do without the answer, from the start or from any moment on.
//!
//! Mutations that these tests are for: a short wait that fails if the timer cannot be set; a seed for a runtime's
//! random decisions that is to be had from the system only; children that are not waited for if they have no
//! descriptors; workers that are not rescued if `/proc` does not tell what they do; descriptors that are refused
//! because the system does not tell which mode they are in.

use std::env;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::unistd::Pid;
use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt::process::Command;
use rt::runtime::{Builder, Handle, Runtime};
use rt::task::{spawn_blocking, yield_now};
use rt::time::{Instant, sleep, timeout};
use rt_test_util::*;

use super::seccomp::refuse;

type Calls = &'static [libc::c_long];

const TIMERS: Calls = &[libc::SYS_timerfd_create, libc::SYS_timerfd_settime];
const WHICH_PROCESSORS_THERE_ARE: Calls = &[libc::SYS_sched_getaffinity];
const LETTING_OTHERS_RUN: Calls = &[libc::SYS_sched_yield];
const FILES: Calls = &[libc::SYS_openat, libc::SYS_openat2, libc::SYS_statx, libc::SYS_newfstatat];
// On this architecture the older call goes on beside the one that replaced it, and the C library makes it.
#[cfg(target_arch = "x86_64")]
const LINKS: Calls = &[libc::SYS_readlinkat, libc::SYS_readlink];
#[cfg(not(target_arch = "x86_64"))]
const LINKS: Calls = &[libc::SYS_readlinkat];
const NAMING_THREADS: Calls = &[libc::SYS_prctl];
const RANDOM_NUMBERS: Calls = &[libc::SYS_getrandom, libc::SYS_openat];
const DESCRIPTORS_OF_PROCESSES: Calls = &[libc::SYS_pidfd_open];
const SIGNALS_TO_THREADS: Calls = &[libc::SYS_tgkill, libc::SYS_rt_sigaction];

const REFUSED: &[Calls] = &[
    TIMERS,
    WHICH_PROCESSORS_THERE_ARE,
    LETTING_OTHERS_RUN,
    FILES,
    LINKS,
    NAMING_THREADS,
    RANDOM_NUMBERS,
    DESCRIPTORS_OF_PROCESSES,
    SIGNALS_TO_THREADS,
];
const ERRORS: [libc::c_int; 3] = [libc::ENOSYS, libc::EPERM, libc::EACCES];

/// Tells a process which refusal it is for: a place in [`REFUSED`] and one in [`ERRORS`].
const VARIABLE: &str = "RT_TEST_REFUSAL";

fn refusals() -> impl Iterator<Item = (String, Calls, libc::c_int)> {
    REFUSED
        .iter()
        .enumerate()
        .flat_map(|(place, calls)| ERRORS.map(|error| (format!("{place}/{error}"), *calls, error)))
}

/// The refusal that this process is for. None if it is for all of them.
fn own_refusal() -> Option<(String, Calls, libc::c_int)> {
    let own = env::var(VARIABLE).ok()?;
    refusals().find(|(name, ..)| *name == own)
}

/// Runs a test once for each refusal, in a process of its own.
fn for_each_refusal<F: FnOnce() + Copy>(test: F) {
    match own_refusal() {
        Some(_) => in_own_process_with(|_| {}, test),
        None => refusals().for_each(|(name, ..)| {
            in_own_process_with(
                |command| {
                    command.env(VARIABLE, name);
                },
                test,
            );
        }),
    }
}

/// Has the system refuse what this process is for. False if it cannot.
fn refuse_own() -> bool {
    let (_, calls, error) = own_refusal().expect("in a process for one refusal");
    refuse(calls, error)
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A bit of everything.
fn use_it(runtime: &Runtime) {
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100).map(|_| rt::spawn(yield_now())).collect();
        for task in tasks {
            task.await.unwrap();
        }
        // The first are shorter than what epoll can measure.
        for micros in [100, 300, 3_000, 25_000] {
            let (time, begin) = (Duration::from_micros(micros), Instant::now());
            sleep(time).await;
            assert!(begin.elapsed() >= time);
        }
        assert_waits_patiently(Duration::from_millis(15)).await;
        let nothing = std::future::pending::<()>();
        timeout(Duration::from_micros(500), nothing).await.expect_err("nothing comes");
        assert_eq!(spawn_blocking(|| 7).await.unwrap(), 7);
    });
    runtime.block_on(async {
        let (client, server) = tcp_pair().await;
        converse(client, server).await;
        have_children().await;
    });
    rescue(runtime);
}

/// What is started is waited for, in whichever way the system allows, by the caller or by the runtime. (The refusal is
/// the child's as well: it may not come far. And the system may not let it be started, of which the caller is told.)
async fn have_children() {
    let command = || {
        let mut command = Command::new("true");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let dropped = command().spawn().ok().and_then(|child| child.id());
    for _ in 0..3 {
        if let Ok(mut child) = command().spawn() {
            child.wait().await.unwrap();
        }
    }
    if let Some(dropped) = dropped {
        let is_there = || nix::sys::signal::kill(Pid::from_raw(dropped as i32), None).is_ok();
        while is_there() {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Whatever the runtime waits with, it does not go round and round meanwhile.
async fn assert_waits_patiently(time: Duration) {
    let looks = || Handle::current().metrics().totals().driver_polls;
    let before = looks();
    sleep(time).await;
    // A few, for a wait that is cut short; going round, there are as many each millisecond.
    let looks = looks() - before;
    assert!(looks < 100, "looked into the drivers {looks} times in {time:?}");
}

/// Messages, one at a time, to the server and back.
async fn converse(mut client: TcpStream, mut server: TcpStream) {
    const MESSAGES: u8 = 200;
    let echo = rt::spawn(async move {
        let mut message = [0];
        for _ in 0..MESSAGES {
            server.read_exact(&mut message).await.unwrap();
            server.write_all(&message).await.unwrap();
        }
    });
    let ask = rt::spawn(async move {
        for number in 0..MESSAGES {
            let mut answer = [0];
            client.write_all(&[number]).await.unwrap();
            client.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer, [number]);
        }
    });
    echo.await.unwrap();
    ask.await.unwrap();
}

/// Both workers are blocked until a task has run that waits for one.
fn rescue(runtime: &Runtime) {
    let gate = Gate::new();
    let blocked: Vec<_> = (0..2)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(2);
    runtime.block_on(runtime.spawn(async { sleep(Duration::from_micros(100)).await })).unwrap();
    gate.open();
    runtime.block_on(async {
        for task in blocked {
            task.await.unwrap();
        }
    });
}

#[test]
fn what_is_refused_from_the_start_is_done_without() {
    for_each_refusal(|| {
        if !refuse_own() {
            return;
        }
        // On a new thread: std gets the random numbers of one only once, and the harness may have needed some on this
        // one.
        let (runtime, other) = thread::spawn(|| (runtime(), current())).join().unwrap();
        use_it(&runtime);
        drop(runtime);
        other.block_on(async { sleep(Duration::from_micros(300)).await });
    });
}

#[test]
fn what_is_refused_from_some_moment_on_is_done_without() {
    for_each_refusal(|| {
        let (runtime, other) = (runtime(), current());
        use_it(&runtime);
        let pair = runtime.block_on(tcp_pair());
        if !refuse_own() {
            return;
        }
        runtime.block_on(converse(pair.0, pair.1));
        use_it(&runtime);
        drop(runtime);
        other.block_on(async { sleep(Duration::from_micros(300)).await });
    });
}

/// A call that the caller's request consists in is the caller's to do without.
#[test]
fn what_the_caller_asks_for_is_refused_to_the_caller() {
    in_own_process_with(
        |_| {},
        || {
            let runtime = runtime();
            let pair = runtime.block_on(tcp_pair());
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let address = listener.local_addr().unwrap();
            if !refuse(&[libc::SYS_getsockopt, libc::SYS_setsockopt], libc::EPERM) {
                return;
            }
            let connected = runtime.block_on(TcpStream::connect(address));
            assert_eq!(connected.unwrap_err().raw_os_error(), Some(libc::EPERM));
            assert_eq!(pair.0.set_nodelay(true).unwrap_err().raw_os_error(), Some(libc::EPERM));
            runtime.block_on(converse(pair.0, pair.1));
        },
    );
}

/// As Linux refuses it where IPsec has no keys yet. Nothing was begun then, so there is nothing to wait for.
#[test]
fn a_connection_that_cannot_be_begun_now_is_refused_to_the_caller() {
    in_own_process(|| {
        let runtime = runtime();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        if !refuse(&[libc::SYS_connect], libc::EAGAIN) {
            return;
        }
        let error = runtime.block_on(TcpStream::connect(address)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
        let error = runtime.block_on(TcpSocket::new_v4().unwrap().connect(address)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
    });
}

/// A descriptor in blocking mode is refused to help the caller. If the mode cannot be read, that is no reason to
/// refuse.
#[test]
fn descriptors_are_accepted_when_the_system_does_not_tell_their_mode() {
    in_own_process(|| {
        let runtime = runtime();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        if !refuse(&[libc::SYS_fcntl], libc::EPERM) {
            return;
        }
        runtime.block_on(async {
            let ours = AsyncFd::new(ours).unwrap();
            theirs.write_all(b"x").unwrap();
            let read = ours.async_io(Interest::READABLE, |mut ours| ours.read(&mut [0; 8])).await;
            assert_eq!(read.unwrap(), 1);
            let client = TcpStream::from_std(client).unwrap();
            let (server, _) = TcpListener::from_std(listener).unwrap().accept().await.unwrap();
            converse(client, server).await;
        });
    });
}
