use super::*;

const THRESHOLD: Duration = Duration::from_millis(10);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn progress(sampler: &mut Sampler, steps: u64, elapsed: u64) -> Progress {
    sampler.add(Sample { steps, is_away: false, woke_up: None }, at_once(elapsed), THRESHOLD).0
}

fn at_once(elapsed: u64) -> Elapsed {
    Elapsed { real: ms(elapsed), counted: ms(elapsed) }
}

fn running(ran: u64) -> Reading {
    Reading { is_asleep: false, times: Some(Times { ran: ms(ran), waited: ms(0) }) }
}

fn asleep(waited: u64) -> Reading {
    Reading { is_asleep: true, times: Some(Times { ran: ms(1), waited: ms(waited) }) }
}

#[test]
fn a_poll_is_stuck_when_it_was_seen_for_the_threshold() {
    let mut sampler = Sampler::default();
    assert_eq!(progress(&mut sampler, 5, 9), Progress::Moving, "it may have begun just now");
    assert_eq!(progress(&mut sampler, 5, 9), Progress::Slow);
    assert_eq!(progress(&mut sampler, 5, 1), Progress::Stuck);
    assert_eq!(progress(&mut sampler, 6, 1), Progress::Moving);
    assert_eq!(progress(&mut sampler, 6, 9), Progress::Slow);
}

#[test]
fn time_that_the_monitor_missed_is_told_but_not_held_against_anybody() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    let late = Elapsed { real: ms(300), counted: ms(2) };
    assert_eq!(sampler.add(Sample { steps: 5, is_away: false, woke_up: None }, late, THRESHOLD).0, Progress::Slow);
    assert_eq!(sampler.lasted(), ms(300));
}

#[test]
fn a_poll_that_somebody_got_up_for_is_as_old_as_that() {
    let mut sampler = Sampler::default();
    let sample = Sample { steps: 5, is_away: false, woke_up: Some(ms(8)) };
    assert_eq!(sampler.add(sample, at_once(9), THRESHOLD).0, Progress::Moving, "one look tells nothing");
    assert_eq!(sampler.lasted(), ms(8));
    assert_eq!(progress(&mut sampler, 5, 1), Progress::Slow);
    assert_eq!(progress(&mut sampler, 5, 1), Progress::Stuck);
    let sample = Sample { steps: 6, is_away: false, woke_up: Some(ms(300)) };
    let late = Elapsed { real: ms(200), counted: ms(2) };
    sampler.add(sample, late, THRESHOLD);
    assert_eq!((sampler.age(), sampler.lasted()), (ms(2), ms(200)), "it was not there at the last look");
}

#[test]
fn time_spent_asleep_does_not_count() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    let away = Sample { steps: 5, is_away: true, woke_up: None };
    assert_eq!(sampler.add(away, at_once(500), THRESHOLD).0, Progress::Away);
    assert_eq!(progress(&mut sampler, 5, 500), Progress::Moving, "it has woken up, and not begun a poll");
    assert_eq!(progress(&mut sampler, 5, 9), Progress::Slow);
}

#[test]
fn an_event_ends_with_its_poll_and_is_given_out_once() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    progress(&mut sampler, 5, 12);
    sampler.event = Some(Event { user_code: UserCode::External, is_reported: false, stack: None });
    let sample = Sample { steps: 6, is_away: false, woke_up: None };
    let (_, ended) = sampler.add(sample, at_once(1), THRESHOLD);
    assert_eq!(ended.unwrap().0.lasted(), ms(12));
    assert!(sampler.add(sample, at_once(1), THRESHOLD).1.is_none());
}

#[test]
fn a_thread_that_gets_no_processor_is_not_to_blame() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    progress(&mut sampler, 5, 5);
    sampler.note(running(100));
    progress(&mut sampler, 5, 8);
    sampler.note(running(101));
    assert!(!sampler.is_long_poll(THRESHOLD), "1 ms of 8");
    progress(&mut sampler, 5, 8);
    sampler.note(running(109));
    assert!(sampler.is_long_poll(THRESHOLD), "9 ms of 16");
    assert_eq!(sampler.activity(), Activity::Burning);
}

#[test]
fn time_spent_waiting_for_a_processor_is_not_its_own() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    progress(&mut sampler, 5, 3);
    assert!(sampler.has_had(ms(3)), "nothing is known of it");
    sampler.note(asleep(100));
    assert!(!sampler.has_had(ms(1)), "it may have waited until now");
    progress(&mut sampler, 5, 4);
    sampler.note(Reading { is_asleep: false, ..asleep(100) });
    assert!(!sampler.has_had(ms(1)), "it was woken, and waits since");
    progress(&mut sampler, 5, 4);
    sampler.note(asleep(103));
    assert!(sampler.has_had(ms(1)) && !sampler.has_had(ms(2)), "it has waited for most of the time");
    progress(&mut sampler, 5, 4);
    sampler.note(asleep(103));
    assert!(sampler.has_had(ms(5)) && !sampler.has_had(ms(6)));
}

#[test]
fn on_a_busy_machine_the_proof_takes_longer() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    progress(&mut sampler, 5, 10);
    sampler.note(running(100));
    progress(&mut sampler, 5, 500);
    sampler.note(running(109));
    assert!(!sampler.is_long_poll(THRESHOLD));
    sampler.note(running(110));
    assert!(sampler.is_long_poll(THRESHOLD), "as much as the threshold");
    sampler.note(running(101));
    progress(&mut sampler, 5, 490);
    assert!(sampler.is_long_poll(THRESHOLD), "no more doubt");
}

