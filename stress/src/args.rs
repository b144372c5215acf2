//! The command line.

use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

pub(crate) const USAGE: &str = "\
Random programs on rt, and a ledger of what must add up.

usage: rt-stress [--seed N] [--seconds S | --rounds R] [--workers W] [--round-seed X]

  --seed N        where the rounds' seeds come from (1)
  --seconds S     begin no round after so long (10, if --rounds is not given)
  --rounds R      run R rounds
  --workers W     give each multi-thread runtime W workers, instead of 1 to 4
  --round-seed X  run this round again, and no other (once, if neither limit is given)";

pub(crate) struct Args {
    pub(crate) seed: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) rounds: Option<u64>,
    pub(crate) workers: Option<usize>,
    pub(crate) round_seed: Option<u64>,
}

impl Args {
    /// `None`: the user wants to be told the usage.
    pub(crate) fn from_env() -> Result<Option<Self>, lexopt::Error> {
        let mut args = Self { seed: 1, time: None, rounds: None, workers: None, round_seed: None };
        let mut parser = Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("seed") => args.seed = parser.value()?.parse()?,
                Arg::Long("seconds") => {
                    args.time = Some(parser.value()?.parse_with(|text| {
                        Duration::try_from_secs_f64(text.parse().map_err(|_| "not a number")?)
                            .map_err(|_| "not a length of time")
                    })?);
                }
                Arg::Long("rounds") => args.rounds = Some(parser.value()?.parse()?),
                Arg::Long("workers") => {
                    args.workers = Some(parser.value()?.parse_with(|text| match text.parse() {
                        Ok(workers @ 1..=64) => Ok(workers),
                        _ => Err("not a number from 1 to 64"),
                    })?);
                }
                Arg::Long("round-seed") => args.round_seed = Some(parser.value()?.parse()?),
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        if args.time.is_none() && args.rounds.is_none() {
            match args.round_seed {
                Some(_) => args.rounds = Some(1),
                None => args.time = Some(Duration::from_secs(10)),
            }
        }
        Ok(Some(args))
    }

    /// What runs a round again.
    pub(crate) fn again(&self, round_seed: u64) -> String {
        let workers = self.workers.map_or(String::new(), |workers| format!(" --workers {workers}"));
        format!("--round-seed {round_seed}{workers}")
    }
}
