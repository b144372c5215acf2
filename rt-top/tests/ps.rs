//! `rt-top ps` as a program, beside a program that is looked into: this one.

use std::future::pending;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};

use rt::runtime::{Builder, Runtime};
use rt_test_util::{in_own_process_with, watchdog};

fn inspected(address: SocketAddr) -> (Runtime, SocketAddr) {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_all().inspect(address).build().unwrap();
    let address = runtime.inspect_address().unwrap();
    (runtime, address)
}

fn rt_top(args: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rt-top"));
    command.args(args).env_remove("RT_INSPECT_TOKEN");
    if let Some(token) = token {
        command.env("RT_INSPECT_TOKEN", token);
    }
    command.output().unwrap()
}

#[track_caller]
fn fails(output: &Output, code: i32, says: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.contains(says)), (Some(code), true), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn it_lists_the_tasks_of_a_program_with_what_they_wait_for() {
    let _watchdog = watchdog();
    let (runtime, address) = inspected(([127, 0, 40, 1], 0).into());
    let lock = std::sync::Arc::new(rt::sync::Mutex::new(()));
    let _held = lock.clone().try_lock_owned().unwrap();
    let waiting = rt::task::Builder::new()
        .name("the  one\u{1b}[31m")
        .spawn_on(
            async move {
                let _guard = lock.lock().await;
            },
            runtime.handle(),
        )
        .unwrap();
    let idle = runtime.spawn(pending::<()>());
    let listed =
        |id: &str| runtime.handle().tasks().iter().any(|task| task.id.to_string() == id && task.state.is_waiting());
    let ids = [waiting.id().to_string(), idle.id().to_string()];
    while !ids.iter().all(|id| listed(id)) {
        std::thread::yield_now();
    }

    let output = rt_top(&["ps", &address.to_string()], None);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fields = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|field| !field.is_empty()).map(str::to_owned).collect()
    };
    let lines: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!((lines.len(), lines[0][1].as_str()), (3, "TASK"), "{text}");
    let line = |id: &str| lines.iter().find(|line| line[1] == id).unwrap_or_else(|| panic!("no {id} in {text}"));
    let waiting = line(&ids[0]);
    assert_eq!((waiting[2].as_str(), waiting[10].as_str()), ("waiting", "the one\u{fffd}[31m"));
    assert!(waiting[9].contains("ps.rs") && waiting[11].starts_with("mutex"), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert_eq!(line(&ids[1])[11], "unknown");
}

#[test]
fn without_an_answer_it_fails_and_says_so() {
    // Nobody listens there any more.
    let address = TcpListener::bind("127.0.40.2:0").unwrap().local_addr().unwrap().to_string();
    fails(&rt_top(&["ps", &address], None), 1, "nobody answers");
    fails(&rt_top(&["ps", "nonsense"], None), 2, "no address");
    fails(&rt_top(&["ps"], None), 2, "usage");
    // Not a terminal.
    fails(&rt_top(&[&address], None), 1, "terminal");
}

#[test]
fn the_token_must_be_the_one_that_the_program_was_told() {
    in_own_process_with(
        |command| _ = command.env("RT_INSPECT_TOKEN", "s3cret"),
        || {
            let (_runtime, address) = inspected(([127, 0, 40, 3], 0).into());
            let address = address.to_string();
            fails(&rt_top(&["ps", &address], None), 1, "token");
            fails(&rt_top(&["ps", "--token", "guess", &address], Some("s3cret")), 1, "token");
            for (args, token) in [
                (&["ps", &*address][..], Some("s3cret")),
                (&["ps", "--token", "s3cret", &address], None),
                (&["ps", &format!("http://{address}/?token=s3cret")], Some("other")),
            ] {
                let output = rt_top(args, token);
                assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
                assert!(output.stdout.starts_with(b"RUNTIME"));
            }
        },
    );
}

#[test]
fn help_is_on_stdout() {
    let output = rt_top(&["--help"], None);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("usage: rt-top"));
}
