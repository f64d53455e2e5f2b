//! A member that is there twice is refused where its second name stands, however it is looked at.

use lambda_idempotency_key::{
    CanonicalError, CanonicalReason, DecodeReason, Expression, Fingerprint, Key, KeyError, Name, Powertools,
    SelectError, canonical,
};

/// The error, which is that of a member that is there twice; the one byte that `»` marks is its place.
fn check(what: &str, marked: &str, error: &CanonicalError) {
    assert_eq!(error.reason(), CanonicalReason::DuplicateMember, "{what} on {marked}");
    let place = marked.find('»').expect("the place is marked");
    assert_eq!(error.offset(), place, "{what} on {marked}");
}

fn unmarked(marked: &str) -> String {
    marked.replace('»', "")
}

fn selected(expression: &str, json: &str) -> Result<String, SelectError> {
    let expression = Expression::parse(expression).expect(expression);
    expression.select(json).map(|selection| selection.as_str().to_owned())
}

#[test]
fn the_second_name_is_shown_by_everything_that_looks_it_up() {
    for marked in [
        r#"{"first":0,"x":{"a":1,"b":2,»"a":3}}"#,
        r#"{"first":0,"x":{"a":{"c":1},»"a":{"c":1}}}"#,
        "\n{ \"first\" : 0 , \"x\" :\t{ \"a\" : 1 , \"b\" : 2 ,  »\"a\" : 3 } }",
        r#"{"first":0,"x":{"a":1,"b":2,»"\u0061":3}}"#,
        r#"{"first":0,"x":{"\u0061":1,"b":2,»"a":3}}"#,
        r#"{"\u0066irst":0,"\u0078":{"\u0061":[],»"\u0061":[]}}"#,
    ] {
        let json = unmarked(marked);
        check("canonical", marked, &canonical(&json).expect_err(&json));
        for expression in [
            "@",
            "x",
            "[x]",
            "{x: x}",
            "x.a",
            "x.a.c",
            "x | a",
            "[x.a, x.b]",
            "nothing || x.a",
            "x.*",
            "x.keys(@)",
            "*",
            "*.a",
            "values(@)",
            "to_array(x)",
            "to_array(x)[0].a",
            "to_string(x)",
            "merge(x, x)",
            "not_null(x).a",
            "length(x)",
            "x == `{}`",
            "x == x",
            "[@][0].x.a",
        ] {
            match selected(expression, &json) {
                Err(SelectError::Json(error)) => check(expression, marked, &error),
                other => panic!("{expression} on {marked}: {other:?}"),
            }
        }
        assert_eq!(selected("first", &json).expect("not looked at"), "0");
        // Nor is the member beside it.
        assert!(selected("x.b || first", &json).is_ok());
    }
}

#[test]
fn of_three_the_second_is_shown() {
    for marked in [r#"{"a":1,»"a":2,"a":3}"#, r#"{"a":{"b":1},»"a":{"b":1},"a":{"b":1}}"#] {
        for expression in ["a", "a.b", "@", "[a, b]", "keys(@)", "not_null(@).a"] {
            match selected(expression, &unmarked(marked)) {
                Err(SelectError::Json(error)) => check(expression, marked, &error),
                other => panic!("{expression}: {other:?}"),
            }
        }
    }
}

#[test]
fn elements_have_their_own_members() {
    let marked = r#"{"items":[{"a":1},{"a":2},{"b":0,"a":3,»"a":4}]}"#;
    for expression in ["items[*].a", "items[].a", "items[?a].a", "items[2].a", "items[-1].a", "items[1:].a"] {
        match selected(expression, &unmarked(marked)) {
            Err(SelectError::Json(error)) => check(expression, marked, &error),
            other => panic!("{expression}: {other:?}"),
        }
    }
    for (expression, value) in [("items[1].a", "2"), ("items[*].b", "[0]"), ("items[?b].b", "[0]")] {
        assert_eq!(selected(expression, &unmarked(marked)).expect(expression), value);
    }
}

#[test]
fn inside_of_a_text_the_place_is_that_in_the_text() {
    let marked = r#"{"order":{"id":1,"n":2,»"id":3}}"#;
    let json = serde_json::json!({ "first": 0, "body": unmarked(marked) }).to_string();
    for expression in [
        "powertools_json(body).order.id",
        "powertools_json(body).order",
        "powertools_json(body)",
        "powertools_json(body).*",
        "[powertools_json(body).order.n, powertools_json(body).order.id]",
    ] {
        match selected(expression, &json) {
            Err(SelectError::Json(error)) => check(expression, marked, &error),
            other => panic!("{expression}: {other:?}"),
        }
    }
    let once = "powertools_json(body).order.n";
    assert_eq!(selected(once, &json).expect(once), "2");
    // A text that cannot be read is an error of the call.
    let broken = r#"{"body":"{\"order\":{\"id\":1,\"id\":2}"}"#;
    match selected("powertools_json(body).order.id", broken) {
        Err(SelectError::Undecodable { reason: DecodeReason::Json(error), .. }) => {
            assert_eq!(error.reason(), CanonicalReason::Truncated);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_fingerprint_of_an_event_shows_the_place_in_the_event() {
    let bridge = |detail: &str| {
        format!(
            r#"{{"version":"0","id":"i","detail-type":"t","source":"s","account":"123456789012","time":"t","region":"r","resources":[],"detail":{detail}}}"#
        )
    };
    for detail in [r#"{"a":1,»"a":2}"#, r#"{"b":{"a":{"z":1},»"\u0061":{"z":1}}}"#, r#"{"\u0061":0,»"a":1}"#]
    {
        let marked = bridge(detail);
        match Fingerprint::Whole.of(&unmarked(&marked)) {
            Err(KeyError::InvalidFingerprint { reason: SelectError::Json(error), .. }) => {
                check("the fingerprint", &marked, &error);
            }
            other => panic!("{marked}: {other:?}"),
        }
    }
}

#[test]
fn another_languages_spelling_shows_the_same_place() {
    let name = Name::new("orders").expect("a name");
    for marked in [r#"{"z":0,"x":{"a":1,"b":2,»"\u0061":3}}"#, r#"{"x":[{"a":{"b":1},»"a":{"b":1}}]}"#] {
        for expression in ["x", "[x]", "{y: x}", "@"] {
            let key = Key::parse(expression).expect(expression);
            for language in [Powertools::python(), Powertools::typescript()] {
                match language.record_id(&name, &key, &unmarked(marked)) {
                    Err(KeyError::Invalid { reason: SelectError::Json(error), .. }) => {
                        check(expression, marked, &error);
                    }
                    other => panic!("{expression} on {marked}: {other:?}"),
                }
            }
        }
    }
}
