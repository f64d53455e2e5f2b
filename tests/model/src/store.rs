//! A request meets the record.

use lambda_idempotency_core::decide::{Commit, Completion};
use lambda_idempotency_core::{
    ClaimRequest, CompleteRequest, EpochMillis, Record, ReleaseRequest, RenewRequest, Replaced, Status,
    decide,
};

use crate::Protocol;
use crate::config::Hold;
use crate::rules::Rule;
use crate::state::{Attempt, Fault, Id, Outcome, Phase, Reply, Request, State, Stored, Verb};

impl State {
    /// Takes a request out of the network.
    pub(crate) fn take(&mut self, request: Request) {
        if let Ok(at) = self.network.binary_search(&request) {
            self.network.remove(at);
        }
    }

    /// Whether an attempt whose claim was taken over may have done its work: it has begun, and has not given the key
    /// back.
    fn is_work_abandoned(&self) -> bool {
        let may_be_done = |attempt: &Attempt| match attempt.phase {
            Phase::Idle | Phase::Claiming { .. } | Phase::Waiting { .. } => false,
            Phase::Done(Outcome::Released { leave }) => leave,
            _ => true,
        };
        (0..).zip(&self.attempts).any(|(id, attempt)| self.abandoned & (1 << id) != 0 && may_be_done(attempt))
    }

    /// The record has expired: what comes is another life.
    pub(crate) fn begin_life(&mut self) {
        self.life += 1;
        self.runs = 0;
        self.commits = 0;
        self.abandoned = 0;
    }
}

impl Protocol {
    /// Applies the request to the record, as one atomic step.
    pub fn apply(&self, state: &mut State, request: Request) -> Reply {
        match request.verb {
            Verb::Claim => self.claim(state, request),
            Verb::Read => self.read(state, request),
            Verb::Renew => self.renewal(state, request),
            Verb::Complete { failure } => self.complete(state, request, failure),
            Verb::Release { leave } => self.release(state, request, leave),
        }
    }

    /// The instant of the condition.
    fn now(&self, state: &State, request: Request) -> EpochMillis {
        if self.config.server_clock { self.truth(state.tick) } else { self.clock(request.from, request.made) }
    }

    /// The real claim request.
    pub fn claim_request(&self, state: &State, request: Request) -> ClaimRequest {
        let times = self.times(state, request.from, request.made);
        ClaimRequest {
            id: self.id.clone(),
            owner: self.owner(request.from).clone(),
            validation: self.validation(request.from).cloned(),
            expiration: times.expiration,
            lease_end: times.lease_end,
            deadline: times.deadline,
            margin: self.config.margin,
            now: self.now(state, request),
        }
    }

    /// The real completion.
    pub fn complete_request(&self, state: &State, request: Request, failure: bool) -> CompleteRequest {
        let made_at = self.clock(request.from, request.made);
        let expiration = decide::expires_at(self.config.expires_after, made_at);
        let stored = self.stored_final(request.from, expiration, failure);
        CompleteRequest {
            record: self.record(&stored),
            owner: self.owner(request.from).clone(),
            now: self.now(state, request),
        }
    }

    /// The real release.
    pub fn release_request(&self, request: Request, leave: bool) -> ReleaseRequest {
        ReleaseRequest { id: self.id.clone(), owner: self.owner(request.from).clone(), leave }
    }

    /// The real renewal, as the engine makes it.
    pub fn renew_request(&self, state: &State, request: Request) -> RenewRequest {
        let claimed = self.times(state, request.from, state.attempt(request.from).start);
        let until = self.times(state, request.from, request.made).holder_until;
        let mut expiration = until.plus(self.config.margin).ceil_seconds();
        if self.rules.has(Rule::RenewNotEarlier) {
            expiration = expiration.max(claimed.expiration);
        }
        let at_most_once = self.config.at_most_once;
        RenewRequest {
            id: self.id.clone(),
            owner: self.owner(request.from).clone(),
            lease_end: if at_most_once { expiration.end() } else { until },
            expiration,
            deadline: at_most_once.then_some(until),
            now: self.now(state, request),
        }
    }

