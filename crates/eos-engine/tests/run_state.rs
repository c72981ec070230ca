//! What a journal can say: whatever comes, the fold takes it or refuses it, and never tells something impossible.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use eos_engine::agreed::Agreed;
use eos_engine::record::{Begun, Direction, Goal, Intended, OnFailure, Outcome, Record, Step, Taken};
use eos_engine::run_state::{Run, UnitState};
use eos_engine::treatment::Treatment;
use eos_engine::{Digest, RunId};
use eos_model::Name;
use eos_tofu::{ChildIdentity, UnitFiles};
use proptest::prelude::*;

fn name(number: usize) -> Name {
    format!("u{number}").parse().unwrap()
}

fn begun() -> Begun {
    let intended = Intended {
        goal: Goal::Present,
        digest: Digest::of(&UnitFiles::new()),
        treatment: Treatment::default(),
        after: BTreeMap::new(),
        agreed: Agreed::nothing(),
        record_only: false,
        before: None,
    };
    Begun {
        run: RunId::new(0, 1),
        env: "test".parse().unwrap(),
        commit: "c".into(),
        before: None,
        command: "eos apply".into(),
        at: 0,
        on_failure: OnFailure::Stop,
        units: (0..3).map(|number| (name(number), intended.clone())).collect(),
    }
}

fn taken(direction: Direction) -> Record {
    let (user, machine) = ("kim".to_owned(), "shop1".to_owned());
    Record::Taken(Taken { at: 1, direction, user, machine, process: 1, commit: "c".into() })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Applying),
        Just(Step::Child { child: ChildIdentity { pid: 7, start_time: 8, boot: Some(u64::MAX) } }),
        Just(Step::Verifying),
        Just(Step::Done),
        Just(Step::Failed { code: "E0912".into(), message: "no".into() }),
        Just(Step::Failed { code: "E0922".into(), message: "stopped".into() }),
        Just(Step::Undoing),
        Just(Step::Undone),
        Just(Step::Stuck { reasons: vec!["why".into()] }),
        Just(Step::LockLeft { lock: "id".into() }),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let outcome = prop_oneof![Just(Outcome::Failed), Just(Outcome::Stopped), Just(Outcome::Done)];
    prop_oneof![
        // One unit that is not part of the run.
        12 => (0usize..4, step()).prop_map(|(unit, step)| Record::Unit { unit: name(unit), at: 2, step }),
        2 => Just(taken(Direction::Forward)),
        1 => Just(taken(Direction::Undo)),
        1 => outcome.prop_map(|outcome| Record::Ended { at: 3, outcome }),
        1 => Just(Record::Begun(Box::new(begun()))),
    ]
}

/// How far a unit is on its way; only taking back goes down.
fn rank(state: UnitState) -> u8 {
    match state {
        UnitState::Planned => 0,
        UnitState::Applying | UnitState::Failed | UnitState::Stopped | UnitState::Stuck => 1,
        UnitState::Verifying => 2,
        UnitState::Done => 3,
        UnitState::Undoing | UnitState::Undone => 4,
    }
}

