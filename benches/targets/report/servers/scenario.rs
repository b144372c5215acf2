//! Which servers are loaded, with how many connections, beside what.

use std::fmt;

use rt_benches::servers::Kind;

use super::place::Place;

/// How a server is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(super) kind: Kind,
    pub(super) connections: usize,
    /// Requests that a connection has under way at once. HTTP's clients wait for each answer.
    pub(super) pipelined: usize,
    pub(super) place: Place,
}

impl Scenario {
    /// All of them, in the order of the report.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (kind, pipelined) in
            [(Kind::Hello, 1), (Kind::Work, 1), (Kind::Lines, 1), (Kind::Lines, 16), (Kind::Bodies, 1)]
        {
            let with = |connections| Self { kind, connections, pipelined, place: Place::Machine };
            all.extend([1, 64, 512].map(with));
        }
        for place in [Place::Neighbour, Place::OneProcessor, Place::Quota, Place::ManyWorkers] {
            let beside = |kind| Self { kind, connections: 64, pipelined: 1, place };
            all.extend([Kind::Hello, Kind::Work].map(beside));
        }
        all
    }

    /// wrk with that many connections, and all of the machine.
    pub(crate) fn by_wrk(kind: Kind, connections: usize) -> Self {
        Self { kind, connections, pipelined: 1, place: Place::Machine }
    }

    /// What the ratio to Tokio's requests in a second is meant to be at least.
    pub(super) const REQUESTS: f64 = 1.0;

    /// What the 99th percentile's ratio is meant to be.
    pub(super) const P99: f64 = 1.0;

    /// What the ratio of the server's processor time is meant to be. Of a fixed answer's nearly all is the kernel's.
    pub(super) fn cpu(self) -> Option<f64> {
        match self.kind {
            Kind::Hello => Some(1.0),
            Kind::Work => Some(0.9),
            Kind::Lines | Kind::Bodies => None,
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, connections, pipelined, place } = self;
        let plural = if *connections == 1 { "" } else { "s" };
        write!(f, "{}, {connections} connection{plural}", kind.name())?;
        if *pipelined > 1 {
            write!(f, ", {pipelined} requests at once")?;
        }
        write!(f, "{place}")
    }
}
