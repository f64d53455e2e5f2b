//! An attempt from its claim to its answer, as the engine carries it out.

use lambda_idempotency_core::decide::{Overtaken, Verdict};
use lambda_idempotency_core::{EpochMillis, Replaced, Status};

use crate::Protocol;
use crate::config::{Ending, Hold};
use crate::rules::Rule;
use crate::state::{By, Fault, How, Id, Outcome, Phase, Reply, Request, State, Stored, Verb};

impl Protocol {
    pub(crate) fn tick(&self, state: &mut State) {
        state.tick += 1;
        if !self.config.enforced {
            return;
        }
        for id in 0..Id::try_from(state.attempts.len()).unwrap_or(Id::MAX) {
            let ends = match (&state.attempt(id).phase, self.config.hold) {
                (Phase::Idle | Phase::Done(_), _) => None,
                (_, Hold::Deadline(_)) => self.deadline(state, id).instant(),
                (Phase::Running { until, .. }, Hold::Fixed(..)) => Some(*until),
                (_, Hold::Fixed(..)) => None,
            };
            if ends.is_some_and(|ends| ends <= self.clock(id, state.tick)) {
                state.attempt_mut(id).phase = Phase::Done(Outcome::Stopped);
            }
        }
    }

    pub(crate) fn send_claim(&self, state: &mut State, id: Id, round: u8) {
        let now = self.clock(id, state.tick);
        state.attempt_mut(id).phase = if round > self.config.rounds {
            Phase::Done(Outcome::Inconsistent)
        } else if self.deadline(state, id).has_passed(now) {
            Phase::Done(Outcome::DeadlinePassed)
        } else {
            state.send(Request { from: id, verb: Verb::Claim, made: state.tick });
            Phase::Claiming { sent: state.tick, round, reading: false, reply: None }
        };
    }

    /// A reply is under way.
    pub(crate) fn keep(&self, state: &mut State, id: Id, new: Reply) {
        if let Phase::Claiming { reply, .. } | Phase::Completing { reply, .. } =
            &mut state.attempt_mut(id).phase
        {
            *reply = Some(new);
        }
    }

    /// The reply that was under way arrives.
    pub(crate) fn deliver(&self, state: &mut State, id: Id) {
        let kept = match &mut state.attempt_mut(id).phase {
            Phase::Claiming { reply, .. } | Phase::Completing { reply, .. } => reply.take(),
            _ => None,
        };
        if let Some(reply) = kept {
            self.receive(state, id, reply);
        }
    }

    /// A reply arrives.
    pub(crate) fn receive(&self, state: &mut State, id: Id, reply: Reply) {
        match (state.attempt(id).phase.clone(), reply) {
            (Phase::Claiming { sent, .. }, Reply::Claimed { takeover, unaware, life }) => {
                if unaware {
                    state.faults.note(Fault::Uninformed);
                }
                let by = if takeover { By::Takeover } else { By::First };
                let until = self.times(state, id, sent).holder_until;
                self.run(state, id, by, until, life);
            }
            (Phase::Claiming { sent, round, .. }, Reply::Refused { record, now, life }) => {
                self.refused(state, id, (sent, round), &record, now, life);
            }
            (Phase::Claiming { sent, round, .. }, Reply::RefusedUnseen) => {
                state.send(Request { from: id, verb: Verb::Read, made: sent });
                state.attempt_mut(id).phase = Phase::Claiming { sent, round, reading: true, reply: None };
            }
            (Phase::Claiming { round, .. }, Reply::Vanished) => self.send_claim(state, id, round + 1),
            (Phase::Completing { .. }, Reply::Recorded { life }) => {
                self.done(state, id, Outcome::Answered { maker: id, life, how: How::Executed });
            }
            (Phase::Completing { .. }, Reply::Overtaken { record, life }) => {
                let outcome = match self.rules.overtaken_by(&self.record(&record), self.validation(id)) {
                    Some(Overtaken::Answer) => {
                        Outcome::Answered { maker: record.maker, life, how: How::Overtaken }
                    }
                    Some(Overtaken::LeaseLost) => Outcome::LeaseLost,
                    None => Outcome::Answered { maker: id, life, how: How::Overtaken },
                };
                self.done(state, id, outcome);
            }
            (Phase::Completing { .. }, Reply::TooLate) => self.done(state, id, Outcome::LeaseLost),
            (Phase::Completing { by, .. }, Reply::TransactionRefused) => self.give_back(state, id, by),
            (Phase::Running { until, by, .. }, Reply::Renewed { until: new }) => {
                let until = until.max(new);
                state.attempt_mut(id).phase = Phase::Running { until, by, renewing: None };
            }
            (Phase::Running { until, by, .. }, Reply::NotRenewed) => {
                let held = state.record.is_some_and(|record| {
                    record.maker == id
                        && record.status == Status::InProgress
                        && !self.record(&record).is_expired(self.truth(state.tick))
                        && !self.record(&record).is_expired(self.clock(id, state.tick))
                });
                if held {
                    state.faults.note(Fault::FalseAlarm);
                }
                state.attempt_mut(id).phase = Phase::Running { until, by, renewing: None };
            }
            _ => {}
        }
    }