proptest! {
    #[test]
    fn whatever_is_offered_only_possible_things_are_taken(offered in proptest::collection::vec(record(), 0..60)) {
        let mut run = Run::new(begun());
        let mut accepted = vec![Record::Begun(Box::new(begun()))];
        let mut undoing = false;
        for record in offered {
            let before = run.clone();
            if run.take(&record).is_err() {
                prop_assert_eq!(&run, &before, "what is refused changes nothing");
                continue;
            }
            accepted.push(record.clone());
            undoing |= matches!(&record, Record::Taken(taken) if taken.direction == Direction::Undo);
            prop_assert_eq!(run.direction == Direction::Undo, undoing, "a run that is taken back stays so");
            if let Record::Unit { unit, step, .. } = &record {
                let (was, is) = (before.units[unit].state, run.units[unit].state);
                prop_assert!(before.taken.is_some() && before.outcome.is_none());
                // Tofu is started only by a unit that says so before, and what is done is never done again.
                if matches!(step, Step::Child { .. }) {
                    prop_assert!(matches!(was, UnitState::Applying | UnitState::Undoing));
                }
                if was == UnitState::Done && is != UnitState::Done {
                    prop_assert!(undoing);
                }
                if is == UnitState::Done && was != UnitState::Done {
                    prop_assert!(matches!(was, UnitState::Verifying | UnitState::Planned));
                }
                if !undoing && was == UnitState::Planned {
                    prop_assert!(rank(is) <= 1 || is == UnitState::Done);
                }
                if !undoing {
                    prop_assert!(rank(is) < 4);
                }
                if was == UnitState::Undone && is != was {
                    prop_assert_eq!(is, UnitState::Undoing);
                }
            }
        }
        // The journal, read again by whoever comes next, tells the same, and so does every beginning of it.
        let bytes: Vec<Vec<u8>> = accepted.iter().map(|record| serde_json::to_vec(record).unwrap()).collect();
        let read: Vec<Record> = bytes.iter().map(|bytes| serde_json::from_slice(bytes).unwrap()).collect();
        prop_assert_eq!(&read, &accepted);
        prop_assert_eq!(Run::fold(&read).unwrap().unwrap(), run);
        for end in 0..read.len() {
            prop_assert!(Run::fold(&read[..end]).is_ok());
        }
    }
}

#[test]
fn a_run_is_done_when_all_is_and_stuck_when_one_is() {
    let mut run = Run::new(begun());
    run.take(&taken(Direction::Forward)).unwrap();
    assert_eq!(run.verdict(), Outcome::Stopped);
    let unit = |number, step| Record::Unit { unit: name(number), at: 2, step };
    for number in 0..3 {
        for step in [Step::Applying, Step::Verifying, Step::Done] {
            run.take(&unit(number, step)).unwrap();
        }
    }
    assert_eq!(run.verdict(), Outcome::Done);
    run.take(&taken(Direction::Undo)).unwrap();
    run.take(&unit(0, Step::Undoing)).unwrap();
    run.take(&unit(0, Step::Stuck { reasons: Vec::new() })).unwrap();
    assert_eq!(run.verdict(), Outcome::Stuck);
    assert!(
        run.take(&unit(1, Step::Applying)).is_err(),
        "nothing is applied any more in a run that is taken back"
    );
}

#[test]
fn a_journal_that_does_not_begin_is_refused() {
    assert!(Run::fold(&[taken(Direction::Forward)]).is_err());
    assert!(Run::fold(&[]).unwrap().is_none());
}

/// Stopped is not failed, and a failure is remembered through whatever is tried in vain after it.
#[test]
fn a_unit_that_was_stopped_has_not_failed_and_an_earlier_failure_stays() {
    let mut run = Run::new(begun());
    let unit = |step| Record::Unit { unit: name(0), at: 2, step };
    let failed =
        |code: &str, message: &str| unit(Step::Failed { code: code.into(), message: message.into() });
    run.take(&taken(Direction::Forward)).unwrap();
    for (record, state, last) in [
        (unit(Step::Applying), UnitState::Applying, None),
        (failed("E0922", "stopped at u0"), UnitState::Stopped, None),
        (unit(Step::Applying), UnitState::Applying, None),
        (failed("E0912", "no"), UnitState::Failed, Some("no")),
        (unit(Step::Applying), UnitState::Applying, Some("no")),
        (failed("E0916", "lost"), UnitState::Stopped, Some("no")),
        (unit(Step::Applying), UnitState::Applying, Some("no")),
        (unit(Step::Verifying), UnitState::Verifying, Some("no")),
        (unit(Step::Done), UnitState::Done, None),
    ] {
        run.take(&record).unwrap();
        let found = &run.units[&name(0)];
        assert_eq!(
            (found.state, found.last_failure.first().map(String::as_str)),
            (state, last),
            "{record:?}"
        );
        let verdict = if state == UnitState::Failed { Outcome::Failed } else { Outcome::Stopped };
        assert_eq!(run.verdict(), verdict, "{record:?}");
    }
}
