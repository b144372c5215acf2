//! The rows of `rt::sync`, and of the groups of tasks. For most types there are three: with a value that may go to no
//! other thread, with one that may go and not be shared, and with one that may do both.

use std::sync::Arc;

use rt::{sync, task};

use super::*;

#[test]
fn of_channels() {
    types! {
        ALL => [
            sync::oneshot::error::RecvError,
            sync::oneshot::error::TryRecvError,
            sync::mpsc::error::TryRecvError,
            sync::broadcast::error::RecvError,
            sync::broadcast::error::TryRecvError,
            sync::watch::error::RecvError,
            sync::broadcast::Receiver<Cell<u8>>,
            sync::broadcast::Receiver<u8>,
            sync::broadcast::Sender<Cell<u8>>,
            sync::broadcast::Sender<u8>,
            sync::broadcast::WeakSender<Cell<u8>>,
            sync::broadcast::WeakSender<u8>,
            sync::broadcast::error::SendError<u8>,
            sync::mpsc::OwnedPermit<Cell<u8>>,
            sync::mpsc::OwnedPermit<u8>,
            sync::mpsc::Permit<'static, Cell<u8>>,
            sync::mpsc::Permit<'static, u8>,
            sync::mpsc::PermitIterator<'static, Cell<u8>>,
            sync::mpsc::PermitIterator<'static, u8>,
            sync::mpsc::Receiver<Cell<u8>>,
            sync::mpsc::Receiver<u8>,
            sync::mpsc::Sender<Cell<u8>>,
            sync::mpsc::Sender<u8>,
            sync::mpsc::UnboundedReceiver<Cell<u8>>,
            sync::mpsc::UnboundedReceiver<u8>,
            sync::mpsc::UnboundedSender<Cell<u8>>,
            sync::mpsc::UnboundedSender<u8>,
            sync::mpsc::WeakSender<Cell<u8>>,
            sync::mpsc::WeakSender<u8>,
            sync::mpsc::WeakUnboundedSender<Cell<u8>>,
            sync::mpsc::WeakUnboundedSender<u8>,
            sync::mpsc::error::SendError<u8>,
            sync::mpsc::error::SendTimeoutError<u8>,
            sync::mpsc::error::TrySendError<u8>,
            sync::watch::Receiver<u8>,
            sync::watch::Sender<u8>,
            sync::watch::error::SendError<u8>,
        ]
        OF_ITS_THREAD => [
            sync::broadcast::Receiver<Rc<u8>>,
            sync::broadcast::Sender<Rc<u8>>,
            sync::broadcast::WeakSender<Rc<u8>>,
            sync::broadcast::error::SendError<Rc<u8>>,
            sync::mpsc::OwnedPermit<Rc<u8>>,
            sync::mpsc::Permit<'static, Rc<u8>>,
            sync::mpsc::PermitIterator<'static, Rc<u8>>,
            sync::mpsc::Receiver<Rc<u8>>,
            sync::mpsc::Sender<Rc<u8>>,
            sync::mpsc::UnboundedReceiver<Rc<u8>>,
            sync::mpsc::UnboundedSender<Rc<u8>>,
            sync::mpsc::WeakSender<Rc<u8>>,
            sync::mpsc::WeakUnboundedSender<Rc<u8>>,
            sync::mpsc::error::SendError<Rc<u8>>,
            sync::mpsc::error::SendTimeoutError<Rc<u8>>,
            sync::mpsc::error::TrySendError<Rc<u8>>,
            sync::watch::Receiver<Rc<u8>>,
            sync::watch::Receiver<Cell<u8>>,
            sync::watch::Ref<'static, Rc<u8>>,
            sync::watch::Sender<Rc<u8>>,
            sync::watch::Sender<Cell<u8>>,
            sync::watch::error::SendError<Rc<u8>>,
            // Tokio's is not unwind safe, by what it happens to be made of.
            sync::watch::Ref<'static, Cell<u8>>,
        ]
        "Send Unpin UnwindSafe" => [
            sync::broadcast::error::SendError<Cell<u8>>,
            sync::mpsc::error::SendError<Cell<u8>>,
            sync::mpsc::error::SendTimeoutError<Cell<u8>>,
            sync::mpsc::error::TrySendError<Cell<u8>>,
            sync::watch::error::SendError<Cell<u8>>,
        ]
        "Unpin" => [
            sync::oneshot::Receiver<Rc<u8>>,
            sync::oneshot::Sender<Rc<u8>>,
        ]
        "Send Sync Unpin" => [
            sync::oneshot::Receiver<Cell<u8>>,
            sync::oneshot::Receiver<u8>,
            sync::oneshot::Sender<Cell<u8>>,
            sync::oneshot::Sender<u8>,
        ]
        OF_ITS_THREAD_BUT_SYNC => [
            sync::watch::Ref<'static, u8>,
        ]
    }
    .check();
    futures! {
        "" => [
            any::<&'static mut sync::broadcast::Receiver<Rc<u8>>>().recv(),
            any::<&'static sync::broadcast::Sender<Rc<u8>>>().closed(),
            any::<&'static sync::mpsc::Sender<Rc<u8>>>().closed(),
            any::<&'static sync::mpsc::Sender<Rc<u8>>>().reserve(),
            any::<&'static sync::mpsc::Sender<Rc<u8>>>().reserve_many(1),
            any::<&'static sync::mpsc::Sender<Rc<u8>>>().send(any()),
            any::<&'static sync::mpsc::Sender<Rc<u8>>>().send_timeout(any(), any()),
            any::<sync::mpsc::Sender<Rc<u8>>>().reserve_owned(),
            any::<&'static sync::mpsc::UnboundedSender<Rc<u8>>>().closed(),
            any::<&'static mut sync::oneshot::Sender<Rc<u8>>>().closed(),
            any::<&'static mut sync::watch::Receiver<Rc<u8>>>().changed(),
            any::<&'static mut sync::watch::Receiver<Rc<u8>>>().wait_for(any::<fn(&Rc<u8>) -> bool>()),
            any::<&'static sync::watch::Sender<Rc<u8>>>().closed(),
            any::<&'static mut sync::watch::Receiver<Cell<u8>>>().changed(),
            any::<&'static mut sync::watch::Receiver<Cell<u8>>>().wait_for(any::<fn(&Cell<u8>) -> bool>()),
            any::<&'static sync::watch::Sender<Cell<u8>>>().closed(),
        ]
        "RefUnwindSafe" => [
            any::<&'static mut sync::mpsc::Receiver<Rc<u8>>>().recv(),
            any::<&'static mut sync::mpsc::Receiver<Rc<u8>>>().recv_many(any(), 1),
            any::<&'static mut sync::mpsc::UnboundedReceiver<Rc<u8>>>().recv(),
            any::<&'static mut sync::mpsc::UnboundedReceiver<Rc<u8>>>().recv_many(any(), 1),
        ]
        WAITS => [
            any::<&'static mut sync::broadcast::Receiver<Cell<u8>>>().recv(),
            any::<&'static sync::broadcast::Sender<Cell<u8>>>().closed(),
            any::<&'static sync::mpsc::Sender<Cell<u8>>>().closed(),
            any::<&'static sync::mpsc::Sender<Cell<u8>>>().reserve(),
            any::<&'static sync::mpsc::Sender<Cell<u8>>>().reserve_many(1),
            any::<sync::mpsc::Sender<Cell<u8>>>().reserve_owned(),
            any::<&'static sync::mpsc::UnboundedSender<Cell<u8>>>().closed(),
            any::<&'static mut sync::oneshot::Sender<Cell<u8>>>().closed(),
            any::<&'static mut sync::broadcast::Receiver<u8>>().recv(),
            any::<&'static sync::broadcast::Sender<u8>>().closed(),
            any::<&'static sync::mpsc::Sender<u8>>().closed(),
            any::<&'static sync::mpsc::Sender<u8>>().reserve(),
            any::<&'static sync::mpsc::Sender<u8>>().reserve_many(1),
            any::<&'static sync::mpsc::Sender<u8>>().send(any()),
            any::<&'static sync::mpsc::Sender<u8>>().send_timeout(any(), any()),
            any::<sync::mpsc::Sender<u8>>().reserve_owned(),
            any::<&'static sync::mpsc::UnboundedSender<u8>>().closed(),
            any::<&'static mut sync::oneshot::Sender<u8>>().closed(),
            any::<&'static mut sync::watch::Receiver<u8>>().changed(),
            any::<&'static mut sync::watch::Receiver<u8>>().wait_for(any::<fn(&u8) -> bool>()),
            any::<&'static sync::watch::Sender<u8>>().closed(),
        ]
        "Send Sync RefUnwindSafe" => [
            any::<&'static mut sync::mpsc::Receiver<Cell<u8>>>().recv(),
            any::<&'static mut sync::mpsc::UnboundedReceiver<Cell<u8>>>().recv(),
            any::<&'static mut sync::mpsc::Receiver<u8>>().recv(),
            any::<&'static mut sync::mpsc::Receiver<u8>>().recv_many(any(), 1),
            any::<&'static mut sync::mpsc::UnboundedReceiver<u8>>().recv(),
            any::<&'static mut sync::mpsc::UnboundedReceiver<u8>>().recv_many(any(), 1),
        ]
        "Send" => [
            any::<&'static mut sync::mpsc::Receiver<Cell<u8>>>().recv_many(any(), 1),
            any::<&'static mut sync::mpsc::UnboundedReceiver<Cell<u8>>>().recv_many(any(), 1),
            any::<&'static sync::mpsc::Sender<Cell<u8>>>().send(any()),
            any::<&'static sync::mpsc::Sender<Cell<u8>>>().send_timeout(any(), any()),
        ]
    }
    .check();
}

