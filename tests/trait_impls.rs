//! The traits that types implement. Programs rely on an impl as on a method: a library that hands a descriptor over by
//! `FromRawFd` does not compile without it.
//!
//! It is about the traits of the standard library and of I/O, and the types of Tokio's API: rt's implement all that
//! Tokio's do. Auto traits are in `auto_traits.rs`. There is nothing to run: what compiles has passed.

#![cfg(unix)]

use std::error::Error;
use std::fmt::{Debug, Display};
use std::future::{Future, Ready};
use std::hash::Hash;
use std::iter::FusedIterator;
use std::ops::{Add, AddAssign, BitAnd, BitOr, BitOrAssign, Deref, DerefMut, Sub, SubAssign};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::process::Stdio;
use std::time::Duration;

use rt::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
use rt::{fs, io, net, process, runtime, signal, sync, task, time};

/// What there is something to read from.
type Source = &'static [u8];
/// What can be read from and written to.
type Stream = io::DuplexStream;

macro_rules! implemented {
    ($($($bound:path)|+: $($type:ty),+ $(,)?;)+) => {
        $(const _: () = {
            const fn by<T: $($bound +)+>() {}
            $(by::<$type>();)+
        };)+
    };
}

// The standard library's.

implemented! {
    Debug:
        fs::DirBuilder, fs::DirEntry, fs::File, fs::FileTimes, fs::OpenOptions, fs::ReadDir, io::BufReader<Source>,
        io::BufStream<Stream>, io::BufWriter<Vec<u8>>, io::Chain<Source, Source>, io::DuplexStream, io::Empty,
        io::Interest, io::Join<Source, Vec<u8>>, io::Lines<Source>, io::ReadBuf<'static>, io::ReadHalf<Stream>,
        io::Ready, io::Repeat, io::SimplexStream, io::Sink, io::Split<Source>, io::Stderr, io::Stdin, io::Stdout,
        io::Take<Source>, io::WriteHalf<Stream>, io::unix::AsyncFd<std::fs::File>,
        io::unix::AsyncFdReadyGuard<'static, std::fs::File>, io::unix::AsyncFdReadyMutGuard<'static, std::fs::File>,
        io::unix::AsyncFdRegisterError<std::fs::File>, io::unix::TryIoError, net::TcpListener, net::TcpSocket,
        net::TcpStream, net::UdpSocket, net::UnixDatagram, net::UnixListener, net::UnixSocket, net::UnixStream,
        net::tcp::OwnedReadHalf, net::tcp::OwnedWriteHalf, net::tcp::ReadHalf<'static>, net::tcp::ReuniteError,
        net::tcp::WriteHalf<'static>, net::unix::OwnedReadHalf, net::unix::OwnedWriteHalf,
        net::unix::ReadHalf<'static>, net::unix::ReuniteError, net::unix::SocketAddr, net::unix::UCred,
        net::unix::WriteHalf<'static>, net::unix::pipe::OpenOptions, net::unix::pipe::Receiver,
        net::unix::pipe::Sender, process::Child, process::ChildStderr, process::ChildStdin, process::ChildStdout,
        process::Command, runtime::Builder, runtime::EnterGuard<'static>, runtime::Handle, runtime::Id,
        runtime::LocalOptions, runtime::LocalRuntime, runtime::Runtime, runtime::RuntimeFlavor,
        runtime::RuntimeMetrics, runtime::TryCurrentError, signal::unix::Signal, signal::unix::SignalKind,
        sync::AcquireError, sync::Barrier, sync::BarrierWaitResult, sync::MappedMutexGuard<'static, u8>,
        sync::Mutex<u8>, sync::MutexGuard<'static, u8>, sync::Notify, sync::OnceCell<u8>,
        sync::OwnedMappedMutexGuard<u8, u8>, sync::OwnedMutexGuard<u8>, sync::OwnedRwLockMappedWriteGuard<u8, u8>,
        sync::OwnedRwLockReadGuard<u8, u8>, sync::OwnedRwLockWriteGuard<u8>, sync::OwnedSemaphorePermit,
        sync::RwLock<u8>, sync::RwLockMappedWriteGuard<'static, u8>, sync::RwLockReadGuard<'static, u8>,
        sync::RwLockWriteGuard<'static, u8>, sync::Semaphore, sync::SemaphorePermit<'static>, sync::SetError<u8>,
        sync::SetOnce<u8>, sync::SetOnceError<u8>, sync::TryAcquireError, sync::TryLockError,
        sync::broadcast::Receiver<u8>, sync::broadcast::Sender<u8>, sync::broadcast::WeakSender<u8>,
        sync::broadcast::error::RecvError, sync::broadcast::error::SendError<u8>,
        sync::broadcast::error::TryRecvError, sync::futures::Notified<'static>, sync::futures::OwnedNotified,
        sync::mpsc::OwnedPermit<u8>, sync::mpsc::Permit<'static, u8>, sync::mpsc::PermitIterator<'static, u8>,
        sync::mpsc::Receiver<u8>, sync::mpsc::Sender<u8>, sync::mpsc::UnboundedReceiver<u8>,
        sync::mpsc::UnboundedSender<u8>, sync::mpsc::WeakSender<u8>, sync::mpsc::WeakUnboundedSender<u8>,
        sync::mpsc::error::SendError<u8>, sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError,
        sync::mpsc::error::TrySendError<u8>, sync::oneshot::Receiver<u8>, sync::oneshot::Sender<u8>,
        sync::oneshot::error::RecvError, sync::oneshot::error::TryRecvError, sync::watch::Receiver<u8>,
        sync::watch::Ref<'static, u8>, sync::watch::Sender<u8>, sync::watch::error::RecvError,
        sync::watch::error::SendError<u8>, task::AbortHandle, task::Id, task::JoinError, task::JoinHandle<u8>,
        task::JoinSet<u8>, task::LocalEnterGuard, task::LocalKey<u8>, task::LocalSet, task::coop::Coop<Ready<u8>>,
        task::coop::RestoreOnPending, task::futures::TaskLocalFuture<u8, Ready<u8>>, time::Instant, time::Interval,
        time::MissedTickBehavior, time::Sleep, time::Timeout<Ready<u8>>, time::error::Elapsed, time::error::Error;
    Display:
        io::unix::AsyncFdRegisterError<std::fs::File>, net::tcp::ReuniteError, net::unix::ReuniteError, runtime::Id,
        runtime::TryCurrentError, sync::AcquireError, sync::MappedMutexGuard<'static, u8>,
        sync::MutexGuard<'static, u8>, sync::OwnedMappedMutexGuard<u8, u8>, sync::OwnedMutexGuard<u8>,
        sync::OwnedRwLockMappedWriteGuard<u8, u8>, sync::OwnedRwLockReadGuard<u8, u8>,
        sync::OwnedRwLockWriteGuard<u8>, sync::RwLockMappedWriteGuard<'static, u8>,
        sync::RwLockReadGuard<'static, u8>, sync::RwLockWriteGuard<'static, u8>, sync::SetError<u8>,
        sync::SetOnceError<u8>, sync::TryAcquireError, sync::TryLockError, sync::broadcast::error::RecvError,
        sync::broadcast::error::SendError<u8>, sync::broadcast::error::TryRecvError, sync::mpsc::error::SendError<u8>,
        sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError, sync::mpsc::error::TrySendError<u8>,
        sync::oneshot::error::RecvError, sync::oneshot::error::TryRecvError, sync::watch::error::RecvError,
        sync::watch::error::SendError<u8>, task::Id, task::JoinError, time::error::Elapsed, time::error::Error;
    Error:
        io::unix::AsyncFdRegisterError<std::fs::File>, net::tcp::ReuniteError, net::unix::ReuniteError,
        runtime::TryCurrentError, sync::AcquireError, sync::SetError<u8>, sync::SetOnceError<u8>,
        sync::TryAcquireError, sync::TryLockError, sync::broadcast::error::RecvError,
        sync::broadcast::error::SendError<u8>, sync::broadcast::error::TryRecvError, sync::mpsc::error::SendError<u8>,
        sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError, sync::mpsc::error::TrySendError<u8>,
        sync::oneshot::error::RecvError, sync::oneshot::error::TryRecvError, sync::watch::error::RecvError,
        sync::watch::error::SendError<u8>, task::JoinError, time::error::Elapsed, time::error::Error;
    Clone:
        fs::FileTimes, fs::OpenOptions, io::Interest, io::Ready, net::unix::SocketAddr, net::unix::UCred,
        net::unix::pipe::OpenOptions, runtime::Handle, runtime::Id, runtime::RuntimeMetrics, signal::unix::SignalKind,
        sync::BarrierWaitResult, sync::OnceCell<u8>, sync::SetOnce<u8>, sync::broadcast::Sender<u8>,
        sync::broadcast::WeakSender<u8>, sync::broadcast::error::RecvError, sync::broadcast::error::TryRecvError,
        sync::mpsc::Sender<u8>, sync::mpsc::UnboundedSender<u8>, sync::mpsc::WeakSender<u8>,
        sync::mpsc::WeakUnboundedSender<u8>, sync::mpsc::error::SendError<u8>,
        sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError, sync::mpsc::error::TrySendError<u8>,
        sync::oneshot::error::RecvError, sync::oneshot::error::TryRecvError, sync::watch::Receiver<u8>,
        sync::watch::Sender<u8>, sync::watch::error::RecvError, sync::watch::error::SendError<u8>, task::AbortHandle,
        task::Id, time::Instant, time::MissedTickBehavior, time::error::Error;
    Copy:
        io::Interest, io::Ready, net::unix::UCred, runtime::Id, signal::unix::SignalKind,
        sync::mpsc::error::SendError<u8>, sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError,
        sync::mpsc::error::TrySendError<u8>, sync::watch::error::SendError<u8>, task::Id, time::Instant,
        time::MissedTickBehavior, time::error::Error;
    Default:
        fs::DirBuilder, fs::FileTimes, fs::OpenOptions, net::unix::pipe::OpenOptions, runtime::LocalOptions,
        sync::Mutex<u8>, sync::Notify, sync::OnceCell<u8>, sync::RwLock<u8>, sync::SetOnce<u8>,
        sync::watch::Sender<u8>, task::JoinSet<u8>, task::LocalSet, time::MissedTickBehavior;
    PartialEq | Eq:
        io::Interest, io::Ready, net::unix::UCred, runtime::Id, runtime::RuntimeFlavor, signal::unix::SignalKind,
        sync::OnceCell<u8>, sync::SetError<u8>, sync::SetOnce<u8>, sync::SetOnceError<u8>, sync::TryAcquireError,
        sync::broadcast::error::RecvError, sync::broadcast::error::TryRecvError, sync::mpsc::error::SendError<u8>,
        sync::mpsc::error::SendTimeoutError<u8>, sync::mpsc::error::TryRecvError, sync::mpsc::error::TrySendError<u8>,
        sync::oneshot::error::RecvError, sync::oneshot::error::TryRecvError, sync::watch::error::SendError<u8>,
        task::Id, time::Instant, time::MissedTickBehavior, time::error::Elapsed;
    PartialOrd | Ord: io::Ready, task::Id, time::Instant;
    Hash: net::unix::UCred, runtime::Id, signal::unix::SignalKind, task::Id, time::Instant;
    Deref:
        sync::MappedMutexGuard<'static, u8>, sync::MutexGuard<'static, u8>, sync::OwnedMappedMutexGuard<u8, u8>,
        sync::OwnedMutexGuard<u8>, sync::OwnedRwLockMappedWriteGuard<u8, u8>, sync::OwnedRwLockReadGuard<u8, u8>,
        sync::OwnedRwLockWriteGuard<u8>, sync::RwLockMappedWriteGuard<'static, u8>,
        sync::RwLockReadGuard<'static, u8>, sync::RwLockWriteGuard<'static, u8>, sync::watch::Ref<'static, u8>;
    DerefMut:
        sync::MappedMutexGuard<'static, u8>, sync::MutexGuard<'static, u8>, sync::OwnedMappedMutexGuard<u8, u8>,
        sync::OwnedMutexGuard<u8>, sync::OwnedRwLockMappedWriteGuard<u8, u8>, sync::OwnedRwLockWriteGuard<u8>,
        sync::RwLockMappedWriteGuard<'static, u8>, sync::RwLockWriteGuard<'static, u8>;
    Future:
        sync::futures::Notified<'static>, sync::futures::OwnedNotified, sync::oneshot::Receiver<u8>,
        task::JoinHandle<u8>, task::LocalSet, task::coop::Coop<Ready<u8>>, task::coop::Unconstrained<Ready<u8>>,
        task::futures::TaskLocalFuture<u8, Ready<u8>>, time::Sleep, time::Timeout<Ready<u8>>;
    Iterator | ExactSizeIterator | FusedIterator: sync::mpsc::PermitIterator<'static, u8>;
}

