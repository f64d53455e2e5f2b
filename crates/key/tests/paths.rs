//! Expressions whose paths are known before the input is read select what they would without.

use lambda_idempotency_key::{CanonicalReason, DecodeReason, Expression, SelectError, Selection};
use proptest::prelude::*;

/// An expression in two ways of writing it.
#[derive(Clone, Debug)]
struct Twice {
    /// As people write it.
    plain: String,
    /// What a function gives has no place in the input, so that nothing is known of it beforehand.
    unforeseen: String,
}

impl Twice {
    fn both(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { plain: text.clone(), unforeseen: text }
    }

    fn with(parts: &[&Twice], write: impl Fn(&[&str]) -> String) -> Self {
        let of = |side: fn(&Twice) -> &str| write(&parts.iter().map(|part| side(part)).collect::<Vec<_>>());
        Self { plain: of(|part| &part.plain), unforeseen: of(|part| &part.unforeseen) }
    }

    /// The JSON in a text.
    fn inside(text: &Twice) -> Self {
        Self {
            plain: format!("powertools_json({})", text.plain),
            unforeseen: format!("(not_null(powertools_json({})) | @)", text.unforeseen),
        }
    }

    /// With all paths of the input foreseen, and with none.
    fn expressions(&self) -> Option<[Expression; 2]> {
        // A bare `@` is not evaluated but copied, which shows another error if there are two.
        let plain = format!("@ | ({})", self.plain);
        let unforeseen = format!("not_null(@) | ({})", self.unforeseen);
        Some([Expression::parse(&plain).ok()?, Expression::parse(&unforeseen).ok()?])
    }
}

/// A step from a value to one inside.
fn step() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        ".a",
        ".a",
        ".a",
        ".b",
        ".b",
        ".c",
        ".\"\\u0061\"",
        "[0]",
        "[0]",
        "[1]",
        "[3]",
        "[-1]",
        "[*]",
        "[]",
        "[1:]",
        "[::-1]",
        "[?a]",
        "[?a == b]",
        "[?b.a]",
        ".*",
        " | a",
        " | [0]",
        " | @",
    ])
}

fn path() -> impl Strategy<Value = Twice> {
    ("(a|a|b|c|@)", prop::collection::vec(step(), 0..5))
        .prop_map(|(first, steps)| Twice::both(format!("({first}{})", steps.concat())))
}

fn expression() -> impl Strategy<Value = Twice> {
    path().prop_recursive(4, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("({} || {})", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("({} && {})", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("({} | {})", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("({} == {})", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("({} < {})", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("[{}, {}]", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("{}[*].[{}, a.b]", p[0], p[1]))),
            two.clone().prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("{}[?{}].b", p[0], p[1]))),
            two.clone()
                .prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("{{x: {}, y: {}}}", p[0], p[1]))),
            two.prop_map(|(a, b)| Twice::with(&[&a, &b], |p| format!("not_null({}, {})", p[0], p[1]))),
            inner.clone().prop_map(|a| Twice::with(&[&a], |p| format!("!{}", p[0]))),
            inner.clone().prop_map(|a| Twice::with(&[&a], |p| format!("[to_array({})[0].a, @.a]", p[0]))),
            inner.clone().prop_map(|a| Twice::with(&[&a], |p| format!("map(&{}, [@, a])", p[0]))),
            (inner, step()).prop_map(|(a, step)| {
                let inside = Twice::inside(&a);
                Twice::with(&[&inside], |p| format!("({}{step})", p[0]))
            }),
        ]
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " ", "\n", "\t\r "])
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "a", "a", "b", "b", "c", "d", "\\u0061", "\\u0062", "", "a\\n"])
}

/// JSON text, with white space, escapes, and now and then a member twice.
fn json() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => value(),
        3 => prop::collection::vec((name(), value()), 1..4).prop_map(|members| {
            let written = |(name, value): &(&str, String)| format!("\"{name}\":{value}");
            format!("{{{}}}", members.iter().map(written).collect::<Vec<_>>().join(","))
        }),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "1",
        "2.50",
        "\"\"",
        "\"a\"",
        "\"\\u0061\"",
        "{}",
        "[]",
        "[ ]",
        "{ }",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 50, 4, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space()).prop_map(|(parts, space)| {
                format!("[{space}{}{space}]", parts.join(&format!("{space},")))
            }),
            (prop::collection::vec((name(), inner.clone()), 0..5), space()).prop_map(|(members, space)| {
                let written =
                    |(name, value): &(&str, String)| format!("{space}\"{name}\"{space}:{space}{value}");
                format!("{{{}{space}}}", members.iter().map(written).collect::<Vec<_>>().join(","))
            }),
            inner.prop_map(|text| serde_json::Value::from(text).to_string()),
        ]
    })
}

