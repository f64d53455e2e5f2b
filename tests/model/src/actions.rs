//! What can happen next.

use crate::Protocol;
use crate::config::{Ending, Hold};
use crate::state::{Id, Outcome, Phase, Request, State, Verb};

/// One step of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes, and those whose time is up are stopped.
    Tick,
    /// The store deletes the expired record.
    Sweep,
    /// An attempt is delivered and sends its claim.
    Start(Id),
    /// The store gets a request, and its reply arrives or is under way.
    Apply(Request),
    /// The store gets a request, and its reply is lost.
    ApplyUnheard(Request),
    /// One of the caller's own conditions cancels the transaction.
    RefuseTransaction(Request),
    /// A late reply arrives.
    Deliver(Id),
    /// An attempt waited too long and sends the same request again.
    Resend(Id),
    /// An attempt that waits claims again.
    ClaimAgain(Id),
    /// An attempt renews its lease.
    Renew(Id),
    /// The work of an attempt ends.
    Finish(Id, Ending),
    /// An attempt is gone.
    Crash(Id),
}

impl Protocol {
    /// Everything that can happen next.
    pub(crate) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        if state.tick < self.config.last_tick {
            actions.push(Action::Tick);
        }
        let now = self.truth(state.tick);
        if self.config.sweeps && state.record.is_some_and(|record| self.record(&record).is_expired(now)) {
            actions.push(Action::Sweep);
        }
        for (index, request) in state.network.iter().enumerate() {
            if index > 0 && state.network[index - 1] == *request {
                continue; // The same bytes: the same step.
            }
            self.applications(state, *request, actions);
        }
        for id in 0..Id::try_from(state.attempts.len()).unwrap_or(Id::MAX) {
            self.moves(state, id, actions);
        }
    }

    fn applications(&self, state: &State, request: Request, actions: &mut Vec<Action>) {
        if !self.waits_for(state, request) {
            actions.push(Action::ApplyUnheard(request));
            return;
        }
        actions.push(Action::Apply(request));
        // A lost reply to the last try is like an attempt that does nothing any more, but for renewals.
        if self.config.resends > 0 || request.verb == Verb::Renew {
            actions.push(Action::ApplyUnheard(request));
        }
        if self.config.transactional && matches!(request.verb, Verb::Complete { .. }) {
            actions.push(Action::RefuseTransaction(request));
        }
    }

    fn moves(&self, state: &State, id: Id, actions: &mut Vec<Action>) {
        let attempt = state.attempt(id);
        let mut waits = false;
        match &attempt.phase {
            Phase::Idle => actions.push(Action::Start(id)),
            Phase::Claiming { reply, .. } | Phase::Completing { reply, .. } => {
                waits = reply.is_none();
                if reply.is_some() {
                    actions.push(Action::Deliver(id));
                }
            }
            Phase::Waiting { since } => {
                if state.tick > *since {
                    actions.push(Action::ClaimAgain(id));
                }
            }
            Phase::Running { renewing, .. } => {
                waits = renewing.is_some();
                actions.extend(self.config.endings.iter().map(|&ending| Action::Finish(id, ending)));
                if matches!(self.config.hold, Hold::Fixed(..)) && attempt.renewals > 0 {
                    actions.push(Action::Renew(id));
                }
            }
            Phase::Done(Outcome::Released { .. }) => waits = true,
            Phase::Done(_) => return,
        }
        if waits && attempt.resends > 0 {
            actions.push(Action::Resend(id));
        }
        if self.config.crashes && !matches!(attempt.phase, Phase::Idle | Phase::Done(_)) {
            actions.push(Action::Crash(id));
        }
    }

    /// Whether the sender of this request is waiting for a reply to it.
    fn waits_for(&self, state: &State, request: Request) -> bool {
        match (&state.attempt(request.from).phase, request.verb) {
            (Phase::Claiming { sent, reading, reply, .. }, Verb::Claim | Verb::Read) => {
                *sent == request.made && *reading == (request.verb == Verb::Read) && reply.is_none()
            }
            (Phase::Completing { sent, reply, .. }, Verb::Complete { .. }) => {
                *sent == request.made && reply.is_none()
            }
            (Phase::Running { renewing, .. }, Verb::Renew) => *renewing == Some(request.made),
            _ => false,
        }
    }

    /// Does it.
    pub(crate) fn act(&self, state: &mut State, action: Action) {
        match action {
            Action::Tick => self.tick(state),
            Action::Sweep => {
                state.record = None;
                state.begin_life();
            }
            Action::Start(id) => {
                state.attempt_mut(id).start = state.tick;
                self.send_claim(state, id, 0);
            }
            Action::Apply(request) => {
                state.take(request);
                let reply = self.apply(state, request);
                if self.config.late_replies && request.verb != Verb::Renew {
                    self.keep(state, request.from, reply);
                } else {
                    self.receive(state, request.from, reply);
                }
            }
            Action::ApplyUnheard(request) => {
                state.take(request);
                self.apply(state, request);
            }
            Action::RefuseTransaction(request) => {
                state.take(request);
                if let Some(reply) = self.refuse_transaction(state, request) {
                    self.receive(state, request.from, reply);
                }
            }
            Action::Deliver(id) => self.deliver(state, id),
            Action::Resend(id) => self.resend(state, id),
            Action::ClaimAgain(id) => self.send_claim(state, id, 0),
            Action::Renew(id) => self.renew(state, id),
            Action::Finish(id, ending) => self.finish(state, id, ending),
            Action::Crash(id) => state.attempt_mut(id).phase = Phase::Done(Outcome::Stopped),
        }
    }
}
