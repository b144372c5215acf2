//! How far everything has come: counted where it happens, shown by looking at the counts now and then.
//!
//! On a terminal these are bars; elsewhere a line a second.

use std::fmt;
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use rt::time::{Duration, Instant, interval_at};

/// So much of so much.
#[derive(Debug, Default)]
pub(crate) struct Count {
    done: AtomicU64,
    total: AtomicU64,
}

impl Count {
    pub(crate) fn expect(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Relaxed);
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", HumanCount(self.done.load(Relaxed)), HumanCount(self.total.load(Relaxed)))
    }
}

/// What the parts of the demo have done.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) messages: Count,
    pub(crate) timers: Count,
    pub(crate) files: Count,
}

impl Progress {
    fn counts(&self) -> [(&'static str, &Count); 3] {
        [("messages", &self.messages), ("timers", &self.timers), ("files", &self.files)]
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, count)) in self.counts().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {count}")?;
        }
        Ok(())
    }
}

/// Shows the progress.
pub(crate) struct Painter {
    progress: Arc<Progress>,
    /// One for each count; none if nobody watches.
    bars: Vec<ProgressBar>,
}

impl Painter {
    pub(crate) fn new(progress: Arc<Progress>) -> Self {
        let bars = if io::stderr().is_terminal() { bars(&progress) } else { Vec::new() };
        Self { progress, bars }
    }

    /// Paints until the work is done.
    pub(crate) async fn watch<W: Future>(&self, work: W) -> W::Output {
        let period = if self.bars.is_empty() { Duration::from_secs(1) } else { Duration::from_millis(50) };
        let mut ticks = interval_at(Instant::now() + period, period);
        let mut work = pin!(work);
        loop {
            rt::select! {
                outcome = work.as_mut() => return outcome,
                _ = ticks.tick() => self.paint(),
            }
        }
    }

    /// Paints how it ended.
    pub(crate) fn finish(self) {
        self.paint();
        self.bars.iter().for_each(ProgressBar::abandon);
    }

    fn paint(&self) {
        if self.bars.is_empty() {
            eprintln!("{}", self.progress);
        }
        for (bar, (_, count)) in self.bars.iter().zip(self.progress.counts()) {
            bar.set_length(count.total.load(Relaxed));
            bar.set_position(count.done.load(Relaxed));
        }
    }
}

fn bars(progress: &Progress) -> Vec<ProgressBar> {
    let style = ProgressStyle::with_template("{prefix:>10}  {bar:40.cyan/blue}  {human_pos} of {human_len}")
        .expect("the template is well-formed");
    let lines = MultiProgress::new();
    progress
        .counts()
        .into_iter()
        .map(|(name, _)| lines.add(ProgressBar::new(0).with_prefix(name).with_style(style.clone())))
        .collect()
}
