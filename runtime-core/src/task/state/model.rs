//! The state word beside an account of who holds the task and what they do with it.
//!
//! The model knows no bits. It keeps the books that the rest of `task/` keeps by being what it is: there is a queue
//! entry or none, a thread that runs the task or none, a join handle in this or that stage of its life, some wakers
//! and abort handles. From that follow what each transition has to answer, what the word has to hold afterwards, and
//! when the memory goes. A holder takes one step at a time, and between any two of its steps the others may take
//! theirs: since every step is one atomic operation, these are the interleavings that threads can produce, except for
//! what weak memory orderings add (loom looks at those).
//!
//! The property test below and the fuzz target `task_state` both run [`Op`]s through [`run`]. An operation that nobody
//! could do at that moment is left out.

use super::*;

/// One step of one holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A worker takes the task from its queue.
    StartPoll,
    /// The poll at hand returns `Pending`.
    Pending,
    /// It does, and has said on its own thread that it wants another one.
    Yield,
    /// The poll at hand returns `Ready`, or panics.
    Ready,
    /// The thread that runs the task has dropped the future, and looks whether the output is wanted.
    Store,
    /// It completes the task.
    Complete,
    /// It has woken the joiner, and gives its references back.
    WokeJoiner,
    /// A waker is cloned: a waker that somebody has, or the one that the poll at hand shows.
    CloneWaker,
    /// It wakes, and is kept.
    WakeByRef,
    /// It wakes, and is given up.
    Wake,
    /// It is dropped.
    DropWaker,
    /// The join handle, or an abort handle, aborts.
    Abort,
    /// An abort handle is made, or cloned.
    NewAbortHandle,
    /// An abort handle is dropped.
    DropAbortHandle,
    /// The join handle was polled, and hands its waker to the runtime.
    SetJoinWaker,
    /// The join handle is polled again, and takes its waker back.
    UnsetJoinWaker,
    /// The join handle begins to be dropped: is the task as it was born?
    DropJoin,
    /// It was not: the handle gives its interest up.
    LoseInterest,
    /// And its reference.
    DropJoinRef,
    /// The workers have gone: from now on nobody polls.
    CloseRuntime,
    /// Shutdown finds the task in its arena.
    Claim,
    /// Shutdown empties the queues.
    DropQueueEntry,
}

impl Op {
    /// All there are.
    pub const ALL: [Op; 22] = [
        Op::StartPoll,
        Op::Pending,
        Op::Yield,
        Op::Ready,
        Op::Store,
        Op::Complete,
        Op::WokeJoiner,
        Op::CloneWaker,
        Op::WakeByRef,
        Op::Wake,
        Op::DropWaker,
        Op::Abort,
        Op::NewAbortHandle,
        Op::DropAbortHandle,
        Op::SetJoinWaker,
        Op::UnsetJoinWaker,
        Op::DropJoin,
        Op::LoseInterest,
        Op::DropJoinRef,
        Op::CloseRuntime,
        Op::Claim,
        Op::DropQueueEntry,
    ];

    /// What brings any task to its end, in this order.
    const TO_THE_END: [Op; 12] = [
        Op::WokeJoiner,
        Op::Complete,
        Op::Store,
        Op::Ready,
        Op::DropJoinRef,
        Op::LoseInterest,
        Op::DropJoin,
        Op::DropWaker,
        Op::DropAbortHandle,
        Op::CloseRuntime,
        Op::Claim,
        Op::DropQueueEntry,
    ];
}

/// Lets the holders of one task take these steps, and then ends its life.
///
/// # Panics
///
/// If the state word answers, or holds, something else than the books say, or the task outlives its holders.
pub fn run(ops: impl IntoIterator<Item = Op>) {
    let mut task = Task::new();
    for op in ops {
        task.apply(op);
    }
    while !task.freed {
        let step = Op::TO_THE_END.into_iter().find(|&op| task.apply(op));
        assert!(step.is_some(), "nobody holds the task and it was not freed: {task:?}");
    }
}

/// Who runs the task, and how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Nobody,
    Polling,
    /// The future is to be dropped, or has been.
    Ending,
    /// The output was dropped, or stored because somebody wanted it.
    Stored(bool),
    /// Complete; the joiner is being woken.
    WakingJoiner,
}

/// The life of a join handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    Held,
    /// Being dropped.
    Dropping,
    /// It has given its interest up, and still has its reference.
    Indifferent,
    Gone,
}

#[derive(Debug)]
struct Task {
    state: State,
    run: Run,
    /// The thread that runs the task has the reference that the queue had. Not so if shutdown does.
    run_has_ref: bool,
    owner_has_ref: bool,
    queued: bool,
    /// Woken since it is being run.
    woken: bool,
    join: Join,
    /// The runtime has the joiner's waker.
    join_waker: bool,
    wakers: u32,
    abort_handles: u32,
    cancelled: bool,
    complete: bool,
    runtime_closed: bool,
    claimed: bool,
    /// A poll has ended, and the task went on.
    recorded: bool,
    freed: bool,
}

