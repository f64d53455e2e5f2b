//! The worlds that the tests search.

use std::time::Duration;

use crate::Config;
use crate::config::Content::{self, X, XBare, XEdited, Y, YEdited};
use crate::config::{Ending, Hold};
use crate::properties::{
    AFTER_LEAVING, AFTER_RELEASE, BUSY, CLAIMED_ANEW, EXECUTED, INTERRUPTED, LEASE_LOST, MISMATCH,
    OVERTAKEN_ANSWERED, RECOGNISED, RECORDED_OVER_LEFT, RENEWED, REPLAYED, REPLAYED_UNCHECKED, SECOND_LIFE,
    TAKEOVER, ZOMBIE,
};

/// Clocks a second off in either direction: what the default margin is made for.
const APART: [i64; 3] = [-1000, 1000, 0];

/// Two attempts that are stopped at their deadlines, with lost and late replies.
pub fn deadlines() -> Config {
    Config {
        resends: 1,
        late_replies: true,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, TAKEOVER, RECOGNISED, AFTER_RELEASE],
        ..Config::new("deadlines", &[X, X]).skews(&APART)
    }
}

/// As before, with crashes and stored failures.
pub fn crashes() -> Config {
    Config {
        resends: 1,
        crashes: true,
        endings: vec![Ending::StoredFailure, Ending::Keep],
        reaches: vec![EXECUTED, REPLAYED, BUSY, TAKEOVER, RECOGNISED],
        ..Config::new("crashes", &[X, X]).skews(&[1000, -1000])
    }
}

/// Records that are to count for less time than the run takes, and a store that deletes them.
pub fn short_expiry() -> Config {
    Config {
        last_tick: 6,
        expires_after: Duration::from_secs(1),
        resends: 1,
        sweeps: true,
        reaches: vec![EXECUTED, REPLAYED, BUSY, RECOGNISED, SECOND_LIFE],
        ..Config::new("short expiry", &[X, X]).skews(&APART)
    }
}

/// Three attempts with two contents that are stopped at their deadlines.
pub fn contents() -> Config {
    Config {
        last_tick: 4,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, MISMATCH, TAKEOVER, AFTER_RELEASE],
        ..Config::new("contents", &[X, Y, X])
    }
}

/// Three attempts that go on after their deadlines.
pub fn zombies() -> Config {
    Config {
        enforced: false,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![
            EXECUTED,
            REPLAYED,
            BUSY,
            TAKEOVER,
            LEASE_LOST,
            OVERTAKEN_ANSWERED,
            ZOMBIE,
            AFTER_LEAVING,
            RECORDED_OVER_LEFT,
        ],
        last_tick: 4,
        ..Config::new("zombies", &[X, X, X])
    }
}

/// Zombies whose fingerprints were taken by different rules, or not at all.
pub fn edited_rules() -> Config {
    Config {
        enforced: false,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED_UNCHECKED, BUSY, TAKEOVER, LEASE_LOST],
        last_tick: 4,
        ..Config::new("edited rules", &[X, YEdited, XEdited])
    }
}

/// As before, with other contents and one attempt without a fingerprint.
pub fn no_fingerprint() -> Config {
    Config {
        enforced: false,
        endings: vec![Ending::Success],
        reaches: vec![EXECUTED, REPLAYED_UNCHECKED, MISMATCH, TAKEOVER, LEASE_LOST],
        last_tick: 4,
        ..Config::new("no fingerprint", &[X, XBare, Y])
    }
}

/// Zombies, records that expire within the search, and a store that deletes them.
pub fn lives() -> Config {
    Config {
        enforced: false,
        expires_after: Duration::from_secs(1),
        resends: 1,
        sweeps: true,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, MISMATCH, LEASE_LOST, SECOND_LIFE],
        ..Config::new("lives", &[X, Y]).skews(&[1000, -1000])
    }
}

/// A store that does not return the record that refused a claim: it is read afterwards.
pub fn read_after_refusal() -> Config {
    Config {
        resends: 1,
        returns_record: false,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, TAKEOVER, RECOGNISED, CLAIMED_ANEW],
        ..Config::new("read after refusal", &[X, X]).skews(&APART)
    }
}

/// Attempts that wait while another is at work, and claim again under the same owner.
pub fn waiting() -> Config {
    Config {
        resends: 1,
        waits: true,
        last_tick: 4,
        hold: Hold::Fixed(Duration::from_millis(1500), 0),
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, TAKEOVER, RECOGNISED, AFTER_RELEASE],
        ..Config::new("waiting", &[X, X]).skews(&APART)
    }
}

/// A store that judges by its own clock.
pub fn server_clock() -> Config {
    Config {
        resends: 1,
        server_clock: true,
        sweeps: true,
        expires_after: Duration::from_secs(1),
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, RECOGNISED, SECOND_LIFE],
        last_tick: 6,
        ..Config::new("server clock", &[X, X]).skews(&APART)
    }
}

