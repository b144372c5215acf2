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
//! What it takes for trial it counts by: the polls of the two of them, from then until the thief has nothing to do again, against those of
//! the owner while that was watched, summed up until there is enough to compare. If the two did less than four fifths
//! of what one did alone, sharing does harm, and the while becomes twice as long, up to [`LONGEST`]. If not, it becomes as short as
//! at first soon, and for some time the thief takes what it finds without having watched. Then it watches again.
//!
//! Polls are a poor measure of progress, but the same tasks are compared with themselves, and the difference between
//! both cases is large. Pushes are none at all: a task that spawns a hundred others is not quicker than these. What a wrong verdict
//! costs is bounded: who takes two [`WINDOW`]s, or more, for a few polls and pushes has help at once; who fills its lane in one long
//! poll, after [`SPAWNING`]; and everybody else after [`LONGEST`] if the lane does not run dry. The worst is forgotten after [`MEMORY`].
//!
//! A worker that watches counts as searching, and does not sleep as long as there is anything to take. Pushers rely on it, whoever they
//! are, so it looks at all the others, and the verdict is for all who sleep meanwhile. One that is not the only searcher does not watch, but takes. So at most
//! one processor (or two, by chance) is spent on watching.

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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    polls: u64,
    nanos: u64,
}

impl Pace {
    fn between(before: Look, after: Look) -> Self {
        Self { polls: after.polls.wrapping_sub(before.polls), nanos: after.now.saturating_sub(before.now) }
    }

    fn add(&mut self, other: Self) {
        self.polls += other.polls;
        self.nanos += other.nanos;
    }

    /// Whether this is less than four fifths of the other.
    fn is_worse_than(self, other: Self) -> bool {
        let cross = |a: Self, b: Self| u128::from(a.polls) * u128::from(b.nanos);
        cross(self, other) * 5 < cross(other, self) * 4
    }
}

/// A worker that is being watched.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Since when its lane has not run dry.
    since: u64,
    /// The last look before it made progress.
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

/// A thief's experience. See the module.
#[derive(Debug)]
pub(super) struct Sharing {
    /// By victims' numbers.
    watched: Vec<Option<Watched>>,
    /// For how long a lane must not have run dry.
    reluctance: u64,
    /// When a trial last did harm.
    harmed: u64,
    /// Until when it takes without having watched, and for how long it was granted that last.
    trusts_until: u64,
    granted: u64,
    taken: Option<Taken>,
    /// The trial so far.
    alone: Pace,
    together: Pace,
}

impl Sharing {
    pub(super) fn new() -> Self {
        Self {
            watched: Vec::new(),
            reluctance: SHORTEST,
            harmed: 0,
            trusts_until: 0,
            granted: 0,
            taken: None,
            alone: Pace::default(),
            together: Pace::default(),
        }
    }

    /// Whether to take without having watched.
    pub(super) fn is_trusting(&self, now: u64) -> bool {
        now < self.trusts_until
    }

    /// Whether to take from this one, which has something on its LIFO lane.
    pub(super) fn judge(&mut self, victim: usize, look: Look) -> Verdict {
        if self.watched.len() <= victim {
            self.watched.resize(victim + 1, None);
        }
        let reluctance = self.reluctance(look.now);
        let anew = Watched { since: look.now, first: look, last: look, is_slow: false };
        let begun = self.watched[victim].filter(|watched| watched.first.refilled == look.refilled);
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
        if steps < FEW {
            watched.last = look;
            watched.is_slow = true;
            return Verdict::Take;
        }
        if recent.nanos >= GAP {
            *watched = anew;
            return Verdict::Leave;
        }
        watched.is_slow = false;
        watched.last = look;
        let alone = Pace::between(watched.first, look);
        if alone.polls == 0 {
            // It does nothing but push, which says nothing about what it pushes.
            watched.first = look;
            let is_long = look.now.saturating_sub(watched.since) >= SPAWNING;
            return if is_long { Verdict::Take } else { Verdict::Leave };
        }
        if alone.nanos < reluctance {
            return Verdict::Leave;
        }
        self.watched[victim] = None;
        Verdict::TakeForTrial(alone)
    }

    fn reluctance(&mut self, now: u64) -> u64 {
        if now.saturating_sub(self.harmed) >= MEMORY {
            self.reluctance = SHORTEST;
        }
        self.reluctance
    }