#[test]
fn of_locks() {
    types! {
        "Unpin RefUnwindSafe" => [
            sync::MappedMutexGuard<'static, Rc<u8>>,
            sync::RwLockMappedWriteGuard<'static, Rc<u8>>,
            sync::RwLockWriteGuard<'static, Rc<u8>>,
        ]
        "Send Unpin" => [
            sync::MappedMutexGuard<'static, Cell<u8>>,
            sync::MutexGuard<'static, Cell<u8>>,
            sync::OwnedMutexGuard<Cell<u8>>,
            sync::OwnedMappedMutexGuard<Cell<u8>, u8>,
            sync::OwnedMappedMutexGuard<u8, Cell<u8>>,
        ]
        BORROWS => [
            sync::MappedMutexGuard<'static, u8>,
            sync::RwLockMappedWriteGuard<'static, u8>,
            sync::RwLockWriteGuard<'static, u8>,
        ]
        "Unpin UnwindSafe" => [
            sync::Mutex<Rc<u8>>,
            sync::RwLock<Rc<u8>>,
        ]
        "Send Sync Unpin UnwindSafe" => [
            sync::Mutex<Cell<u8>>,
            sync::Mutex<u8>,
            sync::RwLock<u8>,
        ]
        "Unpin" => [
            sync::MutexGuard<'static, Rc<u8>>,
            sync::OwnedMutexGuard<Rc<u8>>,
            sync::OwnedMappedMutexGuard<Rc<u8>, u8>,
            sync::OwnedMappedMutexGuard<u8, Rc<u8>>,
            sync::OwnedRwLockMappedWriteGuard<Rc<u8>>,
            sync::OwnedRwLockMappedWriteGuard<Cell<u8>>,
            sync::OwnedRwLockMappedWriteGuard<u8, Rc<u8>>,
            sync::OwnedRwLockMappedWriteGuard<u8, Cell<u8>>,
            sync::OwnedRwLockReadGuard<Rc<u8>>,
            sync::OwnedRwLockReadGuard<Cell<u8>>,
            sync::OwnedRwLockReadGuard<u8, Rc<u8>>,
            sync::OwnedRwLockReadGuard<u8, Cell<u8>>,
            sync::OwnedRwLockWriteGuard<Rc<u8>>,
            sync::OwnedRwLockWriteGuard<Cell<u8>>,
            sync::RwLockMappedWriteGuard<'static, Cell<u8>>,
            sync::RwLockReadGuard<'static, Cell<u8>>,
            sync::RwLockWriteGuard<'static, Cell<u8>>,
        ]
        "Send Sync Unpin" => [
            sync::MutexGuard<'static, u8>,
            sync::OwnedMutexGuard<u8>,
            sync::OwnedMappedMutexGuard<u8, u8>,
            sync::OwnedMappedMutexGuard<u8, u8>,
            sync::OwnedRwLockMappedWriteGuard<u8>,
            sync::OwnedRwLockMappedWriteGuard<u8, u8>,
            sync::OwnedRwLockReadGuard<u8>,
            sync::OwnedRwLockReadGuard<u8, u8>,
            sync::OwnedRwLockWriteGuard<u8>,
        ]
        "Send Unpin UnwindSafe" => [
            sync::RwLock<Cell<u8>>,
        ]
        OF_ITS_THREAD => [
            sync::RwLockReadGuard<'static, Rc<u8>>,
        ]
        ALL => [
            sync::RwLockReadGuard<'static, u8>,
        ]
    }
    .check();
    futures! {
        "" => [
            any::<&'static sync::Mutex<Rc<u8>>>().lock(),
            any::<Arc<sync::Mutex<Rc<u8>>>>().lock_owned(),
            any::<&'static sync::RwLock<Rc<u8>>>().read(),
            any::<&'static sync::RwLock<Rc<u8>>>().write(),
            any::<Arc<sync::RwLock<Rc<u8>>>>().read_owned(),
            any::<Arc<sync::RwLock<Rc<u8>>>>().write_owned(),
            any::<&'static sync::RwLock<Cell<u8>>>().read(),
            any::<&'static sync::RwLock<Cell<u8>>>().write(),
            any::<Arc<sync::RwLock<Cell<u8>>>>().read_owned(),
            any::<Arc<sync::RwLock<Cell<u8>>>>().write_owned(),
        ]
        WAITS => [
            any::<&'static sync::Mutex<Cell<u8>>>().lock(),
            any::<Arc<sync::Mutex<Cell<u8>>>>().lock_owned(),
            any::<&'static sync::Mutex<u8>>().lock(),
            any::<Arc<sync::Mutex<u8>>>().lock_owned(),
            any::<&'static sync::RwLock<u8>>().read(),
            any::<&'static sync::RwLock<u8>>().write(),
            any::<Arc<sync::RwLock<u8>>>().read_owned(),
            any::<Arc<sync::RwLock<u8>>>().write_owned(),
        ]
    }
    .check();
}

