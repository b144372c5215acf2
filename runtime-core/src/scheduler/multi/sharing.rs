//! Whether to share a worker's work: what an idle worker makes of others that have some on their LIFO lanes.
//!
//! To take a task to another processor is not free. Its lines have to follow, and those of whatever it has in common with the
//! tasks that stayed: a channel whose ends are on two processors takes several times as long for each message as one that is
//! used on one (71 ns and 270, sixteen senders, one receiver). A burst of short tasks is done by its worker
//! before a thief has come to anything. So an idle worker, if there is only one, does not take from such a lane what it finds there, but
//! *watches*: it looks once in a [`WINDOW`] at how many polls and pushes the owner has counted, and whether its lane has run dry since.
//!
//! - If the lane has run dry, its owner can do without help.
//! - If the owner gets on slowly, its tasks wait for long polls: the thief takes half of them, as ever. (So it does with
//!   tasks on other lanes, which drivers woke or which yielded.)
//! - If the lane has not run dry for a while, the thief takes half of them, *for trial*.
//!
//! In a trial the thief compares how many polls and pushes the two of them have counted in a time with how many the owner
//! had while it was watched. If they were fewer, by a fifth at least, sharing does harm: the while becomes twice as long,
//! up to [`LONGEST`]. If not, it is as short as at first soon, and the next few times the thief takes what it finds without having
//! watched.
//!
//! Polls are a poor measure of progress, but the same tasks are compared with themselves, and the difference between
//! both cases is large. What a wrong verdict costs is bounded: a lane whose tasks need two [`WINDOW`]s, or more, for a few
//! polls has help at once, and another after [`LONGEST`]; a verdict is forgotten after [`MEMORY`].
//!
//! Nobody sleeps because of this. A worker that watches counts as searching, as long as there is anything to take; and it looks at
//! all the others, for whom pushers may rely on it. One that is not the only searcher does not watch, but takes. So at most
//! one processor (or two, by chance) is spent on watching.

/// How often a worker that watches looks; for so many nanoseconds it must be possible to judge by the polls. (Longer than a poll that
/// empties a channel of a hundred messages.)
pub(super) const WINDOW: u64 = 10_000;
/// Who has counted fewer polls and pushes in a window gets on slowly.
const FEW: u64 = 2;
/// For how long a lane must not have run dry, in nanoseconds: at first, and at most.
const SHORTEST: u64 = 2 * WINDOW;
const LONGEST: u64 = 10_000_000;
/// After so many nanoseconds the worst is forgotten.
const MEMORY: u64 = 100_000_000;
/// A trial takes so many nanoseconds. (One that took as long as [`MEMORY`] tells about other things.)
const TRIAL: u64 = 50_000;
/// So many times at most does a thief take without having watched.
const TRUST: u32 = 31;

/// What is seen of a worker at a look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// When, in nanoseconds.
    pub(super) now: u64,
    /// How many polls and pushes it has counted.
    pub(super) steps: u64,
    /// Changes when its LIFO lane has run dry and is filled again.
    pub(super) refilled: u64,
    /// How often it has gone to sleep.
    pub(super) parks: u64,
}

/// A worker that is being watched.
#[derive(Clone, Copy, Debug)]
struct Watched {
    first: Look,
    last: Look,
}

/// So many steps in so many nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Pace {
    steps: u64,
    nanos: u64,
}

impl Pace {
    fn between(before: Look, after: Look) -> Self {
        Self { steps: after.steps.wrapping_sub(before.steps), nanos: after.now.saturating_sub(before.now) }
    }

    /// Whether this is less than four fifths of the other.
    fn is_worse_than(self, other: Self) -> bool {
        let cross = |a: Self, b: Self| u128::from(a.steps) * u128::from(b.nanos);
        cross(self, other) * 5 < cross(other, self) * 4
    }
}

/// Tasks were taken from a worker. What that and the thief had counted then, together.
#[derive(Clone, Copy, Debug)]
struct Trial {
    victim: usize,
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
    /// So many times more it takes without having watched, and so many it was granted last.
    trust: u32,
    granted: u32,
    /// The pace of the last worker from which something was taken for trial, before that.
    alone: Option<Pace>,
    trial: Option<Trial>,
}

