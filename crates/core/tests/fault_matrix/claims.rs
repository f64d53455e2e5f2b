//! The three verbs of every call: claim, complete, release.

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{OnError, Policy};

use crate::deliveries::{FAULTS, WORKS, Work, answer, deliver, in_the_end, is_end_of, refused};
use crate::support::Bed;

const VERBS: [Verb; 3] = [Verb::Claim, Verb::Complete, Verb::Release];

#[tokio::test]
async fn one_fault_at_a_time() {
    let mut cells = 0;
    for policy in [Policy::new(), Policy::new().on_error(OnError::Keep), Policy::new().at_most_once()] {
        for verb in VERBS {
            for fault in FAULTS {
                for work in WORKS {
                    cell(&policy, &[(verb, fault)], work).await;
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 3 * 3 * 9 * 4);
}

#[tokio::test]
async fn two_faults_at_a_time() {
    let faults: Vec<(Verb, Fault)> =
        VERBS.into_iter().flat_map(|verb| FAULTS.into_iter().map(move |fault| (verb, fault))).collect();
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
    if after_first == 1 {
        // The function's own end is what the caller sees, whatever the store does about it.
        assert!(is_end_of(work, &first), "{what}: {first:?}");
        assert_ne!(refused(&first), Some("LeaseLost"), "{what}: nobody else was there");
    } else {
        // Refused by the store, or answered too late, and said so: never a silent success, and never
        // blocked by its own claim.
        assert!(matches!(refused(&first), Some("Store" | "DeadlinePassed")), "{what}: {first:?}");
    }

    // The next delivery, at once; a second fault may meet it.
    let second_fault = faults.len() > 1;
    if !second_fault {
        bed.store.heal();
    }
    let second = deliver(&bed, policy, Work::Succeeds).await;
    let after_second = bed.effects();
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

    in_the_end(&bed, policy, answer(&first).or(answer(&second)), &what).await;
}
