//! Whether to share a worker's work: what an idle worker makes of others that have some on their LIFO lanes.
//!
//! To take a task to another processor is not free. Its lines have to follow, and those of whatever it has in common with the
//! tasks that stayed: a channel whose ends are on two processors takes several times as long for each message as one that is
//! used on one (71 ns and 270, sixteen senders, one receiver). A burst of short tasks is done by its worker
//! before a thief has come to anything. So an idle worker, if it is the only one that searches, does not take from such a lane what it finds
//! there, but *watches*: it looks once in a [`WINDOW`] at how many polls and pushes the owner has counted, and whether its lane has run
//! dry since.
//!
//! - If the lane has run dry, its owner can do without help.
//! - If the owner gets on slowly, its tasks wait for long polls: the thief takes half of them, as ever. (So it does with
//!   tasks on other lanes, which drivers woke or which yielded.)
//! - If the lane has not run dry for a while, the thief takes half of them, *for trial*.
//!
//! What it takes for trial it counts by: how many polls the two of them made from then until the thief had nothing to do again,
//! against how many the owner would have made alone in that time, at the pace at which it was watched; summed up until there is
//! enough to compare. If the two did less than four fifths, sharing does harm, and the while becomes twice as long, up to
//! [`LONGEST`]. If not, it becomes as short as at first soon, and for some time whatever is found is taken without having been
//! watched. Then it is watched again. All thieves share that [`Experience`].
//!
//! Polls are a poor measure of progress, but the same tasks are compared with themselves, and the difference between
//! both cases is large. Pushes are none at all: a task that spawns a hundred others is not quicker than these. What a wrong verdict
//! costs is bounded: whose tasks take a [`WINDOW`] or more each has help at once; who fills its lane in one long
//! poll, after [`SPAWNING`]; and everybody else after [`LONGEST`] if the lane does not run dry (and as long again for a trial of another
//! thief's, which makes those that watch begin anew). The worst is forgotten when there has been no
//! harm for [`MEMORY`].
//!
//! A worker that watches counts as searching, and stays up as long as there is surplus. Pushers rely on it, whoever they
//! are, so it looks at all the others, and meanwhile nobody is woken. There is one at a time (or two, by chance), because each
//! spends a processor on it. A second searcher takes what it finds; but if there has been harm it leaves such tasks to the first, unless
//! their owner is missing, and goes to sleep (`idle/`). While something is being tried nothing else is, nor is it watched how others get on
//! meanwhile, but for who is slow.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How often a worker that watches looks; for so many nanoseconds it must be possible to judge by the polls. (Longer than a poll that
/// empties a channel of a hundred messages.)
pub(super) const WINDOW: u64 = 10_000;
/// Who has counted fewer polls and pushes in a window gets on slowly.
const FEW: u64 = 2;
/// For so many nanoseconds a poll may go on pushing.
const SPAWNING: u64 = 10 * WINDOW;
/// Who was not looked at for so many nanoseconds was not watched.
const GAP: u64 = 10 * WINDOW;
/// For how long a lane must not have run dry, in nanoseconds: at first, and at most.
const SHORTEST: u64 = 2 * WINDOW;
const LONGEST: u64 = 10_000_000;
/// After so many nanoseconds without harm the worst is forgotten.
const MEMORY: u64 = 100_000_000;
/// A trial takes so many nanoseconds of work with what was taken. (What took as long as [`MEMORY`] tells about other things.)
const TRIAL: u64 = 50_000;
/// For so many nanoseconds a thief takes without having watched, after a success, and for [`LONGEST`] at most after many.
const TRUST: u64 = 2 * TRIAL;

/// What is seen of a worker at a look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// When, in nanoseconds.
    pub(super) now: u64,
    pub(super) polls: u64,
    /// Tasks pushed onto its lanes.
    pub(super) pushes: u64,
    /// Changes when a task comes onto its empty LIFO lane. (Not if it has come from elsewhere, or while another thief is
    /// after the task that lies there alone: then the lane seems not to have run dry.)
    pub(super) refilled: u64,
    /// How often it has gone to sleep.
    pub(super) parks: u64,
}

