//! Fail-open: the store gives no answer to the claim, and the function runs all the same.
//!
//! A second effect cannot be excluded then. What is still promised: a delivery whose claim is answered never
//! repeats what the record holds, the function's own end reaches its caller whatever the store does, and
//! later duplicates meet one answer.

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{OnError, Outcome, Policy, Record, Status};

use crate::deliveries::{End, FAULTS, WORKS, Work, answer, deliver, in_the_end, refused};
use crate::support::Bed;

fn policy() -> Policy {
    Policy::new().fail_open()
}

/// The answer that the store holds.
fn stored(bed: &Bed) -> Option<String> {
    let is_answer = |record: &Record| record.status == Status::Completed;
    let data = bed.record().filter(is_answer).and_then(|record| record.data)?;
    Some(data.trim_matches('"').to_owned())
}

/// Whether this is how a function ends that has run, protected or not.
fn is_end_of(work: Work, end: &End) -> bool {
    match (work, end) {
        (Work::Succeeds, End::Returned(Ok(Outcome::Unprotected(_)))) => true,
        _ => crate::deliveries::is_end_of(work, end),
    }
}

/// Both tries of the claim fail, each in its own way, and then what is written after the function.
#[tokio::test]
async fn the_claim_is_not_answered() {
    for policy in [policy(), policy().on_error(OnError::Keep)] {
        for first in FAULTS {
            for second in FAULTS {
                for work in WORKS {
                    cell(&policy, &[(Verb::Claim, first), (Verb::Claim, second)], work).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn neither_the_claim_nor_what_follows_is_answered() {
    for claim in FAULTS {
        for verb in [Verb::Complete, Verb::Release] {
            for after in FAULTS {
                for work in WORKS {
                    let claims = [(Verb::Claim, claim), (Verb::Claim, claim)];
                    // The release is sent twice: when the claim fails, and when the function does.
                    cell(&policy(), &[claims[0], claims[1], (verb, after)], work).await;
                    cell(&policy(), &[claims[0], claims[1], (verb, after), (verb, after)], work).await;
                }
            }
        }
    }
}

async fn cell(policy: &Policy, faults: &[(Verb, Fault)], work: Work) {
    let what = format!("{faults:?}, work {work:?}, {policy:?}");
    let bed = Bed::new();
    for (verb, fault) in faults {
        bed.store.break_next(*verb, *fault);
    }
    let first = deliver(&bed, policy, work).await;
    let after_first = bed.effects();
    if after_first == 1 {
        assert!(is_end_of(work, &first), "{what}: {first:?}");
    } else {
        // A missing right, or an answer that came after the lease: nothing that passes by running anyhow.
        assert!(matches!(refused(&first), Some("Store" | "DeadlinePassed")), "{what}: {first:?}");
    }
    let can_record = faults.iter().all(|(verb, _)| *verb != Verb::Complete);
    if let (End::Returned(Ok(Outcome::Unprotected(value))), true) = (&first, can_record) {
        assert_eq!(stored(&bed).as_ref(), Some(value), "{what}: later duplicates do not meet the answer");
    }

    bed.store.heal();
    // What is on its way arrives with the next call.
    let before = stored(&bed);
    let second = deliver(&bed, policy, Work::Succeeds).await;
    let held = answer(&first).cloned().or(before);
    if let Some(held) = &held {
        assert_eq!((answer(&second), bed.effects()), (Some(held), after_first), "{what}: {second:?}");
    } else if bed.effects() == after_first {
        let busy = refused(&second) == Some("AlreadyInProgress");
        assert!(busy || answer(&second).is_some(), "{what}: {second:?}");
    }
    in_the_end(&bed, policy, held.as_ref().or(answer(&second)), &what).await;
}

/// The policy for a panic holds for a claim that may have been applied as well.
#[tokio::test]
async fn a_panic_gives_back_a_claim_that_was_applied_unseen() {
    for (policy, busy) in [(policy(), false), (policy().on_error(OnError::Keep), true)] {
        let bed = Bed::new();
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Release, Fault::ErrorBefore);
        assert!(matches!(deliver(&bed, &policy, Work::Panics).await, End::Panicked));
        let next = deliver(&bed, &policy, Work::Succeeds).await;
        assert_eq!(refused(&next) == Some("AlreadyInProgress"), busy, "{policy:?}: {next:?}");
    }
}