    fn stored_final(
        &self,
        maker: Id,
        expiration: lambda_idempotency_core::EpochSeconds,
        failure: bool,
    ) -> Stored {
        Stored {
            owner: self.rules.has(Rule::OwnerIsWritten).then_some(maker),
            maker,
            status: if failure { Status::Failed } else { Status::Completed },
            // Meaningless in a final record, so the same in all of them.
            lease_end: EpochMillis::new(0),
            expiration,
            deadline: None,
            left: false,
        }
    }

    fn claim(&self, state: &mut State, request: Request) -> Reply {
        let from = request.from;
        let asked = self.claim_request(state, request);
        let replaced = match &state.record {
            None => Replaced::Nothing,
            Some(stored) => {
                match self.rules.claimable(&self.record(stored), self.claimant(from), asked.now) {
                    Some(replaced) => replaced,
                    None if !self.config.returns_record => return Reply::RefusedUnseen,
                    None => return Reply::Refused { record: *stored, now: asked.now, life: state.life },
                }
            }
        };
        match (replaced, state.record) {
            (Replaced::Expired, _) => state.begin_life(),
            (Replaced::Abandoned, Some(stored)) => {
                // Whoever left it knew of what was abandoned before.
                if stored.maker != from && !stored.left {
                    state.abandoned |= 1 << stored.maker;
                }
                let content = |id: Id| self.config.attempts[usize::from(id)].content;
                if content(from).provably_differs(content(stored.maker)) {
                    state.faults.note(Fault::Overrun);
                }
            }
            _ => {}
        }
        state.record = Some(Stored {
            owner: self.rules.has(Rule::OwnerIsWritten).then_some(from),
            maker: from,
            status: Status::InProgress,
            lease_end: asked.lease_end,
            expiration: asked.expiration,
            deadline: asked.deadline,
            left: false,
        });
        Reply::Claimed {
            takeover: replaced == Replaced::Abandoned,
            unaware: replaced == Replaced::Nothing && state.is_work_abandoned(),
            life: state.life,
        }
    }

    fn read(&self, state: &State, request: Request) -> Reply {
        match state.record {
            Some(record) => Reply::Refused { record, now: self.now(state, request), life: state.life },
            None => Reply::Vanished,
        }
    }

    fn complete(&self, state: &mut State, request: Request, failure: bool) -> Reply {
        let asked = self.complete_request(state, request, failure);
        let found = state.record.as_ref().map(|stored| self.record(stored));
        let decision = if self.config.transactional {
            self.may_commit(state, found.as_ref(), &asked)
        } else {
            match self.rules.may_complete(found.as_ref(), &asked.owner, asked.now) {
                Completion::Write => Some(Commit::Apply),
                Completion::Overtaken => Some(Commit::Overtaken),
            }
        };
        match (decision, state.record) {
            (Some(Commit::Overtaken), Some(record)) => return Reply::Overtaken { record, life: state.life },
            (Some(Commit::Applied), _) => {
                let life = state.attempt(request.from).committed_in.unwrap_or(state.life);
                return Reply::Recorded { life };
            }
            (None, _) => return Reply::TooLate,
            _ => {}
        }
        self.watch(state, request.from, asked.now, false);
        if found.is_some_and(|record| record.is_expired(asked.now)) {
            state.begin_life();
        }
        state.record = Some(self.stored_final(request.from, asked.record.expiration, failure));
        if self.config.transactional {
            state.commits += 1;
            let life = state.life;
            let attempt = state.attempt_mut(request.from);
            attempt.commits += 1;
            attempt.committed_in = Some(life);
        }
        Reply::Recorded { life: state.life }
    }

