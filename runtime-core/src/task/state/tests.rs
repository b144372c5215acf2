//! Each transition by itself, with its answers and its references.

use super::*;

fn refs(state: &State) -> u32 {
    state.0.load(Relaxed) >> REF_SHIFT
}

#[test]
fn a_quiet_life() {
    let state = State::new();
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.finish_poll(false, true), FinishPoll::Idle);
    assert_eq!(refs(&state), 2);
    assert_eq!(state.wake_by_ref(), Wake::Submit);
    assert_eq!(refs(&state), 3);
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.complete(2, true), Complete::Released { last: false });
    assert!(state.is_complete());
    assert!(state.ref_dec(1));
}

#[test]
fn a_poll_is_known_whether_it_is_in_a_record_or_not() {
    for (yields, is_recorded) in [(false, false), (false, true), (true, false), (true, true)] {
        let state = State::new();
        assert!(!state.has_been_polled());
        assert_eq!(state.start_poll(), StartPoll::Poll);
        assert!(!state.has_been_polled(), "it may end in this one");
        let _ = state.finish_poll(yields, is_recorded);
        assert!(state.has_been_polled());
        assert_eq!(state.is_recorded(), is_recorded);
    }
}

#[test]
fn a_task_that_waits_is_held_by_nobody_one_waker_or_others() {
    let state = State::new();
    assert_eq!(state.grip(), Grip::Others, "it stands in a queue");
    assert_eq!(state.start_poll(), StartPoll::Poll);
    // A waker, and the handle.
    state.ref_inc();
    assert_eq!(state.grip(), Grip::Others, "it is being polled");
    assert_eq!(state.finish_poll(false, true), FinishPoll::Idle);
    assert_eq!(state.grip(), Grip::OneWaker);
    // Another one, which goes again.
    state.ref_inc();
    assert_eq!(state.grip(), Grip::Others);
    assert!(!state.ref_dec(1));
    // The handle goes.
    assert_eq!(state.drop_join(), DropJoin::Detached);
    assert!(!state.ref_dec(1));
    assert_eq!(state.grip(), Grip::OneWaker);
    assert!(!state.ref_dec(1));
    assert_eq!(state.grip(), Grip::Nobody);
}

#[test]
fn a_handle_is_no_waker() {
    let state = State::new();
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.finish_poll(false, true), FinishPoll::Idle);
    assert_eq!(refs(&state), 2);
    assert_eq!(state.grip(), Grip::Others, "the handle can end it");
    assert_eq!(state.abort(), Wake::Submit);
    assert_eq!(state.grip(), Grip::Others);
}

#[test]
fn many_wakes_make_one_queue_entry() {
    let state = State::new();
    assert_eq!(state.wake_by_ref(), Wake::Nothing, "it stands in a queue from birth");
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.wake_by_ref(), Wake::Nothing);
    assert_eq!(state.wake_by_ref(), Wake::Nothing);
    assert_eq!(refs(&state), 3);
    assert_eq!(state.finish_poll(false, true), FinishPoll::Requeue);
    assert_eq!(refs(&state), 3, "the requeued task keeps the reference it came with");
}

#[test]
fn a_yield_makes_one_queue_entry_with_or_without_a_wake() {
    let state = State::new();
    for is_woken in [false, true] {
        assert_eq!(state.start_poll(), StartPoll::Poll);
        if is_woken {
            assert_eq!(state.wake_by_ref(), Wake::Nothing);
        }
        assert_eq!(state.finish_poll(true, true), FinishPoll::Requeue);
        assert_eq!(refs(&state), 3);
        assert_eq!(state.wake_by_ref(), Wake::Nothing, "it stands in the queue");
    }
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.abort(), Wake::Nothing);
    assert_eq!(state.finish_poll(true, true), FinishPoll::Cancel);
}

#[test]
fn a_wake_by_value_hands_its_reference_over() {
    let state = State::new();
    assert_eq!(state.start_poll(), StartPoll::Poll);
    state.ref_inc();
    assert_eq!(state.finish_poll(false, true), FinishPoll::Idle);
    assert_eq!(refs(&state), 3);
    assert_eq!(state.wake(), Wake::Submit);
    assert_eq!(refs(&state), 3);
}