// Those of I/O, and of descriptors.

implemented! {
    AsyncRead:
        fs::File, io::BufReader<Source>, io::BufStream<Stream>, io::BufWriter<Stream>, io::Chain<Source, Source>,
        io::DuplexStream, io::Empty, io::Join<Source, Vec<u8>>, io::ReadHalf<Stream>, io::Repeat, io::SimplexStream,
        io::Stdin, io::Take<Source>, net::TcpStream, net::UnixStream, net::tcp::OwnedReadHalf,
        net::tcp::ReadHalf<'static>, net::unix::OwnedReadHalf, net::unix::ReadHalf<'static>,
        net::unix::pipe::Receiver, process::ChildStderr, process::ChildStdout;
    AsyncBufRead:
        io::BufReader<Source>, io::BufStream<Stream>, io::BufWriter<io::BufReader<Stream>>, io::Chain<Source, Source>,
        io::Empty, io::Join<Source, Vec<u8>>, io::Take<Source>;
    AsyncWrite:
        fs::File, io::BufReader<Stream>, io::BufStream<Stream>, io::BufWriter<Vec<u8>>, io::DuplexStream, io::Empty,
        io::Join<Source, Vec<u8>>, io::SimplexStream, io::Sink, io::Stderr, io::Stdout, io::WriteHalf<Stream>,
        net::TcpStream, net::UnixStream, net::tcp::OwnedWriteHalf, net::tcp::WriteHalf<'static>,
        net::unix::OwnedWriteHalf, net::unix::WriteHalf<'static>, net::unix::pipe::Sender, process::ChildStdin;
    AsyncSeek: fs::File, io::BufReader<fs::File>, io::BufStream<fs::File>, io::BufWriter<fs::File>, io::Empty;
    AsFd | AsRawFd:
        fs::File, io::Stderr, io::Stdin, io::Stdout, io::unix::AsyncFd<std::fs::File>, net::TcpListener,
        net::TcpSocket, net::TcpStream, net::UdpSocket, net::UnixDatagram, net::UnixListener, net::UnixSocket,
        net::UnixStream, net::unix::pipe::Receiver, net::unix::pipe::Sender, process::ChildStderr,
        process::ChildStdin, process::ChildStdout;
    FromRawFd: fs::File, net::TcpSocket, net::UnixSocket;
    IntoRawFd: net::TcpSocket, net::UnixSocket;
}

