//! A job runner, as a CI server has one: processes of the shell, a few at a time, their output streamed as it comes,
//! and ended on a timeout, on ctrl-c, or when nobody wants them any more. None is left as a zombie.

mod jobs {
    pub mod runner;
}

use std::process::Stdio;
use std::time::Duration;

use ecosystem::Directory;
use jobs::runner::{Ended, Runner};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(600);

/// Says its process number, and goes on for longer than any test.
const ENDLESS: &str = "echo $$; exec sleep 100000";

/// Whether this is a child of ours, one that has ended and was not reaped included.
fn is_child(process: &str) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return false };
    status.lines().any(|line| line == format!("PPid:\t{}", std::process::id()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_run_at_a_time_than_may() {
    let directory = Directory::new();
    let runner = Runner::new(3, CancellationToken::new());
    let jobs = (0..30).map(|n| {
        let (runner, path) = (runner.clone(), directory.path().to_owned());
        tokio::spawn(async move {
            let (lines, mut output) = mpsc::channel(1000);
            let script = format!("cd '{}'; mkdir {n}; ls | wc -l; seq 200; rmdir {n}", path.display());
            let ended = runner.run(&script, LONG, lines).await;
            let beside: usize = output.recv().await.unwrap().trim().parse().unwrap();
            assert!((1..=3).contains(&beside), "{beside} at a time");
            for line in 1..=200 {
                assert_eq!(output.recv().await, Some(line.to_string()));
            }
            assert_eq!(output.recv().await, None);
            ended
        })
    });
    for ended in futures::future::join_all(jobs).await {
        assert_eq!(ended.unwrap(), Ended::Itself(Some(0)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_that_a_job_ends_with_is_told() {
    let runner = Runner::new(1, CancellationToken::new());
    let (lines, _output) = mpsc::channel(1);
    assert_eq!(runner.run("exit 7", LONG, lines.clone()).await, Ended::Itself(Some(7)));
    assert_eq!(runner.run("kill -9 $$", LONG, lines).await, Ended::Itself(None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_comes_while_the_job_runs() {
    let mut process = Command::new("sh")
        .args(["-c", "while read word; do echo \"heard $word\"; done; echo end"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
    for n in 0..100 {
        input.write_all(format!("{n}\n").as_bytes()).await.unwrap();
        assert_eq!(output.next_line().await.unwrap(), Some(format!("heard {n}")));
    }
    drop(input);
    assert_eq!(output.next_line().await.unwrap().as_deref(), Some("end"));
    assert!(process.wait().await.unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_past_its_time_is_killed_and_reaped() {
    let runner = Runner::new(10, CancellationToken::new());
    let jobs = (0..10).map(|n| {
        let runner = runner.clone();
        tokio::spawn(async move {
            let (lines, mut output) = mpsc::channel(1);
            let ended = runner.run(ENDLESS, Duration::from_millis(20 * n), lines).await;
            // A job of no time may not have got as far as this.
            (ended, output.recv().await)
        })
    });
    for job in futures::future::join_all(jobs).await {
        let (ended, process) = job.unwrap();
        assert_eq!(ended, Ended::TimedOut);
        assert!(process.is_none_or(|process| !is_child(&process)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_ends_all_jobs_and_starts_no_other() {
    // From here on the signal does not end this process.
    let mut interrupts = signal(SignalKind::interrupt()).unwrap();
    let stop = CancellationToken::new();
    let runner = Runner::new(5, stop.clone());
    let on_ctrl_c = tokio::spawn(async move {
        interrupts.recv().await.unwrap();
        stop.cancel();
    });
    let (lines, mut output) = mpsc::channel(10);
    let jobs: Vec<_> = (0..10)
        .map(|_| {
            let (runner, lines) = (runner.clone(), lines.clone());
            tokio::spawn(async move { runner.run(ENDLESS, LONG, lines).await })
        })
        .collect();
    drop(lines);
    let mut running = Vec::new();
    while running.len() < 5 {
        running.push(output.recv().await.unwrap());
    }
    assert!(running.iter().all(|process| is_child(process)));

    let kill = Command::new("kill").args(["-INT", &std::process::id().to_string()]).status().await.unwrap();
    assert!(kill.success());
    on_ctrl_c.await.unwrap();
    let mut ended: Vec<_> = futures::future::join_all(jobs).await.into_iter().map(Result::unwrap).collect();
    ended.sort();
    assert_eq!(ended, [[Ended::Cancelled; 5], [Ended::NotStarted; 5]].concat());
    assert_eq!(output.recv().await, None);
    assert!(!running.iter().any(|process| is_child(process)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_task_is_aborted_leaves_no_process() {
    let runner = Runner::new(5, CancellationToken::new());
    let mut processes = Vec::new();
    for _ in 0..20 {
        let (lines, mut output) = mpsc::channel(1);
        let runner = runner.clone();
        let job = tokio::spawn(async move { runner.run(ENDLESS, LONG, lines).await });
        processes.push(output.recv().await.unwrap());
        job.abort();
        assert!(job.await.unwrap_err().is_cancelled());
    }
    // Nobody waits for them: the runtime reaps them when it hears of their end.
    while processes.iter().any(|process| is_child(process)) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // And their places are free again.
    let (lines, _output) = mpsc::channel(1);
    let ended = runner.run("true", LONG, lines).await;
    assert_eq!(ended, Ended::Itself(Some(0)));
}
