//! [`Sample`]: what a program was doing at one moment; and how it is asked for.

use std::time::Instant;

use serde::de::DeserializeOwned;

use crate::client::{Client, Failure};
use crate::text::clean;
use crate::wire::{Answer, Blocked, Report, Site, Task, Tasks, Workers};

/// The runtimes of a process.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    pub(crate) pid: u64,
    pub(crate) runtimes: Vec<Runtime>,
}

/// One of them.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    pub(crate) workers: Workers,
    /// All tasks, of which there may be more than are listed.
    pub(crate) num_tasks: u64,
    pub(crate) tasks: Vec<Task>,
    /// The places where all of them were spawned, if the server tells.
    pub(crate) sites: Vec<Site>,
    pub(crate) reports: Vec<Report>,
}

impl Runtime {
    pub(crate) fn id(&self) -> &str {
        &self.workers.id
    }
}

/// Asks for everything.
pub(crate) fn sample(client: &Client) -> Result<Sample, Failure> {
    let workers = ask(client, "/workers")?;
    let at = Instant::now();
    Ok(put_together(at, workers, ask(client, "/tasks")?, ask(client, "/blocked")?))
}

/// Asks for the tasks only.
pub(crate) fn tasks(client: &Client) -> Result<Vec<Tasks>, Failure> {
    let mut answer: Answer<Tasks> = ask(client, "/tasks")?;
    for runtime in &mut answer.runtimes {
        runtime.id = clean(&runtime.id);
        runtime.tasks.iter_mut().for_each(clean_task);
    }
    Ok(answer.runtimes)
}

fn ask<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, Failure> {
    parse(&client.get(path)?)
}

pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::Strange(clean(&error.to_string())))
}

/// The three answers are of different moments: a runtime that is not in all of them has begun or ended meanwhile.
pub(crate) fn put_together(
    at: Instant,
    workers: Answer<Workers>,
    tasks: Answer<Tasks>,
    blocked: Answer<Blocked>,
) -> Sample {
    let (mut tasks, mut blocked) = (tasks.runtimes, blocked.runtimes);
    let runtimes = workers.runtimes.into_iter().map(|mut workers| {
        let tasks = tasks.iter_mut().find(|tasks| tasks.id == workers.id).map(std::mem::take);
        let reports = blocked.iter_mut().find(|blocked| blocked.id == workers.id).map(std::mem::take);
        let (mut tasks, mut reports) = (tasks.unwrap_or_default(), reports.unwrap_or_default().reports);
        tasks.tasks.iter_mut().for_each(clean_task);
        clean_all(tasks.sites.iter_mut().map(|site| &mut site.spawned_at));
        reports.iter_mut().for_each(|report| report.line = clean(&report.line));
        clean_workers(&mut workers);
        Runtime { workers, num_tasks: tasks.alive_tasks, tasks: tasks.tasks, sites: tasks.sites, reports }
    });
    Sample { at, pid: workers.pid, runtimes: runtimes.collect() }
}

/// From here on a text is fit for a terminal.
fn clean_task(task: &mut Task) {
    clean_all([&mut task.id, &mut task.spawned_at, &mut task.state]);
    clean_all([&mut task.name, &mut task.waits_for].into_iter().flatten());
}

fn clean_workers(workers: &mut Workers) {
    clean_all([&mut workers.id]);
    clean_all(&mut workers.name);
    for worker in &mut workers.workers {
        clean_all([&mut worker.activity]);
        if let Some(task) = &mut worker.task {
            clean_all([&mut task.id, &mut task.spawned_at]);
            clean_all(&mut task.name);
        }
    }
}

fn clean_all<'a>(texts: impl IntoIterator<Item = &'a mut String>) {
    texts.into_iter().for_each(|text| *text = clean(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_put_together_by_its_number() {
        let workers = parse(br#"{"pid":7,"runtimes":[{"id":"1","name":"a\u001b[2J"},{"id":"2","alive_tasks":5}]}"#);
        let tasks = parse(br#"{"runtimes":[{"id":"2","alive_tasks":3,"tasks":[{"id":"9\n","state":"queued"}]}]}"#);
        let blocked = parse(br#"{"runtimes":[{"id":"1","reports":[{"line":"a  b"}]}, {"id":"3"}]}"#);
        let sample = put_together(Instant::now(), workers.unwrap(), tasks.unwrap(), blocked.unwrap());
        assert_eq!(sample.pid, 7);
        let [first, second] = &sample.runtimes[..] else { panic!("{sample:?}") };
        assert_eq!((first.id(), first.workers.name.as_deref()), ("1", Some("a\u{fffd}[2J")));
        assert_eq!((first.tasks.len(), &*first.reports[0].line), (0, "a b"));
        assert_eq!((second.id(), second.num_tasks, &*second.tasks[0].id), ("2", 3, "9"));
    }

    #[test]
    fn what_is_not_known_is_passed_over_and_what_is_not_rts_refused() {
        let tasks: Answer<Tasks> = parse(br#"{"new":1,"runtimes":[{"newer":[],"tasks":[{"x":{}}]}]}"#).unwrap();
        assert_eq!(tasks.runtimes[0].tasks[0].polls, 0);
        for text in ["", "{}", "[]", "<html>", r#"{"runtimes":[{"tasks":7}]}"#] {
            assert!(parse::<Answer<Tasks>>(text.as_bytes()).is_err(), "{text}");
        }
    }
}
