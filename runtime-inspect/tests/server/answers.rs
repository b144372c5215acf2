//! What the server answers.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;

use rt::runtime::Builder;
use rt_test_util::eventually;
use serde_json::Value;

use crate::client::{get, inspected, json, send};

#[test]
fn it_answers_while_every_worker_is_stuck_and_names_the_tasks() {
    let (runtime, address) = inspected(1, 2);
    let (begun, has_begun) = mpsc::channel();
    let ends: Vec<_> = (0..2)
        .map(|_| {
            let (begun, (end, ended)) = (begun.clone(), mpsc::channel::<()>());
            runtime.spawn(async move {
                begun.send(()).unwrap();
                let _ = ended.recv();
            });
            end
        })
        .collect();
    for _ in &ends {
        has_begun.recv().unwrap();
    }
    for worker in json(address, "/workers")["runtimes"][0]["workers"].as_array().unwrap() {
        assert_eq!(worker["activity"], "polling", "{worker}");
        assert!(worker["task"]["spawned_at"].as_str().unwrap().contains("answers.rs"), "{worker}");
    }
    let tasks = json(address, "/tasks");
    assert_eq!(tasks["runtimes"][0]["name"], "test 1");
    assert!(json(address, "/blocked")["runtimes"][0]["reports"].is_array());
    assert!(get(address, "/metrics").contains("rt_tasks_spawned_total{runtime="));
    drop(ends);
}

#[test]
fn metrics_are_openmetrics_for_a_client_that_asks_for_it() {
    let (_runtime, address) = inspected(2, 1);
    let request = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text; version=1.0.0\r\n\r\n";
    let answer = send(address, request);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("application/openmetrics-text"), "{head}");
    assert!(body.ends_with("# EOF\n"));
    let mut families = std::collections::BTreeSet::new();
    let mut kind = String::new();
    for line in body.lines().filter(|line| *line != "# EOF") {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, its_kind) = family.split_once(' ').unwrap();
            assert!(families.insert(name.to_owned()), "{name} twice");
            kind = format!("{name} {its_kind}");
        } else if !line.starts_with("# HELP ") {
            let (name, its_kind) = kind.split_once(' ').unwrap();
            let suffix = line.strip_prefix(name).unwrap_or_else(|| panic!("{line} is not of {name}"));
            let (suffix, rest) = suffix.split_once('{').unwrap();
            let suffixes: &[&str] = match its_kind {
                "counter" => &["_total"],
                // A count is for those that have a sum.
                "histogram" => &["_bucket"],
                _ => &[""],
            };
            assert!(suffixes.contains(&suffix), "{line}");
            rest.rsplit_once("} ").unwrap().1.parse::<f64>().unwrap();
        }
    }
    let older = get(address, "/metrics");
    assert!(!older.contains("# EOF") && older.contains("_sum{") && older.contains("_count{"), "{older}");
}

#[test]
fn one_server_lists_all_runtimes_and_ends_with_the_last() {
    let (one, address) = inspected(6, 1);
    let (other, same) = inspected(6, 1);
    assert_eq!(address, same);
    assert_eq!(json(address, "/workers")["runtimes"].as_array().unwrap().len(), 2);
    let id = other.handle().id().to_string();
    drop(one);
    let left = json(address, "/workers");
    assert_eq!((left["runtimes"].as_array().unwrap().len(), left["runtimes"][0]["id"].as_str()), (1, Some(&*id)));
    let weak = other.handle().downgrade();
    drop(other);
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    assert!(weak.upgrade().is_none(), "the server keeps a runtime");
}

#[test]
fn from_another_machine_a_token_is_needed() {
    let runtime = Builder::new_current_thread().inspect(([0, 0, 0, 0], 0).into()).build().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], runtime.inspect_address().unwrap().port()));
    for path in ["/", "/workers", "/metrics", "/events", "/nothing", "/?token=", "/?token=guess"] {
        let answer = get(address, path);
        assert!(answer.starts_with("HTTP/1.1 401 "), "{path}: {answer}");
    }
}

#[test]
fn an_address_that_is_taken_is_an_error_of_the_builder() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Builder::new_multi_thread().worker_threads(1).inspect(address).build().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn tasks_are_selected_sorted_and_counted_by_place() {
    let (runtime, address) = inspected(10, 1);
    let many: Vec<_> = (0..50).map(|_| runtime.spawn(std::future::pending::<()>())).collect();
    let named = {
        let _guard = runtime.enter();
        rt::task::Builder::new()
            .name("the <b>odd</b> one")
            .spawn(async {
                for _ in 0..7 {
                    rt::task::yield_now().await;
                }
                std::future::pending::<()>().await;
            })
            .unwrap()
    };
    eventually(|| json(address, "/tasks?state=waiting")["runtimes"][0]["matching_tasks"] == 51);
    let all = &json(address, "/tasks?sort=polls&limit=3")["runtimes"][0];
    assert_eq!((&all["alive_tasks"], &all["matching_tasks"], &all["num_sites"]), (&51.into(), &51.into(), &2.into()));
    let tasks = all["tasks"].as_array().unwrap();
    assert_eq!((tasks.len(), tasks[0]["polls"].as_u64()), (3, Some(8)));
    assert_eq!(tasks[0]["name"], "the <b>odd</b> one");
    let counts: Vec<_> = all["sites"].as_array().unwrap().iter().map(|site| site["tasks"].as_u64().unwrap()).collect();
    assert_eq!(counts, [50, 1]);
    for (query, matching) in [
        ("find=ODD", 1),
        ("find=answers.rs", 51),
        ("find=nothing", 0),
        ("state=running", 0),
        ("state=&find=", 51),
        ("limit=0", 51),
        ("limit=18446744073709551615", 51),
    ] {
        let runtime = &json(address, &format!("/tasks?{query}"))["runtimes"][0];
        assert_eq!(runtime["matching_tasks"], matching, "{query}");
    }
    // Without an order, by identifier.
    let listed = &json(address, "/tasks")["runtimes"][0]["tasks"];
    let ids: Vec<u64> =
        listed.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().parse().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for query in ["limit=-1", "limit=x", "state=asleep", "sort=beauty"] {
        assert!(get(address, &format!("/tasks?{query}")).starts_with("HTTP/1.1 400 "), "{query}");
    }
    drop((many, named));
}

#[test]
fn the_page_is_shown_with_a_policy_and_other_answers_may_load_nothing() {
    let (_runtime, address) = inspected(11, 1);
    let page = get(address, "/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"), "{page}");
    assert!(page.contains("Content-Security-Policy: default-src 'none'; script-src 'nonce-"));
    assert!(page.contains("require-trusted-types-for 'script'"));
    for path in ["/workers", "/metrics", "/nothing", "/trace?secs=0"] {
        let answer = get(address, path);
        assert!(answer.contains("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"), "{answer}");
    }
}

#[test]
fn each_member_is_documented() {
    fn members(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => object.iter().for_each(|(name, value)| {
                found.insert(name.clone());
                members(value, found);
            }),
            Value::Array(array) => array.iter().for_each(|value| members(value, found)),
            _ => {}
        }
    }
    let (runtime, address) = inspected(12, 1);
    let task = runtime.spawn(std::future::pending::<()>());
    let mut found = BTreeSet::new();
    for path in ["/workers", "/tasks", "/blocked"] {
        members(&json(address, path), &mut found);
    }
    let documented = include_str!("../../answers.md");
    for name in found {
        assert!(documented.contains(&format!("`{name}`")), "{name}");
    }
    task.abort();
}
