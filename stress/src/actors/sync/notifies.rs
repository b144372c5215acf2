//! Notifications: a shop, whose clerks wait for a bell. Each customer waits for its own order, so a notification that
//! gets lost, with somebody who gave up, leaves the customer waiting, and the round hangs.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use rt::sync::{Notify, SetOnce};

use super::{dither, perhaps, some_polls};
use crate::ledger::{Count, Kind};
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

struct Order {
    parcel: Parcel,
    done: Arc<Notify>,
}

#[derive(Default)]
struct Shop {
    orders: Mutex<VecDeque<Order>>,
    bell: Arc<Notify>,
    clerks: AtomicUsize,
    customers: AtomicUsize,
    /// The last customer has gone.
    closing: AtomicBool,
    /// The last clerk has.
    deserted: SetOnce<()>,
}

impl Shop {
    fn take_order(&self) -> Option<Order> {
        self.orders.lock().pop_front()
    }
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let (shop, flow) = (Arc::<Shop>::default(), Arc::<Flow>::default());
    let (clerks, customers) = (rng.usize(1..=size), rng.usize(1..=size));
    shop.clerks.store(clerks, Ordering::Relaxed);
    shop.customers.store(customers, Ordering::Relaxed);
    let mut tasks = Vec::new();
    for _ in 0..clerks {
        // Made here: one that is aborted before its first poll was there, too.
        let clerk = Clerk { shop: Arc::clone(&shop), is_on_call: false };
        tasks.push(stage.spawn(Kind::Receiver, serve(stage.clone(), clerk, rng.fork())));
    }
    for name in 0..customers {
        let customer = Customer(Arc::clone(&shop));
        let visit = visit(stage.clone(), customer, Arc::clone(&flow), name, rng.fork());
        tasks.push(stage.spawn(Kind::Sender, visit));
    }
    for task in &tasks {
        stage.expose(task, &mut rng, 40);
    }
    let mut ordered = Some(0);
    for task in tasks {
        let own = task.join().await.ok().flatten();
        ordered = ordered.zip(own).map(|(all, own)| all + own);
    }
    if let Some(ordered) = ordered
        && ordered != flow.received()
    {
        stage.ledger().problem(format!("{} of {ordered} orders were taken", flow.received()));
    }
}

struct Clerk {
    shop: Arc<Shop>,
    /// It was told, and has not looked at all orders since.
    is_on_call: bool,
}

impl Drop for Clerk {
    fn drop(&mut self) {
        // One that waits, told or not, leaves it to its `Notified` to tell another.
        if self.is_on_call {
            self.shop.bell.notify_one();
        }
        if self.shop.clerks.fetch_sub(1, Ordering::Relaxed) == 1 {
            let _ = self.shop.deserted.set(());
        }
    }
}

async fn serve(stage: Stage, mut clerk: Clerk, mut rng: Rng) -> Option<u64> {
    let shop = Arc::clone(&clerk.shop);
    loop {
        let mut call = pin!(shop.bell.notified());
        if one_in(&mut rng, 4) {
            // If it has the notification now, and finds something to do, it gives it on.
            call.as_mut().enable();
        }
        if let Some(mut order) = shop.take_order() {
            clerk.is_on_call = true;
            order.parcel.receive();
            drop(order.parcel);
            order.done.notify_one();
            if one_in(&mut rng, 4) {
                dither(&mut rng).await;
            }
            continue;
        }
        clerk.is_on_call = false;
        // The call was made before this: it hears of what comes after.
        if shop.closing.load(Ordering::Acquire) {
            return Some(0);
        }
        let called = if one_in(&mut rng, 6) {
            some_polls(rng.u32(1..4), Arc::clone(&shop.bell).notified_owned()).await
        } else {
            perhaps(&stage, &mut rng, call).await
        };
        if called.is_some() {
            clerk.is_on_call = true;
            stage.ledger().count(Count::Notified);
        } else if one_in(&mut rng, 8) {
            // Home, without another look: what it may have been told is another's now.
            return Some(0);
        }
    }
}

struct Customer(Arc<Shop>);

impl Drop for Customer {
    fn drop(&mut self) {
        if self.0.customers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.closing.store(true, Ordering::Release);
            self.0.bell.notify_waiters();
        }
    }
}

/// How much it ordered, and got. `None`: the clerks have gone.
async fn visit(stage: Stage, customer: Customer, flow: Arc<Flow>, name: usize, mut rng: Rng) -> Option<u64> {
    let shop = &*customer.0;
    let orders = rng.u64(1..40);
    for number in 0..orders {
        let (parcel, done) = (Parcel::new(&stage, &flow, name, number), Arc::new(Notify::new()));
        shop.orders.lock().push_back(Order { parcel, done: Arc::clone(&done) });
        if rng.bool() {
            shop.bell.notify_one();
        } else {
            shop.bell.notify_last();
        }
        let served = loop {
            let served = async {
                rt::select! {
                    () = done.notified() => true,
                    () = async { *shop.deserted.wait().await } => false,
                }
            };
            // What it is told while it gives up, it is told again.
            if let Some(served) = perhaps(&stage, &mut rng, served).await {
                break served;
            }
        };
        if !served {
            return None;
        }
    }
    Some(orders)
}
