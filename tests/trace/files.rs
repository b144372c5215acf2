//! Traces that are written when something goes wrong, or when somebody sends a signal.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rt::runtime::trace::TraceConfig;
use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

use crate::perfetto::Shown;

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // A report of a runtime that has been dropped may come late: it must not find the next test's folder.
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("rt-trace-{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The names of the files in it.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn panic_in_a_task(runtime: &Runtime) {
    assert!(runtime.block_on(runtime.spawn(async { std::panic::resume_unwind(Box::new(())) })).is_err());
}

#[test]
fn a_task_that_panics_has_the_trace_written_once() {
    let _watchdog = watchdog();
    let folder = Folder::new("panic");
    let path = folder.0.join("trace.pftrace");
    let runtime = rescuing(1).trace(TraceConfig::new().file(&path).on_panic(true)).build().unwrap();
    panic_in_a_task(&runtime);
    eventually(|| path.exists());
    let first = fs::read(&path).unwrap();
    assert_eq!(Shown::read(&first).all().filter(|slice| slice.name == "panic").count(), 1);
    // It stays as it is until it is taken away.
    panic_in_a_task(&runtime);
    assert_eq!(fs::read(&path).unwrap(), first);
    let elsewhere = folder.0.join("taken away");
    fs::rename(&path, &elsewhere).unwrap();
    eventually(|| {
        panic_in_a_task(&runtime);
        path.exists()
    });
    assert_eq!(fs::read(&elsewhere).unwrap(), first);
    assert!(Shown::read(&fs::read(&path).unwrap()).all().filter(|slice| slice.name == "panic").count() > 1);
    drop(runtime);
    // Perhaps a last report is still on its way, but it has nothing to write.
    eventually(|| folder.files().len() == 2);
}

#[test]
fn without_being_told_so_it_writes_nothing() {
    let _watchdog = watchdog();
    let folder = Folder::new("silent");
    let silent = folder.0.join("silent.json");
    let told = folder.0.join("told.json");
    let runtime = rescuing(1).build().unwrap();
    let trace = runtime.handle().trace();
    trace.start(TraceConfig::new().file(&silent).on_blocked(true));
    panic_in_a_task(&runtime);
    trace.stop();
    trace.start(TraceConfig::new().file(&told).on_panic(true));
    trace.stop();
    panic_in_a_task(&runtime);
    // Nor while it goes on for somebody else.
    let hold = trace.hold(TraceConfig::new().file(&silent).on_panic(true));
    panic_in_a_task(&runtime);
    drop(hold);
    trace.start(TraceConfig::new().file(&told).on_panic(true));
    panic_in_a_task(&runtime);
    eventually(|| told.exists());
    // In JSON, by its name; and reports are made one after the other, so the first panic has had its chance.
    serde_json::from_slice::<serde_json::Value>(&fs::read(&told).unwrap()).unwrap();
    assert_eq!(folder.files(), ["told.json"]);
}

#[test]
fn a_task_that_blocks_its_worker_has_the_trace_written_while_it_does() {
    let _watchdog = watchdog();
    let folder = Folder::new("blocked");
    let path = folder.0.join("trace.pftrace");
    let runtime =
        rescuing(1).on_blocked(|_| ()).trace(TraceConfig::new().file(&path).on_blocked(true)).build().unwrap();
    let gate = Gate::new();
    let block = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.pass() })
    };
    gate.wait_for(1);
    // Something must wait for the worker.
    let behind = runtime.spawn(async {});
    eventually(|| path.exists());
    let shown = Shown::read(&fs::read(&path).unwrap());
    // A spare worker may be in the middle of a poll of its own.
    let open: Vec<_> = shown.all().filter(|slice| slice.end.is_none()).filter_map(|slice| slice.task).collect();
    assert!(open.iter().any(|task| task.to_string() == block.id().to_string()), "{open:?}");
    gate.open();
    runtime.block_on(async {
        block.await.unwrap();
        behind.await.unwrap();
    });
}

#[test]
fn a_slow_poll_has_the_trace_written_on_every_runtime() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let folder = Folder::new("slow");
        let path = folder.0.join("trace.pftrace");
        const LIMIT: Duration = Duration::from_millis(20);
        let config = TraceConfig::new().file(&path).on_slow_poll(LIMIT);
        let runtime = builder.worker_threads(1).trace(config).build().unwrap();
        // Waits for nobody: it computes.
        let slow = runtime.spawn(async {
            let before = Instant::now();
            while before.elapsed() < LIMIT {}
        });
        let id = slow.id();
        runtime.block_on(slow).unwrap();
        eventually(|| path.exists());
        let shown = Shown::read(&fs::read(&path).unwrap());
        let slices = shown.all().filter(|slice| slice.task.is_some_and(|task| task.to_string() == id.to_string()));
        let took = slices.filter_map(|slice| Some(slice.end? - slice.begin)).max();
        // The two clocks were compared to within microseconds.
        assert!(took >= Some((LIMIT - Duration::from_millis(1)).as_nanos() as u64), "{took:?}");
    }
}

