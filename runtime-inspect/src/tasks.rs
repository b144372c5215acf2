//! `/tasks`: the tasks of each runtime, those of them that were asked for, and how many there are of each spawn site.
//!
//! The runtime lists all of its tasks or none, so all are read first; what is made of them is bounded.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::panic::Location;

use runtime_core::task::TaskInfo;

use crate::json::Json;
use crate::registry::Shared;
use crate::request::Request;
use crate::response::Response;
use crate::views::{self, nanos};

/// The most tasks of a runtime that are listed, and the most spawn sites. Beyond that they are only counted.
const MAX_LISTED: usize = 10_000;

/// Which tasks are listed, and in which order.
struct Selection {
    limit: usize,
    state: Option<String>,
    /// In lower case.
    find: Option<String>,
    sort: Option<fn(&TaskInfo) -> u64>,
}

pub(crate) fn response(shared: &Shared, request: &Request) -> Response {
    match Selection::parse(request) {
        Ok(selection) => Response::json(views::runtimes(shared, |json, runtime| {
            write(json, runtime.tasks(), &selection);
        })),
        Err(line) => Response::plain("400 Bad Request", line),
    }
}

impl Selection {
    fn parse(request: &Request) -> Result<Self, &'static str> {
        let limit = match request.text("limit") {
            Some(text) => text.parse::<usize>().map_err(|_| "limit must be a number of tasks")?.min(MAX_LISTED),
            None => MAX_LISTED,
        };
        let state = request.text("state").filter(|state| !state.is_empty());
        if state.as_deref().is_some_and(|state| !["running", "queued", "waiting"].contains(&state)) {
            return Err("state must be running, queued or waiting");
        }
        let sort: Option<fn(&TaskInfo) -> u64> = match request.text("sort").as_deref() {
            None => None,
            Some("for_nanos") => Some(|task| task.state.since().map_or(0, nanos)),
            Some("polls") => Some(|task| task.polls),
            Some("total_poll_nanos") => Some(|task| nanos(task.total_poll_time)),
            Some("longest_poll_nanos") => Some(|task| nanos(task.longest_poll)),
            Some("wakes") => Some(|task| task.wakes),
            Some("spurious_polls") => Some(|task| task.spurious_polls),
            Some(_) => return Err("sort must be the name of a member of a task that is a number"),
        };
        let find = request.text("find").filter(|find| !find.is_empty()).map(|find| find.to_lowercase());
        Ok(Self { limit, state, find, sort })
    }

    fn has(&self, task: &TaskInfo) -> bool {
        let is_in_state = self.state.as_deref().is_none_or(|state| state == state_name(task));
        is_in_state && self.find.as_deref().is_none_or(|find| text(task).to_lowercase().contains(find))
    }
}

/// Where it is looked for what a client wants to find.
fn text(task: &TaskInfo) -> String {
    let waits_for = task.waits_for.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{}\n{}\n{}\n{waits_for}", task.id, task.name.unwrap_or_default(), task.spawned_at)
}

fn state_name(task: &TaskInfo) -> &'static str {
    match &task.state {
        state if state.is_running() => "running",
        state if state.is_queued() => "queued",
        _ => "waiting",
    }
}

fn write(json: &mut Json, mut tasks: Vec<TaskInfo>, selection: &Selection) {
    json.number("alive_tasks", tasks.len() as u64);
    let sites = sites(&tasks);
    json.number("num_sites", sites.len() as u64);
    json.array_at("sites", sites.into_iter().take(MAX_LISTED), |json, (spawned_at, site)| {
        json.object(|json| {
            json.string("spawned_at", spawned_at);
            json.optional_string("name", site.name);
            json.number("tasks", site.tasks);
            json.number("running", site.running);
            json.number("queued", site.queued);
            json.number("polls", site.polls);
            json.number("total_poll_nanos", site.total_poll_nanos);
            json.number("longest_poll_nanos", site.longest_poll_nanos);
        });
    });
    tasks.retain(|task| selection.has(task));
    json.number("matching_tasks", tasks.len() as u64);
    match selection.sort {
        // The oldest of equals first.
        Some(key) => tasks.sort_unstable_by_key(|task| (Reverse(key(task)), task.id)),
        None => tasks.sort_unstable_by_key(|task| task.id),
    }
    json.array_at("tasks", tasks.iter().take(selection.limit), |json, task| json.object(|json| one(json, task)));
}

fn one(json: &mut Json, task: &TaskInfo) {
    json.string("id", task.id);
    json.optional_string("name", task.name);
    json.string("spawned_at", task.spawned_at);
    json.string("state", state_name(task));
    if let Some(since) = task.state.since() {
        json.number("for_nanos", nanos(since));
    }
    json.optional_string("waits_for", task.waits_for.as_ref());
    json.number("polls", task.polls);
    json.number("total_poll_nanos", nanos(task.total_poll_time));
    json.number("longest_poll_nanos", nanos(task.longest_poll));
    json.number("wakes", task.wakes);
    json.number("spurious_polls", task.spurious_polls);
}

/// The tasks that were spawned at one place.
#[derive(Default)]
struct Site {
    /// That of any of them.
    name: Option<&'static str>,
    tasks: u64,
    running: u64,
    queued: u64,
    polls: u64,
    total_poll_nanos: u64,
    longest_poll_nanos: u64,
}

/// Those with the most tasks first.
fn sites(tasks: &[TaskInfo]) -> Vec<(&'static Location<'static>, Site)> {
    let mut sites = HashMap::new();
    for task in tasks {
        let site = sites.entry(task.spawned_at).or_insert_with(|| Site { name: task.name, ..Site::default() });
        site.tasks += 1;
        site.running += u64::from(task.state.is_running());
        site.queued += u64::from(task.state.is_queued());
        site.polls += task.polls;
        site.total_poll_nanos += nanos(task.total_poll_time);
        site.longest_poll_nanos = site.longest_poll_nanos.max(nanos(task.longest_poll));
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.sort_unstable_by_key(|(spawned_at, site)| (Reverse(site.tasks), *spawned_at));
    sites
}
