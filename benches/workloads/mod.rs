//! The workloads, each in a file that says what it measures and what it does not.
//!
//! Those that implement [`Workload`](crate::Workload) are timed, and are criterion rows and rows of the report. Those
//! that implement [`Measure`](crate::Measure) yield other figures, and are in the report only; so are [`BytesPerTask`]
//! and [`Idle`], which need more than a runtime: an allocator that counts, and a process to themselves.

mod arrivals;
mod blocking;
mod bytes_per_task;
mod chain;
mod company;
mod connecting;
mod copying;
mod detached;
mod echo;
mod echo_latency;
mod files;
mod fired;
mod fork_join;
mod from_outside;
mod from_threads;
mod idle;
mod in_block_on;
mod join;
mod lone_timer;
mod loopback;
mod many_senders;
mod many_timers;
mod million_timers;
mod ping_pong;
#[cfg(unix)]
mod programs;
mod reset;
mod set_and_cancel;
mod sleepers;
mod stuck_workers;
mod there_and_back;
mod timeout;
mod timer_beside_hogs;
mod udp_echo;
#[cfg(unix)]
mod unix_echo;
mod wake_latency;
mod yielding;

pub use self::arrivals::Arrivals;
pub use self::blocking::Blocking;
pub use self::bytes_per_task::{BytesPerTask, TaskBytes};
pub use self::chain::Chain;
pub use self::connecting::Connecting;
pub use self::copying::Copying;
pub use self::detached::Detached;
pub use self::echo::Echo;
pub use self::echo_latency::EchoLatency;
pub use self::files::{Directory, ManyFiles, SequentialReads, SequentialWrites, WholeFile};
pub use self::fired::Fired;
pub use self::fork_join::ForkJoin;
pub use self::from_outside::FromOutside;
pub use self::from_threads::FromThreads;
pub use self::idle::Idle;
pub use self::in_block_on::InBlockOn;
pub use self::join::Join;
pub use self::lone_timer::LoneTimer;
pub use self::many_senders::ManySenders;
pub use self::many_timers::ManyTimers;
pub use self::million_timers::MillionTimers;
pub use self::ping_pong::PingPong;
#[cfg(unix)]
pub use self::programs::Programs;
pub use self::reset::Reset;
pub use self::set_and_cancel::SetAndCancel;
pub use self::sleepers::Sleepers;
pub use self::stuck_workers::StuckWorkers;
pub use self::there_and_back::ThereAndBack;
pub use self::timeout::Timeout;
pub use self::timer_beside_hogs::TimerBesideHogs;
pub use self::udp_echo::UdpEcho;
#[cfg(unix)]
pub use self::unix_echo::UnixEcho;
pub use self::wake_latency::WakeLatency;
pub use self::yielding::Yielding;