// Others.

implemented! {
    UnwindSafe | RefUnwindSafe: io::Stdin, io::Stdout, io::Stderr, fs::File;
    Add<Duration> | AddAssign<Duration> | Sub<Duration> | SubAssign<Duration> | Sub: time::Instant;
    BitOr | BitOrAssign: io::Interest, io::Ready;
    BitAnd | Sub: io::Ready;
    Extend<Ready<u8>> | FromIterator<Ready<u8>>: task::JoinSet<u8>;
    AsRef<net::TcpStream>:
        net::TcpStream, net::tcp::OwnedReadHalf, net::tcp::OwnedWriteHalf, net::tcp::ReadHalf<'static>,
        net::tcp::WriteHalf<'static>;
    AsRef<net::UnixStream>:
        net::UnixStream, net::unix::OwnedReadHalf, net::unix::OwnedWriteHalf, net::unix::ReadHalf<'static>,
        net::unix::WriteHalf<'static>;
    From<io::BufReader<io::BufWriter<Stream>>> | From<io::BufWriter<io::BufReader<Stream>>>:
        io::BufStream<Stream>;
    From<u8>: sync::Mutex<u8>, sync::OnceCell<u8>, sync::RwLock<u8>, sync::SetOnce<u8>;
    From<sync::mpsc::error::SendError<u8>>: sync::mpsc::error::TrySendError<u8>;
    From<std::time::Instant>: time::Instant;
    From<time::Instant>: std::time::Instant;
    From<time::error::Elapsed> | From<task::JoinError> | From<io::unix::AsyncFdRegisterError<u8>>:
        std::io::Error;
    From<std::fs::File> | From<OwnedFd>: fs::File;
    From<std::fs::OpenOptions>: fs::OpenOptions;
    From<std::process::Command>: process::Command;
    From<i32>: signal::unix::SignalKind;
    From<signal::unix::SignalKind>: i32;
    From<std::os::unix::net::SocketAddr>: net::unix::SocketAddr;
    From<net::unix::SocketAddr>: std::os::unix::net::SocketAddr;
    TryFrom<std::net::TcpListener>: net::TcpListener;
    TryFrom<std::net::TcpStream>: net::TcpStream;
    TryFrom<std::net::UdpSocket>: net::UdpSocket;
    TryFrom<std::os::unix::net::UnixDatagram>: net::UnixDatagram;
    TryFrom<std::os::unix::net::UnixListener>: net::UnixListener;
    TryFrom<std::os::unix::net::UnixStream>: net::UnixStream;
    TryInto<Stdio>: process::ChildStderr, process::ChildStdin, process::ChildStdout;
}