    /// The claim was refused by this record.
    fn refused(
        &self,
        state: &mut State,
        id: Id,
        (sent, round): (u8, u8),
        stored: &Stored,
        now: EpochMillis,
        life: u8,
    ) {
        let record = self.record(stored);
        let outcome = match self.rules.classify(&record, self.claimant(id), now) {
            Verdict::Mine => {
                let mut until = self.times(state, id, sent).holder_until;
                if self.rules.has(Rule::LeaseFromRecord) {
                    until = record.deadline.unwrap_or(stored.lease_end);
                }
                return self.run(state, id, By::Recognition, until, life);
            }
            Verdict::Claimable(Replaced::Nothing | Replaced::Expired | Replaced::Abandoned) => {
                return self.send_claim(state, id, round + 1);
            }
            Verdict::ReplayResult | Verdict::ReplayFailure => {
                Outcome::Answered { maker: stored.maker, life, how: How::Replayed }
            }
            Verdict::Mismatch => Outcome::Mismatch,
            Verdict::Interrupted => Outcome::Interrupted,
            Verdict::Busy { .. } => Outcome::Busy,
        };
        if stored.maker == id && stored.status == Status::InProgress {
            state.faults.note(Fault::SelfBlocked);
        }
        if self.config.waits && outcome == Outcome::Busy {
            state.attempt_mut(id).phase = Phase::Waiting { since: state.tick };
        } else {
            self.done(state, id, outcome);
        }
    }

    fn run(&self, state: &mut State, id: Id, by: By, until: EpochMillis, life: u8) {
        let fixed = matches!(self.config.hold, Hold::Fixed(..));
        if fixed && until <= self.clock(id, state.tick) && self.rules.has(Rule::StartWithinLease) {
            return self.done(state, id, Outcome::LeaseLost);
        }
        let answered = state.attempts.iter().any(
            |other| matches!(other.phase, Phase::Done(Outcome::Answered { life: of, .. }) if of == life),
        );
        if answered {
            state.faults.note(Fault::RanAfterAnswer);
        }
        if self.config.at_most_once && life == state.life {
            state.runs += 1;
        }
        state.attempt_mut(id).phase = Phase::Running { until, by, renewing: None };
    }

    pub(crate) fn finish(&self, state: &mut State, id: Id, ending: Ending) {
        let Phase::Running { by, .. } = state.attempt(id).phase else { return };
        let sent = state.tick;
        match ending {
            Ending::Success | Ending::StoredFailure => {
                let failure = ending == Ending::StoredFailure;
                state.send(Request { from: id, verb: Verb::Complete { failure }, made: sent });
                state.attempt_mut(id).phase = Phase::Completing { sent, failure, by, reply: None };
            }
            Ending::Release => self.give_back(state, id, by),
            Ending::Keep => self.done(state, id, Outcome::Failed),
        }
    }

    fn give_back(&self, state: &mut State, id: Id, by: By) {
        // What a claim replaced that was recognised is not known.
        let leave = by != By::First && !self.config.at_most_once && self.rules.has(Rule::TakeoverLeaves);
        // No instant is in a release.
        state.send(Request { from: id, verb: Verb::Release { leave }, made: 0 });
        self.done(state, id, Outcome::Released { leave });
    }

    pub(crate) fn renew(&self, state: &mut State, id: Id) {
        let made = state.tick;
        let attempt = state.attempt_mut(id);
        attempt.renewals -= 1;
        if let Phase::Running { renewing, .. } = &mut attempt.phase {
            *renewing = Some(made);
        }
        state.send(Request { from: id, verb: Verb::Renew, made });
    }

    pub(crate) fn resend(&self, state: &mut State, id: Id) {
        let attempt = state.attempt_mut(id);
        attempt.resends -= 1;
        let (verb, made) = match attempt.phase {
            Phase::Claiming { sent, reading, .. } => (if reading { Verb::Read } else { Verb::Claim }, sent),
            Phase::Completing { sent, failure, .. } => (Verb::Complete { failure }, sent),
            Phase::Running { renewing: Some(made), .. } => (Verb::Renew, made),
            Phase::Done(Outcome::Released { leave }) => (Verb::Release { leave }, 0),
            _ => return,
        };
        state.send(Request { from: id, verb, made });
    }

    fn done(&self, state: &mut State, id: Id, outcome: Outcome) {
        state.attempt_mut(id).phase = Phase::Done(outcome);
    }
}
