//! The digests of a tree of files.

use std::{env, fs, process};

use crate::program::Program;

#[test]
fn each_file_has_the_digest_that_the_standard_gives_it_and_what_is_missing_is_told() {
    let directory = env::temp_dir().join(format!("rt-tree-sum-{}", process::id()));
    fs::create_dir_all(directory.join("below")).unwrap();
    fs::write(directory.join("empty"), "").unwrap();
    fs::write(directory.join("below/abc"), "abc").unwrap();
    let path = directory.to_str().unwrap();

    let (printed, status) = Program::start("tree_sum", &["-j", "2", path]).end();
    assert!(status.success());
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    // Of FIPS 180-2, and of nothing.
    assert_eq!(
        lines,
        [
            format!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  {path}/below/abc"),
            format!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  {path}/empty"),
        ]
    );
    let (_, status) = Program::start("tree_sum", &[&format!("{path}/missing")]).end();
    assert_eq!(status.code(), Some(1));
    fs::remove_dir_all(directory).unwrap();
}
