//! Directories, links and paths.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use rt::fs::{self, DirBuilder};

use crate::temporary::Directory;
use rt_test_util::{on_each_runtime, watchdog};

#[test]
fn every_entry_of_a_large_directory_is_seen_once() {
    let _watchdog = watchdog();
    let directory = Directory::new();
    // More than several batches.
    let names: BTreeSet<_> = (0..3000).map(|n| n.to_string()).collect();
    for name in &names {
        directory.file(name, "");
    }
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut entries = fs::read_dir(directory.path()).await.unwrap();
            let mut seen = BTreeSet::new();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                let name = entry.file_name().into_string().unwrap();
                assert_eq!(entry.path(), directory.path().join(&name));
                assert!(seen.insert(name));
            }
            assert_eq!(seen, names);
            assert!(entries.next_entry().await.unwrap().is_none(), "and no more");
        });
    });
}

#[test]
fn an_entry_tells_about_itself() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            directory.file("a", "hello");
            fs::create_dir(directory.path().join("b")).await.unwrap();
            let mut entries = fs::read_dir(directory.path()).await.unwrap();
            let mut found = Vec::new();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                let metadata = entry.metadata().await.unwrap();
                assert_eq!(metadata.file_type(), entry.file_type().await.unwrap());
                #[cfg(unix)]
                assert_eq!(std::os::unix::fs::MetadataExt::ino(&metadata), entry.ino());
                found.push((entry.file_name(), metadata.is_dir()));
            }
            found.sort();
            assert_eq!(found, [("a".into(), false), ("b".into(), true)]);
        });
    });
}

#[test]
fn directories_are_made_and_removed() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let [a, deep] = ["a", "b/c/d"].map(|name| directory.path().join(name));
            fs::create_dir(&a).await.unwrap();
            assert_eq!(fs::create_dir(&a).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
            assert_eq!(DirBuilder::new().create(&deep).await.unwrap_err().kind(), ErrorKind::NotFound);
            DirBuilder::new().recursive(true).create(&deep).await.unwrap();
            fs::create_dir_all(&deep).await.unwrap();
            assert!(fs::try_exists(&deep).await.unwrap());
            fs::remove_dir(&deep).await.unwrap();
            assert!(!fs::try_exists(&deep).await.unwrap());
            fs::remove_dir_all(directory.path().join("b")).await.unwrap();
            assert!(!fs::try_exists(directory.path().join("b")).await.unwrap());
        });
    });
}

#[test]
fn names_are_given_and_taken() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let [a, b, c] = ["a", "b", "c"].map(|name| directory.path().join(name));
            fs::write(&a, "hello").await.unwrap();
            fs::hard_link(&a, &b).await.unwrap();
            fs::rename(&a, &c).await.unwrap();
            fs::remove_file(&b).await.unwrap();
            assert_eq!(fs::read(&c).await.unwrap(), b"hello");
            let real = fs::canonicalize(directory.path().join("./../").join(directory.path()).join("c")).await.unwrap();
            assert_eq!(real, std::fs::canonicalize(&c).unwrap());
            let mut permissions = fs::metadata(&c).await.unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&c, permissions).await.unwrap();
            assert!(fs::metadata(&c).await.unwrap().permissions().readonly());
        });
    });
}

#[cfg(unix)]
#[test]
fn symbolic_links() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let (a, link) = (directory.file("a", "hello"), directory.path().join("link"));
            fs::symlink(&a, &link).await.unwrap();
            assert_eq!(fs::read_link(&link).await.unwrap(), a);
            assert!(fs::symlink_metadata(&link).await.unwrap().is_symlink());
            assert_eq!(fs::metadata(&link).await.unwrap().len(), 5);
        });
    });
}

#[cfg(unix)]
#[test]
fn modes() {
    use std::os::unix::fs::PermissionsExt as _;
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
            DirBuilder::new().mode(0o700).create(&a).await.unwrap();
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&b).await.unwrap();
            for (path, mode) in [(a, 0o700), (b, 0o600)] {
                assert_eq!(fs::metadata(path).await.unwrap().permissions().mode() & 0o777, mode);
            }
        });
    });
}