impl Sharing {
    pub(super) fn new() -> Self {
        Self { watched: Vec::new(), reluctance: SHORTEST, harmed: 0, trust: 0, granted: 0, alone: None, trial: None }
    }

    /// Whether to take from whoever has something this time, without having watched.
    pub(super) fn is_trusting(&self) -> bool {
        self.trust > 0
    }

    /// Whether to take from this one, which has something on its LIFO lane.
    pub(super) fn judge(&mut self, victim: usize, look: Look) -> bool {
        if self.watched.len() <= victim {
            self.watched.resize(victim + 1, None);
        }
        let begun = self.watched[victim].filter(|watched| watched.goes_on(look));
        let watched = self.watched[victim].insert(begun.unwrap_or(Watched { first: look, last: look }));
        let recent = Pace::between(watched.last, look);
        if recent.nanos < WINDOW {
            return false;
        }
        watched.last = look;
        let alone = Pace::between(watched.first, look);
        if recent.steps < FEW {
            // It may be one long poll: no measure of anything.
            self.alone = None;
        } else if alone.nanos >= self.reluctance(look.now) {
            self.alone = Some(alone);
        } else {
            return false;
        }
        self.watched[victim] = None;
        true
    }

    fn reluctance(&mut self, now: u64) -> u64 {
        if now.saturating_sub(self.harmed) >= MEMORY {
            self.reluctance = SHORTEST;
        }
        self.reluctance
    }

    /// It has taken tasks from this one. The look is at what both have counted.
    pub(super) fn has_taken(&mut self, victim: usize, both: impl FnOnce() -> Look) {
        self.trust = self.trust.saturating_sub(1);
        if self.trial.is_none() && self.alone.is_some() {
            self.trial = Some(Trial { victim, both: both() });
        }
    }

    /// From whom something was taken for trial.
    pub(super) fn on_trial(&self) -> Option<usize> {
        self.trial.map(|trial| trial.victim)
    }

    /// It has nothing to do again: says whether it was worth it, if it was long enough to tell.
    pub(super) fn settle(&mut self, both: Look) {
        let (Some(trial), Some(alone)) = (self.trial, self.alone) else { return };
        let together = Pace::between(trial.both, both);
        if together.nanos < TRIAL {
            return;
        }
        self.trial = None;
        // One that has slept had nothing to do.
        if together.nanos >= MEMORY || trial.both.parks != both.parks {
            return;
        }
        if together.is_worse_than(alone) {
            (self.trust, self.granted) = (0, 0);
            self.reluctance = (2 * self.reluctance(both.now)).min(LONGEST);
            self.harmed = both.now;
        } else {
            self.granted = (2 * self.granted + 1).min(TRUST);
            self.trust = self.granted;
            self.reluctance = (self.reluctance / 2).max(SHORTEST);
        }
    }

    /// It goes to sleep: what comes later has nothing to do with a trial that has not been settled.
    pub(super) fn rests(&mut self) {
        self.trial = None;
    }
}

impl Watched {
    /// Whether a look continues this.
    fn goes_on(&self, look: Look) -> bool {
        look.refilled == self.first.refilled && look.now.saturating_sub(self.last.now) < 3 * WINDOW
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
            Self { look: Look { now: MEMORY, steps: 0, refilled: 0, parks: 0 } }
        }

        /// So many windows pass, with so many steps in each.
        fn pass(&mut self, windows: u64, steps: u64) -> Look {
            self.look.now += windows * WINDOW;
            self.look.steps += windows * steps;
            self.look
        }

        /// How many windows it watches a worker that makes so many steps in each before it takes.
        fn windows(&mut self, sharing: &mut Sharing, steps: u64) -> u64 {
            (0..).find(|&windows| sharing.judge(3, self.pass(u64::from(windows > 0), steps))).unwrap()
        }

