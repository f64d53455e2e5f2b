//! The canonical form against a short reference, and totality on anything at all.

use std::collections::BTreeMap;

use lambda_idempotency_key::{Expression, Fingerprint, Key, canonical, source};
use proptest::prelude::*;

/// What a JSON text means, by the documented rule.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    Null,
    Bool(bool),
    /// Sign, digits without outer zeros, exponent.
    Number(bool, String, i64),
    Text(String),
    List(Vec<Meaning>),
    Object(BTreeMap<String, Meaning>),
}

fn number(negative: bool, digits: &str, exponent: i64) -> Meaning {
    let short = digits.trim_end_matches('0');
    let exponent = exponent + (digits.len() - short.len()) as i64;
    match short.trim_start_matches('0') {
        "" => Meaning::Number(false, String::new(), 0),
        digits => Meaning::Number(negative, digits.to_owned(), exponent),
    }
}

fn meaning() -> impl Strategy<Value = Meaning> {
    let leaf = prop_oneof![
        Just(Meaning::Null),
        any::<bool>().prop_map(Meaning::Bool),
        (any::<bool>(), "[0-9]{1,6}", -8..8i64).prop_map(|(n, d, e)| number(n, &d, e)),
        (any::<bool>(), "[0-9]{30,45}", -60..60i64).prop_map(|(n, d, e)| number(n, &d, e)),
        text().prop_map(Meaning::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Meaning::List),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(Meaning::Object),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab\"\\\\\n\u{1}é😀/]{0,4}", "[a-c]{0,2}", any::<String>()]
}

/// One of the many ways to write a meaning, chosen by a stream of numbers.
struct Speller {
    state: u64,
}

impl Speller {
    fn pick(&mut self, n: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % n
    }

    fn space(&mut self) -> &'static str {
        ["", "", " ", "\n\t", "\r "][self.pick(5) as usize]
    }

    fn write(&mut self, meaning: &Meaning, out: &mut String) {
        out.push_str(self.space());
        match meaning {
            Meaning::Null => out.push_str("null"),
            Meaning::Bool(value) => out.push_str(&value.to_string()),
            Meaning::Number(negative, digits, exponent) => self.number(*negative, digits, *exponent, out),
            Meaning::Text(text) => self.string(text, out),
            Meaning::List(parts) => {
                out.push('[');
                for (position, part) in parts.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    self.write(part, out);
                }
                out.push(']');
            }
            Meaning::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                for last in (1..members.len()).rev() {
                    members.swap(last, self.pick(last as u64 + 1) as usize);
                }
                out.push('{');
                for (position, (name, value)) in members.into_iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    out.push_str(self.space());
                    self.string(name, out);
                    out.push_str(self.space());
                    out.push(':');
                    self.write(value, out);
                }
                out.push('}');
            }
        }
        out.push_str(self.space());
    }

    fn number(&mut self, negative: bool, digits: &str, exponent: i64, out: &mut String) {
        if negative || (digits.is_empty() && self.pick(2) == 0) {
            out.push('-');
        }
        let zeros = self.pick(4) as usize;
        let mut digits = digits.to_owned() + &"0".repeat(zeros);
        let mut exponent = exponent - zeros as i64;
        if digits.is_empty() {
            digits.push('0');
        }
        if digits.starts_with('0') {
            digits = "0".to_owned(); // zero
        }
        // Move the point to the left by some digits.
        let fraction = self.pick(5) as usize;
        let mut padded = "0".repeat((fraction + 1).saturating_sub(digits.len())) + &digits;
        if fraction > 0 {
            padded.insert(padded.len() - fraction, '.');
            exponent += fraction as i64;
        }
        out.push_str(&padded);
        if exponent != 0 || self.pick(3) == 0 {
            let mark = ["e", "E"][self.pick(2) as usize];
            let sign = if exponent < 0 { "-" } else { ["", "+"][self.pick(2) as usize] };
            let zeros = "0".repeat(self.pick(3) as usize);
            out.push_str(&format!("{mark}{sign}{zeros}{}", exponent.unsigned_abs()));
        }
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for character in text.chars() {
            let must = matches!(character, '"' | '\\') || u32::from(character) < 0x20;
            if must || self.pick(4) == 0 {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&match self.pick(2) {
                        0 => format!("\\u{unit:04x}"),
                        _ => format!("\\u{unit:04X}"),
                    });
                }
            } else {
                out.push(character);
            }
        }
        out.push('"');
    }
}

