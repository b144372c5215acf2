//! Perfetto's format: a `Trace` of `TracePacket`s, each a track's description or a `TrackEvent`.
//!
//! All packets are of one sequence, whose first packet has the *interned* strings: names and places have numbers, by
//! which the events refer to them. (<https://perfetto.dev/docs/reference/synthetic-track-event> explains the parts that
//! are used here; the numbers below are those of the schema.)

use std::io::{self, Write};
use std::process;

use super::proto::Message;
use super::record::Kind;
use super::snapshot::{Stamped, TraceSnapshot};
use super::timeline::{Shown, Timeline, kind_name, poll_name};

/// `Trace`.
mod trace {
    pub(super) const PACKET: u32 = 1;
}

/// `TracePacket`.
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE_ID: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    /// The sequence's interned strings begin with this packet,
    pub(super) const STATE_CLEARED: u64 = 1;
    /// or this packet refers to them.
    pub(super) const NEEDS_STATE: u64 = 2;
}

/// `TrackDescriptor`, and the messages in it.
mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT_UUID: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const PID: u32 = 1;
    pub(super) const TID: u32 = 2;
    pub(super) const THREAD_NAME: u32 = 5;
    pub(super) const PROCESS_NAME: u32 = 6;
    pub(super) const COUNTER_UNIT: u32 = 3;
    pub(super) const UNIT_COUNT: u64 = 2;
}

/// `TrackEvent`, and the message in it.
mod event {
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_IID: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const COUNTER_VALUE: u32 = 30;
    pub(super) const SOURCE_LOCATION_IID: u32 = 34;
    pub(super) const FLOW_ID: u32 = 47;
    pub(super) const TERMINATING_FLOW_ID: u32 = 48;
    pub(super) const SLICE_BEGIN: u64 = 1;
    pub(super) const SLICE_END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
    pub(super) const ANNOTATION_NAME_IID: u32 = 1;
    pub(super) const ANNOTATION_UINT: u32 = 3;
}

/// `InternedData`, and the messages in it: each has its number and its name in the same fields.
mod interned {
    pub(super) const EVENT_NAME: u32 = 2;
    pub(super) const ANNOTATION_NAME: u32 = 3;
    pub(super) const SOURCE_LOCATION: u32 = 4;
    pub(super) const IID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const LINE: u32 = 4;
}

/// There is one sequence.
const SEQUENCE: u64 = 1;
/// There is one annotation: the task's number.
const TASK: u64 = 1;
/// The names of what is no poll have numbers from here on, above those of all sites.
const KIND_NAMES: u64 = 1 << 16;

const KINDS_WITH_NAMES: [Kind; 6] =
    [Kind::Spawned, Kind::Woken, Kind::Completed, Kind::Panicked, Kind::Parked, Kind::Polled];

/// The tracks of a process, whose uuids must not be those of another process's, if traces are merged.
#[derive(Clone, Copy)]
struct Tracks {
    pid: u64,
}

impl Tracks {
    fn uuid(self, number: u64) -> u64 {
        self.pid << 32 | number
    }

    fn process(self) -> u64 {
        self.uuid(1)
    }

    fn injector(self) -> u64 {
        self.uuid(2)
    }

    fn lane(self, lane: usize) -> u64 {
        self.uuid(3 + 2 * lane as u64)
    }

    fn queue(self, lane: usize) -> u64 {
        self.lane(lane) + 1
    }
}

/// Writes packets one by one.
struct Packets<W> {
    to: W,
    bytes: Message,
}

impl<W: Write> Packets<W> {
    fn write(&mut self, write: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.bytes.clear();
        self.bytes.message(trace::PACKET, |packet| {
            packet.uint(packet::SEQUENCE_ID, SEQUENCE);
            write(packet);
        });
        self.to.write_all(self.bytes.bytes())
    }

    fn describe(&mut self, uuid: u64, write: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.write(|packet| {
            packet.message(packet::TRACK_DESCRIPTOR, |track| {
                track.uint(track::UUID, uuid);
                write(track);
            });
        })
    }

    fn describe_counter(&mut self, uuid: u64, name: &str, parent: u64) -> io::Result<()> {
        self.describe(uuid, |track| {
            track.string(track::NAME, name);
            track.uint(track::PARENT_UUID, parent);
            track.message(track::COUNTER, |counter| counter.uint(track::COUNTER_UNIT, track::UNIT_COUNT));
        })
    }
}

