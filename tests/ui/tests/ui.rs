//! One rule a file: `pass` compiles and runs, `fail` is refused with exactly the words beside it.
//!
//! After a change of words: `TRYBUILD=overwrite cargo test -p macro-ui`, then read the difference.

#[test]
fn each_case_is_accepted_or_refused_as_written() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