fn spell(meaning: &Meaning, state: u64) -> String {
    let mut out = String::new();
    Speller { state }.write(meaning, &mut out);
    out
}

/// Never mind what comes out, as long as something does.
fn read_in_every_way(json: &str) {
    let _ = source::recognise(json);
    let _ = source::record_count(json);
    let _ = Fingerprint::Whole.of(json);
    for text in ["a", "@", "*", "[].a", "a[::2]", "sort(a)", "powertools_json(@)", "header(@, 'a')"] {
        if let Ok(key) = Key::parse(text) {
            let _ = key.of(json);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn every_spelling_of_a_meaning_has_one_canonical_form(meaning in meaning(), a: u64, b: u64) {
        let (a, b) = (spell(&meaning, a), spell(&meaning, b));
        let canonical_a = canonical(&a).expect(&a);
        prop_assert_eq!(&canonical_a, &canonical(&b).expect(&b), "{} and {}", a, b);
        prop_assert_eq!(&canonical(&canonical_a).expect("canonical is JSON"), &canonical_a);
        serde_json::from_str::<serde::de::IgnoredAny>(&canonical_a).expect("canonical is JSON");
    }

    #[test]
    fn different_meanings_have_different_canonical_forms(a in meaning(), b in meaning(), s: u64) {
        let same = canonical(&spell(&a, s)) == canonical(&spell(&b, s));
        prop_assert_eq!(same, a == b);
    }

    #[test]
    fn numbers_are_equal_exactly_when_their_decimals_are(
        n: bool, m: bool, d in "[0-9]{1,4}", f in "[0-9]{1,4}", e in -6..6i64, g in -6..6i64, s: u64,
    ) {
        let (a, b) = (number(n, &d, e), number(m, &f, g));
        let same = canonical(&spell(&a, s)) == canonical(&spell(&b, s));
        prop_assert_eq!(same, a == b);
        let json = format!("[{},{}]", spell(&a, s), spell(&b, s));
        let compared = Expression::parse("[0] == [1]").unwrap().select(&json).unwrap();
        prop_assert_eq!(compared.as_str(), (a == b).to_string());
    }

    #[test]
    fn numbers_are_ordered_like_integers(a: i64, b: i64, scale in -30..30i32) {
        let json = format!("[{a}e{scale},{b}e{scale}]");
        let of = |text| Expression::parse(text).unwrap().select(&json).unwrap().as_str().to_owned();
        prop_assert_eq!(of("[0] < [1]"), (a < b).to_string());
        let sum = i128::from(a) + i128::from(b);
        prop_assert_eq!(of("sum(@)"), canonical(&format!("{sum}e{scale}")).unwrap());
    }

    #[test]
    fn selecting_does_not_depend_on_the_spelling(meaning in meaning(), a: u64, b: u64) {
        for text in ["*", "a", "[*].a", "keys(@)", "to_string(@)", "[a, b || `1`]", "@ == `{}`"] {
            let expression = Expression::parse(text).unwrap();
            let (a, b) = (spell(&meaning, a), spell(&meaning, b));
            match (expression.select(&a), expression.select(&b)) {
                (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
                (a, b) => prop_assert!(a.is_err() && b.is_err()),
            }
        }
    }

    #[test]
    fn we_accept_what_serde_json_accepts(json in "[\\[\\]{}:,\"\\\\ue0-9.+\\-tfnalsr ]{0,12}") {
        let other = serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok();
        match canonical(&json) {
            Ok(_) => prop_assert!(other, "{}", json),
            Err(error) => prop_assert!(
                !other
                    || error.reason() == lambda_idempotency_key::CanonicalReason::DuplicateMember
                    || error.reason() == lambda_idempotency_key::CanonicalReason::LoneSurrogate,
                "{}: {}", json, error
            ),
        }
    }

    #[test]
    fn no_text_panics(json: String) {
        read_in_every_way(&json);
    }

    #[test]
    fn no_damaged_json_panics(meaning in meaning(), s: u64, at: usize, with: char, cut: usize) {
        let mut json: Vec<char> = spell(&meaning, s).chars().collect();
        let at = at % json.len().max(1);
        json[at] = with;
        read_in_every_way(&json.iter().collect::<String>());
        json.truncate(cut % (json.len() + 1));
        read_in_every_way(&json.iter().collect::<String>());
    }

    #[test]
    fn no_expression_panics(
        text in prop_oneof![
            any::<String>(),
            "[a-c.\\[\\]|&!*@(){},:?'`\"=<>0-9 \\-\\\\]{0,24}",
            "(a|b|\\[\\]|\\[\\*\\]|\\.|\\||\\[a, b\\]|\\{a: b\\}|@|\\[1:\\]|\\[::-1\\]|\\[-1\\]|\\[\\?a\\]|sort\\(a\\)|length\\(@\\)|`1`|'x'|==|&&){1,8}",
        ],
        meaning in meaning(),
        s: u64,
    ) {
        match Expression::parse(&text) {
            Ok(expression) => { let _ = expression.select(&spell(&meaning, s)); }
            Err(error) => {
                prop_assert!(error.offset() <= text.len());
                let _ = error.to_string();
            }
        }
    }

    #[test]
    fn we_parse_what_the_jmespath_crate_parses(
        text in "(a|b|\\[\\]|\\[\\*\\]|\\.|\\||\\[a, b\\]|\\{a: b\\}|@|\\[1:\\]|\\[-1\\]|\\[\\?a\\]|`1`|'x'|==|&&|!|\\*){1,8}",
    ) {
        let ours = Expression::parse(&text);
        let theirs = jmespath::parse(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}: {:?} {:?}", text, ours.err(), theirs.err());
    }

    #[test]
    fn we_select_what_the_jmespath_crate_selects(
        text in "(a|b|\\[\\]|\\[\\*\\]|\\.a|\\.b|\\.\\*|\\[0\\]|\\[-1\\]|\\[1:\\]|\\[::-1\\]|\\[:-1:2\\]| \\| | \\|\\| | && |@|\\[\\?a\\]|\\[\\?@ > `1`\\]|\\[\\?a == b\\]|!|\\[a, b\\]|\\{a: b\\}|length\\(a\\)|sort\\(a\\)|max_by\\(a, &b\\)|map\\(&a, @\\)|keys\\(@\\)|to_array\\(b\\)|join\\('-', a\\)|reverse\\(a\\)|contains\\(a, `1`\\)|type\\(@\\)|not_null\\(a, b\\)|sum\\(a\\)|to_string\\(a\\)){1,6}",
        json in small_json(),
    ) {
        let one = jmespath::compile("@").expect("valid").search(jmespath::Variable::from_json("[1]").expect("JSON"));
        if !one.is_ok_and(|one| one.to_string() == "[1]") {
            return Ok(()); // under `arbitrary_precision` the jmespath crate takes numbers for objects
        }
        let (Ok(ours), Ok(theirs)) = (Expression::parse(&text), jmespath::compile(&text)) else {
            return Ok(());
        };
        let json = json.to_string();
        let data = jmespath::Variable::from_json(&json).expect("JSON");
        match (ours.select(&json), theirs.search(data)) {
            (Ok(ours), Ok(theirs)) => {
                let theirs = canonical(&theirs.to_string()).expect("JSON");
                // Their sums are floating-point texts inside strings.
                prop_assert!(ours.as_str() == theirs || text.contains("to_string"), "{} on {}: {} {}", text, json, ours.as_str(), theirs);
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{} on {}: {:?} {:?}", text, json, ours, theirs),
        }
    }
}

fn small_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(Value::from_iter),
        ]
    })
}
