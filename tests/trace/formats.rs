//! The two formats, read back by other people's parsers.

use std::collections::BTreeMap;
use std::time::Duration;

use rt::runtime::Builder;
use rt::runtime::trace::{TraceConfig, TraceEventKind as Kind, TraceSnapshot};
use rt_test_util::*;
use serde_json::Value;

use crate::perfetto::{Shown, Slice};
use crate::{all, snapshot_after, wait_for_the_ends_of_polls};

/// What a program leaves behind whose tasks wake each other, sleep and panic, and of which one is blocked at the end.
fn record(workers: usize) -> TraceSnapshot {
    let runtime = multi(workers);
    let trace = runtime.handle().trace();
    trace.start(TraceConfig::new());
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for number in 0..50 {
            let name = if number % 2 == 0 { "even \"task\"" } else { "odd" };
            let task = rt::task::Builder::new()
                .name(name)
                .spawn(async move {
                    rt::time::sleep(Duration::from_millis(number % 4)).await;
                    // Enough that there are many turns of the loop.
                    for _ in 0..5 {
                        rt::task::yield_now().await;
                    }
                })
                .unwrap();
            tasks.push(task);
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert!(rt::spawn(async { std::panic::resume_unwind(Box::new(())) }).await.is_err());
    });
    wait_for_the_ends_of_polls(&trace);
    let gate = Gate::new();
    let block = {
        let gate = gate.clone();
        rt::task::Builder::new().name("blocks").spawn_on(async move { gate.pass() }, runtime.handle()).unwrap()
    };
    gate.wait_for(1);
    let snapshot = trace.snapshot();
    gate.open();
    runtime.block_on(block).unwrap();
    drop(snapshot_after(runtime));
    snapshot
}

fn perfetto(snapshot: &TraceSnapshot) -> Shown {
    let mut bytes = Vec::new();
    snapshot.write_perfetto(&mut bytes).unwrap();
    Shown::read(&bytes)
}

fn count(snapshot: &TraceSnapshot, kind: Kind) -> usize {
    all(snapshot).iter().filter(|event| event.kind == kind).count()
}

#[test]
fn perfetto_shows_each_thread_with_its_polls() {
    let _watchdog = watchdog();
    let snapshot = record(2);
    let shown = perfetto(&snapshot);
    assert!(shown.threads.keys().eq(sorted_names(&snapshot).keys()));
    let polls: Vec<_> = shown.all().filter(|slice| slice.task.is_some() && slice.end != Some(slice.begin)).collect();
    let named = |name: &str| shown.all().filter(|slice| slice.name == name).collect::<Vec<_>>();
    assert!(named("even \"task\"").len() >= 25 * 2 && named("odd").len() >= 25 * 2);
    assert!(named("odd").iter().all(|slice| slice.task.is_some() && slice.line.is_some()));
    // The task without a name is called by where it was spawned.
    let by_place = |slice: &&Slice| slice.name == format!("{}:{}", file!(), slice.line.unwrap_or_default());
    assert_eq!(shown.all().filter(by_place).count(), 1);
    let begun = shown.all().filter(|slice| !["wake", "spawn", "panic", "asleep", "cancel"].contains(&&*slice.name));
    assert_eq!(begun.count(), count(&snapshot, Kind::Polled));
    assert_eq!(named("panic").len(), 1);
    // All polls but the one that was going on have ended, before the next one began.
    let open: Vec<_> = polls.iter().filter(|slice| slice.end.is_none()).map(|slice| &*slice.name).collect();
    assert_eq!(open, ["blocks"]);
    for slices in shown.threads.values() {
        let long: Vec<_> = slices.iter().filter(|slice| slice.end.is_some_and(|end| end > slice.begin)).collect();
        assert!(long.windows(2).all(|pair| pair[0].end.unwrap() <= pair[1].begin), "{long:?}");
    }
}

fn sorted_names(snapshot: &TraceSnapshot) -> BTreeMap<String, ()> {
    snapshot.lanes().map(|lane| (lane.name().to_owned(), ())).collect()
}

#[test]
fn arrows_go_from_the_wake_or_the_spawn_to_the_poll() {
    let _watchdog = watchdog();
    let snapshot = record(2);
    let shown = perfetto(&snapshot);
    let mut arrows: BTreeMap<u64, [Vec<&Slice>; 2]> = BTreeMap::new();
    for slice in shown.all() {
        slice.arrows_from.iter().for_each(|&arrow| arrows.entry(arrow).or_default()[0].push(slice));
        slice.arrows_to.iter().for_each(|&arrow| arrows.entry(arrow).or_default()[1].push(slice));
    }
    for [from, to] in arrows.values() {
        assert_eq!((from.len(), to.len()), (1, 1), "{from:?} {to:?}");
        assert_eq!(from[0].task, to[0].task);
        assert!(from[0].begin <= to[0].begin);
        assert!(["wake", "spawn"].contains(&&*from[0].name), "{from:?}");
    }
    // Each spawn and each wake has come to a poll.
    assert_eq!(arrows.len(), count(&snapshot, Kind::Spawned) + count(&snapshot, Kind::Woken));
}

#[test]
fn the_queues_are_counters() {
    let _watchdog = watchdog();
    let snapshot = record(1);
    let shown = perfetto(&snapshot);
    for (name, values) in &shown.counters {
        assert!(values.iter().all(|&value| value >= 0), "{name}: {values:?}");
    }
    let of = |name: &str| shown.counters[name].len();
    assert!(of("tasks on its queues of worker 0") > 0);
    assert_eq!(of("tasks on its queues of worker 0"), of("tasks in the injector"));
}

#[test]
fn the_json_says_the_same() {
    let _watchdog = watchdog();
    let snapshot = record(2);
    let mut bytes = Vec::new();
    snapshot.write_chrome_json(&mut bytes).unwrap();
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let phase = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let shown = perfetto(&snapshot);
    assert_eq!(phase("M").len(), shown.threads.len());
    let instants = shown.all().filter(|slice| slice.end == Some(slice.begin)).count();
    assert_eq!(phase("B").len() + phase("X").len(), shown.all().count());
    assert!(phase("X").len() <= instants);
    assert_eq!(phase("B").len(), phase("E").len() + shown.all().filter(|slice| slice.end.is_none()).count());
    assert_eq!(phase("C").len(), shown.counters.values().map(Vec::len).sum::<usize>());
    let arrows = shown.all().map(|slice| slice.arrows_from.len()).sum::<usize>();
    assert_eq!((phase("s").len(), phase("f").len()), (arrows, arrows));
    assert!(phase("B").iter().any(|event| event["name"] == "even \"task\"" && event["args"]["task"].is_u64()));
    for event in events {
        assert_eq!(event["pid"], std::process::id());
        assert!(event["tid"].is_u64());
        assert!(event["ph"] == "M" || event["ts"].is_f64(), "{event}");
    }
}

#[test]
fn a_snapshot_without_anything_can_be_written() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build().unwrap();
    let snapshot = runtime.handle().trace().snapshot();
    assert_eq!(perfetto(&snapshot).all().count(), 0);
    let mut bytes = Vec::new();
    snapshot.write_chrome_json(&mut bytes).unwrap();
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(json["traceEvents"].as_array().map(Vec::len), Some(0));
}