#[test]
fn a_poll_that_is_not_slow_has_nothing_written() {
    let _watchdog = watchdog();
    let folder = Folder::new("not-slow");
    let path = folder.0.join("trace.json");
    let an_hour = Duration::from_secs(60 * 60);
    let runtime = rescuing(1).trace(TraceConfig::new().file(&path).on_slow_poll(an_hour)).build().unwrap();
    runtime.block_on(async {
        for _ in 0..100 {
            rt::spawn(rt::task::yield_now()).await.unwrap();
        }
    });
    let trace = runtime.handle().trace();
    trace.stop();
    trace.start(TraceConfig::new().file(&path).on_panic(true));
    panic_in_a_task(&runtime);
    eventually(|| path.exists());
    // Of the panic, after all those polls.
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(json["traceEvents"].as_array().unwrap().iter().any(|event| event["name"] == "panic"));
}

/// The file is a pipe that nobody reads, so that to write it takes until somebody does. The process must have begun no
/// file before.
#[cfg(unix)]
fn check_disk_that_does_not_answer(builder: &mut Builder) {
    let folder = Folder::new("slow-disk");
    let path = folder.0.join("trace");
    let unfinished = folder.0.join(format!("trace.{}.0", std::process::id()));
    nix::unistd::mkfifo(&unfinished, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let config = TraceConfig::new().file(&path).on_panic(true).on_slow_poll(Duration::ZERO);
    let runtime = builder.enable_all().trace(config).build().unwrap();
    for _ in 0..100 {
        panic_in_a_task(&runtime);
    }
    assert_unhurt(&runtime);
    drop(runtime);
    // The first report is made when there is a reader, and the second one finds the file.
    Shown::read(&fs::read(&unfinished).unwrap());
    eventually(|| folder.files() == ["trace"]);
}

#[test]
#[cfg(unix)]
fn a_disk_that_does_not_answer_holds_up_no_worker() {
    in_own_process(|| check_disk_that_does_not_answer(&mut rescuing(1)));
}

#[test]
#[cfg(unix)]
fn a_disk_that_does_not_answer_holds_up_no_current_thread() {
    in_own_process(|| check_disk_that_does_not_answer(&mut Builder::new_current_thread()));
}

/// The name of an unfinished file can be guessed, and the folder may be one for all.
#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link() {
    in_own_process(|| {
        let folder = Folder::new("link");
        let (path, precious) = (folder.0.join("trace"), folder.0.join("precious"));
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, folder.0.join(format!("trace.{}.0", std::process::id()))).unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        let written = runtime.handle().trace().snapshot().write_file(&path);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert!(written.is_err() && !path.exists(), "{written:?}");
    });
}

#[test]
fn several_threads_may_write_the_same_file() {
    let _watchdog = watchdog();
    let folder = Folder::new("several");
    let path = folder.0.join("trace");
    let runtime = rescuing(1).build().unwrap();
    runtime.handle().trace().start(TraceConfig::new());
    for _ in 0..1000 {
        runtime.block_on(runtime.spawn(async {})).unwrap();
    }
    let snapshot = runtime.handle().trace().snapshot();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    snapshot.write_file(&path).unwrap();
                    // Whichever it is, it is whole.
                    assert!(Shown::read(&fs::read(&path).unwrap()).all().count() > 1000);
                }
            });
        }
    });
    assert_eq!(folder.files(), ["trace"]);
}

#[test]
fn a_file_that_cannot_be_written_does_no_harm() {
    let _watchdog = watchdog();
    let folder = Folder::new("none");
    let runtime = rescuing(1)
        .trace(TraceConfig::new().file(folder.0.join("no such folder").join("trace")).on_panic(true))
        .build()
        .unwrap();
    panic_in_a_task(&runtime);
    assert!(runtime.handle().trace().snapshot().write_file(folder.0.join("nor").join("this")).is_err());
    assert_unhurt(&runtime);
    assert!(folder.files().is_empty());
}

