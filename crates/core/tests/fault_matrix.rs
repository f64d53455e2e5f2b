//! The fault matrix: at each store call each fault, under a function that succeeds, fails, panics or
//! is dropped, and then the next deliveries: at once, and after the lease.
//!
//! Whatever happens: no effect after an answer, one answer for all, no effect while a lease holds, no
//! attempt blocked by its own claim, and the function's own error never hidden.

mod support;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{OnError, Outcome, Policy, RunError};
use support::{Bed, Ran, TIME, order};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Succeeds,
    Fails,
    Panics,
    IsDropped,
}

#[derive(Debug)]
enum End {
    Returned(Ran),
    Panicked,
    Dropped,
}

const WORKS: [Work; 4] = [Work::Succeeds, Work::Fails, Work::Panics, Work::IsDropped];
const FAULTS: [Fault; 5] =
    [Fault::ErrorBefore, Fault::ReplyLost, Fault::Duplicate, Fault::Throttle, Fault::Deny];

async fn deliver(bed: &Bed, policy: &Policy, work: Work) -> End {
    let engine = bed.engine(policy.clone());
    let input = order();
    let run = engine.run(&input, |_| async {
        let effect = bed.effect();
        match work {
            Work::Succeeds => Ok(effect),
            Work::Fails => Err("declined"),
            Work::Panics => panic!("the function panics"),
            Work::IsDropped => std::future::pending().await,
        }
    });
    let run = AssertUnwindSafe(bed.invoke(TIME, run)).catch_unwind();
    let mut run = std::pin::pin!(run);
    for _ in 0..1_000 {
        match futures_util::poll!(&mut run) {
            std::task::Poll::Ready(Ok(ran)) => return End::Returned(ran),
            std::task::Poll::Ready(Err(_)) => return End::Panicked,
            std::task::Poll::Pending => tokio::task::yield_now().await,
        }
    }
    End::Dropped
}

/// The answer that an end gave, if it gave one.
fn answer(end: &End) -> Option<&String> {
    match end {
        End::Returned(Ok(Outcome::Executed(value) | Outcome::Replayed(value, _))) => Some(value),
        _ => None,
    }
}

fn refused(end: &End) -> Option<&'static str> {
    match end {
        End::Returned(Err(RunError::Idempotency(error))) => Some(error.name()),
        _ => None,
    }
}

#[tokio::test]
async fn one_fault_at_a_time() {
    let mut cells = 0;
    for policy in [Policy::new(), Policy::new().on_error(OnError::Keep), Policy::new().at_most_once()] {
        for verb in [Verb::Claim, Verb::Complete, Verb::Release] {
            for fault in FAULTS {
                for work in WORKS {
                    cell(&policy, &[(verb, fault)], work).await;
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 3 * 3 * 5 * 4);
}

#[tokio::test]
async fn two_faults_at_a_time() {
    let verbs = [Verb::Claim, Verb::Complete, Verb::Release];
    let faults: Vec<(Verb, Fault)> =
        verbs.into_iter().flat_map(|verb| FAULTS.into_iter().map(move |fault| (verb, fault))).collect();
    for first in &faults {
        for second in &faults {
            for work in WORKS {
                cell(&Policy::new(), &[*first, *second], work).await;
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
    assert!(after_first <= 1, "{what}: {first:?}");
    // The function's own end is what the caller sees, whatever the store does about it.
    if after_first == 1 {
        match work {
            Work::Succeeds => {
                assert!(
                    answer(&first).is_some() || refused(&first) == Some("NotRecorded"),
                    "{what}: {first:?}"
                );
            }
            Work::Fails => {
                assert!(
                    matches!(first, End::Returned(Err(RunError::Function("declined")))),
                    "{what}: {first:?}"
                );
            }
            Work::Panics => assert!(matches!(first, End::Panicked), "{what}: {first:?}"),
            Work::IsDropped => assert!(matches!(first, End::Dropped), "{what}: {first:?}"),
        }
    } else {
        // Refused by the store, and said so: never a silent success, and never blocked by its own claim.
        assert_eq!(refused(&first), Some("Store"), "{what}: {first:?}");
    }

    // The next delivery, at once; a second fault may meet it.
    let second_fault = faults.len() > 1;
    if !second_fault {
        bed.store.heal();
    }
    let second = deliver(&bed, policy, Work::Succeeds).await;
    let after_second = bed.effects();
    bed.store.heal();
    if answer(&first).is_some() {
        let same = answer(&second) == answer(&first) || (second_fault && refused(&second) == Some("Store"));
        assert!(same && after_second == after_first, "{what}: {second:?}");
    } else {
        // Either the key was free and this is a real attempt, or the lease holds and nothing ran.
        let ran = after_second == after_first + 1;
        assert!(
            ran || refused(&second).is_some() || answer(&second).is_some(),
            "{what}: {second:?} after {first:?}"
        );
        if matches!(work, Work::Succeeds | Work::IsDropped) && after_first == 1 {
            assert!(!ran, "{what}: an effect while the lease holds: {second:?} after {first:?}");
        }
    }

    // When every lease has passed, somebody gets through, or (at-most-once) is told why not.
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
    let third = deliver(&bed, policy, Work::Succeeds).await;
    let known = answer(&first).or(answer(&second));
    match known {
        Some(known) => {
            assert_eq!(answer(&third), Some(known), "{what}: {third:?}");
            assert_eq!(bed.effects(), after_second, "{what}: an effect after an answer");
        }
        None => {
            let interrupted = refused(&third) == Some("Interrupted");
            assert!(answer(&third).is_some() || interrupted, "{what}: {third:?}");
        }
    }

    // And from then on there is one answer.
    if let Some(known) = answer(&third) {
        let effects = bed.effects();
        bed.clock.advance(TIME * 2);
        let fourth = deliver(&bed, policy, Work::Succeeds).await;
        assert_eq!((answer(&fourth), bed.effects()), (Some(known), effects), "{what}: {fourth:?}");
    }
}
