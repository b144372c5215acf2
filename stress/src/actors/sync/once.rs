//! Values that are made once: by one of those that want it, or by one of those that can.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rt::sync::{OnceCell, SetOnce};

use super::{dither, perhaps};
use crate::ledger::{Count, Kind};
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

struct Values {
    cell: OnceCell<Parcel>,
    /// How many values were made for the cell.
    made: AtomicU64,
    once: SetOnce<Parcel>,
    /// How many were set.
    set: AtomicU64,
    setters: AtomicUsize,
    flow: Arc<Flow>,
}

/// The last one that can set the value does so, at the latest when it is dropped.
struct Setter {
    stage: Stage,
    values: Arc<Values>,
}

impl Setter {
    fn set(&self, number: u64) {
        let Values { once, set, flow, .. } = &*self.values;
        if once.set(Parcel::new(&self.stage, flow, 1, number)).is_ok() {
            set.fetch_add(1, Ordering::Relaxed);
            self.stage.ledger().count(Count::Made);
        }
    }
}

impl Drop for Setter {
    fn drop(&mut self) {
        if self.values.setters.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.set(u64::MAX);
        }
    }
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let setters = size.div_ceil(2);
    let values = Arc::new(Values {
        cell: OnceCell::new(),
        made: AtomicU64::new(0),
        once: SetOnce::new(),
        set: AtomicU64::new(0),
        setters: AtomicUsize::new(setters),
        flow: Arc::default(),
    });
    let mut tasks = Vec::new();
    for number in 0..size as u64 * 2 {
        let (values, inner) = (Arc::clone(&values), stage.clone());
        let (setter, mut own) = ((number < setters as u64).then(|| (stage.clone(), Arc::clone(&values))), rng.fork());
        let setter = setter.map(|(stage, values)| Setter { stage, values });
        let task = stage.spawn(Kind::User, async move {
            dither(&mut own).await;
            if let Some(setter) = setter {
                setter.set(number);
            }
            let first = perhaps(&inner, &mut own, values.once.wait()).await.map(Parcel::number);
            (first, use_cell(&inner, &values, number, &mut own).await)
        });
        stage.expose(&task, &mut rng, 10);
        tasks.push(task);
    }
    let mut seen = (None, None);
    for task in tasks {
        let Ok((once, cell)) = task.join().await else { continue };
        agree(&stage, &mut seen.0, once);
        agree(&stage, &mut seen.1, cell);
    }
    let (made, set) = (values.made.load(Ordering::Relaxed), values.set.load(Ordering::Relaxed));
    if set != 1 || made > 1 || made != u64::from(values.cell.initialized()) {
        stage.ledger().problem(format!("a cell was made {made} times, and a value set {set} times"));
    }
    agree(&stage, &mut seen.0, values.once.get().map(Parcel::number));
    agree(&stage, &mut seen.1, values.cell.get().map(Parcel::number));
}

/// All that see a value see the same.
fn agree(stage: &Stage, first: &mut Option<u64>, seen: Option<u64>) {
    if let Some(seen) = seen
        && *first.get_or_insert(seen) != seen
    {
        stage.ledger().problem(format!("of a value that is made once two were seen, {first:?} and {seen}"));
    }
}

/// Gets the value, and perhaps makes it. `None`: gave up, or could not.
async fn use_cell(stage: &Stage, values: &Values, number: u64, rng: &mut Rng) -> Option<u64> {
    let Values { cell, made, flow, .. } = values;
    let make = || {
        made.fetch_add(1, Ordering::Relaxed);
        stage.ledger().count(Count::Made);
        Parcel::new(stage, flow, 0, number)
    };
    let mut own = rng.fork();
    match rng.u32(..6) {
        0 => cell.get().map(Parcel::number),
        1 => {
            if cell.set(Parcel::new(stage, flow, 0, number)).is_ok() {
                made.fetch_add(1, Ordering::Relaxed);
                stage.ledger().count(Count::Made);
            }
            cell.get().map(Parcel::number)
        }
        2 | 3 => {
            let fails = own.bool();
            let init = move || async move {
                dither(&mut own).await;
                if fails { Err(()) } else { Ok(make()) }
            };
            let result = perhaps(stage, rng, cell.get_or_try_init(init)).await?;
            if result.is_err() && !fails {
                stage.ledger().problem("a cell gave the failure of another".into());
            }
            result.ok().map(Parcel::number)
        }
        _ => {
            let init = move || async move {
                if !one_in(&mut own, 3) {
                    dither(&mut own).await;
                }
                make()
            };
            perhaps(stage, rng, cell.get_or_init(init)).await.map(Parcel::number)
        }
    }
}