/// What to do about tasks on a LIFO lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Leave,
    Take,
    /// With the pace of their owner up to now.
    TakeForTrial(Pace),
}

/// So many polls in so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    polls: u64,
    nanos: u64,
}

impl Pace {
    fn between(before: Look, after: Look) -> Self {
        Self { polls: after.polls.wrapping_sub(before.polls), nanos: after.now.saturating_sub(before.now) }
    }
}

/// What all thieves of a runtime have learnt. Where two learn at once, one of them may be forgotten.
///
/// All of it is relaxed: nothing else is read by what it says, and it decides on economy only.
#[derive(Debug)]
pub(super) struct Experience {
    /// For how long a lane must not have run dry.
    reluctance: AtomicU64,
    /// When sharing last did harm.
    harmed: AtomicU64,
    /// Until when thieves take without having watched, and for how long they were granted that last.
    trusts_until: AtomicU64,
    granted: AtomicU64,
    /// Until when a trial is under way at most: what others see meanwhile is not how their owners get on alone.
    tries_until: AtomicU64,
}

impl Experience {
    pub(super) fn new() -> Self {
        let [harmed, trusts_until, granted, tries_until] = [const { AtomicU64::new(0) }; 4];
        Self { reluctance: AtomicU64::new(SHORTEST), harmed, trusts_until, granted, tries_until }
    }

    pub(super) fn begin_trial(&self, now: u64) {
        self.tries_until.store(now + 4 * TRIAL, Relaxed);
    }

    pub(super) fn end_trial(&self) {
        self.tries_until.store(0, Relaxed);
    }

    fn is_trying(&self, now: u64) -> bool {
        now < self.tries_until.load(Relaxed)
    }

    /// Whether to take without having watched.
    pub(super) fn is_trusting(&self, now: u64) -> bool {
        now < self.trusts_until.load(Relaxed)
    }

    /// Whether sharing has done harm of late.
    pub(super) fn is_reluctant(&self, now: u64) -> bool {
        self.reluctance(now) > SHORTEST
    }

    /// For how long a lane must not have run dry.
    fn reluctance(&self, now: u64) -> u64 {
        let is_forgotten = now.saturating_sub(self.harmed.load(Relaxed)) >= MEMORY;
        if is_forgotten { SHORTEST } else { self.reluctance.load(Relaxed) }
    }

    pub(super) fn learn(&self, outcome: Outcome, now: u64) {
        let reluctance = self.reluctance(now);
        match outcome {
            Outcome::Harm => {
                self.reluctance.store((2 * reluctance).min(LONGEST), Relaxed);
                self.harmed.store(now, Relaxed);
                self.granted.store(0, Relaxed);
                self.trusts_until.store(0, Relaxed);
            }
            Outcome::Success => {
                self.reluctance.store((reluctance / 2).max(SHORTEST), Relaxed);
                let granted = (2 * self.granted.load(Relaxed)).clamp(TRUST, LONGEST);
                self.granted.store(granted, Relaxed);
                self.trusts_until.store(now + granted, Relaxed);
            }
        }
    }
}

/// Of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Harm,
    Success,
}

/// A worker that is being watched.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Since when its lane has not run dry.
    since: u64,
    /// When it last made a poll.
    polled: u64,
    /// Since this look it has made polls in each window.
    first: Look,
    last: Look,
    /// It got on slowly then.
    is_slow: bool,
}

/// Tasks were taken for trial, and are being worked on.
#[derive(Clone, Copy, Debug)]
struct Taken {
    victim: usize,
    alone: Pace,
    /// What thief and victim had counted then, together.
    both: Look,
}

/// What a thief watches, and tries. See the module.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// By victims' numbers.
    watched: Vec<Option<Watched>>,
    taken: Option<Taken>,
    /// The trial so far: when it began, how long it took, how many polls were made, and how many the owners would have made
    /// alone, in thousandths.
    began: u64,
    nanos: u64,
    polls: u64,
    expected: u64,
}

