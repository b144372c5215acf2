//! The live view: a loop that takes what comes, keys and samples, and draws.
//!
//! Three threads send to it: one waits for keys, one asks the server, and one waits for signals, so that the terminal
//! is given back also if the program is ended from outside. So a server that takes its time holds up no key, and
//! nothing is drawn while nothing changes. All of them end with the process.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};

use crate::client::Client;
use crate::fetch::{self, Sample};
use crate::state::State;
use crate::{keys, view};

/// How often the server is asked.
const REFRESH: Duration = Duration::from_secs(1);

/// What the loop waits for.
enum Message {
    Terminal(Event),
    Sample(Result<Sample, String>),
    /// The terminal is gone.
    NoTerminal,
    /// A signal that ends a program, by its number.
    #[cfg(unix)]
    Signal(i32),
}

pub(crate) fn run(client: Client) -> Result<(), String> {
    let mut state = State::new(client.place());
    // What is wrong from the beginning is told in the shell.
    state.learn(Ok(fetch::sample(&client).map_err(|failure| failure.to_string())?));
    let (sender, messages) = sync_channel(16);
    let for_keys = sender.clone();
    #[cfg(unix)]
    let for_signals = sender.clone();
    let spawned = [
        #[cfg(unix)]
        signals::read(move |signal| drop(for_signals.send(Message::Signal(signal)))),
        thread::Builder::new().name("ask".into()).spawn(move || ask(&client, &sender)),
        thread::Builder::new().name("keys".into()).spawn(move || read_keys(&for_keys)),
    ];
    if let Some(error) = spawned.into_iter().find_map(Result::err) {
        return Err(format!("cannot start a thread: {error}"));
    }
    let mut terminal = ratatui::try_init().map_err(|error| format!("cannot use the terminal: {error}"))?;
    let mut drawn = Ok(());
    #[cfg(unix)]
    let mut ended_by = None;
    while drawn.is_ok() && !state.is_over {
        drawn = terminal.draw(|frame| view::draw(frame, &state)).map(drop);
        match messages.recv() {
            Ok(Message::Terminal(Event::Key(key))) => {
                if let Some(action) = keys::action(key, state.is_editing) {
                    state.act(action);
                }
            }
            // Another size: it is drawn anew anyway.
            Ok(Message::Terminal(_)) => {}
            Ok(Message::Sample(sample)) => state.learn(sample),
            Ok(Message::NoTerminal) | Err(_) => break,
            #[cfg(unix)]
            Ok(Message::Signal(signal)) => {
                ended_by = Some(signal);
                break;
            }
        }
    }
    ratatui::restore();
    #[cfg(unix)]
    if let Some(signal) = ended_by {
        signals::end_by(signal);
    }
    drawn.map_err(|error| format!("cannot draw: {error}"))
}

/// Asks once a second, until nobody wants to know.
fn ask(client: &Client, to: &SyncSender<Message>) {
    // The first sample is there already.
    let mut begin = Instant::now();
    loop {
        thread::sleep(REFRESH.saturating_sub(begin.elapsed()));
        begin = Instant::now();
        let sample = fetch::sample(client).map_err(|failure| failure.to_string());
        if to.send(Message::Sample(sample)).is_err() {
            return;
        }
    }
}

fn read_keys(to: &SyncSender<Message>) {
    while let Ok(event) = event::read() {
        if to.send(Message::Terminal(event)).is_err() {
            return;
        }
    }
    let _ = to.send(Message::NoTerminal);
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::thread::{Builder, JoinHandle};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// Starts a thread that tells of each signal that would end the program.
    pub(super) fn read(tell: impl Fn(i32) + Send + 'static) -> io::Result<JoinHandle<()>> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        Builder::new().name("signals".into()).spawn(move || signals.forever().for_each(tell))
    }

    /// Ends the program as if nobody had waited for the signal.
    pub(super) fn end_by(signal: i32) {
        // It does not come back for any of these.
        drop(signal_hook::low_level::emulate_default_handler(signal));
    }
}