#[test]
fn of_what_else_is_waited_for() {
    types! {
        ALL => [
            sync::AcquireError,
            sync::Barrier,
            sync::BarrierWaitResult,
            sync::Notify,
            sync::OwnedSemaphorePermit,
            sync::Semaphore,
            sync::SemaphorePermit<'static>,
            sync::TryAcquireError,
            sync::TryLockError,
            sync::SetError<u8>,
            sync::SetOnceError<u8>,
        ]
        WAITS => [
            sync::futures::Notified<'static>,
            sync::futures::OwnedNotified,
        ]
        "Unpin UnwindSafe" => [
            sync::OnceCell<Rc<u8>>,
            sync::SetOnce<Rc<u8>>,
        ]
        "Send Unpin UnwindSafe" => [
            sync::OnceCell<Cell<u8>>,
            sync::SetError<Cell<u8>>,
            sync::SetOnce<Cell<u8>>,
            sync::SetOnceError<Cell<u8>>,
        ]
        "Send Sync Unpin UnwindSafe" => [
            sync::OnceCell<u8>,
            sync::SetOnce<u8>,
        ]
        OF_ITS_THREAD => [
            sync::SetError<Rc<u8>>,
            sync::SetOnceError<Rc<u8>>,
        ]
    }
    .check();
    futures! {
        WAITS => [
            any::<&'static sync::Barrier>().wait(),
            any::<&'static sync::Notify>().notified(),
            any::<Arc<sync::Notify>>().notified_owned(),
            any::<&'static sync::Semaphore>().acquire(),
            any::<&'static sync::Semaphore>().acquire_many(1),
            any::<Arc<sync::Semaphore>>().acquire_owned(),
            any::<Arc<sync::Semaphore>>().acquire_many_owned(1),
            any::<&'static sync::SetOnce<u8>>().wait(),
            any::<&'static sync::OnceCell<u8>>().get_or_init(any::<fn() -> Ready<u8>>()),
            any::<&'static sync::OnceCell<u8>>().get_or_try_init(any::<fn() -> Ready<Result<u8, u8>>>()),
        ]
        "" => [
            any::<&'static sync::SetOnce<Rc<u8>>>().wait(),
            any::<&'static sync::OnceCell<Rc<u8>>>().get_or_init(any::<fn() -> Ready<Rc<u8>>>()),
            any::<&'static sync::OnceCell<Rc<u8>>>().get_or_try_init(any::<fn() -> Ready<Result<Rc<u8>, u8>>>()),
            any::<&'static sync::SetOnce<Cell<u8>>>().wait(),
            any::<&'static sync::OnceCell<Cell<u8>>>().get_or_init(any::<fn() -> Ready<Cell<u8>>>()),
            any::<&'static sync::OnceCell<Cell<u8>>>().get_or_try_init(any::<fn() -> Ready<Result<Cell<u8>, u8>>>()),
        ]
    }
    .check();
}