/// A clone at a full count must end the process. So it is made in a process of its own.
#[test]
fn a_count_that_is_full_ends_the_process_instead_of_wrapping_round() {
    const IN_CHILD: &str = "RT_TEST_FULL_COUNT";
    const FULL: u32 = (MAX_REFS & !(REF - 1)) + REF + RUNNING;
    if std::env::var_os(IN_CHILD).is_some() {
        return State(AtomicU32::new(FULL)).ref_inc();
    }
    State(AtomicU32::new(FULL - REF)).ref_inc();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["a_count_that_is_full_ends_the_process", "--nocapture"]).env(IN_CHILD, "1");
    let output = child.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("15 million"), "{output:?}");
}

#[test]
fn the_last_waker_of_a_complete_task_frees_it() {
    let state = State::new();
    assert!(state.drop_join_at_birth());
    assert_eq!(state.start_poll(), StartPoll::Poll);
    state.ref_inc();
    assert!(!state.has_join_interest());
    assert_eq!(state.complete(2, false), Complete::Released { last: false });
    assert_eq!(state.wake(), Wake::Dealloc);
}

#[test]
fn an_output_that_nobody_wants_is_dropped_before_completion() {
    let state = State::new();
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.drop_join(), DropJoin::Detached);
    assert!(!state.ref_dec(1));
    assert_eq!(state.complete(2, true), Complete::DropOutput);
    assert!(!state.is_complete());
    assert_eq!(state.complete(2, false), Complete::Released { last: true });
}

#[test]
fn a_registered_joiner_is_woken_before_the_references_go() {
    let state = State::new();
    assert_eq!(state.start_poll(), StartPoll::Poll);
    assert_eq!(state.set_join_waker(), Ok(()));
    assert_eq!(state.unset_join_waker(), Ok(()));
    assert_eq!(state.set_join_waker(), Ok(()));
    assert_eq!(state.complete(2, true), Complete::WakeJoin);
    assert!(state.has_join_waker(), "the handle leaves it alone");
    assert_eq!(state.unset_join_waker(), Err(AlreadyComplete));
    assert_eq!(state.drop_join(), DropJoin::Complete);
    assert!(!state.ref_dec(1));
    assert!(state.ref_dec(2));
}

#[test]
fn abort_in_every_state() {
    let queued = State::new();
    assert_eq!(queued.abort(), Wake::Nothing);
    assert_eq!(queued.start_poll(), StartPoll::Cancel);

    let running = State::new();
    assert_eq!(running.start_poll(), StartPoll::Poll);
    assert_eq!(running.abort(), Wake::Nothing);
    assert_eq!(running.finish_poll(false, true), FinishPoll::Cancel);
    assert_eq!(running.complete(2, true), Complete::Released { last: false });
    assert_eq!(running.abort(), Wake::Nothing);

    let idle = State::new();
    assert_eq!(idle.start_poll(), StartPoll::Poll);
    assert_eq!(idle.finish_poll(false, true), FinishPoll::Idle);
    assert_eq!(idle.abort(), Wake::Submit);
    assert_eq!(idle.abort(), Wake::Nothing);
    assert_eq!(idle.start_poll(), StartPoll::Cancel);
}

#[test]
fn shutdown_claims_what_is_not_complete() {
    let idle = State::new();
    assert_eq!(idle.start_poll(), StartPoll::Poll);
    assert_eq!(idle.finish_poll(false, true), FinishPoll::Idle);
    assert!(idle.claim_for_shutdown());
    assert_eq!(idle.complete(1, true), Complete::Released { last: false });
    assert!(!idle.claim_for_shutdown());

    let queued = State::new();
    assert!(queued.claim_for_shutdown());
    assert_eq!(queued.wake_by_ref(), Wake::Nothing);
    assert_eq!(queued.complete(1, true), Complete::Released { last: false });
    assert_eq!(refs(&queued), 2, "the queue entry still holds its reference");
}