impl Task {
    fn new() -> Self {
        let task = Self {
            state: State::new(),
            run: Run::Nobody,
            run_has_ref: false,
            owner_has_ref: true,
            queued: true,
            woken: false,
            join: Join::Held,
            join_waker: false,
            wakers: 0,
            abort_handles: 0,
            cancelled: false,
            complete: false,
            runtime_closed: false,
            claimed: false,
            recorded: false,
            freed: false,
        };
        task.check();
        task
    }

    fn refs(&self) -> u32 {
        [self.run_has_ref, self.owner_has_ref, self.queued, self.join != Join::Gone].map(u32::from).iter().sum::<u32>()
            + self.wakers
            + self.abort_handles
    }

    /// Somebody polls, cancels or finishes the task.
    fn is_run(&self) -> bool {
        matches!(self.run, Run::Polling | Run::Ending | Run::Stored(_))
    }

    fn is_wanted(&self) -> bool {
        matches!(self.join, Join::Held | Join::Dropping)
    }

    fn has_waker(&self) -> bool {
        self.wakers > 0 || self.run == Run::Polling
    }

    fn can_abort(&self) -> bool {
        self.abort_handles > 0 || self.join == Join::Held
    }

    /// Does the step, if its holder is there to do it.
    fn apply(&mut self, op: Op) -> bool {
        let possible = !self.freed
            && match op {
                Op::StartPoll => self.queued && self.run == Run::Nobody && !self.runtime_closed,
                Op::Pending | Op::Yield | Op::Ready => self.run == Run::Polling,
                Op::Store => self.run == Run::Ending,
                Op::Complete => matches!(self.run, Run::Stored(_)),
                Op::WokeJoiner => self.run == Run::WakingJoiner,
                Op::CloneWaker | Op::WakeByRef => self.has_waker(),
                Op::Wake | Op::DropWaker => self.wakers > 0,
                Op::Abort | Op::NewAbortHandle => self.can_abort(),
                Op::DropAbortHandle => self.abort_handles > 0,
                Op::SetJoinWaker => self.join == Join::Held && !self.join_waker,
                Op::UnsetJoinWaker => self.join == Join::Held && self.join_waker,
                Op::DropJoin => self.join == Join::Held,
                Op::LoseInterest => self.join == Join::Dropping,
                Op::DropJoinRef => self.join == Join::Indifferent,
                // Perhaps in the middle of a poll by somebody who blocks in place.
                Op::CloseRuntime => !self.runtime_closed,
                Op::Claim => self.runtime_closed && !self.claimed,
                // Queues are emptied when every task in every arena is complete.
                Op::DropQueueEntry => self.queued && self.claimed && self.run == Run::Nobody,
            };
        if possible {
            self.step(op);
            self.check();
        }
        possible
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::StartPoll => self.start_poll(),
            Op::Pending => self.pending(false),
            Op::Yield => self.pending(true),
            Op::Ready => self.run = Run::Ending,
            Op::Store => {
                assert_eq!(self.state.has_join_interest(), self.is_wanted());
                self.run = Run::Stored(self.is_wanted());
            }
            Op::Complete => self.complete(),
            Op::WokeJoiner => {
                let refs = self.end_of_run();
                self.expect_last(|state| state.ref_dec(refs));
            }
            Op::CloneWaker => {
                self.state.ref_inc();
                self.wakers += 1;
            }
            Op::WakeByRef => {
                let expected = self.wake();
                assert_eq!(self.state.wake_by_ref(), expected);
            }
            Op::Wake => {
                self.wakers -= 1;
                let mut expected = self.wake();
                self.freed = self.refs() == 0;
                if self.freed {
                    expected = Wake::Dealloc;
                }
                assert_eq!(self.state.wake(), expected);
            }
            Op::DropWaker => {
                self.wakers -= 1;
                self.expect_last(|state| state.ref_dec(1));
            }
            Op::Abort => self.abort(),
            Op::NewAbortHandle => {
                self.state.ref_inc();
                self.abort_handles += 1;
            }
            Op::DropAbortHandle => {
                self.abort_handles -= 1;
                self.expect_last(|state| state.ref_dec(1));
            }
            Op::SetJoinWaker => {
                assert_eq!(self.state.set_join_waker().is_err(), self.complete);
                self.join_waker = !self.complete;
            }
            Op::UnsetJoinWaker => {
                assert_eq!(self.state.unset_join_waker().is_err(), self.complete);
                self.join_waker = self.complete;
            }
            Op::DropJoin => {
                let as_born = self.queued
                    && !self.is_run()
                    && !self.complete
                    && !self.cancelled
                    && !self.join_waker
                    && !self.recorded
                    && self.wakers + self.abort_handles == 0;
                assert_eq!(self.state.drop_join_at_birth(), as_born);
                self.join = if as_born { Join::Gone } else { Join::Dropping };
            }
            Op::LoseInterest => {
                let expected = if self.complete { DropJoin::Complete } else { DropJoin::Detached };
                assert_eq!(self.state.drop_join(), expected);
                self.join = Join::Indifferent;
                // Of a complete task the waker is no business of the handle's: the runtime has taken it.
                self.join_waker &= self.complete;
            }
            Op::DropJoinRef => {
                self.join = Join::Gone;
                self.expect_last(|state| state.ref_dec(1));
            }
            Op::CloseRuntime => self.runtime_closed = true,
            Op::Claim => {
                self.claimed = true;
                let is_claimed = !self.complete && !self.is_run();
                assert_eq!(self.state.claim_for_shutdown(), is_claimed);
                self.cancelled |= !self.complete;
                if is_claimed {
                    self.run = Run::Ending;
                }
            }
            Op::DropQueueEntry => {
                self.queued = false;
                self.expect_last(|state| state.ref_dec(1));
            }
        }
    }

    fn start_poll(&mut self) {
        self.queued = false;
        self.run_has_ref = true;
        if self.cancelled {
            assert_eq!(self.state.start_poll(), StartPoll::Cancel);
            self.run = Run::Ending;
        } else {
            assert_eq!(self.state.start_poll(), StartPoll::Poll);
            self.run = Run::Polling;
        }
    }

    fn pending(&mut self, yields: bool) {
        let polled = self.state.finish_poll(yields, true);
        if self.cancelled {
            assert_eq!(polled, FinishPoll::Cancel);
            self.run = Run::Ending;
            return;
        }
        self.run = Run::Nobody;
        self.recorded = true;
        self.run_has_ref = false;
        self.queued = std::mem::take(&mut self.woken) | yields;
        assert_eq!(polled, if self.queued { FinishPoll::Requeue } else { FinishPoll::Idle });
    }

    fn complete(&mut self) {
        let refs = 1 + u32::from(self.run_has_ref);
        let Run::Stored(stored) = self.run else { unreachable!("asked for in `apply`") };
        let complete = self.state.complete(refs, stored);
        if self.join_waker {
            assert_eq!(complete, Complete::WakeJoin);
            self.complete = true;
            self.run = Run::WakingJoiner;
        } else if stored && !self.is_wanted() {
            assert_eq!(complete, Complete::DropOutput);
            self.run = Run::Stored(false);
        } else {
            self.complete = true;
            assert_eq!(self.end_of_run(), refs);
            self.freed = self.refs() == 0;
            assert_eq!(complete, Complete::Released { last: self.freed });
        }
    }

    /// Gives the references of the thread that ran the task back, with that of the arena. Returns how many these are.
    fn end_of_run(&mut self) -> u32 {
        self.run = Run::Nobody;
        self.owner_has_ref = false;
        1 + u32::from(std::mem::take(&mut self.run_has_ref))
    }

    /// Of what a wake finds, what it leaves behind, and what it has to do then.
    fn wake(&mut self) -> Wake {
        if self.complete || self.queued {
            Wake::Nothing
        } else if self.is_run() {
            self.woken = true;
            Wake::Nothing
        } else {
            self.queued = true;
            Wake::Submit
        }
    }

    fn abort(&mut self) {
        let asleep = !self.complete && !self.cancelled && !self.queued && !self.is_run();
        self.queued |= asleep;
        self.cancelled |= !self.complete;
        assert_eq!(self.state.abort(), if asleep { Wake::Submit } else { Wake::Nothing });
    }

    /// The step gives references back, and has to say whether they were the last.
    fn expect_last(&mut self, give_back: impl FnOnce(&State) -> bool) {
        self.freed = self.refs() == 0;
        assert_eq!(give_back(&self.state), self.freed);
    }

    /// What the word holds follows from the books.
    fn check(&self) {
        let word = self.state.0.load(Relaxed);
        let expect = |bit, set| assert_eq!(word & bit != 0, set, "bit {bit:#b} of {word:#b}: {self:?}");
        assert_eq!(self.freed, self.refs() == 0, "{self:?}");
        if self.freed {
            // Of a word that nobody can look at any more nothing is promised.
            return;
        }
        assert_eq!(word >> REF_SHIFT, self.refs(), "references: {self:?}");
        expect(RUNNING, self.is_run());
        expect(COMPLETE, self.complete);
        expect(CANCELLED, self.cancelled);
        expect(JOIN_WAKER, self.join_waker);
        expect(RECORDED, self.recorded);
        expect(POLLED, self.recorded);
        assert_eq!(self.state.is_complete(), self.complete);
        assert_eq!(self.state.has_join_waker(), self.join_waker);
        if !self.complete {
            expect(SCHEDULED, self.queued || self.woken);
            expect(JOIN_INTEREST, self.is_wanted());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_word_agrees_with_whoever_holds_the_task(
            ops in prop::collection::vec(prop::sample::select(&Op::ALL[..]), 0..200),
        ) {
            run(ops);
        }
    }
}