        /// Takes, and does what it took, with so many steps a window of both.
        fn trial(&mut self, sharing: &mut Sharing, steps: u64) {
            sharing.has_taken(3, || self.look);
            let both = self.pass(TRIAL / WINDOW, steps);
            sharing.settle(both);
        }
    }

    #[test]
    fn who_gets_on_slowly_has_help_after_a_window() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        assert_eq!(scene.windows(&mut sharing, FEW - 1), 1);
        sharing.reluctance = LONGEST;
        sharing.harmed = scene.look.now;
        assert_eq!(scene.windows(&mut sharing, FEW - 1), 1, "whatever it has been through");
        scene.trial(&mut sharing, 0);
        assert_eq!(sharing.on_trial(), None, "one poll is no measure");
        assert_eq!(sharing.reluctance, LONGEST);
    }

    #[test]
    fn who_gets_on_well_has_help_if_its_lane_does_not_run_dry() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        assert_eq!(scene.windows(&mut sharing, FEW), SHORTEST / WINDOW);
        for _ in 0..100 {
            assert!(!sharing.judge(3, scene.pass(1, 10)));
            scene.look.refilled += 1;
        }
        assert_eq!(scene.windows(&mut sharing, 10), SHORTEST / WINDOW);
    }

    #[test]
    fn who_was_not_watched_all_the_time_is_watched_anew() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        for _ in 0..10 {
            assert!(!sharing.judge(3, scene.pass(3, 10)));
        }
        assert!(!sharing.judge(3, scene.pass(1, 10)));
        assert!(!sharing.judge(0, scene.pass(0, 10)), "another");
        assert!(sharing.judge(3, scene.pass(1, 10)));
    }

    #[test]
    fn harm_makes_reluctant_and_is_forgotten() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        let mut longest = 0;
        for times in 0..20 {
            let windows = scene.windows(&mut sharing, 10);
            assert_eq!(windows * WINDOW, (SHORTEST << times).min(LONGEST));
            longest = longest.max(windows);
            scene.trial(&mut sharing, 7);
            assert!(!sharing.is_trusting());
        }
        assert_eq!(longest * WINDOW, LONGEST);
        scene.look.now += MEMORY;
        assert_eq!(scene.windows(&mut sharing, 10) * WINDOW, SHORTEST);
    }

    #[test]
    fn success_makes_trusting_until_it_does_harm() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        (0..3).for_each(|_| {
            scene.windows(&mut sharing, 10);
            scene.trial(&mut sharing, 7);
        });
        assert_eq!(sharing.reluctance, 8 * SHORTEST);
        scene.windows(&mut sharing, 10);
        for granted in [1, 3, 7, 15, TRUST, TRUST] {
            scene.trial(&mut sharing, 8);
            assert_eq!(sharing.trust, granted, "four fifths will do");
        }
        assert_eq!(sharing.reluctance, SHORTEST);
        for left in (0..TRUST).rev() {
            assert!(sharing.is_trusting());
            sharing.trial = None;
            sharing.has_taken(3, || scene.look);
            assert_eq!(sharing.trust, left);
        }
        assert!(!sharing.is_trusting(), "it watches again");
        scene.windows(&mut sharing, 10);
        scene.trial(&mut sharing, 10);
        scene.trial(&mut sharing, 1);
        assert!(!sharing.is_trusting());
    }

    #[test]
    fn a_trial_tells_nothing_if_it_was_short_or_long_or_somebody_slept() {
        let (mut sharing, mut scene) = (Sharing::new(), Scene::new());
        scene.windows(&mut sharing, 10);
        sharing.has_taken(3, || scene.look);
        sharing.settle(scene.pass(TRIAL / WINDOW - 1, 0));
        assert_eq!(sharing.on_trial(), Some(3), "it goes on");
        sharing.settle(scene.pass(MEMORY / WINDOW, 0));
        assert_eq!((sharing.on_trial(), sharing.reluctance), (None, SHORTEST));
        sharing.has_taken(3, || scene.look);
        scene.look.parks += 1;
        sharing.settle(scene.pass(TRIAL / WINDOW, 0));
        assert_eq!((sharing.on_trial(), sharing.reluctance), (None, SHORTEST), "it had nothing left to do");
        sharing.has_taken(3, || scene.look);
        sharing.rests();
        sharing.settle(scene.pass(TRIAL / WINDOW, 0));
        assert_eq!((sharing.on_trial(), sharing.reluctance), (None, SHORTEST));
    }
}
