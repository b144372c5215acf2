//! Two tasks that answer each other, through one pair of channels or through a new channel for each answer.

use async_channel::{Receiver, Sender, bounded};

use super::dither;
use crate::ledger::{Count, Kind};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

struct Question {
    number: u64,
    reply: Sender<u64>,
}

/// Counts the answer as received or, if it never comes, as lost.
struct Expected<'a> {
    stage: &'a Stage,
    received: bool,
}

impl<'a> Expected<'a> {
    fn new(stage: &'a Stage) -> Self {
        stage.ledger().count(Count::Sent);
        Self { stage, received: false }
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.stage.ledger().count(if self.received { Count::Received } else { Count::Lost });
    }
}

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let mut tasks = Vec::new();
    for _ in 0..size {
        let (sender, receiver) = bounded(1);
        let rounds = rng.u64(1..=100);
        let ask = stage.spawn(Kind::Player, ask(stage.clone(), sender, rounds, rng.fork()));
        let answer = stage.spawn(Kind::Player, answer(receiver, rng.fork()));
        stage.expose(&ask, &mut rng, 20);
        stage.expose(&answer, &mut rng, 20);
        tasks.push((ask, answer, rounds));
    }
    for (ask, answer, rounds) in tasks {
        let (asked, answered) = (ask.join().await, answer.join().await);
        if let (Ok(asked), Ok(answered)) = (asked, answered)
            && (asked, answered) != (rounds, rounds)
        {
            stage.ledger().problem(format!("of {rounds} questions {asked} were asked and {answered} answered"));
        }
    }
}

async fn ask(stage: Stage, questions: Sender<Question>, rounds: u64, mut rng: Rng) -> u64 {
    let mut kept = None;
    for number in 0..rounds {
        let (reply, answer) = kept.take().unwrap_or_else(|| bounded(1));
        let mut expected = Expected::new(&stage);
        if questions.send(Question { number, reply: reply.clone() }).await.is_err() {
            return number;
        }
        let reply = rng.bool().then_some(reply);
        let Some(answered) = wait(&answer, &questions).await else { return number };
        expected.received = true;
        if answered != number {
            stage.ledger().problem(format!("question {number} was given the answer to {answered}"));
        }
        kept = reply.map(|reply| (reply, answer));
    }
    rounds
}

/// The answer, unless nobody is left to give one. (A question that nobody takes stays in its channel, and does not
/// close the one for the answer.)
async fn wait(answer: &Receiver<u64>, questions: &Sender<Question>) -> Option<u64> {
    rt::select! {
        biased;
        answered = answer.recv() => answered.ok(),
        () = questions.closed() => answer.try_recv().ok(),
    }
}

async fn answer(questions: Receiver<Question>, mut rng: Rng) -> u64 {
    let mut answered = 0;
    while let Ok(Question { number, reply }) = questions.recv().await {
        if one_in(&mut rng, 10) {
            dither(&mut rng).await;
        }
        if reply.send(number).await.is_err() {
            break;
        }
        answered += 1;
    }
    answered
}
