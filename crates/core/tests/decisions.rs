//! The pure decisions under random states, against a reference written another way.

use std::time::Duration;

use lambda_idempotency_core::decide::{
    Claimant, Completion, Content, Deadline, Overtaken, Verdict, claimable, classify, lease_times,
    may_complete, may_release, may_renew, overtaken_by, same_content,
};
use lambda_idempotency_core::key::{Expression, Fingerprint, Key, Name};
use lambda_idempotency_core::{
    EpochMillis, EpochSeconds, Lease, Owner, Policy, Record, RecordId, RenewRequest, Status, Validation,
};
use proptest::prelude::*;

fn id() -> RecordId {
    let name = Name::new("decisions").expect("a name");
    RecordId::new(&name, None, &Key::parse("@").expect("a key").of("1").expect("a value"), None)
}

/// None, two contents under one rule, one under another.
fn validation(number: u8) -> Option<Validation> {
    let rule = |text| Fingerprint::Narrowed(Expression::parse(text).expect("a rule"));
    match number {
        0 => None,
        1 => Fingerprint::Whole.of("1").expect("a fingerprint"),
        2 => Fingerprint::Whole.of("2").expect("a fingerprint"),
        _ => rule("[@]").of("1").expect("a fingerprint"),
    }
}

fn owner(number: u8) -> Owner {
    Owner::from_text(format!("owner-{number}"))
}

/// Instants around one second boundary, and the absurd ones.
fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => 1_900_000_000_000_i64 - 5_000..1_900_000_000_000 + 5_000,
        1 => prop_oneof![Just(0), Just(i64::MAX), Just(i64::MIN), Just(-1)],
    ]
}

prop_compose! {
    fn record()(
        expiration in prop_oneof![8 => 1_900_000_000_i64 - 5..1_900_000_000 + 5, 1 => Just(i64::MAX), 1 => Just(0)],
        status in prop_oneof![Just(Status::InProgress), Just(Status::Completed), Just(Status::Failed)],
        lease_end in prop::option::of(instant()),
        deadline in prop::option::weighted(0.3, instant()),
        holder in prop::option::weighted(0.9, 0..3_u8),
        content in 0..4_u8,
    ) -> Record {
        Record {
            id: id(),
            expiration: EpochSeconds::new(expiration),
            status,
            lease_end: lease_end.map(EpochMillis::new),
            owner: holder.map(owner),
            validation: validation(content).map(|v| v.as_str().to_owned()),
            data: None,
            encoding: None,
            stored_at: None,
            deadline: deadline.map(EpochMillis::new),
        }
    }
}

