//! Larger worlds, searched in minutes.
//!
//! `cargo test -p protocol-model --test deep -- --ignored --nocapture`

use protocol_model::{explore, presets};

#[test]
#[ignore = "takes minutes and some gigabytes"]
fn larger_worlds_are_clean() {
    for world in presets::deep() {
        explore(world).assert_clean();
    }
}