impl Sharing {
    /// Whether to take from this one, which has something on its LIFO lane.
    pub(super) fn judge(&mut self, victim: usize, look: Look, experience: &Experience) -> Verdict {
        if self.watched.len() <= victim {
            self.watched.resize(victim + 1, None);
        }
        let anew = Watched { since: look.now, polled: look.now, first: look, last: look, is_slow: false };
        let begun = self.watched[victim].filter(|watched| watched.goes_on(look));
        let watched = self.watched[victim].insert(begun.unwrap_or(anew));
        let recent = Pace::between(watched.last, look);
        let steps = recent.polls + look.pushes.wrapping_sub(watched.last.pushes);
        if watched.is_slow && steps == 0 {
            // In the same poll as then.
            return Verdict::Take;
        }
        if recent.nanos < WINDOW {
            return Verdict::Leave;
        }
        watched.last = look;
        watched.is_slow = steps < FEW;
        if watched.is_slow {
            return Verdict::Take;
        }
        if recent.polls == 0 {
            // It does nothing but push, which says nothing about what it pushes.
            watched.first = look;
            let is_long = look.now.saturating_sub(watched.polled) >= SPAWNING;
            return if is_long { Verdict::Take } else { Verdict::Leave };
        }
        watched.polled = look.now;
        if experience.is_trying(look.now) {
            (watched.first, watched.since) = (look, look.now);
        }
        if recent.nanos >= GAP {
            watched.first = look;
        }
        let alone = Pace::between(watched.first, look);
        if alone.nanos < SHORTEST || look.now.saturating_sub(watched.since) < experience.reluctance(look.now) {
            return Verdict::Leave;
        }
        self.watched[victim] = None;
        Verdict::TakeForTrial(alone)
    }

    /// It has taken tasks from this one for trial. The look is at what both have counted.
    pub(super) fn has_taken(&mut self, victim: usize, alone: Pace, both: Look) {
        self.taken = Some(Taken { victim, alone, both });
    }

    /// From whom the tasks were that it has worked on for trial.
    pub(super) fn on_trial(&self) -> Option<usize> {
        self.taken.map(|taken| taken.victim)
    }

    /// It has nothing to do again: counts what was done by what it took, and says whether it was worth it if that is enough to
    /// tell.
    pub(super) fn settle(&mut self, both: Look) -> Option<Outcome> {
        let taken = self.taken.take()?;
        let together = Pace::between(taken.both, both);
        // Who has slept had nothing to do.
        if together.nanos >= MEMORY || taken.both.parks != both.parks {
            return None;
        }
        if self.nanos == 0 || both.now.saturating_sub(self.began) >= MEMORY {
            (self.began, self.nanos, self.polls, self.expected) = (taken.both.now, 0, 0, 0);
        }
        self.nanos += together.nanos;
        self.polls += together.polls;
        self.expected += 1000 * taken.alone.polls * together.nanos / taken.alone.nanos.max(1);
        if self.nanos < TRIAL {
            return None;
        }
        self.nanos = 0;
        let is_harm = 5 * 1000 * self.polls < 4 * self.expected;
        Some(if is_harm { Outcome::Harm } else { Outcome::Success })
    }
}