    /// It has taken tasks from this one for trial. The look is at what both have counted.
    pub(super) fn has_taken(&mut self, victim: usize, alone: Pace, both: Look) {
        self.taken = Some(Taken { victim, alone, both });
    }

    /// From whom the tasks were that it has worked on for trial.
    pub(super) fn on_trial(&self) -> Option<usize> {
        self.taken.map(|taken| taken.victim)
    }

    /// It has nothing to do again: counts what it has done by what it took, and says whether it was worth it if that is enough to
    /// tell.
    pub(super) fn settle(&mut self, both: Look) {
        let Some(taken) = self.taken.take() else { return };
        let together = Pace::between(taken.both, both);
        // Who has slept had nothing to do.
        if together.nanos >= MEMORY || taken.both.parks != both.parks {
            return;
        }
        self.alone.add(taken.alone);
        self.together.add(together);
        if self.together.nanos < TRIAL {
            return;
        }
        let (alone, together) = (std::mem::take(&mut self.alone), std::mem::take(&mut self.together));
        if together.is_worse_than(alone) {
            (self.trusts_until, self.granted) = (0, 0);
            self.reluctance = (2 * self.reluctance(both.now)).min(LONGEST);
            self.harmed = both.now;
        } else {
            self.granted = (2 * self.granted).clamp(TRUST, LONGEST);
            self.trusts_until = both.now + self.granted;
            self.reluctance = (self.reluctance / 2).max(SHORTEST);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Looks, by a clock that a test sets.
    #[derive(Clone, Copy)]
    struct Scene {
        look: Look,
    }

    impl Scene {
        fn new() -> Self {
            Self { look: Look { now: MEMORY, polls: 0, pushes: 0, refilled: 0, parks: 0 } }
        }

        /// So many windows pass, with so many polls in each.
        fn pass(&mut self, windows: u64, polls: u64) -> Look {
            self.look.now += windows * WINDOW;
            self.look.polls += windows * polls;
            self.look
        }

        /// How many windows it watches a worker that makes so many polls in each, and its verdict then.
        fn watch(&mut self, sharing: &mut Sharing, polls: u64) -> (u64, Verdict) {
            (0..)
                .map(|windows| (windows, sharing.judge(3, self.pass(u64::from(windows > 0), polls))))
                .find(|(_, verdict)| *verdict != Verdict::Leave)
                .unwrap()
        }

        /// Watches one that makes ten polls a window. How many windows that takes.
        fn watch_quick(&mut self, sharing: &mut Sharing) -> u64 {
            let (windows, verdict) = self.watch(sharing, 10);
            assert_eq!(verdict, Verdict::TakeForTrial(Pace { polls: 10 * windows, nanos: windows * WINDOW }));
            windows
        }

        /// Does what it took from such a one, with so many polls a window of both.
        fn trial(&mut self, sharing: &mut Sharing, windows: u64, polls: u64) {
            sharing.has_taken(3, Pace { polls: 10, nanos: WINDOW }, self.look);
            assert_eq!(sharing.on_trial(), Some(3));
            let both = self.pass(windows, polls);
            sharing.settle(both);
            assert_eq!(sharing.on_trial(), None);
        }
    }

    const WHOLE: u64 = TRIAL / WINDOW;

    #[test]
    fn who_gets_on_slowly_has_help_after_a_window() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        (sharing.reluctance, sharing.harmed) = (LONGEST, scene.look.now);
        assert_eq!(scene.watch(&mut sharing, FEW - 1), (1, Verdict::Take), "whatever there has been");
        assert_eq!(sharing.judge(3, scene.look), Verdict::Take, "the same poll");
        assert_eq!(sharing.judge(3, scene.pass(0, 0)), Verdict::Take);
        scene.look.pushes += 1;
        assert_eq!(sharing.judge(3, scene.look), Verdict::Leave, "it has moved");
        assert_eq!(scene.watch(&mut sharing, 0), (1, Verdict::Take));
    }

    #[test]
    fn a_long_poll_is_seen_however_seldom_one_looks() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        assert_eq!(sharing.judge(3, scene.look), Verdict::Leave);
        assert_eq!(sharing.judge(3, scene.pass(2 * GAP / WINDOW, 0)), Verdict::Take);
    }

