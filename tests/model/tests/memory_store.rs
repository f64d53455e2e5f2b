//! The model's store and the shipped memory store do the same with the same request, in every state
//! that a search comes across.

use std::collections::{HashSet, VecDeque};

use futures_util::FutureExt;
use lambda_idempotency_core::{
    ClaimAnswer, CompleteAnswer, MemoryStore, ReleaseAnswer, RenewAnswer, Replaced, Store,
};
use protocol_model::state::{Reply, Request, Stored, Verb};
use protocol_model::{Config, Protocol, Rule, Rules, State, presets};
use stateright::Model;

/// States looked at in each world.
const STATES: usize = 20_000;

#[test]
fn the_memory_store_does_what_the_model_does() {
    for world in [
        presets::deadlines(),
        presets::lives(),
        presets::edited_rules(),
        presets::no_fingerprint(),
        presets::server_clock(),
        presets::renewals_of_zombies(),
        presets::at_most_once_renewed(),
    ] {
        let name = world.name;
        let compared = compare(world);
        println!("{name}: {compared} requests compared");
        assert!(compared > 10_000, "{name}: only {compared} requests compared");
    }
}

fn compare(world: Config) -> usize {
    // The engine, not the store, recognises an own renewal.
    let model = Protocol::new(world, Rules::without(&[Rule::OwnRenewalIsMine]));
    let mut queue = VecDeque::from(model.init_states());
    let mut seen: HashSet<State> = queue.iter().cloned().collect();
    let mut compared = 0;
    while let Some(state) = queue.pop_front() {
        for &request in &state.network {
            agree(&model, &state, request);
            compared += 1;
        }
        for next in model.next_states(&state) {
            if seen.len() < STATES && seen.insert(next.clone()) {
                queue.push_back(next);
            }
        }
    }
    compared
}

/// Applies the request to the model and to the memory store, and compares answers and records.
fn agree(model: &Protocol, before: &State, request: Request) {
    let store = MemoryStore::new();
    if let Some(stored) = &before.record {
        store.put(model.record(stored));
    }
    let mut after = before.clone();
    let reply = model.apply(&mut after, request);
    let same = |stored: &Stored, record: &_| model.record(stored) == *record;
    let agreed = match request.verb {
        Verb::Claim => {
            let asked = model.claim_request(before, request);
            match (reply, now(store.claim(&asked))) {
                (Reply::Claimed { takeover, .. }, ClaimAnswer::Claimed(replaced)) => {
                    takeover == (replaced == Replaced::Abandoned)
                }
                (Reply::Refused { record, now, .. }, ClaimAnswer::Refused { record: theirs, now: at }) => {
                    same(&record, &theirs) && now == at
                }
                _ => false,
            }
        }
        Verb::Complete { failure } => {
            let asked = model.complete_request(before, request, failure);
            match (reply, now(store.complete(&asked))) {
                (Reply::Recorded { .. }, CompleteAnswer::Recorded) => true,
                (Reply::Overtaken { record, .. }, CompleteAnswer::Overtaken { record: theirs }) => {
                    same(&record, &theirs)
                }
                _ => false,
            }
        }
        Verb::Release { leave } => {
            let answer = now(store.release(&model.release_request(request, leave)));
            // One that was left already is left again without a change.
            (answer == ReleaseAnswer::Released) == (before.record != after.record)
        }
        Verb::Renew => {
            let answer = now(store.renew(&model.renew_request(before, request)));
            (answer == RenewAnswer::Renewed) == matches!(reply, Reply::Renewed { .. })
        }
        Verb::Read => true,
    };
    let ours: Vec<_> = after.record.iter().map(|stored| model.record(stored)).collect();
    assert!(
        agreed && ours == store.records(),
        "{request:?} on {:?}: the model answers {reply:?} and leaves {ours:?}, the store leaves {:?}",
        before.record,
        store.records()
    );
}

/// The memory store never waits.
fn now<T, E: std::fmt::Debug>(call: impl Future<Output = Result<T, E>>) -> T {
    call.now_or_never().expect("the memory store does not wait").expect("the memory store does not fail")
}
