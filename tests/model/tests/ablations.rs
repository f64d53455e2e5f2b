//! Every necessary rule, taken away, breaks a promise. These tests fail if it does not.
//!
//! `cargo test -p protocol-model --test ablations -- --nocapture` prints the counter-examples.

use std::time::Duration;

use protocol_model::check::counterexample_to;
use protocol_model::properties::{
    AT_MOST_ONCE, INFORMED, LOUD_CONFLICT, NO_FALSE_ALARM, NO_SELF_BLOCK, OWN_CONTENT, PROGRESS,
    RECORD_SAFETY, SINGLE_ANSWER, SINGLE_COMMIT, SINGLE_EXECUTION,
};
use protocol_model::rules::UNCONDITIONAL;
use protocol_model::{Config, Rule, counterexample, presets};

/// Without `rules`, `world` has a shortest counter-example, and it breaks `promise`.
fn breaks(rules: &[Rule], world: Config, promise: &str) {
    let name = world.name;
    let Some(found) = counterexample(world, rules) else {
        panic!("without {rules:?} nothing goes wrong in `{name}`");
    };
    println!("without {rules:?}, in `{name}`: {found}");
    assert_eq!(found.property, promise, "without {rules:?}, in `{name}`: {found}");
}

macro_rules! necessary {
    ($($test:ident: without $rule:ident, $world:ident breaks $promise:ident;)+) => {
        $(
            #[test]
            fn $test() {
                breaks(&[Rule::$rule], presets::$world(), $promise);
            }
        )+
    };
}

necessary! {
    a_claim_may_not_expire_before_its_lease_and_margin:
        without ExpirationCoversLease, short_expiry breaks SINGLE_EXECUTION;
    other_content_may_not_take_over: without TakeoverSameContent, contents breaks LOUD_CONFLICT;
    an_attempt_must_recognise_its_own_claim: without OwnClaimIsMine, deadlines breaks NO_SELF_BLOCK;
    an_attempt_must_recognise_its_own_claim_when_it_reads_it:
        without OwnClaimIsMine, read_after_refusal breaks NO_SELF_BLOCK;
    an_overtaken_attempt_may_not_complete: without CompleteOwner, zombies breaks RECORD_SAFETY;
    an_overtaken_attempt_may_not_answer_with_its_own_result:
        without OvertakenNotOwnResult, zombies breaks SINGLE_ANSWER;
    an_overtaken_attempt_may_not_take_an_answer_to_other_content:
        without OvertakenSameContent, lives breaks OWN_CONTENT;
    an_overtaken_attempt_may_not_take_an_answer_that_is_not_comparable:
        without OvertakenComparable, edited_rules breaks OWN_CONTENT;
    an_overtaken_attempt_may_not_release: without ReleaseOwner, zombies breaks RECORD_SAFETY;
    a_final_record_may_not_be_released: without ReleaseUnfinished, transactions breaks RECORD_SAFETY;
    a_transaction_may_not_be_applied_over_its_own_record:
        without CommitUnfinished, transactions breaks SINGLE_COMMIT;
    an_overtaken_attempt_may_not_renew: without RenewOwner, renewals_of_zombies breaks RECORD_SAFETY;
    a_final_record_may_not_be_renewed: without RenewUnfinished, renewals breaks RECORD_SAFETY;
    a_late_renewal_may_not_shorten_the_lease: without RenewForward, renewals breaks SINGLE_EXECUTION;
    a_renewal_must_keep_expiration_behind_the_lease:
        without RenewCoversLease, renewals breaks SINGLE_EXECUTION;
}

/// Clocks that are a second off either way need two seconds of margin.
#[test]
fn the_margin_must_be_twice_the_skew() {
    let margin = Duration::from_secs(1);
    breaks(&[], Config { margin, ..presets::deadlines() }, SINGLE_EXECUTION);
    breaks(&[], Config { margin, ..presets::renewals() }, SINGLE_EXECUTION);
}

// Rules that the promises imply without the word.
necessary! {
    an_abandoned_claim_can_be_taken_over: without TakeoverAtAll, deadlines breaks PROGRESS;
    an_answer_is_for_its_own_content_only: without MismatchIsLoud, contents breaks OWN_CONTENT;
    at_most_once_is_never_taken_over: without AtMostOnceHolds, at_most_once breaks AT_MOST_ONCE;
    at_most_once_is_never_taken_over_after_a_renewal:
        without AtMostOnceHolds, at_most_once_renewed breaks AT_MOST_ONCE;
}

// Rules around the decisions, for engines and stores.
necessary! {
    at_most_once_is_not_shortened_by_a_renewal:
        without RenewNotEarlier, at_most_once_renewed breaks AT_MOST_ONCE;
    a_renewal_must_recognise_its_own_effect: without OwnRenewalIsMine, renewal breaks NO_FALSE_ALARM;
    an_own_claim_holds_as_long_as_its_record_says:
        without LeaseFromRecord, claims_made_anew breaks SINGLE_EXECUTION;
    a_takeover_that_fails_must_leave_the_record: without TakeoverLeaves, zombies breaks INFORMED;
    an_attempt_may_not_begin_after_its_lease: without StartWithinLease, renewal breaks SINGLE_EXECUTION;
    a_transaction_may_not_be_applied_after_its_own_expiration:
        without CommitBeforeOwnExpiry, transactions_that_expire breaks SINGLE_COMMIT;
}

/// No owner, unconditional update and delete, no look at the content: it breaks all but at-most-once.
#[test]
fn unconditional_writes_break_the_promises() {
    let cases = [
        (presets::zombies(), RECORD_SAFETY),
        (presets::zombies(), SINGLE_ANSWER),
        (presets::contents(), LOUD_CONFLICT),
        (presets::deadlines(), NO_SELF_BLOCK),
        (presets::contents(), SINGLE_EXECUTION),
    ];
    for (world, promise) in cases {
        let name = world.name;
        let found = counterexample_to(world, &UNCONDITIONAL, promise);
        let Some(found) = found else { panic!("unconditional writes keep `{promise}` in `{name}`") };
        println!("unconditional writes, in `{name}`: {found}");
    }
}