    #[test]
    fn who_gets_on_well_has_help_if_its_lane_does_not_run_dry() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        assert_eq!(scene.watch(&mut sharing, FEW).0, SHORTEST / WINDOW);
        for _ in 0..100 {
            assert_eq!(sharing.judge(3, scene.pass(1, 10)), Verdict::Leave);
            scene.look.refilled += 1;
        }
        assert_eq!(scene.watch_quick(&mut sharing), SHORTEST / WINDOW);
    }

    #[test]
    fn who_was_not_watched_all_the_time_is_watched_anew() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        for _ in 0..10 {
            assert_eq!(sharing.judge(3, scene.pass(GAP / WINDOW, 10)), Verdict::Leave);
        }
        assert_eq!(sharing.judge(3, scene.pass(1, 10)), Verdict::Leave);
        assert_eq!(sharing.judge(0, scene.pass(0, 10)), Verdict::Leave, "another");
        assert_ne!(sharing.judge(3, scene.pass(1, 10)), Verdict::Leave);
    }

    #[test]
    fn pushes_are_no_pace() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        let push = |scene: &mut Scene| {
            scene.look.pushes += 100;
            scene.pass(1, 0)
        };
        assert_eq!(sharing.judge(3, scene.look), Verdict::Leave);
        (0..4).for_each(|_| assert_eq!(sharing.judge(3, push(&mut scene)), Verdict::Leave));
        assert_eq!(sharing.judge(3, scene.pass(1, 10)), Verdict::Leave);
        let alone = Pace { polls: 20, nanos: 2 * WINDOW };
        assert_eq!(sharing.judge(3, scene.pass(1, 10)), Verdict::TakeForTrial(alone), "since it polls");
        let verdicts = (0..=SPAWNING / WINDOW).map(|_| sharing.judge(3, push(&mut scene)));
        let verdicts: Vec<_> = verdicts.collect();
        let (last, earlier) = verdicts.split_last().unwrap();
        assert!(earlier.iter().all(|verdict| *verdict == Verdict::Leave));
        assert_eq!(*last, Verdict::Take, "one poll, and a long one");
        assert_eq!(sharing.judge(3, push(&mut scene)), Verdict::Take);
    }

    #[test]
    fn harm_makes_reluctant_and_is_forgotten() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        for times in 0..20 {
            assert_eq!(scene.watch_quick(&mut sharing) * WINDOW, (SHORTEST << times).min(LONGEST));
            scene.trial(&mut sharing, WHOLE, 7);
            assert!(!sharing.is_trusting(scene.look.now));
        }
        scene.look.now += MEMORY;
        assert_eq!(scene.watch_quick(&mut sharing) * WINDOW, SHORTEST);
    }

    #[test]
    fn success_makes_trusting_for_a_time() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        (0..3).for_each(|_| scene.trial(&mut sharing, WHOLE, 7));
        assert_eq!(sharing.reluctance, 8 * SHORTEST);
        for times in 0..10 {
            scene.trial(&mut sharing, WHOLE, 8);
            let until = scene.look.now + (TRUST << times).min(LONGEST);
            assert!(sharing.is_trusting(until - 1), "four fifths will do");
            assert!(!sharing.is_trusting(until), "then it watches again");
        }
        assert_eq!(sharing.reluctance, SHORTEST);
        scene.trial(&mut sharing, WHOLE, 7);
        assert!(!sharing.is_trusting(scene.look.now));
    }

    #[test]
    fn short_trials_add_up() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        (1..WHOLE).for_each(|_| scene.trial(&mut sharing, 1, 7));
        assert_eq!(sharing.reluctance, SHORTEST);
        // What happens between them does not count.
        scene.pass(1000, 1000);
        scene.trial(&mut sharing, 1, 7);
        assert_eq!(sharing.reluctance, 2 * SHORTEST);
    }

    #[test]
    fn a_trial_tells_nothing_if_it_was_long_or_somebody_slept() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        scene.trial(&mut sharing, MEMORY / WINDOW, 0);
        sharing.has_taken(3, Pace { polls: 10, nanos: WINDOW }, scene.look);
        scene.look.parks += 1;
        sharing.settle(scene.pass(WHOLE, 0));
        assert_eq!((sharing.reluctance, sharing.granted), (SHORTEST, 0));
        assert_eq!((sharing.alone, sharing.together), (Pace::default(), Pace::default()));
    }
}
