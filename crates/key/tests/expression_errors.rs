//! What a wrong expression gets: the place, the reason and the cure, and never a crash.

use lambda_idempotency_key::{Expression, ExpressionError, Key};

fn error(text: &str) -> ExpressionError {
    Expression::parse(text).expect_err(text)
}

#[test]
fn an_unquoted_hyphen_is_answered_with_the_quoted_name() {
    let shown = error("headers.idempotency-key").to_string();
    assert!(shown.contains(r#"write headers."idempotency-key""#), "{shown}");
    assert!(shown.ends_with("headers.idempotency-key\n                     ^"), "{shown}");
    for (text, cure) in [
        ("headers.x-request-id", r#"headers."x-request-id""#),
        ("headers.x-1", r#"quoted"#),
        ("[id, headers.Idempotency-Key]", r#"headers."Idempotency-Key""#),
        ("detail-type", r#"write "detail-type""#),
    ] {
        let shown = error(text).to_string();
        assert!(shown.contains(cure), "{shown}");
    }
    assert!(Expression::parse(r#"headers."Idempotency-Key""#).is_ok());
}

#[test]
fn a_wrong_expression_is_refused_at_its_place() {
    for (text, offset) in [
        ("a..b", 2),
        ("foo[", 4),
        ("", 0),
        ("  ", 0),
        ("a.b c", 4),
        ("[a b]", 3),
        ("[a,]", 3),
        ("a = b", 2),
        ("$.a", 0),
        ("a[1:2:0]", 2),
        ("a[-9223372036854775808]", 2),
        ("a[9223372036854775807]", 2),
        ("a[9223372036854775808]", 2),
        ("a[9007199254740993:]", 2),
        ("a[::-9223372036854775808]", 4),
        ("'open", 0),
        ("`{`", 0),
        ("`01`", 0),
        ("lenght(a)", 0),
        ("a.length(b, c)", 2),
        ("sort_by(a, b)", 11),
        ("length(&a)", 7),
        ("&a", 0),
        ("[&a]", 1),
        ("{a: b, a: c}", 7),
        ("a[99999999999999999999]", 2),
        ("ä", 0),
        ("a || `\"\\ud800\"`", 5),
    ] {
        assert_eq!(error(text).offset(), offset, "{text}: {}", error(text));
    }
}

#[test]
fn an_unknown_function_is_answered_with_the_one_that_was_meant() {
    assert_eq!(error("lenght(a)").cure(), Some("did you mean `length`?"));
    assert_eq!(error("powertool_json(a)").cure(), Some("did you mean `powertools_json`?"));
    assert_eq!(error("frobnicate(a)").cure(), None);
}

#[test]
fn deep_and_long_expressions_are_refused_and_overflow_nothing() {
    let nested = |open: &str, inner: &str, close: &str, n: usize| open.repeat(n) + inner + &close.repeat(n);
    for text in [
        nested("(", "a", ")", 2000),
        nested("[", "a", "]", 2000),
        nested("{a:", "a", "}", 1000),
        nested("!", "a", "", 4000),
        nested("to_array(", "a", ")", 400),
        nested("a[?", "b", "]", 1000),
        "a".to_owned() + &".a".repeat(2000),
        "a".to_owned() + &"[*]".repeat(1300),
        "a".to_owned() + &"[]".repeat(2000),
        "a".to_owned() + &"|a".repeat(2000),
        "a".to_owned() + &"||a".repeat(1300),
        "*".to_owned() + &".*".repeat(2000),
        "a".repeat(5000),
        "(".repeat(4096),
    ] {
        let error = error(&text);
        assert!(error.to_string().len() < 400, "{error}");
    }
    assert!(Expression::parse(&nested("[", "a", "]", 60)).is_ok());
    assert!(Expression::parse(&("a".to_owned() + &".a".repeat(60))).is_ok());
}

#[test]
fn an_expression_that_multiplies_its_input_ends_in_an_error() {
    for text in [
        "[@,@]".to_owned() + &"|[@,@]".repeat(90),
        "[@,@][]".to_owned() + &"|[@,@][]".repeat(40),
        "to_string([@,@])".to_owned() + &"|to_string([@,@])".repeat(40),
        "join('', [@,@])".to_owned() + &"|join('', [@,@])".repeat(90),
    ] {
        let expression = Expression::parse(&text).expect("within the limits");
        let error = expression.select(r#""a text of some length""#).expect_err(&text);
        assert!(!error.to_string().contains("length"), "{error}");
    }
}

#[test]
fn the_deepest_expressions_are_evaluated_on_a_small_stack() {
    let run = || {
        let deep = "[".repeat(120) + r#"{"a":1}"# + &"]".repeat(120);
        for text in [
            "[".repeat(95) + "@" + &"]".repeat(95),
            "!".repeat(95) + "@",
            "@".to_owned() + &"[0]".repeat(95),
            "@".to_owned() + &"[*]".repeat(45),
            "@".to_owned() + &"[]".repeat(45),
            "[?@".repeat(45) + &"]".repeat(45),
            "a".to_owned() + &" || a".repeat(95),
            "to_array(".repeat(90) + "@" + &")".repeat(90),
            "@ == ".repeat(90) + "@",
            "[@]".to_owned() + &" | [@]".repeat(95),
        ] {
            let expression = Expression::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            let _ = expression.select(&deep);
            let _ = Key::parse(&text).map(|key| key.of(&deep));
        }
    };
    // A Lambda worker has 2 MiB (tokio), or 8.
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(run);
    thread.expect("a thread").join().expect("no overflow, no panic");
}

#[test]
fn a_key_says_the_same_as_an_expression() {
    assert_eq!(Key::parse("a..b").unwrap_err(), error("a..b"));
}