/// What two ways of writing an expression must agree on; the texts of calls and parts differ.
fn comparable(result: Result<Selection, SelectError>) -> Result<(String, bool), SelectError> {
    let call = String::new();
    match result {
        Ok(selection) => Ok((selection.as_str().to_owned(), selection.is_missing())),
        Err(SelectError::WrongType { argument, expected, found, .. }) => {
            Err(SelectError::WrongType { call, argument, expected, found })
        }
        Err(SelectError::Undecodable { reason, .. }) => Err(SelectError::Undecodable { call, reason }),
        Err(other) => Err(other),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn what_is_foreseen_changes_nothing(expression in expression(), json in json()) {
        if let Some([plain, unforeseen]) = expression.expressions() {
            let results = (comparable(plain.select(&json)), comparable(unforeseen.select(&json)));
            prop_assert_eq!(&results.0, &results.1, "{} on {}", plain.as_str(), json);
        }
    }

    #[test]
    fn a_damaged_text_has_one_error(expression in expression(), json in json(), at: usize, with in "[\\[\\]{},:\"x ]") {
        let at = at % json.len();
        let damaged = format!("{}{with}{}", &json[..at], &json[at + 1..]);
        if let Some([plain, unforeseen]) = expression.expressions() {
            let results = (comparable(plain.select(&damaged)), comparable(unforeseen.select(&damaged)));
            prop_assert_eq!(&results.0, &results.1, "{} on {}", plain.as_str(), damaged);
        }
    }
}

fn select(expression: &str, json: &str) -> Result<String, SelectError> {
    let expression = Expression::parse(expression).expect(expression);
    expression.select(json).map(|selection| selection.as_str().to_owned())
}

#[test]
fn one_place_serves_several_paths() {
    let json = r#"{"a":{"b":1,"c":{"d":[2,3]}},"x":[{"a":1,"b":4},{"a":2},5,[{"a":6}]]}"#;
    for (expression, expected) in [
        ("[a.b, a, a.c]", r#"[1,{"b":1,"c":{"d":[2,3]}},{"d":[2,3]}]"#),
        ("[a.c.d[0], a.c.d[1], a.c.d[2], a.c.d[-1], a.c.d]", "[2,3,null,3,[2,3]]"),
        ("[a.c.d[1], a.c.d[*], length(a.c.d)]", "[3,[2,3],2]"),
        ("[x[0].a, x[*].b, x[1], x[0].b]", r#"[1,[4],{"a":2},4]"#),
        ("[x[].a, x[3][0].a, x[*].a, x[2].a, x[9].a]", "[[1,2,6],6,[1,2],null,null]"),
        ("[x[0:2].a, x[?a == `2`].a, x[-1][0].a]", "[[1,2],[2],6]"),
        ("[(a || x).b, (nothing || a).c.d[0], (a && x)[0].b]", "[1,2,4]"),
        ("[a[0], x.a, a.b.c, a.b[0], a[*].b, x.*]", "[null,null,null,null,null,null]"),
        ("[a.keys(@), a.b, length(@)]", r#"[["b","c"],1,2]"#),
        ("a.[b, @.c.d[-1], c.keys(@)]", r#"[1,3,["d"]]"#),
    ] {
        assert_eq!(select(expression, json).expect(expression), expected, "{expression}");
    }
}

#[test]
fn what_counts_as_true_is_the_same_before_and_after_it_is_opened() {
    for (value, is_true) in [
        ("null", false),
        ("false", false),
        (r#""""#, false),
        ("[]", false),
        ("{}", false),
        ("[ \n]", false),
        ("{\t}", false),
        ("true", true),
        ("0", true),
        (r#"" ""#, true),
        (r#""]""#, true),
        ("[ null]", true),
        (r#"{ "":null}"#, true),
    ] {
        let json = format!(r#"{{"a":{value},"b":[{value}]}}"#);
        for expression in
            ["!a", "!not_null(a)", "!(@.a)", "!(b[0])", "!(b[-1])", "!([a] | [0])", "b[?@] == `[]`"]
        {
            assert_eq!(
                select(expression, &json).expect(&json),
                (!is_true).to_string(),
                "{expression} on {json}"
            );
        }
        let either = select("[a || 'else', a && 'then' || 'else']", &json).expect(&json);
        assert_eq!(either.contains("else"), !is_true, "{json}: {either}");
    }
}

#[test]
fn each_call_has_the_paths_that_follow_it() {
    let json =
        r#"{"a":"{\"b\":{\"c\":1},\"a\":\"{\\\"b\\\":[2]}\"}","l":["{\"a\":3}","{\"a\":4,\"b\":{}}"]}"#;
    for (expression, expected) in [
        ("powertools_json(a).b.c", "1"),
        ("[powertools_json(a).b, powertools_json(a).b.c]", r#"[{"c":1},1]"#),
        ("powertools_json(powertools_json(a).a).b[0]", "2"),
        ("powertools_json(a).powertools_json(a).b", "[2]"),
        ("l[*].powertools_json(@).a", "[3,4]"),
        ("map(&powertools_json(@).b, l)", "[null,{}]"),
        ("powertools_json(l[1] || a).a", "4"),
        ("l[?powertools_json(@).b].powertools_json(@).a", "[]"),
    ] {
        assert_eq!(select(expression, json).expect(expression), expected, "{expression}");
    }
}

#[test]
fn depth_is_counted_from_the_outermost_level() {
    // So many levels with a way down; the innermost also has something else, of so many levels.
    let nested = |(open, beside, close): (&str, &str, &str), way: usize, levels: usize| {
        let other = "[".repeat(levels) + "0" + &"]".repeat(levels);
        format!("{}0,{beside}{other}{}", open.repeat(way), close.repeat(way))
    };
    for (ends, step) in [(("{\"a\":", "\"z\":", "}"), ".a"), (("[", "", "]"), "[0]")] {
        for length in [1, 2, 64, 127, 128, 140] {
            // Not one long chain, which would be too deep as an expression.
            let steps = |length: usize| format!("@{}", step.repeat(length));
            let path = format!("{} | {}", steps(length / 2), steps(length - length / 2));
            let plain = Expression::parse(&path).expect("parses");
            let unforeseen = Expression::parse(&format!("not_null(@) | {path}")).expect("parses");
            for way in [1, 2, 64, 126, 127, 128, 129, 130] {
                for levels in [0, 1, 2, 126, 127, 128, 129] {
                    let json = nested(ends, way, levels);
                    let result = comparable(plain.select(&json));
                    assert_eq!(result, comparable(unforeseen.select(&json)), "{path} on {json}");
                    match result {
                        Ok(_) => assert!(way + levels <= 128, "{path} on {json}"),
                        Err(SelectError::Json(error)) => {
                            assert_eq!(error.reason(), CanonicalReason::TooDeep);
                            assert!(way + levels > 128, "{path} on {json}");
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        }
    }
    let text = serde_json::json!({ "body": "{\"a\":".repeat(3) + &"[".repeat(126) }).to_string();
    match select("powertools_json(body).a.a.a", &text) {
        Err(SelectError::Undecodable { reason: DecodeReason::Json(error), .. }) => {
            assert_eq!((error.reason(), error.offset()), (CanonicalReason::TooDeep, 5 * 3 + 125));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_places_than_are_remembered_are_found_all_the_same() {
    let json =
        format!("{{{}}}", (0..600).map(|n| format!(r#""m{n}":{{"x":{n}}}"#)).collect::<Vec<_>>().join(","));
    let paths = (0..330).map(|n| format!("m{}.x", n * 7 % 600)).collect::<Vec<_>>();
    let values = (0..330).map(|n| (n * 7 % 600).to_string()).collect::<Vec<_>>();
    let expression = format!("[{}]", paths.join(","));
    assert_eq!(select(&expression, &json).expect("all are there"), format!("[{}]", values.join(",")));
    let any = "(m1||m2||m3||m4||m5||m6||m7||m8)";
    let many = format!("{any}.(x)").replace(".(x)", " | [x, y, z, (x||y||z).x.y.z, [0], [*].x, [].x, [1].x]");
    let all = std::iter::repeat_n(many, 40).collect::<Vec<_>>();
    let expression = format!("[{}]", all.join(","));
    if let Ok(expression) = Expression::parse(&expression) {
        assert!(expression.select(&json).is_ok());
    }
}
