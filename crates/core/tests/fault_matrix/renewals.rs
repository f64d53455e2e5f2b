//! Renewal, and the read that follows a refused one, while another delivery looks in at every step.

use std::cell::Cell;
use std::future::ready;
use std::task::Poll;
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Clock, Lease, OnError, Policy, Status};

use crate::deliveries::{
    Delivery, End, FAULTS, WORKS, Work, answer, deliver, delivery, finish, in_the_end, is_end_of, refused,
};
use crate::support::{Bed, TIME};

/// Of the function, so that its lease is renewed several times.
const RUN: Duration = Duration::from_secs(150);
/// What one delivery may take at most; it has no say in a renewed lease.
const PATIENCE: Duration = Duration::from_secs(900);
/// Longer than a renewed lease and its margin.
const TOO_LONG: Duration = Duration::from_secs(65);

fn policy() -> Policy {
    Policy::new().lease(Lease::renewed())
}

#[tokio::test]
async fn one_renewal_fails() {
    for policy in [policy(), policy().on_error(OnError::Keep), policy().at_most_once()] {
        for fault in
            FAULTS.into_iter().chain([Fault::Delay(TOO_LONG), Fault::Stray(TOO_LONG), Fault::Stray(RUN)])
        {
            for work in WORKS {
                cell(&policy, &[(Verb::Renew, fault)], work).await;
            }
        }
    }
}

/// `Duplicate` and `ReplyLost` make the engine look whether the record is still its own.
#[tokio::test]
async fn a_renewal_fails_and_the_look_at_the_record_as_well() {
    for renewal in FAULTS.into_iter().chain([Fault::Delay(TOO_LONG)]) {
        for look in FAULTS.into_iter().chain([Fault::Delay(TOO_LONG)]) {
            for work in WORKS {
                cell(&policy(), &[(Verb::Renew, renewal), (Verb::Get, look)], work).await;
            }
        }
    }
}

#[tokio::test]
async fn every_renewal_fails() {
    for fault in FAULTS {
        for work in WORKS {
            cell(&policy(), &[(Verb::Renew, fault); 12], work).await;
        }
    }
}

#[tokio::test]
async fn a_renewal_fails_and_the_end_of_the_function_as_well() {
    for renewal in FAULTS {
        for end in FAULTS {
            for verb in [Verb::Complete, Verb::Release] {
                for work in WORKS {
                    cell(&policy(), &[(Verb::Renew, renewal), (verb, end)], work).await;
                }
            }
        }
    }
}

/// A run that lasts until so late, or until it knows that its lease is lost.
fn long_run<'a>(bed: &'a Bed, policy: &Policy, work: Work, lost: &'a Cell<bool>) -> Delivery<'a> {
    let until = bed.clock.now().plus(RUN);
    delivery(bed, policy.clone(), PATIENCE, work, move |attempt| async move {
        while bed.clock.now() < until && !attempt.is_lost() {
            tokio::task::yield_now().await;
        }
        lost.set(attempt.is_lost());
    })
}

async fn cell(policy: &Policy, faults: &[(Verb, Fault)], work: Work) {
    let what = format!("{faults:?}, work {work:?}, {policy:?}");
    let bed = Bed::new();
    for (verb, fault) in faults {
        bed.store.break_next(*verb, *fault);
    }
    let lost = Cell::new(false);
    let mut first = long_run(&bed, policy, work, &lost);
    let mut successor = None;
    let mut ended = None;
    for _ in 0..200 {
        if let Poll::Ready(end) = futures_util::poll!(&mut first) {
            ended = Some(end);
            break;
        }
        if bed.effects() == 0 || successor.is_some() {
            continue;
        }
        let Some(before) = bed.record() else { continue };
        let (now, effects) = (bed.clock.now(), bed.effects());
        let rival = deliver(&bed, policy, Work::Succeeds).await;
        if bed.effects() > effects {
            // A second effect: only once the lease that the record shows has passed, and the margin.
            let lease_end = before.deadline.or(before.lease_end).expect("in progress");
            assert!(
                now > lease_end.plus(Policy::DEFAULT_MARGIN) && before.status == Status::InProgress,
                "{what}: {rival:?} beside a lease that holds until {lease_end:?} at {now:?}"
            );
            successor = Some(rival);
        } else {
            // The first one's answer can be there before the first one knows.
            let busy = matches!(refused(&rival), Some("AlreadyInProgress" | "Interrupted" | "Store"));
            let right = answer(&rival).is_some_and(|answer| answer == "run-1" && work == Work::Succeeds);
            assert!(busy || right, "{what}: {rival:?}");
        }
    }
    let first = ended.unwrap_or(End::Dropped);
    let after_first = bed.effects();
    // Only renewals that are late by a lease, or no renewal at all, may cost the lease.
    assert!(!lost.get() || loses_the_lease(faults), "{what}: the lease was taken for lost");
    assert!(is_end_of(work, &first), "{what}: {first:?}");
    match &successor {
        Some(rival) => {
            assert!(loses_the_lease(faults), "{what}: the lease was lost");
            // With two long delays the function's own time is over before the second renewal.
            assert!(lost.get() || faults.len() > 1, "{what}: the function was not told");
            assert!(!policy_is_at_most_once(policy), "{what}: {rival:?}");
            if let (Some(one), Some(other)) = (answer(&first), answer(rival)) {
                assert_eq!(one, other, "{what}: two answers");
            }
        }
        None => assert_eq!(after_first, 1, "{what}"),
    }

    let second = finish(delivery(&bed, policy.clone(), TIME, Work::Succeeds, |_| ready(()))).await;
    let known = [Some(&first), successor.as_ref(), Some(&second)].into_iter().flatten().find_map(answer);
    if let Some(known) = [Some(&first), successor.as_ref()].into_iter().flatten().find_map(answer) {
        assert!(answer(&second) == Some(known) || refused(&second) == Some("Store"), "{what}: {second:?}");
        assert_eq!(bed.effects(), after_first, "{what}: an effect after an answer");
    }
    // The longest renewed lease is over after this, and what `in_the_end` adds.
    bed.clock.advance(TOO_LONG);
    in_the_end(&bed, policy, known, &what).await;
}

fn loses_the_lease(faults: &[(Verb, Fault)]) -> bool {
    let late: Duration = faults
        .iter()
        .map(|(_, fault)| match fault {
            Fault::Delay(by) => *by,
            _ => Duration::ZERO,
        })
        .sum();
    faults.len() > 2 || late > Duration::from_secs(30)
}

fn policy_is_at_most_once(policy: &Policy) -> bool {
    format!("{policy:?}").contains("at_most_once: true")
}
