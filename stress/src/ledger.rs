//! What is counted, and what does not add up.
//!
//! A round has one [`Ledger`]. Counting is relaxed: see `main.rs`. The audit waits first until nothing is alive.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($variant:ident: $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant,)* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            pub(crate) fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

named! {
    /// What is counted.
    Count {
        Spawned: "spawned",
        Completed: "completed",
        Panicked: "panicked",
        Aborted: "aborted",
        Dropped: "dropped at shutdown",
        DroppedWithSet: "dropped with a local set",
        Sent: "sent",
        Received: "received",
        Lost: "lost with their channel",
        Permits: "permits acquired",
        Locks: "locks taken",
        Notified: "notified",
        Versions: "versions seen",
        Made: "made once",
        Rounds: "rounds at barriers",
        GivenUp: "waits given up",
        Joined: "joined through a set",
        Local: "local tasks of sets",
        Scopes: "scopes with a value",
        Connections: "connections",
        Bytes: "bytes echoed",
        Timers: "fired",
        Cancelled: "cancelled or reset",
        Jobs: "jobs run",
        Hogs: "times a worker was blocked",
        Asides: "times with a word",
        ForeignWakes: "wakes",
        ForeignSpawns: "spawns",
        ForeignWaits: "times in block_on",
        Runtimes: "runtimes",
        Nested: "of them inside of others",
        Polls: "polls told to hooks",
    }
}

named! {
    /// What a task is, for the list of those that are outstanding.
    Kind {
        Actor: "actor",
        Node: "node of a tree",
        Sender: "sender",
        Receiver: "receiver",
        User: "user of a lock, or of what is like one",
        Member: "member of a join set",
        Scoped: "task with a value of its own",
        Player: "ping-pong player",
        Timer: "timer",
        Listener: "listener",
        Connection: "connection at the server",
        Client: "client",
        Victim: "victim of aborts",
        Panicker: "panicker",
        Job: "blocking job",
        Hog: "hog",
        Yielder: "yielder",
        Waiter: "waiter for a foreign wake",
        Outsider: "spawned from a foreign thread",
        Local: "local task",
        Ender: "task that ends its runtime",
        Hooked: "task of whose end a hook was not told",
        Poll: "poll of whose end a hook was not told",
    }
}

/// After this number of problems the others are of no interest.
const ENOUGH: usize = 20;

/// See the module.
pub(crate) struct Ledger {
    counts: [AtomicU64; Count::ALL.len()],
    alive: [AtomicI64; Kind::ALL.len()],
    next_task: AtomicU64,
    problems: Mutex<Vec<String>>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            alive: std::array::from_fn(|_| AtomicI64::new(0)),
            next_task: AtomicU64::new(1),
            problems: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn count(&self, what: Count) {
        self.add(what, 1);
    }

    pub(crate) fn add(&self, what: Count, n: u64) {
        self.counts[what as usize].fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, what: Count) -> u64 {
        self.counts[what as usize].load(Ordering::Relaxed)
    }

    /// A number for a new task.
    pub(crate) fn born(&self, kind: Kind) -> u64 {
        self.count(Count::Spawned);
        self.alive[kind as usize].fetch_add(1, Ordering::Relaxed);
        self.next_task.fetch_add(1, Ordering::Relaxed)
    }

    /// Something has begun that is to be over before the audit.
    pub(crate) fn begun(&self, kind: Kind) {
        self.alive[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// A task's future is gone, or what has begun is over. Everything that was counted for it was counted before.
    pub(crate) fn gone(&self, kind: Kind) {
        self.alive[kind as usize].fetch_sub(1, Ordering::Release);
    }

    /// How many futures are alive.
    pub(crate) fn alive(&self) -> i64 {
        // Acquire: who sees the last one gone sees all that they counted.
        self.alive.iter().map(|alive| alive.load(Ordering::Acquire)).sum()
    }

    /// Something does not add up.
    #[cold]
    pub(crate) fn problem(&self, problem: String) {
        let mut problems = self.problems.lock();
        if problems.len() < ENOUGH {
            problems.push(problem);
        }
    }

    /// What must hold when nothing is alive any more, and what did not.
    pub(crate) fn audit(&self, is_quiet: bool) -> Vec<String> {
        let mut problems = self.problems.lock().clone();
        let mut must_equal = |what: &str, left: u64, right: u64| {
            if left != right {
                problems.push(format!("{what}: {left} and {right}"));
            }
        };
        let get = |count| self.get(count);
        let dropped = get(Count::Dropped) + get(Count::DroppedWithSet);
        let ended = get(Count::Completed) + get(Count::Panicked) + get(Count::Aborted) + dropped;
        must_equal("tasks spawned, and tasks ended", get(Count::Spawned), ended);
        must_equal("messages sent, and received or lost", get(Count::Sent), get(Count::Received) + get(Count::Lost));
        if is_quiet && get(Count::Nested) == 0 {
            must_equal("tasks dropped at the shutdown of a runtime that had nothing to do", get(Count::Dropped), 0);
        }
        for kind in Kind::ALL {
            let alive = self.alive[*kind as usize].load(Ordering::Acquire);
            if alive != 0 {
                problems.push(format!("futures alive after the end, of kind '{}': {alive}", kind.text()));
            }
        }
        problems
    }
}

/// What is outstanding.
impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in Kind::ALL {
            let alive = self.alive[*kind as usize].load(Ordering::Acquire);
            if alive != 0 {
                writeln!(f, "  alive: {alive:6} of kind '{}'", kind.text())?;
            }
        }
        for count in Count::ALL {
            writeln!(f, "  {:>12} {}", self.get(*count), count.text())?;
        }
        self.problems.lock().iter().try_for_each(|problem| writeln!(f, "  problem: {problem}"))
    }
}

/// The sums over all rounds.
pub(crate) struct Totals {
    counts: [u64; Count::ALL.len()],
    rounds: u64,
    quiet: u64,
}

impl Totals {
    pub(crate) fn new() -> Self {
        Self { counts: [0; Count::ALL.len()], rounds: 0, quiet: 0 }
    }

    pub(crate) fn add(&mut self, ledger: &Ledger, is_quiet: bool) {
        self.rounds += 1;
        self.quiet += u64::from(is_quiet);
        for (total, count) in self.counts.iter_mut().zip(Count::ALL) {
            *total += ledger.get(*count);
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Count::*;
        let lines: [(&str, &[Count]); 10] = [
            ("", &[Runtimes, Nested]),
            ("tasks", &[Spawned, Completed, Panicked, Aborted, Dropped, DroppedWithSet]),
            ("messages", &[Sent, Received, Lost]),
            ("sync", &[Permits, Locks, Notified, Versions, Made, Rounds, GivenUp]),
            ("groups", &[Joined, Local, Scopes]),
            ("sockets", &[Connections, Bytes]),
            ("timers", &[Timers, Cancelled]),
            ("blocking", &[Jobs, Hogs, Asides]),
            ("from outside", &[ForeignWakes, ForeignSpawns, ForeignWaits]),
            ("hooks", &[Polls]),
        ];
        writeln!(f, "  {:<13} {}, {} of them to a quiet end", "rounds", self.rounds, self.quiet)?;
        for (n, (name, counts)) in lines.iter().enumerate() {
            let counts: Vec<_> =
                counts.iter().map(|count| format!("{} {}", self.counts[*count as usize], count.text())).collect();
            let end = if n + 1 < lines.len() { "\n" } else { "" };
            write!(f, "  {name:<13} {}{end}", counts.join(", "))?;
        }
        Ok(())
    }
}