    fn may_commit(&self, state: &State, found: Option<&Record>, asked: &CompleteRequest) -> Option<Commit> {
        let known = (0..)
            .zip(&state.attempts)
            .any(|(id, attempt): (Id, _)| attempt.committed_in.is_some() && *self.owner(id) == asked.owner);
        if self.config.remembers_token && known {
            return Some(Commit::Applied);
        }
        self.rules.may_commit(found, &asked.owner, asked.record.expiration, asked.now)
    }

    /// The caller's own condition fails. If it is not the only one, the record's own condition tells more.
    pub(crate) fn refuse_transaction(&self, state: &State, request: Request) -> Option<Reply> {
        let Verb::Complete { failure } = request.verb else { return None };
        let asked = self.complete_request(state, request, failure);
        let found = state.record.as_ref().map(|stored| self.record(stored));
        Some(match (self.may_commit(state, found.as_ref(), &asked), state.record) {
            (Some(Commit::Overtaken), Some(record)) => Reply::Overtaken { record, life: state.life },
            (Some(Commit::Applied), _) => {
                Reply::Recorded { life: state.attempt(request.from).committed_in.unwrap_or(state.life) }
            }
            (None, _) => Reply::TooLate,
            _ => Reply::TransactionRefused,
        })
    }

    fn release(&self, state: &mut State, request: Request, leave: bool) -> Reply {
        let found = state.record.as_ref().map(|stored| self.record(stored));
        let asked = self.release_request(request, leave);
        if self.rules.may_release(found.as_ref(), &asked.owner) {
            self.watch(state, request.from, self.truth(state.tick), true);
            if asked.leave {
                let lease_end = found.as_ref().map(decide::left).and_then(|left| left.lease_end);
                if let (Some(stored), Some(lease_end)) = (&mut state.record, lease_end) {
                    *stored = Stored { lease_end, left: true, ..*stored };
                }
            } else {
                state.record = None;
                state.runs = 0;
            }
        }
        Reply::Nothing
    }

    fn renewal(&self, state: &mut State, request: Request) -> Reply {
        let asked = self.renew_request(state, request);
        let until = asked.deadline.unwrap_or(asked.lease_end);
        let found = state.record.as_ref().map(|stored| self.record(stored));
        if !self.rules.may_renew(found.as_ref(), &asked) {
            // The engine reads the record then.
            let applied = found.is_some_and(|record| self.is_renewed(&record, &asked, until));
            if applied && self.rules.has(Rule::OwnRenewalIsMine) {
                return Reply::Renewed { until };
            }
            return Reply::NotRenewed;
        }
        self.watch(state, request.from, asked.now, true);
        if let Some(stored) = &mut state.record {
            if self.rules.has(Rule::RenewCoversLease) {
                stored.expiration = stored.expiration.max(asked.expiration);
            }
            stored.lease_end = asked.lease_end;
            stored.deadline = asked.deadline;
        }
        Reply::Renewed { until }
    }

    /// Whether my unfinished claim lasts until then already.
    fn is_renewed(&self, record: &Record, asked: &RenewRequest, until: EpochMillis) -> bool {
        record.owner.as_ref() == Some(&asked.owner)
            && record.status == Status::InProgress
            && !record.is_expired(asked.now)
            && record.deadline.or(record.lease_end).is_some_and(|end| end >= until)
    }

    /// Notes a fault when the record is about to be changed by somebody who must not.
    fn watch(&self, state: &mut State, from: Id, now: EpochMillis, final_too: bool) {
        let Some(stored) = state.record else { return };
        let record = self.record(&stored);
        if record.is_expired(now) || record.is_expired(self.truth(state.tick)) {
            return;
        }
        if stored.maker != from && !stored.left {
            state.faults.note(Fault::ForeignChange);
        }
        if stored.status.is_final() && (final_too || stored.maker != from) {
            state.faults.note(Fault::FinalChanged);
        }
    }

    /// The lease of one claim at most, by any clock.
    pub(crate) fn longest_lease(&self) -> std::time::Duration {
        match self.config.hold {
            Hold::Deadline(lease) | Hold::Fixed(lease, _) => lease,
        }
    }
}
