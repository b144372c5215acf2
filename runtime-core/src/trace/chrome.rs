//! Chrome's format: a JSON object whose `traceEvents` are objects with a phase `ph`, a time `ts` in microseconds, and a
//! `pid` and `tid`.

use std::fmt;
use std::io::{self, Write};
use std::process;

use super::record::Kind;
use super::snapshot::{Stamped, TraceSnapshot};
use super::timeline::{Shown, Timeline, kind_name, poll_name};

/// A string of JSON, with its quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => write!(f, "{character}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Microseconds, to the nanosecond.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Writes the trace.
pub(super) fn write(snapshot: &TraceSnapshot, timeline: &Timeline, mut to: impl Write) -> io::Result<()> {
    let pid = process::id();
    write!(to, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut separator = "";
    for (index, (lane, shown)) in snapshot.lanes.iter().zip(&timeline.lanes).enumerate() {
        let place = Place { pid, tid: index + 1, lane: &lane.name };
        let (tid, name) = (place.tid, Quoted(&lane.name));
        write!(
            to,
            "{separator}\n{{\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"thread_name\",\
             \"args\":{{\"name\":{name}}}}}"
        )?;
        separator = ",";
        for (event, &(shown, arrow)) in lane.events.iter().zip(shown) {
            write_event(snapshot, place, event, shown, arrow, &mut to)?;
        }
    }
    writeln!(to, "\n]}}")?;
    to.flush()
}

#[derive(Clone, Copy)]
struct Place<'a> {
    pid: u32,
    tid: usize,
    lane: &'a str,
}

fn write_event(
    snapshot: &TraceSnapshot,
    Place { pid, tid, lane }: Place<'_>,
    event: &Stamped,
    shown: Shown,
    arrow: u64,
    to: &mut impl Write,
) -> io::Result<()> {
    let (record, at) = (event.record, Micros(event.nanos));
    let phase = match shown {
        Shown::Nothing => return Ok(()),
        Shown::Begin => "\"ph\":\"B\"",
        Shown::End => "\"ph\":\"E\"",
        // As a slice without a length, because arrows begin at slices.
        Shown::Instant => "\"ph\":\"X\",\"dur\":0",
        Shown::Counter => "\"ph\":\"C\"",
    };
    write!(to, ",\n{{{phase},\"ts\":{at},\"pid\":{pid},\"tid\":{tid}")?;
    match (shown, record.kind) {
        (Shown::Counter, Kind::QueueDepth) => {
            let name = format!("{} of {lane}", kind_name(record.kind));
            write!(to, ",\"name\":{},\"args\":{{\"tasks\":{}}}", Quoted(&name), record.payload)?;
        }
        (Shown::Counter, kind) => {
            write!(to, ",\"name\":{},\"args\":{{\"tasks\":{}}}", Quoted(kind_name(kind)), record.payload)?;
        }
        (Shown::Begin | Shown::Instant, kind) => {
            let site = snapshot.site(record).filter(|_| kind.has_task());
            let name = if kind == Kind::Polled { poll_name(site) } else { kind_name(kind).into() };
            write!(to, ",\"name\":{}", Quoted(&name))?;
            if kind.has_task() {
                write!(to, ",\"args\":{{\"task\":{}", record.task())?;
                if let Some(site) = site {
                    write!(to, ",\"spawned at\":{}", Quoted(&site.location.to_string()))?;
                }
                write!(to, "}}")?;
            }
        }
        (Shown::End | Shown::Nothing, _) => {}
    }
    write!(to, "}}")?;
    if arrow != 0 {
        let phase = if record.kind == Kind::Polled { "\"ph\":\"f\",\"bp\":\"e\"" } else { "\"ph\":\"s\"" };
        write!(
            to,
            ",\n{{{phase},\"ts\":{at},\"pid\":{pid},\"tid\":{tid},\"name\":\"wake\",\"cat\":\"wake\",\"id\":{arrow}}}"
        )?;
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_json_asks() {
        assert_eq!(Quoted("a \"b\" \\ \n \u{1f}é").to_string(), r#""a \"b\" \\ \u000a \u001fé""#);
        assert_eq!(Micros(1_234_567).to_string(), "1234.567");
        assert_eq!(Micros(5).to_string(), "0.005");
    }
}
