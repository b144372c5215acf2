//! Runs a list of shell commands as child processes: a few at a time, each within a time limit, their output line by
//! line as it comes, and on Ctrl-C none of them is left.
//!
//! ```text
//! cargo run --example run_jobs -- --help
//! printf 'echo one\nsleep 1; echo two\nexit 3\n' | cargo run --example run_jobs -- --jobs 2
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::Arc;

use nix::sys::signal::{Signal as Number, killpg};
use nix::unistd::Pid;
use parking_lot::Mutex;
use rt::io::{self, AsyncBufReadExt, AsyncRead, BufReader};
use rt::process::{Child, Command};
use rt::signal::unix::{Signal, SignalKind, signal};
use rt::time::{Duration, Instant, sleep, timeout};

const HELP: &str = "\
Runs shell commands, one per line, and prints their output as it comes.

Usage: run_jobs [OPTIONS] [FILE]

FILE has the commands; without it they are read from standard input. Empty lines
and lines that begin with # are passed over.

Options:
  -j, --jobs N        how many commands run at a time (default 4)
  -t, --time SECONDS  how long each may run (default: no limit)
  -g, --grace SECONDS how long a command that is asked to end may take until it
                      and all that it has started are killed (default 2)
  -h, --help          print this

Ctrl-C asks all commands to end and starts no more; Ctrl-C again kills them.

Exit code: 0 if all commands succeeded, 1 if some did not, 2 if the arguments
make no sense, 130 after Ctrl-C.
";

/// What the arguments say.
struct Options {
    jobs: usize,
    limit: Option<Duration>,
    grace: Duration,
    file: Option<String>,
}

/// One of the commands.
struct Job {
    number: usize,
    script: String,
}

/// How a job has ended.
enum End {
    Ended(ExitStatus),
    OutOfTime,
    Interrupted,
    NotStarted(io::Error),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Ended(status) if status.success() => f.write_str("done"),
            End::Ended(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exit code {code}"),
                (None, Some(number)) => write!(f, "ended by signal {number}"),
                (None, None) => write!(f, "{status}"),
            },
            End::OutOfTime => f.write_str("out of time"),
            End::Interrupted => f.write_str("interrupted"),
            End::NotStarted(error) => write!(f, "not started: {error}"),
        }
    }
}

fn options() -> Result<Option<Options>, String> {
    let mut options = Options { jobs: 4, limit: None, grace: Duration::from_secs(2), file: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match &*argument {
            "-h" | "--help" => return Ok(None),
            "-j" | "--jobs" => {
                let text = value()?;
                options.jobs =
                    text.parse().ok().filter(|jobs| *jobs > 0).ok_or(format!("not a number of jobs: {text}"))?;
            }
            "-t" | "--time" => options.limit = Some(seconds(&value()?)?),
            "-g" | "--grace" => options.grace = seconds(&value()?)?,
            unknown if unknown.starts_with('-') && unknown != "-" => return Err(format!("no such option: {unknown}")),
            _ if options.file.is_some() => return Err("more than one file".to_owned()),
            file => options.file = (file != "-").then(|| file.to_owned()),
        }
    }
    Ok(Some(options))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().map_err(|_| format!("not a number of seconds: {text}"))?;
    Duration::try_from_secs_f64(number).map_err(|error| format!("{text} seconds: {error}"))
}

fn jobs_in(list: &str) -> VecDeque<Job> {
    let commands = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    commands.enumerate().map(|(place, script)| Job { number: place + 1, script: script.to_owned() }).collect()
}