#[test]
fn the_environment_asks_for_it() {
    let folder = Folder::new("environment");
    let path = folder.0.join("trace");
    in_own_process_with(
        |command| _ = command.env("RT_TRACE", &path),
        || {
            let runtime = multi(1);
            assert!(runtime.handle().trace().is_running());
            panic_in_a_task(&runtime);
            let path = PathBuf::from(std::env::var_os("RT_TRACE").unwrap());
            eventually(|| path.exists());
            Shown::read(&fs::read(path).unwrap());
        },
    );
}

/// What rt writes to stderr while the function runs, which is handed the lines. Returns those that it left.
#[cfg(unix)]
fn lines_on_stderr_of(run: impl FnOnce(&mut dyn Iterator<Item = String>)) -> Vec<String> {
    use std::io::{BufRead, BufReader, Write};

    // Not the end of the pipe: another process may have got its descriptor meanwhile, such as a sanitizer's helper.
    const END: &str = "rt: no more";
    let (reader, writer) = std::io::pipe().unwrap();
    let before = nix::unistd::dup(std::io::stderr()).unwrap();
    nix::unistd::dup2_stderr(writer).unwrap();
    let mut lines = BufReader::new(reader).lines().map(Result::unwrap).filter(|line| line.starts_with("rt: "));
    run(&mut lines);
    std::io::stderr().write_all(format!("{END}\n").as_bytes()).unwrap();
    nix::unistd::dup2_stderr(before).unwrap();
    lines.take_while(|line| line != END).collect()
}

/// A file of an earlier run looks like this one's.
#[cfg(unix)]
#[test]
fn a_file_that_is_kept_is_told_once() {
    in_own_process(|| {
        let folder = Folder::new("kept");
        let path = folder.0.join("trace");
        fs::write(&path, "of yesterday").unwrap();
        let lines = lines_on_stderr_of(|lines| {
            let runtime = rescuing(1).trace(TraceConfig::new().file(&path).on_panic(true)).build().unwrap();
            for _ in 0..3 {
                panic_in_a_task(&runtime);
            }
            let line = lines.next().unwrap();
            assert!(line.contains("is there already, and is left as it is"), "{line}");
            // The file that is there after this is the runtime's own.
            let told = folder.0.join("told");
            fs::rename(&path, &told).unwrap();
            eventually(|| {
                panic_in_a_task(&runtime);
                path.exists()
            });
            let line = lines.next().unwrap();
            assert!(line.contains("a trace was written to"), "{line}");
            panic_in_a_task(&runtime);
        });
        assert!(lines.is_empty(), "{lines:?}");
    });
}

#[cfg(unix)]
#[test]
fn a_path_of_the_environment_that_cannot_be_written_is_told_at_once() {
    let folder = Folder::new("wrong-path");
    let (file, nowhere) = (folder.0.join("file"), folder.0.join("no").join("trace"));
    fs::write(&file, "").unwrap();
    for (path, trouble) in
        [(&folder.0, "this is a directory"), (&file, "is there already"), (&nowhere, "its directory is not there")]
    {
        in_own_process_with(
            |command| _ = command.env("RT_TRACE", path).env("TROUBLE", trouble),
            || {
                let lines = lines_on_stderr_of(|_| drop(multi(1)));
                let trouble = std::env::var("TROUBLE").unwrap();
                assert!(lines.len() == 1 && lines[0].contains(&trouble), "{lines:?}");
            },
        );
    }
}

#[cfg(unix)]
#[test]
fn a_signal_has_it_written_while_all_workers_are_stuck() {
    use rt::runtime::trace::snapshot_on_signal;
    use rt::signal::unix::SignalKind;

    in_own_process(|| {
        let folder = Folder::new("signal");
        let path = folder.0.join("trace.pftrace");
        let runtime = multi(1);
        let trace = runtime.handle().trace();
        trace.start(TraceConfig::new());
        let writing = snapshot_on_signal(trace, SignalKind::user_defined2(), &path).unwrap();
        let gate = Gate::new();
        let block = {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        };
        gate.wait_for(1);
        for _ in 0..2 {
            nix::sys::signal::raise(nix::sys::signal::Signal::SIGUSR2).unwrap();
            eventually(|| path.exists());
            let shown = Shown::read(&fs::read(&path).unwrap());
            let open = shown.all().filter(|slice| slice.end.is_none() && slice.task.is_some());
            assert_eq!(open.count(), 1);
            fs::remove_file(&path).unwrap();
        }
        gate.open();
        runtime.block_on(block).unwrap();
        // In async code, too.
        runtime.block_on(async move { drop(writing) });
    });
}
