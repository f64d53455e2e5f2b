//! Waiting for the attempt at work: each look and each claim of the one who waits can go wrong, while the
//! first one ends in every way.

use std::cell::Cell;
use std::future::ready;
use std::task::Poll;
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Clock, InProgress, Policy};

use crate::deliveries::{
    Delivery, End, FAULTS, WORKS, Work, answer, deliver, delivery, finish, in_the_end, is_end_of, refused,
};
use crate::support::{Bed, TIME};

/// Longer than the first one's lease and margin.
const WAIT: Duration = Duration::from_secs(60);

fn policy() -> Policy {
    Policy::new().in_progress(InProgress::Wait(WAIT))
}

#[tokio::test]
async fn one_look_or_one_claim_fails() {
    for verb in [Verb::Get, Verb::Claim, Verb::Complete, Verb::Release] {
        for fault in FAULTS {
            for first in WORKS {
                for second in WORKS {
                    cell(&[(verb, fault)], first, second).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_look_fails_and_the_claim_after_it() {
    for look in FAULTS {
        for claim in FAULTS {
            for first in WORKS {
                cell(&[(Verb::Get, look), (Verb::Claim, claim)], first, Work::Succeeds).await;
            }
        }
    }
}

#[tokio::test]
async fn several_looks_fail() {
    for fault in FAULTS {
        for first in WORKS {
            cell(&[(Verb::Get, fault); 5], first, Work::Succeeds).await;
        }
    }
}

/// The faults meet the second one, which waits; the first one ends as said while it does.
async fn cell(faults: &[(Verb, Fault)], first: Work, second: Work) {
    let what = format!("{faults:?}, first {first:?}, second {second:?}");
    let bed = Bed::new();
    let go_on = Cell::new(false);
    let mut at_work = Some(held(&bed, first, &go_on));
    assert!(futures_util::poll!(at_work.as_mut().expect("is there")).is_pending());
    assert_eq!(bed.effects(), 1);
    let lease_end = bed.record().and_then(|record| record.lease_end).expect("in progress");

    // One who waits does not claim before the first look, so its own first claim is never broken.
    let waits = delivery(&bed, policy(), TIME * 10, second, |_| ready(()));
    let mut waits = Box::pin(waits);
    let mut second_end = None;
    let mut first_end = None;
    for step in 0..1_000 {
        if let Poll::Ready(end) = futures_util::poll!(&mut waits) {
            second_end = Some(end);
            break;
        }
        tokio::task::yield_now().await;
        if step == 0 {
            assert_eq!(bed.effects(), 1, "{what}: it did not wait");
            for (verb, fault) in faults {
                if matches!(verb, Verb::Get | Verb::Claim) {
                    bed.store.break_next(*verb, *fault);
                }
            }
        }
        if step == 2
            && let Some(at_work) = at_work.take()
        {
            go_on.set(true);
            first_end = match first {
                Work::IsDropped => None,
                _ => Some(finish(at_work).await),
            };
            for (verb, fault) in faults {
                if matches!(verb, Verb::Complete | Verb::Release) {
                    bed.store.break_next(*verb, *fault);
                }
            }
        }
        if first == Work::IsDropped && bed.clock.now() <= lease_end.plus(Policy::DEFAULT_MARGIN) {
            assert_eq!(bed.effects(), 1, "{what}: an effect while the lease holds");
        }
    }
    let waited = second_end.unwrap_or(End::Dropped);
    let effects = bed.effects();
    let first_answer = first_end.as_ref().and_then(answer);
    match first_answer {
        Some(one) => {
            assert_eq!(effects, 1, "{what}: an effect after an answer");
            let away = matches!(refused(&waited), Some("Store" | "AlreadyInProgress"));
            assert!(away || answer(&waited) == Some(one), "{what}: {waited:?}");
        }
        None => {
            assert!(effects <= 2, "{what}: {waited:?}");
            if effects == 2 {
                assert!(is_end_of(second, &waited), "{what}: {waited:?}");
            } else {
                let refusal =
                    matches!(refused(&waited), Some("Store" | "AlreadyInProgress" | "DeadlinePassed"));
                assert!(refusal, "{what}: {waited:?}");
            }
        }
    }
    // Trouble that passes has not ended the wait.
    let passes =
        !faults.iter().any(|(verb, fault)| *fault == Fault::Deny && matches!(verb, Verb::Get | Verb::Claim))
            && !faults.iter().any(|(_, fault)| matches!(fault, Fault::Delay(by) if *by > TIME));
    if passes {
        assert!(answer(&waited).is_some() || effects == 2, "{what}: {waited:?}");
    }

    bed.store.heal();
    let known = first_answer.or(answer(&waited)).cloned();
    let third = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    if known.is_some() {
        assert_eq!((answer(&third), bed.effects()), (known.as_ref(), effects), "{what}: {third:?}");
    }
    // The second one had ten times as long.
    bed.clock.advance(TIME * 10);
    in_the_end(&bed, &Policy::new(), known.as_ref().or(answer(&third)), &what).await;
}

/// A run that ends when it is told to.
fn held<'a>(bed: &'a Bed, work: Work, go_on: &'a Cell<bool>) -> Delivery<'a> {
    delivery(bed, Policy::new(), TIME, work, move |_| async {
        while !go_on.get() {
            tokio::task::yield_now().await;
        }
    })
}