#[test]
fn of_groups_of_tasks() {
    types! {
        OF_ITS_THREAD => [
            task::JoinSet<Rc<u8>>,
        ]
        ALL => [
            task::LocalKey<Rc<u8>>,
            task::JoinSet<Cell<u8>>,
            task::LocalKey<Cell<u8>>,
            task::JoinSet<u8>,
            task::LocalKey<u8>,
        ]
        "UnwindSafe RefUnwindSafe" => [
            task::futures::TaskLocalFuture<Rc<u8>, Ready<u8>>,
            task::futures::TaskLocalFuture<u8, Ready<Rc<u8>>>,
        ]
        "Send UnwindSafe" => [
            task::futures::TaskLocalFuture<Cell<u8>, Ready<u8>>,
            task::futures::TaskLocalFuture<u8, Ready<Cell<u8>>>,
        ]
        "Send Sync UnwindSafe RefUnwindSafe" => [
            task::futures::TaskLocalFuture<u8, Ready<u8>>,
            task::futures::TaskLocalFuture<u8, Ready<u8>>,
        ]
        "Unpin" => [
            task::LocalSet,
            task::LocalEnterGuard,
        ]
    }
    .check();
    futures! {
        "RefUnwindSafe" => [
            any::<&'static mut task::JoinSet<Rc<u8>>>().join_next(),
            any::<&'static mut task::JoinSet<Rc<u8>>>().join_next_with_id(),
            any::<&'static mut task::JoinSet<Rc<u8>>>().shutdown(),
            any::<task::JoinSet<Rc<u8>>>().join_all(),
        ]
        "UnwindSafe RefUnwindSafe" => [
            any::<&'static task::LocalKey<Rc<u8>>>().scope(any(), ready(7)),
        ]
        "Send Sync RefUnwindSafe" => [
            any::<&'static mut task::JoinSet<Cell<u8>>>().join_next(),
            any::<&'static mut task::JoinSet<Cell<u8>>>().join_next_with_id(),
            any::<&'static mut task::JoinSet<Cell<u8>>>().shutdown(),
            any::<&'static mut task::JoinSet<u8>>().join_next(),
            any::<&'static mut task::JoinSet<u8>>().join_next_with_id(),
            any::<&'static mut task::JoinSet<u8>>().shutdown(),
            any::<task::JoinSet<u8>>().join_all(),
        ]
        "Send" => [
            any::<task::JoinSet<Cell<u8>>>().join_all(),
        ]
        "Send UnwindSafe" => [
            any::<&'static task::LocalKey<Cell<u8>>>().scope(any(), ready(7)),
        ]
        "Send Sync UnwindSafe RefUnwindSafe" => [
            any::<&'static task::LocalKey<u8>>().scope(any(), ready(7)),
        ]
        "" => [
            any::<&'static task::LocalSet>().run_until(ready(7)),
        ]
    }
    .check();
}