#[test]
fn a_thread_asleep_is_to_blame_at_once() {
    let mut sampler = Sampler::default();
    progress(&mut sampler, 5, 1);
    progress(&mut sampler, 5, 12);
    assert_eq!(sampler.activity(), Activity::Unknown);
    sampler.note(asleep(100));
    assert!(sampler.is_long_poll(THRESHOLD));
    assert_eq!(sampler.activity(), Activity::Sleeping);
    assert!(!sampler.is_proven(THRESHOLD), "but it is not said so before a second look");
    progress(&mut sampler, 5, 4);
    sampler.note(asleep(104));
    assert!(!sampler.is_proven(THRESHOLD), "it has waited for a processor");
    progress(&mut sampler, 5, 4);
    sampler.note(asleep(104));
    assert!(sampler.is_proven(THRESHOLD));
}

/// Two workers: one that sleeps in a poll, and another.
#[derive(Default)]
struct Pair([Sampler; 2]);

impl Pair {
    /// A sample `elapsed` milliseconds later. The other is in this poll, and its thread has run and waited for so
    /// long in all.
    fn sample(&mut self, elapsed: u64, poll: u64, (ran, waited): (u64, u64)) -> Progress {
        let [sleeper, other] = &mut self.0;
        let mut how = [progress(sleeper, 5, elapsed), progress(other, poll, elapsed)];
        if how[0] == Progress::Stuck {
            sleeper.note(asleep(0));
            let times = Times { ran: ms(ran), waited: ms(waited) };
            if matches!(how[1], Progress::Slow | Progress::Stuck) {
                other.note(Reading { is_asleep: false, times: Some(times) });
                how[1] = if other.is_long_poll(THRESHOLD) { how[1] } else { Progress::Preempted };
            }
            excuse_sleepers(&mut how, &mut self.0, THRESHOLD, |_| Some(times));
        }
        how[0]
    }
}

#[test]
fn a_thread_asleep_may_wait_for_one_that_gets_no_processor() {
    let mut pair = Pair::default();
    pair.sample(1, 1, (100, 0));
    assert_eq!(pair.sample(10, 1, (100, 0)), Progress::Preempted, "the other is not known to have run");
    assert!((0..20).all(|_| pair.sample(2, 1, (100, 0)) == Progress::Preempted), "and has not");
    assert_eq!(pair.sample(2, 2, (100, 50)), Progress::Preempted, "it has got on");
    assert_eq!(pair.sample(9, 3, (109, 50)), Progress::Slow, "time counts from then on");
    assert_eq!(pair.sample(1, 4, (110, 50)), Progress::Stuck);
    assert_eq!(pair.sample(10, 4, (110, 50)), Progress::Stuck, "it has help, and keeps that");
}

#[test]
fn a_thread_asleep_does_not_wait_for_one_that_computes() {
    let mut pair = Pair::default();
    pair.sample(1, 1, (100, 0));
    assert_eq!(pair.sample(10, 1, (100, 0)), Progress::Preempted, "the other is not known to have run");
    assert_eq!(pair.sample(2, 1, (100, 0)), Progress::Preempted, "the system may say so later");
    assert_eq!(pair.sample(2, 1, (104, 0)), Progress::Stuck, "it has");
    // The same if it gets on before the system has said so.
    let mut pair = Pair::default();
    pair.sample(1, 1, (100, 0));
    assert_eq!(pair.sample(10, 1, (100, 0)), Progress::Preempted);
    assert_eq!(pair.sample(2, 2, (112, 0)), Progress::Stuck, "it has not waited");
    // But not where the kernel does not say that it has waited.
    let mut pair = Pair::default();
    pair.sample(1, 1, (100, 0));
    assert_eq!(pair.sample(10, 1, (100, 0)), Progress::Preempted);
    assert!((0..10).all(|_| pair.sample(2, 1, (100, 0)) == Progress::Preempted));
    assert_eq!(pair.sample(2, 2, (101, 0)), Progress::Preempted);
    // And if its polls are shorter than the threshold.
    let mut pair = Pair::default();
    (0..4).for_each(|poll| _ = pair.sample(3, poll, (100 + 3 * poll, 0)));
    assert_eq!(pair.sample(3, 3, (100, 0)), Progress::Stuck);
}

#[test]
fn a_thread_asleep_is_excused_for_no_longer_than_the_period_of_a_quota() {
    let mut pair = Pair::default();
    pair.sample(1, 1, (100, 0));
    assert!((0..9).all(|_| pair.sample(10, 1, (100, 0)) == Progress::Preempted));
    assert_eq!(pair.sample(10, 1, (100, 0)), Progress::Stuck);
    // The same if another one lacks a processor in each poll.
    let mut pair = Pair::default();
    let helped = (0..100).find(|at| pair.sample(10, at / 2, (100, 10 * at)) == Progress::Stuck);
    assert!(helped.is_some_and(|at| at <= 12), "{helped:?}");
}

/// The example of the module's documentation, from its row of 10 ms on.
#[test]
fn a_poll_of_30_ms_is_judged_by_what_its_thread_does() {
    for (first, second, at_first, at_second) in [
        (asleep(0), asleep(0), (true, false), (true, true)),
        (running(100), running(101), (false, false), (true, true)),
        (running(100), running(100), (false, false), (false, false)),
    ] {
        let mut sampler = Sampler::default();
        assert_eq!(progress(&mut sampler, 5, 1), Progress::Moving);
        (1..10).for_each(|_| assert_eq!(progress(&mut sampler, 5, 1), Progress::Slow));
        for (reading, expected) in [(first, at_first), (second, at_second)] {
            assert_eq!(progress(&mut sampler, 5, 1), Progress::Stuck, "unless it lacks a processor");
            sampler.note(reading);
            assert_eq!((sampler.is_long_poll(THRESHOLD), sampler.is_proven(THRESHOLD)), expected);
        }
        assert_eq!(progress(&mut sampler, 6, 19), Progress::Moving);
    }
}
