//! A completion in one transaction with the function's own writes: both or neither, and never twice.

use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Attempt, OnError, Policy, Status};

use crate::deliveries::{End, FAULTS, WORKS, Work, answer, delivery, finish, is_end_of, refused};
use crate::support::{Bed, Entry, TIME};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Holds,
    Fails,
}

const VERBS: [Verb; 3] = [Verb::Claim, Verb::Complete, Verb::Release];

/// One delivery whose function has an entry written with its result.
async fn deliver(bed: &Bed, policy: &Policy, work: Work, condition: Condition) -> End {
    let entry = |attempt: Attempt| async move {
        let refused = condition == Condition::Fails;
        let entry = Entry { refused, ..Entry::new(&format!("run-{}", bed.effects())) };
        attempt.commit_with(entry).expect("the first writes of this attempt");
    };
    finish(delivery(bed, policy.clone(), TIME, work, entry)).await
}

/// The entries, which must be those of the answer in the record, or none.
fn entries(bed: &Bed, what: &str) -> Vec<String> {
    let entries = bed.store.inner().entries();
    let data =
        bed.record().filter(|record| record.status == Status::Completed).and_then(|record| record.data);
    let recorded: Vec<String> = data.iter().map(|data| data.trim_matches('"').to_owned()).collect();
    assert_eq!(entries, recorded, "{what}: the answer and the writes disagree");
    entries
}

#[tokio::test]
async fn one_fault_at_a_time() {
    for policy in [Policy::new(), Policy::new().on_error(OnError::Keep), Policy::new().at_most_once()] {
        for verb in VERBS {
            for fault in FAULTS {
                for work in WORKS {
                    for condition in [Condition::Holds, Condition::Fails] {
                        cell(&policy, &[(verb, fault)], work, condition).await;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn two_faults_at_a_time() {
    let faults: Vec<(Verb, Fault)> =
        VERBS.into_iter().flat_map(|verb| FAULTS.into_iter().map(move |fault| (verb, fault))).collect();
    for first in &faults {
        for second in &faults {
            for work in WORKS {
                cell(&Policy::new(), &[*first, *second], work, Condition::Holds).await;
            }
        }
    }
}

async fn cell(policy: &Policy, faults: &[(Verb, Fault)], work: Work, condition: Condition) {
    let what = format!("{faults:?}, work {work:?}, condition {condition:?}, {policy:?}");
    let bed = Bed::new();
    for (verb, fault) in faults {
        bed.store.break_next(*verb, *fault);
    }

    let first = deliver(&bed, policy, work, condition).await;
    let after_first = entries(&bed, &what);
    if bed.effects() == 1 {
        let refusal = condition == Condition::Fails && refused(&first) == Some("TransactionRefused");
        assert!(is_end_of(work, &first) || (work == Work::Succeeds && refusal), "{what}: {first:?}");
    } else {
        assert!(matches!(refused(&first), Some("Store" | "DeadlinePassed")), "{what}: {first:?}");
    }
    match answer(&first) {
        Some(answer) => assert_eq!(after_first, std::slice::from_ref(answer), "{what}"),
        // Written, and told that it is not known: that can be, if the reply was lost. Never without a result.
        None if refused(&first) == Some("NotRecorded") => {}
        None => assert!(after_first.is_empty(), "{what}: {first:?}"),
    }

    if faults.len() == 1 {
        bed.store.heal();
    }
    let second = deliver(&bed, policy, Work::Succeeds, Condition::Holds).await;
    if let [written] = &*after_first {
        let told = answer(&second) == Some(written) || refused(&second) == Some("Store");
        assert!(told, "{what}: {second:?}");
    }
    entries(&bed, &what);

    bed.store.heal();
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
    let third = deliver(&bed, policy, Work::SucceedsAfter(Duration::from_secs(4)), Condition::Holds).await;
    let written = entries(&bed, &what);
    assert!(written.len() <= 1, "{what}: {written:?}");
    match answer(&third) {
        Some(answer) => assert_eq!(written, std::slice::from_ref(answer), "{what}"),
        None => assert_eq!(refused(&third), Some("Interrupted"), "{what}: {third:?}"),
    }
    if let Some(known) = answer(&first).or(answer(&second)) {
        assert_eq!(answer(&third), Some(known), "{what}: {third:?}");
    }
}

/// The engine sends a commit again that was not answered; the first one arrives after that.
#[tokio::test]
async fn a_commit_that_arrives_after_its_own_second_try_is_not_applied_twice() {
    let bed = Bed::new();
    bed.store.inner().stray_next();
    let first = deliver(&bed, &Policy::new(), Work::Succeeds, Condition::Holds).await;
    assert_eq!(answer(&first).map(String::as_str), Some("run-1"));
    assert!(bed.store.inner().arrive(), "it strayed");
    assert_eq!(entries(&bed, "after its second try"), ["run-1"]);
}

/// One that nobody sent again arrives before the takeover, and is the answer; or while the successor is at
/// work, or after it, and writes nothing.
#[tokio::test]
async fn a_commit_that_arrives_beside_a_successor_writes_nothing() {
    for (when, expected) in [("before", "run-1"), ("during", "run-2"), ("after", "run-2")] {
        let bed = Bed::new();
        let ledger = bed.store.inner();
        ledger.stray_next();
        // The fault meets the second try: the first one has left by then.
        let first = delivery(&bed, Policy::new(), TIME, Work::Succeeds, |attempt| async move {
            attempt.commit_with(Entry::new("run-1")).expect("the first writes");
        });
        let mut first = first;
        assert!(futures_util::poll!(&mut first).is_pending());
        bed.store.break_next(Verb::Complete, Fault::Deny);
        assert_eq!(refused(&finish(first).await), Some("NotRecorded"));

        let arrives = |now: &str| assert!(now != when || ledger.arrive(), "{when}: it did not stray");
        arrives("before");
        bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
        let successor = delivery(&bed, Policy::new(), TIME, Work::Succeeds, |attempt| async move {
            attempt.commit_with(Entry::new("run-2")).expect("the first writes");
            arrives("during");
        });
        let successor = finish(successor).await;
        arrives("after");
        assert_eq!(answer(&successor).map(String::as_str), Some(expected), "{when}");
        assert_eq!(entries(&bed, when), [expected], "{when}");
    }
}
