//! The promises, and what has to be reachable.

use lambda_idempotency_core::decide::{Claimant, Verdict};
use lambda_idempotency_core::{Owner, Status};
use stateright::Property;

use crate::config::Config;
use crate::state::{By, Fault, How, Id, Outcome, Phase, State};
use crate::{Protocol, config::Hold};

/// Promise 1.
pub const RECORD_SAFETY: &str = "1 record safety";
/// Promise 2: one answer to a life of the record.
pub const SINGLE_ANSWER: &str = "2 single answer";
/// Promise 2: nobody gets the answer to other content.
pub const OWN_CONTENT: &str = "2 answer to own content";
/// Promise 3.
pub const LOUD_CONFLICT: &str = "3 loud conflict";
/// Promise 4: an attempt is never turned away by its own claim.
pub const NO_SELF_BLOCK: &str = "4 no self-block";
/// Promise 4: whoever is turned away as busy is told the first moment at which a retry is not.
pub const PROGRESS: &str = "4 progress at retry_at";
/// Promise 5: one runs at a time, and none once there is an answer.
pub const SINGLE_EXECUTION: &str = "5 single execution";
/// At-most-once: one run in a life of the record, whatever happens.
pub const AT_MOST_ONCE: &str = "at-most-once";
/// A transaction is applied once per attempt and once per life, and the record says so.
pub const SINGLE_COMMIT: &str = "single commit";
/// A holder is not told that its live claim is lost.
pub const NO_FALSE_ALARM: &str = "no false alarm at renewal";

/// A run that may not be the first is told so.
pub const INFORMED: &str = "a takeover is told";

/// An answer after a run.
pub const EXECUTED: &str = "executed";
/// An answer from the record.
pub const REPLAYED: &str = "replayed";
/// An answer from a record whose fingerprint could not be compared.
pub const REPLAYED_UNCHECKED: &str = "replayed unchecked";
/// Turned away as busy.
pub const BUSY: &str = "busy";
/// Turned away as other content.
pub const MISMATCH: &str = "mismatch";
/// Turned away as interrupted.
pub const INTERRUPTED: &str = "interrupted";
/// An abandoned claim was taken over.
pub const TAKEOVER: &str = "takeover";
/// An own claim was recognised.
pub const RECOGNISED: &str = "own claim recognised";
/// Overtaken, and no answer.
pub const LEASE_LOST: &str = "lease lost";
/// Overtaken, and the successor's answer.
pub const OVERTAKEN_ANSWERED: &str = "overtaken but answered";
/// A run in a second life of the record.
pub const SECOND_LIFE: &str = "second life";
/// A lease lasts longer than that of its claim.
pub const RENEWED: &str = "renewed";
/// A zombie runs beside its successor.
pub const ZOMBIE: &str = "zombie beside its successor";
/// A claim was made anew because what refused it was gone.
pub const CLAIMED_ANEW: &str = "claimed anew";
/// A released key is claimed again.
pub const AFTER_RELEASE: &str = "run after a release";
/// What a takeover left is taken over.
pub const AFTER_LEAVING: &str = "takeover of what was left";
/// A zombie records its answer over what its successor left.
pub const RECORDED_OVER_LEFT: &str = "recorded over what was left";

/// The properties of a world.
pub fn of(config: &Config) -> Vec<Property<Protocol>> {
    let mut all = vec![
        Property::always(RECORD_SAFETY, |_, state: &State| {
            !state.faults.has(Fault::ForeignChange) && !state.faults.has(Fault::FinalChanged)
        }),
        Property::always(SINGLE_ANSWER, |_, state| single_answer(state)),
        Property::always(OWN_CONTENT, own_content),
        Property::always(LOUD_CONFLICT, |_, state: &State| !state.faults.has(Fault::Overrun)),
        Property::always(NO_SELF_BLOCK, |_, state: &State| !state.faults.has(Fault::SelfBlocked)),
        Property::always(PROGRESS, progress),
        Property::always(INFORMED, |_, state: &State| !state.faults.has(Fault::Uninformed)),
        Property::always(NO_FALSE_ALARM, |_, state: &State| !state.faults.has(Fault::FalseAlarm)),
    ];
    if config.enforced {
        all.push(Property::always(SINGLE_EXECUTION, |_, state: &State| {
            running(state) <= 1 && !state.faults.has(Fault::RanAfterAnswer)
        }));
    }
    if config.at_most_once {
        all.push(Property::always(AT_MOST_ONCE, |_, state: &State| state.runs <= 1));
    }
    if config.transactional {
        all.push(Property::always(SINGLE_COMMIT, single_commit));
    }
    all.extend(config.reaches.iter().map(|&name| Property::sometimes(name, reachable(name))));
    all
}

fn running(state: &State) -> usize {
    state.attempts.iter().filter(|attempt| matches!(attempt.phase, Phase::Running { .. })).count()
}

/// Every answer: who got it, whose it is, in which life, and how.
fn answers(state: &State) -> impl Iterator<Item = (Id, Id, u8, How)> + '_ {
    (0..).zip(&state.attempts).filter_map(|(id, attempt)| match attempt.phase {
        Phase::Done(Outcome::Answered { maker, life, how }) => Some((id, maker, life, how)),
        _ => None,
    })
}

fn single_answer(state: &State) -> bool {
    answers(state)
        .all(|(_, maker, life, _)| answers(state).all(|(_, other, of, _)| of != life || other == maker))
}