/// Writes the trace.
pub(super) fn write(snapshot: &TraceSnapshot, timeline: &Timeline, to: impl Write) -> io::Result<()> {
    let tracks = Tracks { pid: u64::from(process::id()) };
    let mut packets = Packets { to, bytes: Message::default() };
    packets.write(|packet| write_interned(snapshot, packet))?;
    write_tracks(snapshot, tracks, &mut packets)?;
    for (index, (lane, shown)) in snapshot.lanes.iter().zip(&timeline.lanes).enumerate() {
        for (event, &(shown, arrow)) in lane.events.iter().zip(shown) {
            if shown != Shown::Nothing {
                packets.write(|packet| {
                    packet.uint(packet::TIMESTAMP, event.nanos);
                    packet.uint(packet::SEQUENCE_FLAGS, packet::NEEDS_STATE);
                    packet.message(packet::TRACK_EVENT, |message| {
                        write_event(snapshot, tracks, index, event, shown, arrow, message);
                    });
                })?;
            }
        }
    }
    packets.to.flush()
}

fn write_interned(snapshot: &TraceSnapshot, packet: &mut Message) {
    packet.uint(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
    packet.message(packet::INTERNED_DATA, |data| {
        let mut name = |field, iid, name: &str| {
            data.message(field, |entry| {
                entry.uint(interned::IID, iid);
                entry.string(interned::NAME, name);
            });
        };
        name(interned::ANNOTATION_NAME, TASK, "task");
        for kind in KINDS_WITH_NAMES {
            let text = if kind == Kind::Polled { &poll_name(None) } else { kind_name(kind) };
            name(interned::EVENT_NAME, KIND_NAMES + kind as u64, text);
        }
        let sites = || (1..).zip(&snapshot.sites).filter_map(|(number, site)| Some((number, (*site)?)));
        for (number, site) in sites() {
            name(interned::EVENT_NAME, number, &poll_name(Some(site)));
        }
        for (number, site) in sites() {
            data.message(interned::SOURCE_LOCATION, |location| {
                location.uint(interned::IID, number);
                location.string(interned::NAME, site.location.file());
                location.uint(interned::LINE, u64::from(site.location.line()));
            });
        }
    });
}

fn write_tracks(snapshot: &TraceSnapshot, tracks: Tracks, packets: &mut Packets<impl Write>) -> io::Result<()> {
    let name = std::env::current_exe().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    packets.describe(tracks.process(), |track| {
        track.message(track::PROCESS, |process| {
            process.uint(track::PID, tracks.pid);
            process.string(track::PROCESS_NAME, name.as_deref().unwrap_or("a program with rt"));
        });
    })?;
    packets.describe_counter(tracks.injector(), kind_name(Kind::InjectorDepth), tracks.process())?;
    for (index, lane) in snapshot.lanes.iter().enumerate() {
        packets.describe(tracks.lane(index), |track| {
            track.uint(track::PARENT_UUID, tracks.process());
            track.message(track::THREAD, |thread| {
                thread.uint(track::PID, tracks.pid);
                // A lane is not always the same thread's, and has a number of its own.
                thread.uint(track::TID, index as u64 + 1);
                thread.string(track::THREAD_NAME, &lane.name);
            });
        })?;
        if lane.events.iter().any(|event| event.record.kind == Kind::QueueDepth) {
            let name = format!("{} of {}", kind_name(Kind::QueueDepth), lane.name);
            packets.describe_counter(tracks.queue(index), &name, tracks.process())?;
        }
    }
    Ok(())
}

fn write_event(
    snapshot: &TraceSnapshot,
    tracks: Tracks,
    lane: usize,
    event: &Stamped,
    shown: Shown,
    arrow: u64,
    message: &mut Message,
) {
    let record = event.record;
    let kind = match shown {
        Shown::Begin => event::SLICE_BEGIN,
        Shown::End => event::SLICE_END,
        Shown::Instant => event::INSTANT,
        Shown::Counter | Shown::Nothing => {
            let is_own = record.kind == Kind::QueueDepth;
            message.uint(event::TYPE, event::COUNTER);
            message.uint(event::TRACK_UUID, if is_own { tracks.queue(lane) } else { tracks.injector() });
            return message.uint(event::COUNTER_VALUE, record.payload);
        }
    };
    message.uint(event::TYPE, kind);
    message.uint(event::TRACK_UUID, tracks.lane(lane));
    if shown == Shown::End {
        return;
    }
    let site = snapshot.site(record).map(|_| u64::from(record.site())).filter(|_| record.kind.has_task());
    let name = site.filter(|_| record.kind == Kind::Polled);
    message.uint(event::NAME_IID, name.unwrap_or(KIND_NAMES + record.kind as u64));
    if record.kind.has_task() {
        message.message(event::ANNOTATION, |annotation| {
            annotation.uint(event::ANNOTATION_NAME_IID, TASK);
            annotation.uint(event::ANNOTATION_UINT, record.task());
        });
    }
    if let Some(site) = site {
        message.uint(event::SOURCE_LOCATION_IID, site);
    }
    if arrow != 0 {
        let field = if record.kind == Kind::Polled { event::TERMINATING_FLOW_ID } else { event::FLOW_ID };
        message.fixed64(field, arrow);
    }
}