/// The claim condition in the words of the protocol, by 128-bit arithmetic.
fn may_claim(record: &Record, mine: Option<&Validation>, margin_ms: i128, now: i128) -> bool {
    let expired = now >= (i128::from(record.expiration.get()) + 1) * 1000;
    let lease_passed = record.lease_end.is_some_and(|end| i128::from(end.get()) + margin_ms < now);
    let same = match (&record.validation, mine) {
        (Some(stored), Some(mine)) => stored == mine.as_str() || stored.get(..11) != mine.as_str().get(..11),
        _ => true,
    };
    expired || (record.status == Status::InProgress && lease_passed && same)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn the_claim_condition_is_the_protocols(
        record in record(), content in 0..4_u8, now in 1_900_000_000_000_i64 - 9_000..1_900_000_000_000 + 9_000,
        margin in 0..4_000_u64,
    ) {
        let (mine, asking) = (validation(content), owner(7));
        let claimant = Claimant { owner: &asking, validation: mine.as_ref(), margin: Duration::from_millis(margin) };
        let expected = may_claim(&record, mine.as_ref(), i128::from(margin), i128::from(now));
        prop_assert_eq!(claimable(&record, claimant, EpochMillis::new(now)).is_some(), expected);
    }

    #[test]
    fn classification_agrees_with_the_condition_and_is_total(
        record in record(), content in 0..4_u8, asking in 0..4_u8, now in instant(), margin in 0..4_000_u64,
    ) {
        let (mine, asking, now) = (validation(content), owner(asking), EpochMillis::new(now));
        let claimant = Claimant { owner: &asking, validation: mine.as_ref(), margin: Duration::from_millis(margin) };
        let verdict = classify(&record, claimant, now);
        let own = record.status == Status::InProgress && record.owner.as_ref() == Some(&asking);
        match verdict {
            Verdict::Mine => prop_assert!(own),
            Verdict::Claimable(replaced) => prop_assert_eq!(claimable(&record, claimant, now), Some(replaced)),
            ref other => {
                prop_assert!(!own);
                prop_assert_eq!(claimable(&record, claimant, now), None);
                let different = same_content(&record, mine.as_ref()) == Content::Different;
                prop_assert_eq!(matches!(other, Verdict::Mismatch), different);
            }
        }
        // Nobody gets an answer to other content, and an answer comes from a final record only.
        if matches!(verdict, Verdict::ReplayResult | Verdict::ReplayFailure) {
            prop_assert!(record.status.is_final());
            prop_assert!(same_content(&record, mine.as_ref()) != Content::Different);
        }
    }

    #[test]
    fn what_can_be_claimed_stays_claimable(
        record in record(), content in 0..4_u8, now in instant(), later in 0..10_000_000_u64, margin in 0..4_000_u64,
    ) {
        let (mine, asking, now) = (validation(content), owner(7), EpochMillis::new(now));
        let claimant = Claimant { owner: &asking, validation: mine.as_ref(), margin: Duration::from_millis(margin) };
        if claimable(&record, claimant, now).is_some() {
            prop_assert!(claimable(&record, claimant, now.plus(Duration::from_millis(later))).is_some());
        }
    }

    #[test]
    fn retry_at_is_the_first_moment_at_which_a_retry_helps(
        record in record(), content in 0..4_u8, now in 1_900_000_000_000_i64 - 9_000..1_900_000_000_000 + 9_000,
        margin in 0..4_000_u64,
    ) {
        let (mine, asking) = (validation(content), owner(7));
        let claimant = Claimant { owner: &asking, validation: mine.as_ref(), margin: Duration::from_millis(margin) };
        if let Verdict::Busy { retry_at } = classify(&record, claimant, EpochMillis::new(now)) {
            prop_assert!(retry_at > EpochMillis::new(now));
            if retry_at < EpochMillis::MAX {
                let just_before = retry_at.minus(Duration::from_millis(1));
                let busy = |verdict: &Verdict| matches!(verdict, Verdict::Busy { .. });
                let before = classify(&record, claimant, just_before);
                prop_assert!(busy(&before), "{:?}", before);
                let then = classify(&record, claimant, retry_at);
                prop_assert!(!busy(&then), "{:?}", then);
            }
        }
    }

    #[test]
    fn only_the_holder_completes_releases_and_renews(
        record in record(), asking in 0..4_u8, now in instant(), lease in instant(),
    ) {
        let (asking, now) = (owner(asking), EpochMillis::new(now));
        let mine = record.owner.as_ref() == Some(&asking);
        let completes = may_complete(Some(&record), &asking, now) == Completion::Write;
        prop_assert_eq!(completes, mine || record.is_expired(now));
        let unfinished = record.status == Status::InProgress;
        prop_assert_eq!(may_release(Some(&record), &asking), mine && unfinished);
        let renewal = RenewRequest {
            id: id(),
            owner: asking,
            lease_end: EpochMillis::new(lease),
            expiration: EpochSeconds::new(0),
            deadline: None,
            now,
        };
        let grows = record.lease_end.is_some_and(|end| end.get() < lease);
        prop_assert_eq!(may_renew(Some(&record), &renewal), mine && unfinished && grows && !record.is_expired(now));
    }

    #[test]
    fn an_overtaken_holder_gets_a_final_answer_to_provably_the_same_content(record in record(), content in 0..4_u8) {
        let mine = validation(content);
        let equal = record.validation.as_deref() == mine.as_ref().map(Validation::as_str);
        let answer = overtaken_by(&record, mine.as_ref()) == Overtaken::Answer;
        prop_assert_eq!(answer, record.status.is_final() && equal);
    }

    #[test]
    fn a_record_never_expires_before_its_lease_and_margin(
        deadline in prop_oneof![any::<u64>(), 1_899_999_999_000_u64..1_900_000_999_000],
        expires_after in any::<u32>(), margin in any::<u16>(), fixed in prop::option::of(any::<u32>()),
        extra in prop::option::of(any::<u32>()), once in any::<bool>(),
    ) {
        let now = EpochMillis::new(1_900_000_000_123);
        let margin = Duration::from_millis(u64::from(margin));
        let mut policy = Policy::new().margin(margin);
        if let Some(extra) = extra {
            policy = policy.lease(Lease::DeadlinePlus(Duration::from_millis(u64::from(extra))));
        }
        if let Some(fixed) = fixed {
            policy = policy.lease(Lease::Fixed(Duration::from_millis(u64::from(fixed))));
        }
        if once {
            policy = policy.at_most_once();
        }
        let expires_after = Duration::from_millis(u64::from(expires_after));
        let times = lease_times(&policy, expires_after, Deadline::from_epoch_millis(deadline), now);
        prop_assert!(times.expiration.start() >= times.holder_until.plus(margin));
        prop_assert!(times.expiration.start() >= now.plus(expires_after));
        prop_assert_eq!(times.deadline, once.then_some(times.holder_until));
        if once {
            prop_assert!(times.lease_end >= times.expiration.end());
        } else {
            prop_assert_eq!(times.lease_end, times.holder_until);
        }
        if fixed.is_none() && extra.is_none() {
            prop_assert!(times.holder_until <= now.plus(Duration::from_secs(900)));
        }
    }
}

#[test]
fn deadlines_that_cannot_be_an_instant_are_unknown() {
    for deadline in [0, 1, 600_000, 999_999_999_999] {
        assert_eq!(Deadline::from_epoch_millis(deadline), Deadline::Unknown, "{deadline}");
    }
    let now = EpochMillis::new(1_900_000_000_000);
    let past = Deadline::from_epoch_millis(1_900_000_000_000 - 3_600_000);
    assert!(past.has_passed(now));
    for far in [1_900_000_000_000 + 10 * 365 * 86_400_000, u64::MAX] {
        let deadline = Deadline::from_epoch_millis(far);
        assert!(!deadline.has_passed(now));
        let times = lease_times(&Policy::new(), Duration::from_secs(1), deadline, now);
        assert_eq!(times.lease_end, now.plus(Duration::from_secs(900)), "{far} counts as 15 minutes");
    }
}
