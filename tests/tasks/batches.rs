//! A task that many others wake finds what they have sent together.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::sync::{mpsc, oneshot};
use rt::task::JoinSet;
use rt_test_util::*;

const CALLERS: usize = 50;
const CALLS: usize = 100;

/// Answers what it finds in its channel, and counts how often it found something.
async fn answer(mut called: mpsc::Receiver<oneshot::Sender<()>>) -> usize {
    let (mut batches, mut batch) = (0, Vec::new());
    while called.recv_many(&mut batch, CALLERS).await > 0 {
        batches += 1;
        batch.drain(..).for_each(|answer| answer.send(()).unwrap());
    }
    batches
}

/// On one worker, so that it depends on the order of its queue alone. (Broken, if the worker always goes on with what
/// was woken last: then each call is a batch.)
#[test]
fn callers_that_wake_the_same_task_are_answered_together() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    // On the worker, too, so that all callers are there before one begins.
    let calling = runtime.spawn(async {
        let (call, called) = mpsc::channel(CALLERS);
        let answering = rt::spawn(answer(called));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let call = call.clone();
            callers.spawn(async move {
                for _ in 0..CALLS {
                    let (answer, answered) = oneshot::channel();
                    call.send(answer).await.unwrap();
                    answered.await.unwrap();
                }
            });
        }
        drop(call);
        callers.join_all().await;
        answering.await.unwrap()
    });
    let batches = runtime.block_on(calling).unwrap();
    assert!(batches < CALLERS * CALLS / 4, "{batches} batches");
}

/// How many nodes of a tree have begun and not ended.
#[derive(Default)]
struct Nodes {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A node that waits for whichever of its children ends.
fn node(depth: u32, nodes: Arc<Nodes>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        nodes.most.fetch_max(nodes.now.fetch_add(1, SeqCst) + 1, SeqCst);
        if depth > 0 {
            let mut children = JoinSet::new();
            (0..4).for_each(|_| drop(children.spawn(node(depth - 1, nodes.clone()))));
            children.join_all().await;
        }
        nodes.now.fetch_sub(1, SeqCst);
    })
}

/// In a tree each child wakes the same task, too. But it is not for the others that have not begun to go first: they
/// have children of their own. (Broken, if all of them do, and not only those that have been polled.)
#[test]
fn a_tree_is_walked_into_its_depth_though_its_nodes_are_woken_again_and_again() {
    const DEPTH: u32 = 7;
    let _watchdog = watchdog();
    let runtime = multi(1);
    let nodes = Arc::new(Nodes::default());
    runtime.block_on(runtime.spawn(node(DEPTH, nodes.clone()))).unwrap();
    let (most, leaves) = (nodes.most.load(SeqCst), 4_usize.pow(DEPTH));
    assert!(most < leaves / 5, "{most} nodes at a time, of a tree with {leaves} leaves");
}