#[rt::main]
async fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("run_jobs: {message}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    match run(options).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("run_jobs: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all jobs and prints how they ended.
async fn run(options: Options) -> io::Result<ExitCode> {
    let options = Arc::new(options);
    let list = {
        let options = options.clone();
        // Reading may block: on a thread for that. Until it is read, Ctrl-C still ends the program by itself.
        rt::spawn_blocking(move || match &options.file {
            Some(file) => {
                std::fs::read_to_string(file).map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))
            }
            None => {
                let mut list = String::new();
                std::io::stdin().read_to_string(&mut list).map(|_| list)
            }
        })
        .await??
    };
    let queue = Arc::new(Mutex::new(jobs_in(&list)));
    let count = queue.lock().len();
    let mut runners = Vec::new();
    for _ in 0..options.jobs.min(count) {
        // Each runner has a stream of its own, and each stream hears every signal, also while the runner is busy.
        let interrupts = signal(SignalKind::interrupt())?;
        runners.push(rt::spawn(run_from(queue.clone(), options.clone(), interrupts)));
    }
    let mut ends = Vec::new();
    for runner in runners {
        ends.extend(runner.await?);
    }
    // What nobody has come to.
    ends.extend(queue.lock().drain(..).map(|job| (job, End::Interrupted, Duration::ZERO)));
    ends.sort_by_key(|(job, ..)| job.number);

    let succeeded = ends.iter().filter(|(_, end, _)| matches!(end, End::Ended(status) if status.success())).count();
    eprintln!("\n{succeeded} of {count} succeeded");
    for (job, end, took) in &ends {
        eprintln!("[{}] {end} ({:.2} s): {}", job.number, took.as_secs_f64(), job.script);
    }
    let is_interrupted = ends.iter().any(|(_, end, _)| matches!(end, End::Interrupted));
    Ok(match is_interrupted {
        true => ExitCode::from(130),
        false if succeeded == count => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Takes jobs from the queue, one after the other, until there are none or the user interrupts.
async fn run_from(
    queue: Arc<Mutex<VecDeque<Job>>>,
    options: Arc<Options>,
    mut interrupts: Signal,
) -> Vec<(Job, End, Duration)> {
    let mut ends = Vec::new();
    loop {
        let Some(job) = queue.lock().pop_front() else { break };
        let begin = Instant::now();
        let end = run_job(&job, &options, &mut interrupts).await;
        let is_over = matches!(end, End::Interrupted);
        ends.push((job, end, begin.elapsed()));
        if is_over {
            break;
        }
    }
    ends
}

async fn run_job(job: &Job, options: &Options, interrupts: &mut Signal) -> End {
    let mut command = Command::new("sh");
    command.args(["-c", &job.script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: with it, all that the job starts can be ended. (And Ctrl-C in the terminal goes to us alone.)
    command.process_group(0).kill_on_drop(true);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return End::NotStarted(error),
    };
    let group = Pid::from_raw(child.id().and_then(|id| i32::try_from(id).ok()).expect("it was not waited for yet"));
    let mut output = std::pin::pin!(print_all(job.number, &mut child));
    let limit = async {
        match options.limit {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let cut_short = rt::select! {
        () = &mut output => None,
        () = limit => Some(End::OutOfTime),
        _ = interrupts.recv() => Some(End::Interrupted),
    };
    if cut_short.is_some() {
        // The child was not waited for, so the number still is that of its group.
        let _ = killpg(group, Number::SIGTERM);
        rt::select! {
            _ = timeout(options.grace, &mut output) => {}
            _ = interrupts.recv() => {}
        }
        // Also what has closed its output and goes on.
        let _ = killpg(group, Number::SIGKILL);
    }
    match (cut_short, child.wait().await) {
        (Some(end), _) => end,
        (None, Ok(status)) => End::Ended(status),
        (None, Err(error)) => End::NotStarted(error),
    }
}

/// Prints what a job says, until it and all that it has started have closed their output.
fn print_all(number: usize, child: &mut Child) -> impl Future<Output = ()> + use<> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    async move {
        let lines = async { print_lines(number, stdout, &mut std::io::stdout()).await };
        let errors = async { print_lines(number, stderr, &mut std::io::stderr()).await };
        rt::join!(lines, errors);
    }
}

async fn print_lines(number: usize, from: Option<impl AsyncRead + Unpin>, to: &mut impl Write) {
    let Some(from) = from else { return };
    let mut from = BufReader::new(from);
    let mut line = format!("[{number}] ").into_bytes();
    let prefix = line.len();
    // By bytes: a program may print what is not UTF-8.
    while from.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        // In one piece. If nobody reads our output any more, the jobs still run.
        let _ = to.write_all(&line);
        line.truncate(prefix);
    }
}