/// Fixed leases that are renewed once, with lost replies.
pub fn renewal() -> Config {
    Config {
        hold: Hold::Fixed(Duration::from_millis(1500), 1),
        resends: 1,
        expires_after: Duration::from_secs(2),
        reaches: vec![EXECUTED, REPLAYED, BUSY, RENEWED, RECOGNISED],
        ..Config::new("renewal", &[X, X]).skews(&APART)
    }
}

/// Fixed leases that are renewed twice.
pub fn renewals() -> Config {
    Config {
        last_tick: 6,
        hold: Hold::Fixed(Duration::from_millis(1500), 2),
        expires_after: Duration::from_secs(2),
        reaches: vec![EXECUTED, REPLAYED, BUSY, RENEWED],
        ..Config::new("renewals", &[X, X]).skews(&APART)
    }
}

/// As before, with attempts that go on after their leases.
pub fn renewals_of_zombies() -> Config {
    Config {
        hold: Hold::Fixed(Duration::from_millis(1500), 2),
        enforced: false,
        expires_after: Duration::from_secs(2),
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, RENEWED, TAKEOVER, LEASE_LOST, OVERTAKEN_ANSWERED],
        ..Config::new("renewals of zombies", &[X, X]).skews(&[0, 1000])
    }
}

/// At-most-once with zombies: one run in a life of the record, even so.
pub fn at_most_once() -> Config {
    Config {
        last_tick: 6,
        at_most_once: true,
        enforced: false,
        resends: 1,
        crashes: true,
        expires_after: Duration::from_secs(2),
        endings: vec![Ending::Success, Ending::Keep],
        reaches: vec![EXECUTED, REPLAYED, BUSY, INTERRUPTED, RECOGNISED, SECOND_LIFE],
        ..Config::new("at most once", &[X, X]).skews(&APART)
    }
}

/// At-most-once with renewed leases.
pub fn at_most_once_renewed() -> Config {
    Config {
        last_tick: 8,
        at_most_once: true,
        hold: Hold::Fixed(Duration::from_millis(1500), 1),
        expires_after: Duration::from_secs(20),
        endings: vec![Ending::Success, Ending::Keep],
        reaches: vec![EXECUTED, REPLAYED, BUSY, INTERRUPTED, RENEWED],
        ..Config::new("at most once, renewed", &[X, X]).skews(&APART)
    }
}

/// The completion is one transaction with the caller's own writes; zombies, lost and late replies.
pub fn transactions() -> Config {
    Config {
        enforced: false,
        transactional: true,
        resends: 1,
        late_replies: true,
        endings: vec![Ending::Success, Ending::Release],
        reaches: vec![EXECUTED, REPLAYED, BUSY, TAKEOVER, LEASE_LOST, OVERTAKEN_ANSWERED, AFTER_RELEASE],
        ..Config::new("transactions", &[X, X])
    }
}

/// Transactions on a store that judges by its own clock, with records that expire within the search.
pub fn transactions_that_expire() -> Config {
    Config {
        enforced: false,
        transactional: true,
        server_clock: true,
        sweeps: true,
        resends: 1,
        expires_after: Duration::from_secs(1),
        reaches: vec![EXECUTED, REPLAYED, BUSY, SECOND_LIFE],
        ..Config::new("transactions that expire", &[X, X])
    }
}

/// As before, but conditions use the instant in the request, and the store remembers the token.
pub fn transactions_with_a_token() -> Config {
    Config {
        server_clock: false,
        remembers_token: true,
        ..Config { name: "transactions with a token", ..transactions_that_expire() }
    }
}

/// Fixed leases, claims that are made anew, and copies of the first try that arrive late.
pub fn claims_made_anew() -> Config {
    Config {
        last_tick: 4,
        hold: Hold::Fixed(Duration::from_millis(1500), 0),
        returns_record: false,
        resends: 1,
        resenders: 1,
        rounds: 1,
        endings: vec![Ending::Release],
        reaches: vec![BUSY, TAKEOVER, RECOGNISED, CLAIMED_ANEW, AFTER_RELEASE],
        ..Config::new("claims made anew", &[X, X, X])
    }
}

/// Larger worlds, for a run of minutes.
pub fn deep() -> Vec<Config> {
    let three = |name, contents: &[Content; 3]| Config {
        resends: 1,
        resenders: 1,
        endings: vec![Ending::Success, Ending::Release],
        ..Config::new(name, contents).skews(&APART)
    };
    let zombies = |name, contents| Config { enforced: false, last_tick: 4, ..three(name, contents) };
    vec![
        claims_made_anew(),
        three("three, deadlines", &[X, X, Y]),
        Config {
            sweeps: true,
            expires_after: Duration::from_secs(1),
            ..three("three, short expiry", &[X, X, X])
        },
        zombies("three, zombies", &[X, X, Y]),
        zombies("three, zombies, edited rules", &[X, YEdited, XEdited]),
        Config { transactional: true, ..zombies("three, transactions", &[X, X, X]) },
        Config {
            last_tick: 7,
            crashes: true,
            late_replies: true,
            endings: vec![Ending::Success, Ending::Keep, Ending::Release],
            ..at_most_once()
        },
        Config { resends: 1, ..renewals() },
        Config { last_tick: 6, ..renewals_of_zombies() },
    ]
}