fn own_content(model: &Protocol, state: &State) -> bool {
    let content = |id: Id| model.config.attempts[usize::from(id)].content;
    answers(state).all(|(id, maker, _, how)| {
        let (mine, theirs) = (content(id), content(maker));
        let unknown = mine.rule().is_none() && theirs.rule().is_none();
        match how {
            // It has run itself, so that only a provably equal content will do.
            How::Overtaken => unknown || mine.truth() == theirs.truth(),
            How::Executed | How::Replayed => !mine.provably_differs(theirs),
        }
    })
}

/// A fresh attempt at the same content, if it is turned away as busy, is told the very first
/// millisecond at which it is not.
fn progress(model: &Protocol, state: &State) -> bool {
    let Some(stored) = state.record.filter(|stored| stored.status == Status::InProgress) else {
        return true;
    };
    let record = model.record(&stored);
    let owner = Owner::from_text("fresh");
    let claimant =
        Claimant { owner: &owner, validation: model.validation(stored.maker), margin: model.config.margin };
    let now = model.truth(state.tick);
    let Verdict::Busy { retry_at } = model.rules.classify(&record, claimant, now) else { return true };
    let millisecond = std::time::Duration::from_millis(1);
    let skew = model.config.attempts.iter().map(|asks| asks.skew_ms.unsigned_abs()).max().unwrap_or(0);
    let bound = now
        .plus(model.longest_lease() + model.config.margin + millisecond)
        .plus(std::time::Duration::from_millis(skew));
    let free = match model.rules.classify(&record, claimant, retry_at) {
        Verdict::Claimable(_) => model.rules.claimable(&record, claimant, retry_at).is_some(),
        Verdict::Interrupted => model.config.at_most_once,
        _ => false,
    };
    let busy_before =
        matches!(model.rules.classify(&record, claimant, retry_at.minus(millisecond)), Verdict::Busy { .. });
    now < retry_at && retry_at <= bound && free && busy_before
}

fn single_commit(model: &Protocol, state: &State) -> bool {
    let recorded = state.record.is_none_or(|record| {
        record.status.is_final() || model.record(&record).is_expired(model.truth(state.tick))
    });
    state.commits <= 1
        && state.attempts.iter().all(|attempt| attempt.commits <= 1)
        && (state.commits == 0 || recorded)
}

fn any(state: &State, is: impl Fn(&Phase) -> bool) -> bool {
    state.attempts.iter().any(|attempt| is(&attempt.phase))
}

fn reachable(name: &'static str) -> fn(&Protocol, &State) -> bool {
    match name {
        EXECUTED => |_, state| answers(state).any(|(.., how)| how == How::Executed),
        REPLAYED => |_, state| answers(state).any(|(.., how)| how == How::Replayed),
        REPLAYED_UNCHECKED => |model, state| {
            let rule = |id: Id| model.config.attempts[usize::from(id)].content.rule();
            answers(state).any(|(id, maker, _, how)| how == How::Replayed && rule(id) != rule(maker))
        },
        BUSY => {
            |_, state| any(state, |phase| matches!(phase, Phase::Done(Outcome::Busy) | Phase::Waiting { .. }))
        }
        MISMATCH => |_, state| any(state, |phase| *phase == Phase::Done(Outcome::Mismatch)),
        INTERRUPTED => |_, state| any(state, |phase| *phase == Phase::Done(Outcome::Interrupted)),
        TAKEOVER => |_, state| any(state, |phase| matches!(phase, Phase::Running { by: By::Takeover, .. })),
        RECOGNISED => {
            |_, state| any(state, |phase| matches!(phase, Phase::Running { by: By::Recognition, .. }))
        }
        LEASE_LOST => |_, state| any(state, |phase| *phase == Phase::Done(Outcome::LeaseLost)),
        OVERTAKEN_ANSWERED => |_, state| answers(state).any(|(.., how)| how == How::Overtaken),
        SECOND_LIFE => |_, state| state.life > 0 && running(state) > 0,
        RENEWED => |model, state| match model.config.hold {
            Hold::Fixed(lease, _) => (0..).zip(&state.attempts).any(|(id, attempt)| {
                let claimed_by = model.clock(id, attempt.start).plus(lease);
                matches!(attempt.phase, Phase::Running { until, .. } if until > claimed_by)
            }),
            Hold::Deadline(_) => false,
        },
        ZOMBIE => |_, state| running(state) > 1,
        CLAIMED_ANEW => |_, state| any(state, |phase| matches!(phase, Phase::Claiming { round: 1.., .. })),
        AFTER_RELEASE => |_, state| {
            any(state, |phase| *phase == Phase::Done(Outcome::Released { leave: false }))
                && any(state, |phase| matches!(phase, Phase::Running { by: By::First, .. }))
        },
        AFTER_LEAVING => |_, state| {
            any(state, |phase| *phase == Phase::Done(Outcome::Released { leave: true }))
                && any(state, |phase| matches!(phase, Phase::Running { by: By::Takeover, .. }))
                && running(state) == 1
        },
        RECORDED_OVER_LEFT => |_, state| {
            any(state, |phase| *phase == Phase::Done(Outcome::Released { leave: true }))
                && answers(state).any(|(id, .., how)| how == How::Executed && id == 0)
        },
        _ => |_, _| false,
    }
}
