//! What a fingerprint covers, its rule, and how two of them compare.

use lambda_idempotency_key::{Comparable, Comparison, Fingerprint, KeyError, Secret, Validation};

fn of(fingerprint: &Fingerprint, json: &str) -> Validation {
    fingerprint.of(json).expect("valid").expect("not off")
}

fn narrowed(text: &str) -> Fingerprint {
    Fingerprint::parse(text).expect(text)
}

/// Version and rule.
fn prefix(validation: &Validation) -> &str {
    match validation.comparable() {
        Comparable::StartingWith(prefix) => prefix,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_whole_input_is_compared_by_its_meaning() {
    let a = of(&Fingerprint::Whole, r#"{"a":1.0,"b":"\u00e9"}"#);
    assert_eq!(a.compare(of(&Fingerprint::Whole, r#" {"b":"é", "a":1e0} "#).as_str()), Comparison::Same);
    assert_eq!(a.compare(of(&Fingerprint::Whole, r#"{"b":"é","a":2}"#).as_str()), Comparison::Different);
    assert_eq!(narrowed("@"), Fingerprint::Whole);
}

#[test]
fn only_the_word_none_switches_it_off() {
    assert_eq!(narrowed("none"), Fingerprint::Off);
    assert_eq!(Fingerprint::Off.of("not even JSON"), Ok(None));
    assert!(Fingerprint::parse("").is_err());
    assert!(matches!(narrowed(r#""none""#), Fingerprint::Narrowed(_)));
}

#[test]
fn what_a_narrowed_fingerprint_leaves_out_may_differ() {
    let items = narrowed("order.items");
    let a = of(&items, r#"{"order":{"items":[1]},"sent":1}"#);
    assert_eq!(a, of(&items, r#"{"order":{"items":[1.0]},"sent":2}"#));
    assert_ne!(a, of(&items, r#"{"order":{"items":[2]},"sent":1}"#));
    // Nothing is a content too.
    assert_eq!(of(&items, "{}"), of(&items, r#"{"order":null}"#));
}

#[test]
fn an_edited_rule_is_not_comparable_and_never_a_mismatch() {
    let json = r#"{"a":1,"b":2}"#;
    let whole = of(&Fingerprint::Whole, json);
    for other in [of(&narrowed("a"), json), of(&narrowed("[a, b]"), json)] {
        assert_eq!(whole.compare(other.as_str()), Comparison::NotComparable);
        assert_eq!(other.compare(whole.as_str()), Comparison::NotComparable);
        assert_ne!(prefix(&whole), prefix(&other));
    }
    for stored in ["", "1:", "md5", "2:00000000:ab", prefix(&whole).trim_end_matches(':')] {
        assert_eq!(whole.compare(stored), Comparison::NotComparable, "{stored}");
    }
    assert_eq!(whole.compare(prefix(&whole)), Comparison::Different);
    assert_eq!(whole.compare(whole.as_str()), Comparison::Same);
}

#[test]
fn with_a_secret_trying_inputs_does_not_find_the_content() {
    let secret = Secret::new("0123456789abcdef").unwrap();
    let other = Secret::new("0123456789abcdeF").unwrap();
    let json = r#"{"order_id":77,"version":3}"#;
    for fingerprint in [Fingerprint::Whole, narrowed("[order_id, version]")] {
        let with = |secret| fingerprint.of_with(json, Some(secret)).expect("valid").expect("not off");
        let (plain, keyed) = (of(&fingerprint, json), with(&secret));
        assert_eq!(keyed, with(&secret));
        let content = |validation: &Validation| validation.as_str()[prefix(validation).len()..].to_owned();
        assert_ne!(content(&keyed), content(&plain));
        assert_ne!(content(&keyed), content(&with(&other)));
        // A secret that comes or goes is another rule, and no mismatch.
        assert_eq!(keyed.compare(plain.as_str()), Comparison::NotComparable);
        assert_eq!(plain.compare(keyed.as_str()), Comparison::NotComparable);
    }
    assert_eq!(Fingerprint::Off.of_with(json, Some(&secret)), Ok(None));
}

#[test]
fn the_stored_form_is_version_rule_and_hash() {
    let text = of(&Fingerprint::Whole, "1");
    let parts: Vec<_> = text.as_str().split(':').collect();
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [1, 8, 64]);
    assert_eq!(prefix(&text), format!("1:{}:", parts[1]));
}

#[test]
fn members_that_events_have_too_are_compared_like_any_other() {
    let plain = of(&Fingerprint::Whole, "1");
    for name in ["Records", "eventSource", "requestContext", "detail-type", "request\\u0043ontext"] {
        let json = |n| [format!(r#"{{"a":1,"{name}":{n}}}"#), format!(r#"[{{"x":{{"{name}":{n}}}}}]"#)];
        for (one, two) in json(1).iter().zip(&json(2)) {
            let (one, two) = (of(&Fingerprint::Whole, one), of(&Fingerprint::Whole, two));
            assert_eq!(prefix(&one), prefix(&plain));
            assert_eq!(one.compare(two.as_str()), Comparison::Different);
        }
    }
}

#[test]
fn an_input_that_cannot_be_read_is_an_error() {
    for fingerprint in [Fingerprint::Whole, narrowed("a")] {
        for json in ["", "{", r#"{"a":1,"a":2}"#] {
            let error = fingerprint.of(json).expect_err(json);
            assert!(matches!(error, KeyError::InvalidFingerprint { .. }));
            assert!(error.to_string().contains("the fingerprint `"), "{error}");
        }
    }
}

#[test]
fn what_is_new_at_every_delivery_cannot_be_compared() {
    for text in [
        "Records[0].receiptHandle",
        "[body, attributes.ApproximateReceiveCount]",
        "requestContext.requestId",
        "requestContext",
        "Records[0]",
        "[requestContext][0]",
    ] {
        let told = Fingerprint::parse(text).expect_err(text).to_string();
        assert!(told.contains("cannot be compared") && told.contains("each redelivery"), "{told}");
    }
    for text in ["Records[0].body", "powertools_json(body).amount", "[instruction, model]", "detail"] {
        assert!(Fingerprint::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn none_in_other_letters_is_not_taken_for_a_member_that_nobody_has() {
    for text in ["None", "NONE", " nOne "] {
        let told = Fingerprint::parse(text).expect_err(text).to_string();
        assert!(told.contains("write `none`"), "{told}");
    }
    assert!(matches!(Fingerprint::parse(r#""None""#), Ok(Fingerprint::Narrowed(_))));
}
