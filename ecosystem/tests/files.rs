//! notify watches files that tokio's file system writes. notify has a thread of its own, outside of the runtime.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ecosystem::Directory;
use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{mpsc, watch};

/// Watches a directory. notify's thread waits in `blocking_send` when the channel is full.
fn watch_directory(path: &Path, capacity: usize) -> (RecommendedWatcher, mpsc::Receiver<Event>) {
    let (sender, events) = mpsc::channel(capacity);
    let tell = move |event: notify::Result<Event>| drop(sender.blocking_send(event.unwrap()));
    let mut watcher = notify::recommended_watcher(tell).unwrap();
    watcher.watch(path, RecursiveMode::Recursive).unwrap();
    (watcher, events)
}

fn named(event: &Event, path: &Path) -> bool {
    event.paths.iter().any(|other| other == path)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_is_missed_though_the_channel_is_full() {
    const FILES: usize = 200;

    let directory = Directory::new();
    let (watcher, mut events) = watch_directory(directory.path(), 1);
    let paths: HashSet<PathBuf> = (0..FILES).map(|n| directory.path().join(n.to_string())).collect();
    let writers: Vec<_> = paths.iter().cloned().map(|path| tokio::spawn(tokio::fs::write(path, "x"))).collect();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    let mut created = HashSet::new();
    while created != paths {
        let event = events.recv().await.expect("some files were missed");
        if event.kind.is_create() {
            created.extend(event.paths);
        }
    }

    // It does not wait for room for what nobody takes any more.
    events.close();
    drop(watcher);
    while events.recv().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_to_a_file_is_told_in_its_order() {
    let directory = Directory::new();
    let (_watcher, mut events) = watch_directory(directory.path(), 16);
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    for _ in 0..50 {
        tokio::fs::write(&first, "x").await.unwrap();
        tokio::fs::rename(&first, &second).await.unwrap();
        tokio::fs::remove_file(&second).await.unwrap();
        let mut steps = Vec::new();
        while !steps.contains(&"removed") {
            let event = events.recv().await.unwrap();
            match event.kind {
                EventKind::Create(_) if named(&event, &first) => steps.push("created"),
                EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => steps.push("renamed"),
                EventKind::Remove(_) if named(&event, &second) => steps.push("removed"),
                _ => {}
            }
        }
        assert_eq!(steps, ["created", "renamed", "removed"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_is_read_again_when_its_file_is_replaced() {
    let directory = Directory::new();
    let path = directory.path().join("configuration");
    tokio::fs::write(&path, "0").await.unwrap();
    let (_watcher, mut events) = watch_directory(directory.path(), 16);
    let (publish, mut configuration) = watch::channel(0);
    let watched = path.clone();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if named(&event, &watched) {
                // It is replaced as a whole, so there is always one that is whole.
                let read = tokio::fs::read_to_string(&watched).await.unwrap().parse().unwrap();
                publish.send_if_modified(|last| std::mem::replace(last, read) != read);
            }
        }
    });
    for n in 1..=50 {
        let new = directory.path().join("new");
        tokio::fs::write(&new, n.to_string()).await.unwrap();
        tokio::fs::rename(&new, &path).await.unwrap();
        configuration.changed().await.unwrap();
        assert_eq!(*configuration.borrow_and_update(), n);
    }
}
