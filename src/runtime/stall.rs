//! What the environment says of the search for tasks that can never go on.

use std::io::{self, Write};
use std::time::Duration;

/// A number of seconds. See [`Builder::report_stalls`](super::Builder::report_stalls).
const VARIABLE: &str = "RT_STALL";

/// How often runtimes look whose builder was told nothing of it. A number that cannot be read is told on stderr, and is
/// as if it were not set: a program is not kept from running by it.
pub(super) fn asked_for_by_environment() -> Option<Duration> {
    let text = std::env::var_os(VARIABLE)?;
    let text = text.to_string_lossy();
    let every = parse(&text);
    if every.is_err() {
        // Nobody is left to be told that stderr is gone.
        drop(writeln!(io::stderr(), "rt: {VARIABLE} must be a number of seconds, such as 10, and is {text:?}"));
    }
    every.unwrap_or_default()
}

/// Nothing, and zero, ask for nothing.
fn parse(text: &str) -> Result<Option<Duration>, ()> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let seconds: f64 = text.trim().parse().map_err(drop)?;
    let every = Duration::try_from_secs_f64(seconds).map_err(drop)?;
    Ok(Some(every).filter(|every| !every.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_number_of_seconds() {
        for (text, every) in [
            ("10", Ok(Some(Duration::from_secs(10)))),
            (" 0.5 ", Ok(Some(Duration::from_millis(500)))),
            ("", Ok(None)),
            ("0", Ok(None)),
            ("yes", Err(())),
            ("10s", Err(())),
            ("-1", Err(())),
            ("inf", Err(())),
            ("NaN", Err(())),
        ] {
            assert_eq!(parse(text), every, "{text}");
        }
    }
}
