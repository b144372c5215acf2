//! Perfetto's messages, as much of them as the tests look at, with the numbers of its schema; and what they say.

use std::collections::{BTreeMap, HashMap};

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(crate) packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub(crate) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(crate) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(crate) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(crate) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(crate) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub(crate) track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(crate) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(crate) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(crate) counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(crate) pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub(crate) process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(crate) pid: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub(crate) tid: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(crate) thread_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CounterDescriptor {
    #[prost(int32, optional, tag = "3")]
    pub(crate) unit: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(crate) debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub(crate) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(crate) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(crate) track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    pub(crate) counter_value: Option<i64>,
    #[prost(uint64, optional, tag = "34")]
    pub(crate) source_location_iid: Option<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(crate) flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub(crate) terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(crate) uint_value: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub(crate) event_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) debug_annotation_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) source_locations: Vec<SourceLocation>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct InternedName {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SourceLocation {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) file_name: Option<String>,
    #[prost(uint32, optional, tag = "4")]
    pub(crate) line_number: Option<u32>,
}

/// What Perfetto's page would show of a trace.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Of each thread, by its name, the slices in the order of their beginnings.
    pub(crate) threads: BTreeMap<String, Vec<Slice>>,
    /// Of each counter, by its name, the values in the order of the packets.
    pub(crate) counters: BTreeMap<String, Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) name: String,
    pub(crate) task: Option<u64>,
    pub(crate) line: Option<u32>,
    pub(crate) begin: u64,
    /// `None`: not yet. An instant ends when it begins.
    pub(crate) end: Option<u64>,
    pub(crate) arrows_from: Vec<u64>,
    pub(crate) arrows_to: Vec<u64>,
}

impl Shown {
    /// Reads a trace as its page does, and asserts that it keeps the rules of the format.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let trace = Trace::decode(bytes).unwrap();
        let mut shown = Self::default();
        let (mut names, mut places, mut annotations) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut threads, mut counters, mut processes) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut has_state = false;
        for packet in trace.packet {
            assert_eq!(packet.trusted_packet_sequence_id, Some(1));
            if packet.sequence_flags == Some(1) {
                has_state = true;
            }
            if let Some(data) = packet.interned_data {
                names.extend(data.event_names.into_iter().map(|name| (name.iid.unwrap(), name.name.unwrap())));
                let of_annotations = data.debug_annotation_names.into_iter();
                annotations.extend(of_annotations.map(|name| (name.iid.unwrap(), name.name.unwrap())));
                places.extend(data.source_locations.into_iter().map(|place| (place.iid.unwrap(), place)));
            }
            if let Some(track) = packet.track_descriptor {
                let uuid = track.uuid.unwrap();
                if let Some(process) = track.process {
                    assert_eq!(process.pid, Some(std::process::id() as i32));
                    assert!(process.process_name.is_some_and(|name| !name.is_empty()));
                    processes.push(uuid);
                    continue;
                }
                assert!(processes.contains(&track.parent_uuid.unwrap()));
                if let Some(thread) = track.thread {
                    let name = thread.thread_name.unwrap();
                    assert_eq!(thread.pid, Some(std::process::id() as i32));
                    assert!(thread.tid.unwrap() > 0);
                    assert!(shown.threads.insert(name.clone(), Vec::new()).is_none());
                    threads.insert(uuid, (name, Vec::new()));
                } else {
                    assert_eq!(track.counter.unwrap().unit, Some(2));
                    let name = track.name.unwrap();
                    shown.counters.insert(name.clone(), Vec::new());
                    assert!(counters.insert(uuid, name).is_none());
                }
            }
            let Some(event) = packet.track_event else { continue };
            assert!(has_state && packet.sequence_flags == Some(2), "it refers to interned strings");
            let (at, uuid) = (packet.timestamp.unwrap(), event.track_uuid.unwrap());
            if event.r#type == Some(4) {
                shown.counters.get_mut(&counters[&uuid]).unwrap().push(event.counter_value.unwrap());
                continue;
            }
            let (thread, open) = threads.get_mut(&uuid).unwrap();
            let slices = shown.threads.get_mut(thread).unwrap();
            if event.r#type == Some(2) {
                let index: usize = open.pop().expect("an end has a beginning");
                slices[index].end = Some(at);
                continue;
            }
            let is_instant = match event.r#type {
                Some(1) => false,
                Some(3) => true,
                other => panic!("what is a {other:?}?"),
            };
            if !is_instant {
                open.push(slices.len());
            }
            let task = event.debug_annotations.first().map(|annotation| {
                assert_eq!(annotations[&annotation.name_iid.unwrap()], "task");
                annotation.uint_value.unwrap()
            });
            slices.push(Slice {
                name: names[&event.name_iid.unwrap()].clone(),
                task,
                line: event.source_location_iid.map(|iid| places[&iid].line_number.unwrap()),
                begin: at,
                end: is_instant.then_some(at),
                arrows_from: event.flow_ids,
                arrows_to: event.terminating_flow_ids,
            });
        }
        shown
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Slice> {
        self.threads.values().flatten()
    }
}
