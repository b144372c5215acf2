//! tokio-cron-scheduler: jobs of each second, their removal, and the scheduler's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_cron_scheduler::job::JobLocked;
use tokio_cron_scheduler::{Job, JobScheduler};

/// A job of each second, which counts how often it ran and says so.
fn counting() -> (JobLocked, Arc<AtomicUsize>, mpsc::UnboundedReceiver<()>) {
    let count = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = mpsc::unbounded_channel();
    let counted = count.clone();
    let job = Job::new_async("* * * * * *", move |_, _| {
        let (sender, counted) = (sender.clone(), counted.clone());
        Box::pin(async move {
            counted.fetch_add(1, Ordering::Relaxed);
            // The receiver is gone when the test is over.
            let _ = sender.send(());
        })
    });
    (job.unwrap(), count, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_each_second_until_they_are_removed() {
    let scheduler = JobScheduler::new().await.unwrap();
    let (removed, count, mut runs) = counting();
    let (kept, _, mut clock) = counting();
    let removed = scheduler.add(removed).await.unwrap();
    scheduler.add(kept).await.unwrap();
    let (once, mut runs_once) = mpsc::unbounded_channel();
    let job = Job::new_one_shot_async(Duration::from_secs(1), move |_, _| {
        let once = once.clone();
        Box::pin(async move { once.send(()).unwrap() })
    });
    scheduler.add(job.unwrap()).await.unwrap();
    scheduler.start().await.unwrap();

    for _ in 0..3 {
        runs.recv().await.unwrap();
    }
    runs_once.recv().await.unwrap();
    scheduler.remove(&removed).await.unwrap();
    // Some may have been under way.
    let most = count.load(Ordering::Relaxed) + 3;
    while !clock.is_empty() {
        clock.recv().await.unwrap();
    }
    for _ in 0..6 {
        clock.recv().await.unwrap();
    }
    assert!(count.load(Ordering::Relaxed) <= most);
    assert!(runs_once.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_after_the_end() {
    let mut scheduler = JobScheduler::new().await.unwrap();
    let (job, count, mut runs) = counting();
    scheduler.add(job).await.unwrap();
    let (sender, mut is_over) = mpsc::unbounded_channel();
    scheduler.set_shutdown_handler(Box::new(move || {
        let sender = sender.clone();
        Box::pin(async move { sender.send(()).unwrap() })
    }));
    scheduler.start().await.unwrap();
    runs.recv().await.unwrap();
    scheduler.shutdown().await.unwrap();
    is_over.recv().await.unwrap();
    let most = count.load(Ordering::Relaxed) + 3;

    // The seconds of another go on.
    let other = JobScheduler::new().await.unwrap();
    let (job, _, mut clock) = counting();
    other.add(job).await.unwrap();
    other.start().await.unwrap();
    for _ in 0..6 {
        clock.recv().await.unwrap();
    }
    assert!(count.load(Ordering::Relaxed) <= most);
}
