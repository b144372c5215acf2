use super::*;
use crate::coop::Budget;
use crate::task::current::{CurrentTask, in_task};

fn tell(note: Note) -> WaitsFor {
    note.tell(|_| WaitsFor::Unknown, |_| None)
}

#[test]
fn what_is_said_is_told() {
    let now = Clock::real();
    let deadline = Moment::of(now).instant().unwrap();
    assert_eq!(tell(Note::of(Leaf::Timer(deadline))), WaitsFor::Timer { deadline: Some(deadline) });
    for kind in [ChannelKind::MpscReceiver, ChannelKind::OneshotSender, ChannelKind::WatchSender] {
        assert_eq!(tell(Note::of(Leaf::Channel(kind))), WaitsFor::Channel { kind });
    }
    for kind in [LockKind::Mutex, LockKind::OnceCell] {
        let (note, holder) = (Note::of(Leaf::Lock(kind, 64)), Some(Id(3)));
        let told = note.tell(|_| WaitsFor::Unknown, |word| (word == 64).then_some(Id(3)));
        assert_eq!(told, WaitsFor::Lock { kind, holder });
    }
    assert_eq!(tell(Note::of(Leaf::Join(Id(5)))), WaitsFor::Join { task: Id(5) });
    assert_eq!(tell(Note::of(Leaf::BlockingJob)), WaitsFor::BlockingJob);
    assert_eq!(tell(Note::of(Leaf::Signal(15))), WaitsFor::Signal { number: 15 });
    assert_eq!(tell(Note::of(Leaf::MemoryStream)), WaitsFor::MemoryStream);
    assert_eq!(tell(Note::NOTHING), WaitsFor::Unknown);
}

#[test]
fn what_is_withdrawn_is_not_told() {
    let (one, two) = (Note::of(Leaf::Join(Id(1))), Note::of(Leaf::Lock(LockKind::Mutex, 64)));
    let direct = Note { code: two.code | DIRECT, ..two };
    assert!(direct.is_direct() && !two.is_direct());
    assert_eq!(tell(direct), tell(two));
    assert_eq!(direct.without(two), Note::NOTHING);
    assert_eq!(direct.without(one), direct);
    let both = one.and(direct);
    assert!(both.is_direct() && both.has_others());
    assert_eq!(tell(both.without(two)), WaitsFor::Unknown);
    assert!(both.without(two).has_others(), "the other is not forgotten");
}

#[test]
fn of_a_race_that_is_over_nothing_is_told() {
    inspect::watch();
    let lock = Leaf::Lock(LockKind::Mutex, 64);
    let task = CurrentTask::new(Id(7), std::ptr::null());
    in_task(&task, Budget::UNCONSTRAINED, || {
        let race = said();
        note(Leaf::TaskGroup);
        assert!(race.unless_pending(Poll::<()>::Pending).is_pending());
        assert_eq!(task.waits_for(), Note::of(Leaf::TaskGroup));
        assert!(race.unless_pending(Poll::Ready(())).is_ready());
        assert_eq!(task.waits_for(), Note::NOTHING);

        let direct = Note { code: Note::of(lock).code | DIRECT, ..Note::of(lock) };
        current::note_wait(direct);
        said().only();
        assert_eq!(task.waits_for(), direct, "nothing was said since");
        let race = said();
        note(Leaf::TaskGroup);
        race.only();
        assert_eq!(task.waits_for(), Note::of(lock), "not for certain: it may have been withdrawn");
    });
}

#[test]
fn the_last_counts_but_for_deadlines() {
    let timer = Note::of(Leaf::Timer(Clock::real()));
    let (one, two) = (Note::of(Leaf::Join(Id(1))), Note::of(Leaf::Join(Id(2))));
    assert_eq!(Note::NOTHING.and(one), one);
    assert_eq!(one.and(one), one, "the same twice is one");
    for (first, second, chosen) in [(one, two, two), (one, timer, one), (timer, two, two)] {
        let both = first.and(second);
        assert!(both.has_others());
        assert_eq!((tell(both), both.word()), (tell(chosen), chosen.word()));
        assert!(both.and(second).has_others() && both.and(first).has_others());
    }
}
