//! Standard input, output and error, in processes of their own: this program again, with just that test.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Child, Command, Stdio};

use rt::io::{AsyncReadExt, AsyncWriteExt};

use rt_test_util::{current, in_fork, multi, watchdog};

/// Set in such a process, to the name of the test that it is for.
const VARIABLE: &str = "RT_TEST_STANDARD_STREAMS";
/// The harness prints, too: what the test prints comes after this.
const BEGIN: &str = "the test begins\n";

/// Runs `inside` in a process whose streams are pipes, and `outside` with that process, which then ends well.
fn with_process<F: FnOnce()>(inside: F, outside: impl FnOnce(&mut Child)) {
    let _watchdog = watchdog();
    // The closure is called after the function that it is in, and that is what the harness calls the test.
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a path begins with the crate");
    if env::var(VARIABLE).is_ok_and(|this| this == name) {
        print!("{BEGIN}");
        std::io::stdout().flush().unwrap();
        inside();
        // Without what the harness would print, and as a program ends.
        std::process::exit(0);
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(VARIABLE, name);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let stdout = process.stdout.as_mut().unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(BEGIN.as_bytes()) {
        let mut byte = [0];
        stdout.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    outside(&mut process);
    drop(process.stdin.take());
    assert!(process.wait().unwrap().success());
}

/// The rest of the standard output.
fn rest(process: &mut Child) -> String {
    let mut text = String::new();
    process.stdout.as_mut().unwrap().read_to_string(&mut text).unwrap();
    text
}

fn next_line(process: &mut Child) -> String {
    let mut line = String::new();
    BufReader::with_capacity(1, process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

#[test]
fn what_is_read_is_what_was_typed() {
    with_process(
        || {
            multi(2).block_on(async {
                let mut text = String::new();
                rt::io::stdin().read_to_string(&mut text).await.unwrap();
                assert_eq!(text, "one\ntwo\n");
                assert_eq!(rt::io::stdin().read(&mut [0; 4]).await.unwrap(), 0);
            })
        },
        |process| process.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap(),
    );
}

/// Nobody types anything, and the other end of the pipe stays open.
#[test]
fn a_read_that_waits_holds_up_neither_a_runtime_nor_the_process() {
    with_process(
        || {
            for runtime in [multi(2), current()] {
                runtime.block_on(async {
                    rt::spawn(async { rt::io::stdin().read(&mut [0; 4]).await });
                    let mut stdin = rt::io::stdin();
                    let mut memory = [0; 4];
                    rt::select! {
                        _ = stdin.read(&mut memory) => panic!("nobody has typed anything"),
                        () = rt::time::sleep(std::time::Duration::from_millis(1)) => {}
                    }
                });
                drop(runtime);
            }
        },
        |process| {
            // By itself, while the pipe is open. (What waits for a process closes the pipe that it has.)
            let _pipe = process.stdin.take();
            assert!(process.wait().unwrap().success());
        },
    );
}

#[test]
fn what_was_typed_for_a_handle_that_is_gone_is_read_by_the_next() {
    with_process(
        || {
            let first = multi(2);
            first.block_on(async {
                let mut stdin = rt::io::stdin();
                let mut memory = [0; 100];
                rt::select! {
                    biased;
                    _ = stdin.read(&mut memory) => panic!("nobody has typed anything"),
                    () = rt::task::yield_now() => {}
                }
            });
            drop(first);
            println!("type now");
            current().block_on(async {
                let mut memory = [0; 3];
                for expected in [b"abc", b"def"] {
                    rt::io::stdin().read_exact(&mut memory).await.unwrap();
                    assert_eq!(&memory, expected);
                }
            });
        },
        |process| {
            assert_eq!(next_line(process), "type now\n");
            // The pipe stays open.
            let mut pipe = process.stdin.take().unwrap();
            pipe.write_all(b"abcdef").unwrap();
            assert!(process.wait().unwrap().success());
        },
    );
}

/// The thread that reads has stayed in the parent. (Mutation: it is taken to be there, and nothing is ever read.)
#[test]
fn a_fork_reads_where_its_parent_has_stopped() {
    with_process(
        || {
            let mut memory = [0; 3];
            current().block_on(rt::io::stdin().read_exact(&mut memory)).unwrap();
            assert_eq!(&memory, b"abc");
            println!("type more");
            in_fork(|| {
                for (runtime, expected) in [(multi(2), b"def"), (current(), b"ghi")] {
                    runtime.block_on(rt::io::stdin().read_exact(&mut memory)).unwrap();
                    assert_eq!(&memory, expected);
                }
            });
        },
        |process| {
            let mut pipe = process.stdin.take().unwrap();
            pipe.write_all(b"abc").unwrap();
            assert_eq!(next_line(process), "type more\n");
            pipe.write_all(b"defghi").unwrap();
            assert!(process.wait().unwrap().success());
        },
    );
}

#[test]
fn input_can_be_read_outside_of_a_runtime() {
    with_process(
        || {
            struct Unpark(std::thread::Thread);
            impl std::task::Wake for Unpark {
                fn wake(self: std::sync::Arc<Self>) {
                    self.0.unpark();
                }
            }
            let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
            let mut memory = [0; 3];
            let mut stdin = rt::io::stdin();
            let mut read = Box::pin(stdin.read_exact(&mut memory));
            while read.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending() {
                std::thread::park();
            }
            drop(read);
            assert_eq!(&memory, b"abc");
        },
        |process| process.stdin.as_mut().unwrap().write_all(b"abc").unwrap(),
    );
}

#[test]
fn output_that_is_flushed_is_there() {
    with_process(
        || {
            multi(2).block_on(async {
                let mut stdout = rt::io::stdout();
                stdout.write_all(b"no line").await.unwrap();
                stdout.flush().await.unwrap();
                // Only now may the other side go on.
                rt::io::stdin().read(&mut [0; 4]).await.unwrap();
                let mut stderr = rt::io::stderr();
                stderr.write_all(b"an error").await.unwrap();
                stderr.flush().await.unwrap();
                assert_eq!(stdout.as_raw_fd(), 1);
                assert_eq!(stdout.as_fd().as_raw_fd(), 1);
                assert_eq!(stderr.as_raw_fd(), 2);
                assert_eq!(rt::io::stdin().as_raw_fd(), 0);
            })
        },
        |process| {
            let mut bytes = [0; 7];
            process.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
            assert_eq!(&bytes, b"no line");
            drop(process.stdin.take());
            assert_eq!(rest(process), "");
            let mut text = String::new();
            process.stderr.as_mut().unwrap().read_to_string(&mut text).unwrap();
            assert!(text.ends_with("an error"), "{text}");
        },
    );
}

/// More than a pipe holds, and more than one write takes; not flushed, and the handle is dropped at once.
#[test]
fn output_whose_handle_is_dropped_is_written_before_the_runtime_ends() {
    const LENGTH: usize = 5 << 20;
    with_process(
        || {
            for runtime in [multi(2), current()] {
                runtime.block_on(async {
                    let text = vec![b'x'; LENGTH];
                    let mut stdout = rt::io::stdout();
                    assert_eq!(stdout.write(&text).await.unwrap(), 2 << 20, "as much as one write takes");
                    stdout.write_all(&text[2 << 20..]).await.unwrap();
                });
            }
        },
        |process| assert_eq!(rest(process).len(), 2 * LENGTH),
    );
}

#[test]
fn many_small_writes_keep_their_order() {
    with_process(
        || {
            multi(2).block_on(async {
                let mut stdout = rt::io::stdout();
                for n in 0..10_000 {
                    stdout.write_all(format!("{n}\n").as_bytes()).await.unwrap();
                }
                stdout.shutdown().await.unwrap();
            })
        },
        |process| {
            let text = rest(process);
            assert!(text.lines().map(|line| line.parse::<usize>().unwrap()).eq(0..10_000));
        },
    );
}

#[test]
fn output_that_nobody_reads_any_more_is_an_error() {
    with_process(
        || {
            multi(2).block_on(async {
                rt::io::stdin().read(&mut [0; 4]).await.unwrap();
                let mut stdout = rt::io::stdout();
                let error = loop {
                    // By one of them.
                    if let Err(error) = stdout.write_all(b"anybody?\n").await {
                        break error;
                    }
                    if let Err(error) = stdout.flush().await {
                        break error;
                    }
                };
                assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
            })
        },
        |process| {
            drop(process.stdout.take());
            drop(process.stdin.take());
        },
    );
}
