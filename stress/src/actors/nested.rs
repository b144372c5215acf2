//! Runtimes inside of runtimes: made, used and ended by a blocking job of another.

use std::time::Duration;

use super::Role;
use crate::host::Host;
use crate::plan::{Ending, Kind, Options, Part, Rng, pick, random_ending};
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    for _ in 0..size.div_ceil(6) {
        let (outer, own) = (stage.clone(), rng.fork());
        let job = stage.spawn_blocking(move |_| live(&outer, own));
        if rng.bool() {
            let _ = job.join().await;
        }
    }
}

fn live(outer: &Stage, mut rng: Rng) {
    let kind = pick(&mut rng, &[Kind::Threads(1), Kind::Threads(2), Kind::Current, Kind::Local]);
    let options = Options::random(kind, &mut rng);
    let ending = random_ending(kind, &mut rng);
    let patience = Duration::from_micros(rng.u64(..5000));
    let parts: Vec<_> = (0..rng.u32(1..=3)).map(|_| part(kind, &mut rng)).collect();
    let host = Host::build(&options, outer.ledger());
    let stage = outer.nested(host.handle().clone(), &options);
    let play = Box::pin(super::perform(&stage, parts));
    if ending.is_quiet() {
        host.block_on(async {
            play.await;
            stage.settled().await;
        });
    } else {
        let _ = host.block_on(async { rt::time::timeout(patience, play).await });
    }
    host.end(ending, &stage);
    let has_waited = matches!(ending, Ending::Quiet | Ending::Dropped | Ending::DroppedElsewhere);
    if has_waited && stage.life().alive() != 0 {
        stage.ledger().problem("an inner runtime was dropped, and some of its futures are alive".into());
    }
}

/// A small part, and not this one again.
fn part(kind: Kind, rng: &mut Rng) -> Part {
    let role = match Role::random(kind, rng) {
        Role::Nested => Role::Timers,
        role => role,
    };
    Part { role, size: rng.usize(1..=3), rng: rng.fork() }
}
