//! moka's future cache: one computation for all who ask, also when who computes is cancelled, and expiry.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use moka::future::Cache;
use moka::notification::RemovalCause;
use tokio::sync::{Semaphore, mpsc, oneshot};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_wait_for_one_computation() {
    let cache = Cache::new(1000);
    let (computed, allowed) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let tasks: Vec<_> = (0..1000)
        .map(|n| {
            let (cache, computed, allowed) = (cache.clone(), computed.clone(), allowed.clone());
            let compute = async move {
                computed.fetch_add(1, Ordering::Relaxed);
                drop(allowed.acquire().await.unwrap());
                n
            };
            tokio::spawn(async move { (n % 10, cache.get_with(n % 10, compute).await) })
        })
        .collect();
    allowed.add_permits(1);
    let mut values = [None; 10];
    for result in join_all(tasks).await {
        let (key, value) = result.unwrap();
        // The first to come decides, and all of a key get the same.
        assert_eq!(*values[key].get_or_insert(value), value);
        assert_eq!(value % 10, key);
    }
    assert_eq!(computed.load(Ordering::Relaxed), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_computes_when_the_first_is_cancelled_or_fails() {
    let cache: Cache<&str, u32> = Cache::new(10);
    let (started, is_started) = oneshot::channel();
    let first = tokio::spawn({
        let cache = cache.clone();
        let compute = async move {
            started.send(()).unwrap();
            std::future::pending().await
        };
        async move { cache.get_with("key", compute).await }
    });
    is_started.await.unwrap();
    // These come while it computes, and wait for it or not: it never gives them anything.
    let others: Vec<_> = (0..10)
        .map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { cache.get_with("key", async { 7 }).await })
        })
        .collect();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    for other in join_all(others).await {
        assert_eq!(other.unwrap(), 7);
    }

    let failed = cache.try_get_with("other", async { Err::<u32, _>("no luck") }).await;
    assert_eq!(*failed.unwrap_err(), "no luck");
    assert_eq!(cache.try_get_with("other", async { Ok::<_, &str>(8) }).await, Ok(8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_expire_and_make_room() {
    let (sender, mut removed) = mpsc::unbounded_channel();
    let cache = Cache::builder()
        .time_to_live(Duration::from_millis(20))
        .async_eviction_listener(move |key: Arc<u32>, value: u32, cause| {
            let sender = sender.clone();
            Box::pin(async move {
                // The listener may wait.
                tokio::task::yield_now().await;
                sender.send((*key, value, cause)).unwrap();
            })
        })
        .build();
    for n in 0..100 {
        cache.insert(n, n + 1).await;
    }
    for n in 0..100 {
        while cache.get(&n).await.is_some() {
            tokio::task::yield_now().await;
        }
    }
    while cache.entry_count() > 0 || removed.len() < 100 {
        cache.run_pending_tasks().await;
    }
    let mut keys = Vec::new();
    for _ in 0..100 {
        let (key, value, cause) = removed.recv().await.unwrap();
        assert_eq!((value, cause), (key + 1, RemovalCause::Expired));
        keys.push(key);
    }
    keys.sort_unstable();
    assert!(keys.into_iter().eq(0..100));

    let small = Cache::new(10);
    for n in 0..100 {
        small.insert(n, n).await;
    }
    small.run_pending_tasks().await;
    assert!(small.entry_count() <= 10);
}
