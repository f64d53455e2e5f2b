//! The model: a world and the rules in it.

use lambda_idempotency_core::decide::{Claimant, Deadline, Times};
use lambda_idempotency_core::{EpochMillis, Lease, Owner, Policy, Record, RecordId, Validation};
use stateright::{Model, Property};

use crate::actions::Action;
use crate::config::{Config, EPOCH_MS, Hold, TICK_MS};
use crate::properties;
use crate::rules::Rules;
use crate::state::{Attempt, Faults, Id, Phase, State, Stored};

/// A world and the rules in it.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The world.
    pub config: Config,
    /// The rules.
    pub rules: Rules,
    pub(crate) id: RecordId,
    policy: Policy,
    owners: Vec<Owner>,
    validations: Vec<Option<Validation>>,
}

impl Protocol {
    /// This world with these rules.
    pub fn new(config: Config, rules: Rules) -> Self {
        let lease = match config.hold {
            Hold::Deadline(_) => Lease::Deadline,
            Hold::Fixed(lease, _) => Lease::Fixed(lease),
        };
        let policy = Policy::new().margin(config.margin).lease(lease);
        let id = format!("model#{}", "0".repeat(64));
        Self {
            policy: if config.at_most_once { policy.at_most_once() } else { policy },
            id: RecordId::parse(&id).expect("a valid record id"),
            owners: (0..config.attempts.len()).map(|n| Owner::from_text(n.to_string())).collect(),
            validations: config.attempts.iter().map(|asks| asks.content.validation()).collect(),
            config,
            rules,
        }
    }

    /// The true time at a tick.
    pub fn truth(&self, tick: u8) -> EpochMillis {
        EpochMillis::new(EPOCH_MS + i64::from(tick) * TICK_MS)
    }

    /// What the attempt's clock shows at a tick.
    pub fn clock(&self, id: Id, tick: u8) -> EpochMillis {
        EpochMillis::new(self.truth(tick).get() + self.config.attempts[usize::from(id)].skew_ms)
    }

    /// When the platform stops the attempt.
    pub(crate) fn deadline(&self, state: &State, id: Id) -> Deadline {
        match self.config.hold {
            Hold::Deadline(run) => Deadline::At(self.clock(id, state.attempt(id).start).plus(run)),
            Hold::Fixed(..) => Deadline::Unset,
        }
    }

    /// The times of a claim that the attempt makes at a tick.
    pub(crate) fn times(&self, state: &State, id: Id, made: u8) -> Times {
        let deadline = self.deadline(state, id);
        self.rules.lease_times(&self.policy, self.config.expires_after, deadline, self.clock(id, made))
    }

    pub(crate) fn owner(&self, id: Id) -> &Owner {
        &self.owners[usize::from(id)]
    }

    pub(crate) fn validation(&self, id: Id) -> Option<&Validation> {
        self.validations[usize::from(id)].as_ref()
    }

    pub(crate) fn claimant(&self, id: Id) -> Claimant<'_> {
        Claimant { owner: self.owner(id), validation: self.validation(id), margin: self.config.margin }
    }

    /// The record as the decisions see it.
    pub fn record(&self, stored: &Stored) -> Record {
        Record {
            id: self.id.clone(),
            expiration: stored.expiration,
            status: stored.status,
            lease_end: Some(stored.lease_end),
            owner: match stored.left {
                true => Some(Owner::from_text(Owner::NOBODY)),
                false => stored.owner.map(|owner| self.owner(owner).clone()),
            },
            validation: self.validation(stored.maker).map(|validation| validation.as_str().to_owned()),
            data: None,
            encoding: None,
            stored_at: None,
            deadline: stored.deadline,
        }
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let renewals = match self.config.hold {
            Hold::Deadline(_) => 0,
            Hold::Fixed(_, renewals) => renewals,
        };
        let attempt = |number| Attempt {
            start: 0,
            phase: Phase::Idle,
            resends: if number < self.config.resenders { self.config.resends } else { 0 },
            renewals,
            commits: 0,
            committed_in: None,
        };
        vec![State {
            tick: 0,
            record: None,
            life: 0,
            runs: 0,
            commits: 0,
            abandoned: 0,
            attempts: (0..self.config.attempts.len()).map(attempt).collect(),
            network: Vec::new(),
            faults: Faults::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.possible(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        self.act(&mut next, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::of(&self.config)
    }
}
