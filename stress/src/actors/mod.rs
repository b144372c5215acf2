//! The actors: small programs that use the runtime in one way each, check what they can themselves, and leave the rest
//! to the ledger.
//!
//! Any task of an actor may be dropped at any time, because it was aborted or the runtime ends. What an actor asserts
//! holds all the same, or only when all of its tasks came to their own end; and it leaves nothing behind that would
//! wait for ever.

mod aborts;
mod blocking;
mod channels;
pub(crate) mod foreign;
mod join_sets;
mod local;
mod local_sets;
mod nested;
mod panics;
mod ping_pong;
mod sockets;
mod sync;
mod task_locals;
mod timers;
mod trees;
mod yields;

use std::time::Duration;

use crate::ledger::Kind as TaskKind;
use crate::plan::{Kind, Part, Rng, one_in, pick};
use crate::stage::Stage;
use crate::tracked::Joined;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Aborts,
    Barriers,
    Blocking,
    Broadcasts,
    Channels,
    Foreign,
    Hogs,
    JoinSets,
    Local,
    LocalSets,
    Locks,
    Mpsc,
    Nested,
    Notifies,
    Once,
    Oneshots,
    Panics,
    PingPong,
    Semaphores,
    Sockets,
    TaskLocals,
    Timers,
    Trees,
    Watches,
    Yields,
}

impl Role {
    pub(crate) fn random(kind: Kind, rng: &mut Rng) -> Self {
        use Role::*;
        if kind == Kind::Local && one_in(rng, 3) {
            return Local;
        }
        let groups: [&[Self]; 3] = [
            &[Aborts, Blocking, Channels, Foreign, Hogs, Nested, Panics, PingPong, Sockets, Timers, Trees, Yields],
            &[Barriers, Broadcasts, Locks, Mpsc, Notifies, Once, Oneshots, Semaphores, Watches],
            &[JoinSets, LocalSets, TaskLocals],
        ];
        let group = pick(rng, &[0, 0, 0, 1, 1, 1, 2]);
        pick(rng, groups[group])
    }
}

/// Starts all parts, and waits for them. For the main future of the runtime, which has room for those that are not
/// `Send`.
pub(crate) async fn perform(stage: &Stage, parts: Vec<Part>) {
    let tasks: Vec<_> = parts.into_iter().map(|part| start(stage, part)).collect();
    for task in tasks {
        // One that was aborted was aborted.
        let _ = task.join().await;
    }
}

fn start(stage: &Stage, Part { role, size, mut rng }: Part) -> Joined<()> {
    let own = rng.fork();
    macro_rules! spawn {
        ($actor:path) => {
            stage.spawn(TaskKind::Actor, $actor(stage.clone(), size, own))
        };
    }
    let task = match role {
        Role::Aborts => spawn!(aborts::run),
        Role::Barriers => spawn!(sync::barriers::run),
        Role::Blocking => spawn!(blocking::run),
        Role::Broadcasts => spawn!(sync::broadcasts::run),
        Role::Channels => spawn!(channels::run),
        Role::Foreign => spawn!(foreign::run),
        Role::Hogs => spawn!(blocking::hogs),
        Role::JoinSets => spawn!(join_sets::run),
        Role::Local => stage.spawn_local(local::run(stage.clone(), size, own)),
        Role::LocalSets => spawn!(local_sets::run),
        Role::Locks => spawn!(sync::locks::run),
        Role::Mpsc => spawn!(sync::mpsc::run),
        Role::Nested => spawn!(nested::run),
        Role::Notifies => spawn!(sync::notifies::run),
        Role::Once => spawn!(sync::once::run),
        Role::Oneshots => spawn!(sync::oneshots::run),
        Role::Panics => spawn!(panics::run),
        Role::PingPong => spawn!(ping_pong::run),
        Role::Semaphores => spawn!(sync::semaphores::run),
        Role::Sockets => spawn!(sockets::run),
        Role::TaskLocals => spawn!(task_locals::run),
        Role::Timers => spawn!(timers::run),
        Role::Trees => spawn!(trees::run),
        Role::Watches => spawn!(sync::watches::run),
        Role::Yields => spawn!(yields::run),
    };
    stage.expose(&task, &mut rng, 6);
    task
}

/// A few yields or a short sleep, or nothing.
async fn dither(rng: &mut Rng) {
    match rng.u32(..6) {
        0 => rt::time::sleep(Duration::from_micros(rng.u64(..1500))).await,
        1 | 2 => {
            for _ in 0..rng.u32(1..5) {
                rt::task::yield_now().await;
            }
        }
        3 => yields::by_hand(1).await,
        _ => {}
    }
}
