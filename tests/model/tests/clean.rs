//! With all rules in force no promise can be broken, and every outcome can be reached.
//!
//! `cargo test -p protocol-model --test clean -- --nocapture` prints states and time of each world.

use protocol_model::{explore, presets};

macro_rules! clean {
    ($($world:ident),+ $(,)?) => {
        $(
            #[test]
            fn $world() {
                explore(presets::$world()).assert_clean();
            }
        )+
    };
}

clean!(
    deadlines,
    crashes,
    short_expiry,
    contents,
    zombies,
    edited_rules,
    no_fingerprint,
    lives,
    read_after_refusal,
    waiting,
    server_clock,
    renewal,
    renewals,
    renewals_of_zombies,
    at_most_once,
    at_most_once_renewed,
    transactions,
    transactions_that_expire,
    transactions_with_a_token,
);
