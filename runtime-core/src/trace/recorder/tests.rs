use super::*;
use crate::trace::TraceSnapshot;

const NUMBERS: LaneNumbers = LaneNumbers { workers: 2, block_on_threads: 1, spares: 3 };

fn recorder() -> Arc<Recorder> {
    Recorder::new(NUMBERS, false)
}

fn config() -> TraceConfig {
    TraceConfig::new().events(16)
}

fn event(recorder: &Recorder, core: usize) {
    recorder.other_events(LaneId::Core(core), &[(Kind::QueueDepth, 1)]);
}

fn lanes(recorder: &Recorder) -> Vec<String> {
    let last = recorder.read().and_then(|mut reading| reading.parts.pop());
    last.map_or_else(Vec::new, |raw| raw.lanes.into_iter().map(|(name, _)| name).collect())
}

fn lost(recorder: &Recorder) -> u64 {
    recorder.read().unwrap().parts.iter().map(|part| part.lost).sum()
}

#[test]
fn it_runs_while_it_is_started_or_held() {
    let recorder = recorder();
    let began = recorder.hold(&config());
    assert!(recorder.is_running() && !recorder.stop());
    let later = recorder.hold(&config());
    assert!(began <= later);
    recorder.release();
    assert!(recorder.is_running());
    // One who starts it meanwhile finds that it was not started, and goes on after the others.
    assert!(recorder.start(&config()) && !recorder.start(&config()));
    assert_eq!(recorder.read().unwrap().session.started, recorder.switch.current().unwrap().started.load(Relaxed));
    recorder.release();
    assert!(recorder.is_running());
    recorder.hold(&config());
    assert!(recorder.stop() && !recorder.stop());
    assert!(recorder.is_running() && recorder.read().unwrap().session.stopped.is_none());
    recorder.release();
    assert!(!recorder.is_running() && recorder.read().unwrap().session.stopped.is_some());
}

/// The numbers that were recorded on the lane of the first worker.
fn shown(recorder: &Recorder) -> Vec<u64> {
    let snapshot = TraceSnapshot::take(recorder, 0);
    let lane = snapshot.lanes().next().unwrap();
    lane.events()
        .map(|event| match event.kind {
            crate::trace::TraceEventKind::QueueDepth(number) => number,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn record(recorder: &Recorder, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| recorder.other_events(LaneId::Core(0), &[(Kind::QueueDepth, number)]));
}

#[test]
fn a_start_while_it_is_held_gets_the_number_of_events_that_was_asked_for() {
    let recorder = recorder();
    recorder.hold(&config());
    record(&recorder, 0..10);
    assert!(recorder.start(&config().events(64)));
    record(&recorder, 10..70);
    assert_eq!(shown(&recorder), Vec::from_iter(0..70), "what the holder has is not lost");
    // As many as were asked for, and no gap: what is older than what is lost is left out.
    record(&recorder, 70..1000);
    assert_eq!(shown(&recorder), Vec::from_iter(1000 - 63..1000));
    recorder.stop();
    recorder.release();
    assert_eq!(shown(&recorder), Vec::from_iter(1000 - 63..1000));
}

#[test]
fn a_start_with_fewer_events_than_it_is_held_with_takes_none_from_the_holder() {
    let recorder = recorder();
    recorder.hold(&config().events(64));
    record(&recorder, 0..10);
    assert!(recorder.start(&config()));
    record(&recorder, 10..60);
    assert_eq!(shown(&recorder), Vec::from_iter(0..60));
    // A second hold leaves it as it is.
    recorder.hold(&config().events(256));
    record(&recorder, 60..100);
    assert_eq!(shown(&recorder), Vec::from_iter(100 - 63..100));
}

#[test]
fn rings_that_are_used_again_do_not_show_what_they_had_before() {
    let recorder = recorder();
    recorder.start(&config().events(64));
    record(&recorder, 0..200);
    recorder.stop();
    let stopped = recorder.read().unwrap().session.stopped.unwrap();
    while recorder.read().unwrap().ticks.now() <= stopped {}
    recorder.hold(&config());
    record(&recorder, 300..310);
    recorder.start(&config().events(64));
    record(&recorder, 310..320);
    assert_eq!(shown(&recorder), Vec::from_iter(300..320));
}

#[test]
fn the_lanes_of_spare_workers_are_made_when_they_are_needed_and_the_others_at_the_start() {
    let recorder = recorder();
    recorder.prepare_lane(0);
    // The first spare comes before the start.
    recorder.prepare_lane(3);
    recorder.start(&config());
    let first = ["worker 0", "worker 1", "block_on 0", "spare worker 0"];
    let others = ["other threads 0", "other threads 1", "other threads 2", "other threads 3"];
    assert_eq!(lanes(&recorder), [&first[..], &others].concat());
    (0..4).for_each(|core| event(&recorder, core));
    recorder.other_events(LaneId::Shared(9), &[(Kind::QueueDepth, 1)]);
    assert_eq!(lost(&recorder), 0);
    // An event makes none.
    event(&recorder, 4);
    assert_eq!((lanes(&recorder).len(), lost(&recorder)), (8, 1));
    recorder.prepare_lane(4);
    event(&recorder, 4);
    assert_eq!((lanes(&recorder).len(), lost(&recorder)), (9, 1));
    // The next recording has them from the start.
    recorder.stop();
    recorder.start(&config().events(32));
    assert_eq!((lanes(&recorder).len(), lost(&recorder)), (9, 0));
}

#[test]
fn what_is_written_after_the_stop_is_in_no_session() {
    let recorder = recorder();
    recorder.start(&config());
    let recording = recorder.switch.current().unwrap();
    event(&recorder, 0);
    recorder.stop();
    // A thread that was about to write.
    let stopped = recorder.read().unwrap().session.stopped.unwrap();
    while recording.ticks.now() == stopped {}
    recording.other_events(LaneId::Core(0), &[(Kind::InjectorDepth, 1)]);
    let events = |recorder| {
        let snapshot = TraceSnapshot::take(recorder, 0);
        snapshot.lanes().map(|lane| lane.events().count()).sum::<usize>()
    };
    assert_eq!(events(&recorder), 1);
    recorder.start(&config());
    assert_eq!(events(&recorder), 0);
}
