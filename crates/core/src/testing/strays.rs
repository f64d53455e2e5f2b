//! Requests that are still on their way when their callers have given them up.

use std::sync::{Mutex, PoisonError};

use crate::{ClaimRequest, CompleteRequest, EpochMillis, ReleaseRequest, RenewRequest, Store};

/// A request as it was sent.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Claim(ClaimRequest),
    Complete(CompleteRequest),
    Release(ReleaseRequest),
    Renew(RenewRequest),
}

/// What is on its way, with the moment of its arrival, in the order in which it was sent.
#[derive(Debug, Default)]
pub(super) struct Strays {
    sent: Mutex<Vec<(EpochMillis, Request)>>,
}

impl Strays {
    /// `None` is a request that leaves nothing behind.
    pub(super) fn send(&self, arrives_at: EpochMillis, request: Option<Request>) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.extend(request.map(|request| (arrives_at, request)));
    }

    pub(super) fn len(&self) -> usize {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Applies what has arrived by `now`. Nobody hears the answers.
    pub(super) async fn arrive(&self, store: &impl Store, now: EpochMillis) {
        let arrived: Vec<_> = {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.extract_if(.., |(at, _)| *at <= now).collect()
        };
        for (_, request) in arrived {
            match request {
                Request::Claim(request) => drop(store.claim(&request).await),
                Request::Complete(request) => drop(store.complete(&request).await),
                Request::Release(request) => drop(store.release(&request).await),
                Request::Renew(request) => drop(store.renew(&request).await),
            }
        }
    }
}
