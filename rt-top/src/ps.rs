//! `rt-top ps`: the tasks as text, once.
//!
//! For people and for pipes: no colours, the same columns always, and at least two spaces between them, of which no
//! field has any. So `awk -F'  +'` finds them, whatever is in a name.

use crate::client::Client;
use crate::fetch;
use crate::wire::{Task, Tasks};

const COLUMNS: [&str; 12] = [
    "RUNTIME",
    "TASK",
    "STATE",
    "FOR",
    "POLLS",
    "WAKES",
    "SPURIOUS",
    "BUSY",
    "LONGEST",
    "SPAWNED",
    "NAME",
    "WAITS FOR",
];

/// What is printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    /// A line of titles, and one for each task.
    pub(crate) text: String,
    /// What there is to say besides.
    pub(crate) notes: Vec<String>,
}

pub(crate) fn run(client: &Client) -> Result<Listing, String> {
    fetch::tasks(client).map(list).map_err(|failure| failure.to_string())
}

fn list(mut runtimes: Vec<Tasks>) -> Listing {
    let mut lines = vec![COLUMNS.map(str::to_owned)];
    let mut notes = Vec::new();
    for runtime in &mut runtimes {
        let listed = runtime.tasks.len() as u64;
        if listed < runtime.alive_tasks {
            let (id, all) = (&runtime.id, runtime.alive_tasks);
            notes.push(format!("runtime {id} has {all} tasks, of which the server lists {listed}"));
        }
        // Numbers are in the order of births.
        runtime.tasks.sort_by_key(|task| task.id.parse::<u64>().unwrap_or(u64::MAX));
        lines.extend(runtime.tasks.iter().map(|task| fields(&runtime.id, task)));
    }
    Listing { text: align(&lines), notes }
}

fn fields(runtime: &str, task: &Task) -> [String; COLUMNS.len()] {
    let text = |text: &str| if text.trim().is_empty() { "-".to_owned() } else { text.trim().to_owned() };
    [
        text(runtime),
        text(&task.id),
        text(&task.state),
        task.for_nanos.map_or_else(|| text(""), seconds),
        task.polls.to_string(),
        task.wakes.to_string(),
        task.spurious_polls.to_string(),
        seconds(task.total_poll_nanos),
        seconds(task.longest_poll_nanos),
        text(&task.spawned_at),
        text(task.name.as_deref().unwrap_or_default()),
        text(task.waits_for.as_deref().unwrap_or_default()),
    ]
}

fn seconds(nanos: u64) -> String {
    let micros = nanos / 1_000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn align(lines: &[[String; COLUMNS.len()]]) -> String {
    let width = |column: usize| lines.iter().map(|fields| fields[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for fields in lines {
        let (last, others) = fields.split_last().expect("there are columns");
        for (field, width) in others.iter().zip(widths) {
            text.push_str(field);
            text.extend(std::iter::repeat_n(' ', width - field.chars().count() + 2));
        }
        text.push_str(last);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, name: Option<&str>, waits_for: Option<&str>) -> Task {
        Task {
            id: id.to_owned(),
            name: name.map(str::to_owned),
            spawned_at: "src/main.rs:7:9".to_owned(),
            state: "waiting".to_owned(),
            for_nanos: Some(12_345_678_901),
            waits_for: waits_for.map(str::to_owned),
            polls: 3,
            longest_poll_nanos: 1_234,
            ..Task::default()
        }
    }

    #[test]
    fn columns_are_found_by_their_spaces_whatever_is_in_them() {
        let tasks = vec![task("12", Some(""), None), task("7", Some("accept loop"), Some("mutex, held by task 12"))];
        let listing =
            list(vec![Tasks { id: "1".to_owned(), alive_tasks: 3, tasks, ..Tasks::default() }, Tasks::default()]);
        let lines: Vec<Vec<&str>> = listing
            .text
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|field| !field.is_empty()).collect())
            .collect();
        assert_eq!(lines[0], COLUMNS);
        let expected = ["1", "7", "waiting", "12.345678", "3", "0", "0", "0.000000", "0.000001", "src/main.rs:7:9"];
        assert_eq!(lines[1][..10], expected);
        assert_eq!(lines[1][10..], ["accept loop", "mutex, held by task 12"]);
        assert_eq!((lines[2][1], &lines[2][10..]), ("12", &["-", "-"][..]));
        assert_eq!(lines.len(), 3);
        assert_eq!(listing.notes, ["runtime 1 has 3 tasks, of which the server lists 2"]);
        assert!(listing.text.is_ascii(), "no colours: {}", listing.text);
    }

    #[test]
    fn without_tasks_there_are_the_titles() {
        assert_eq!(list(Vec::new()).text.lines().count(), 1);
    }
}
