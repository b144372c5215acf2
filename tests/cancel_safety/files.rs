//! Files: what was begun is done to the end in the background, and nothing that was read is lost.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rt::fs;
use rt::task::yield_now;

use super::{begin, on_each};

/// An empty directory, removed with everything in it at the end.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rt-test-given-up-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn comes_true(condition: impl Fn() -> bool) {
    while !condition() {
        yield_now().await;
    }
}

#[test]
fn a_change_that_was_begun_is_made() {
    on_each(async || {
        let directory = Directory::new();
        let at = |name: &str| directory.path().join(name);
        let bytes = vec![7; 1 << 20];

        begin(fs::write(at("written"), bytes.clone())).await;
        comes_true(|| std::fs::read(at("written")).is_ok_and(|read| read == bytes)).await;
        begin(fs::copy(at("written"), at("copied"))).await;
        comes_true(|| std::fs::read(at("copied")).is_ok_and(|read| read == bytes)).await;
        begin(fs::rename(at("copied"), at("renamed"))).await;
        comes_true(|| at("renamed").exists()).await;
        begin(fs::hard_link(at("renamed"), at("linked"))).await;
        comes_true(|| at("linked").exists()).await;
        begin(fs::remove_file(at("renamed"))).await;
        comes_true(|| !at("renamed").exists()).await;
        begin(fs::File::create(at("created"))).await;
        comes_true(|| at("created").exists()).await;
        begin(fs::create_dir_all(at("one/two"))).await;
        comes_true(|| at("one/two").exists()).await;
        begin(fs::remove_dir_all(at("one"))).await;
        comes_true(|| !at("one").exists()).await;
    });
}

#[test]
fn a_question_leaves_all_as_it_was() {
    on_each(async || {
        let directory = Directory::new();
        let path = directory.path().join("file");
        std::fs::write(&path, "text").unwrap();
        begin(fs::metadata(&path)).await;
        begin(fs::canonicalize(&path)).await;
        begin(fs::try_exists(&path)).await;
        begin(fs::read_dir(directory.path())).await;
        begin(fs::read(directory.path().join("none"))).await;
        assert_eq!(fs::read_to_string(&path).await.unwrap(), "text");
        assert_eq!(fs::metadata(&path).await.unwrap().len(), 4);
    });
}
