//! The table in `docs/cancel-safety.md`: each of its rows names tests, and those tests exist.

use std::fs;
use std::path::Path;

/// A row: the file that the line above its table names, the operations, and the tests in the last column.
struct Row {
    file: String,
    operations: String,
    tests: Vec<String>,
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn rows(page: &str) -> Vec<Row> {
    let (mut file, mut rows) = (String::new(), vec![]);
    for line in page.lines() {
        if line.starts_with("## ") {
            file.clear();
        } else if line.starts_with("Tests in ") {
            file = quoted(line).remove(0);
        } else if let Some(cells) = line.strip_prefix('|') {
            let cells: Vec<_> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 4, "{line}");
            if cells[0] != "operation" && !cells[0].starts_with("---") {
                let (operations, tests) = (cells[0].to_owned(), quoted(cells[3]));
                rows.push(Row { file: file.clone(), operations, tests });
            }
        }
    }
    rows
}

/// The names of the functions that follow `#[test]` in a file.
fn tests_of(root: &Path, file: &str) -> Vec<String> {
    let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let name = |pair: &[&str]| {
        let function = pair[1].strip_prefix("fn ").filter(|_| pair[0] == "#[test]")?;
        Some(function[..function.find('(')?].to_owned())
    };
    lines.windows(2).filter_map(name).collect()
}

#[test]
fn every_row_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/cancel-safety.md")).unwrap();
    let rows = rows(&page);
    assert!(rows.len() > 50, "the tables are read: {}", rows.len());
    for Row { file, operations, tests } in &rows {
        assert!(!file.is_empty(), "no file is named above the table with {operations}");
        assert!(!tests.is_empty(), "no test is named for {operations}");
        let there = tests_of(root, file);
        for test in tests {
            assert!(there.contains(test), "{operations}: there is no test {test} in {file}");
        }
    }
}

/// The tests that are for the table only are named in it: one that is not is left over from an operation that is gone.
#[test]
fn every_test_is_named_by_a_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = rows(&fs::read_to_string(root.join("docs/cancel-safety.md")).unwrap());
    for file in ["files", "net", "sync", "system", "tasks", "time"] {
        let file = format!("tests/cancel_safety/{file}.rs");
        for test in tests_of(root, &file) {
            assert!(rows.iter().any(|row| row.file == file && row.tests.contains(&test)), "{file}: {test}");
        }
    }
}