impl Watched {
    /// Whether its lane has not run dry since.
    fn goes_on(&self, look: Look) -> bool {
        (look.refilled, look.parks) == (self.first.refilled, self.first.parks)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A thief, and a worker that it watches, by a clock that the test sets.
    struct Scene {
        sharing: Sharing,
        experience: Experience,
        look: Look,
    }

    const WHOLE: u64 = TRIAL / WINDOW;

    impl Scene {
        fn new() -> Self {
            Self {
                sharing: Sharing::default(),
                experience: Experience::new(),
                look: Look { now: MEMORY, polls: 0, pushes: 0, refilled: 0, parks: 0 },
            }
        }

        /// So many windows pass, with so many polls in each.
        fn pass(&mut self, windows: u64, polls: u64) {
            self.look.now += windows * WINDOW;
            self.look.polls += windows * polls;
        }

        fn judge(&mut self) -> Verdict {
            self.sharing.judge(3, self.look, &self.experience)
        }

        fn judge_after(&mut self, windows: u64, polls: u64) -> Verdict {
            self.pass(windows, polls);
            self.judge()
        }

        /// How many windows it watches when so many polls are made in each, and its verdict then.
        fn watch(&mut self, polls: u64) -> (u64, Verdict) {
            (0..)
                .map(|windows| (windows, self.judge_after(u64::from(windows > 0), polls)))
                .find(|(_, verdict)| *verdict != Verdict::Leave)
                .unwrap()
        }

        /// The same for ten polls a window.
        fn watch_quick(&mut self) -> u64 {
            let (windows, verdict) = self.watch(10);
            assert_eq!(verdict, Verdict::TakeForTrial(Pace { polls: 10 * windows, nanos: windows * WINDOW }));
            windows
        }

        /// Works on what it took from one who made so many polls a window alone, with so many of both.
        fn work(&mut self, alone: u64, windows: u64, polls: u64) -> Option<Outcome> {
            self.sharing.has_taken(3, Pace { polls: alone, nanos: WINDOW }, self.look);
            assert_eq!(self.sharing.on_trial(), Some(3));
            self.pass(windows, polls);
            let outcome = self.sharing.settle(self.look);
            assert_eq!(self.sharing.on_trial(), None);
            if let Some(outcome) = outcome {
                self.experience.learn(outcome, self.look.now);
            }
            outcome
        }
    }

    #[test]
    fn who_gets_on_slowly_has_help_after_a_window() {
        let mut scene = Scene::new();
        (0..20).for_each(|_| scene.experience.learn(Outcome::Harm, scene.look.now));
        assert_eq!(scene.watch(FEW - 1), (1, Verdict::Take), "whatever there has been");
        assert_eq!(scene.judge(), Verdict::Take, "the same poll");
        scene.look.pushes += 1;
        assert_eq!(scene.judge(), Verdict::Leave, "it has moved");
        assert_eq!(scene.watch(0), (1, Verdict::Take));
    }

    #[test]
    fn a_long_poll_is_seen_however_seldom_one_looks() {
        let mut scene = Scene::new();
        assert_eq!(scene.judge(), Verdict::Leave);
        assert_eq!(scene.judge_after(2 * GAP / WINDOW, 0), Verdict::Take);
    }

    #[test]
    fn who_gets_on_well_has_help_if_its_lane_does_not_run_dry() {
        let mut scene = Scene::new();
        assert_eq!(scene.watch(FEW).0, SHORTEST / WINDOW);
        for times in 0..100 {
            assert_eq!(scene.judge_after(1, 10), Verdict::Leave);
            if times % 2 == 0 {
                scene.look.refilled += 1;
            } else {
                scene.look.parks += 1;
            }
        }
        assert_eq!(scene.watch_quick(), SHORTEST / WINDOW);
        assert_eq!(scene.sharing.judge(0, scene.look, &scene.experience), Verdict::Leave, "another");
    }

    #[test]
    fn a_gap_counts_for_how_long_but_not_for_the_pace() {
        let mut scene = Scene::new();
        (0..20).for_each(|_| scene.experience.learn(Outcome::Harm, scene.look.now));
        assert_eq!(scene.judge(), Verdict::Leave);
        for _ in 0..LONGEST / GAP {
            assert_eq!(scene.judge_after(GAP / WINDOW, 1), Verdict::Leave);
        }
        assert_eq!(scene.watch_quick(), SHORTEST / WINDOW);
    }

    #[test]
    fn during_anothers_trial_nothing_is_learnt_but_who_is_slow() {
        let mut scene = Scene::new();
        scene.experience.begin_trial(scene.look.now);
        (0..3).for_each(|_| assert_eq!(scene.judge_after(1, 10), Verdict::Leave));
        assert_eq!(scene.judge_after(1, 1), Verdict::Take);
        assert_eq!(scene.judge_after(1, 10), Verdict::Leave);
        scene.experience.end_trial();
        assert_eq!(scene.watch_quick(), SHORTEST / WINDOW);
        scene.experience.begin_trial(scene.look.now);
        scene.pass(4 * TRIAL / WINDOW, 10);
        assert_eq!(scene.watch_quick(), SHORTEST / WINDOW, "it takes too long");
    }

    #[test]
    fn pushes_are_no_pace() {
        let mut scene = Scene::new();
        let push = |scene: &mut Scene| {
            scene.look.pushes += 100;
            scene.judge_after(1, 0)
        };
        assert_eq!(scene.judge_after(1, 1), Verdict::Leave);
        assert_eq!(scene.judge_after(1, 10), Verdict::Leave);
        (0..4).for_each(|_| assert_eq!(push(&mut scene), Verdict::Leave));
        assert_eq!(scene.judge_after(1, 10), Verdict::Leave);
        let alone = Pace { polls: 20, nanos: 2 * WINDOW };
        assert_eq!(scene.judge_after(1, 10), Verdict::TakeForTrial(alone), "since it polls");
        let verdicts: Vec<_> = (0..=SPAWNING / WINDOW).map(|_| push(&mut scene)).collect();
        let (last, earlier) = verdicts.split_last().unwrap();
        assert!(earlier.iter().all(|verdict| *verdict == Verdict::Leave));
        assert_eq!(*last, Verdict::Take, "one poll, and a long one");
        assert_eq!(push(&mut scene), Verdict::Take);
    }

    #[test]
    fn harm_makes_reluctant_and_is_forgotten() {
        let mut scene = Scene::new();
        for times in 0..20 {
            assert_eq!(scene.watch_quick() * WINDOW, (SHORTEST << times).min(LONGEST));
            assert_eq!(scene.work(10, WHOLE, 7), Some(Outcome::Harm));
            assert!(scene.experience.is_reluctant(scene.look.now));
            assert!(!scene.experience.is_trusting(scene.look.now));
        }
        scene.look.now += MEMORY;
        assert!(!scene.experience.is_reluctant(scene.look.now));
        scene.look.refilled += 1;
        assert_eq!(scene.watch_quick() * WINDOW, SHORTEST);
    }

    #[test]
    fn success_makes_trusting_for_a_time() {
        let mut scene = Scene::new();
        (0..3).for_each(|_| _ = scene.work(10, WHOLE, 7));
        for times in 0..10 {
            assert_eq!(scene.work(10, WHOLE, 8), Some(Outcome::Success), "four fifths will do");
            let until = scene.look.now + (TRUST << times).min(LONGEST);
            assert!(scene.experience.is_trusting(until - 1));
            assert!(!scene.experience.is_trusting(until));
            assert_eq!(scene.experience.is_reluctant(scene.look.now), times < 2);
        }
        scene.work(10, WHOLE, 7);
        assert!(!scene.experience.is_trusting(scene.look.now));
    }

    #[test]
    fn short_trials_add_up_each_against_its_own_tasks() {
        let mut scene = Scene::new();
        (1..WHOLE).for_each(|_| assert_eq!(scene.work(10, 1, 7), None));
        // What happens between them does not count.
        scene.pass(1000, 1000);
        assert_eq!(scene.work(10, 1, 7), Some(Outcome::Harm));
        // Quick tasks first, and then slow ones: both are done sooner together.
        assert_eq!(scene.work(1000, 1, 1500), None);
        assert_eq!(scene.work(2, WHOLE - 1, 4), Some(Outcome::Success));
        // What was long ago is forgotten.
        assert_eq!(scene.work(1000, 1, 0), None);
        scene.look.now += MEMORY;
        assert_eq!(scene.work(10, WHOLE, 10), Some(Outcome::Success));
    }

    #[test]
    fn a_trial_tells_nothing_if_it_was_long_or_somebody_slept() {
        let mut scene = Scene::new();
        assert_eq!(scene.work(10, MEMORY / WINDOW, 0), None);
        scene.sharing.has_taken(3, Pace { polls: 10, nanos: WINDOW }, scene.look);
        scene.look.parks += 1;
        scene.pass(WHOLE, 0);
        assert_eq!(scene.sharing.settle(scene.look), None);
        assert_eq!(scene.work(10, WHOLE, 10), Some(Outcome::Success));
    }
}
