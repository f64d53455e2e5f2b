//! What the cases share: one record of their own, contents, and requests with ordinary times.

use std::time::Duration;

use lambda_idempotency_key::{Expression, Fingerprint, Key, Name, Powertools, RecordId, Validation};

use super::super::Subject;
use super::Verdict;
use crate::decide::{self, Claimant, Verdict as Judgement};
use crate::{
    ClaimAnswer, ClaimRequest, CompleteAnswer, CompleteRequest, EpochMillis, Owner, Record, ReleaseAnswer,
    ReleaseRequest, RenewAnswer, RenewRequest, Replaced, Status, Store,
};

/// How long an ordinary claim holds.
pub(super) const LEASE: Duration = Duration::from_secs(60);
/// How long an abandoned claim is left alone.
pub(super) const MARGIN: Duration = Duration::from_secs(20);
/// Life of an ordinary record.
pub(super) const LIFE: Duration = Duration::from_secs(3600);
/// More than any clock runs on between two steps of a case.
pub(super) const MOMENT: Duration = Duration::from_secs(10);

/// One case's own record on the store under test.
pub(super) struct Bench<'a> {
    pub(super) subject: &'a dyn Subject,
    name: Name,
}

impl<'a> Bench<'a> {
    pub(super) fn new(subject: &'a dyn Subject) -> Result<Self, String> {
        let name =
            Name::new(format!("conformance.{}", owner()?.as_str())).map_err(|error| error.to_string())?;
        Ok(Self { subject, name })
    }

    pub(super) fn store(&self) -> &'a dyn Store {
        self.subject.store()
    }

    /// The case's record number `number`.
    pub(super) fn id(&self, number: u32) -> Result<RecordId, String> {
        let key = Key::parse("@").map_err(|error| error.to_string())?;
        let key = key.of(&number.to_string()).map_err(|error| error.to_string())?;
        Ok(RecordId::new(&self.name, None, &key, None))
    }

    /// A claim on the case's first record, by `owner`, with ordinary times.
    pub(super) fn claim(
        &self,
        owner: &Owner,
        validation: Option<Validation>,
    ) -> Result<ClaimRequest, String> {
        let now = self.subject.now();
        Ok(ClaimRequest {
            id: self.id(0)?,
            owner: owner.clone(),
            validation,
            expiration: now.plus(LIFE).ceil_seconds(),
            lease_end: now.plus(LEASE),
            deadline: None,
            margin: MARGIN,
            now,
        })
    }

    /// The final record of that claim, with `data` as its result.
    pub(super) fn completion(&self, claim: &ClaimRequest, data: &str) -> CompleteRequest {
        let now = self.subject.now();
        let mut record = claim.record();
        record.status = Status::Completed;
        record.data = Some(data.to_owned());
        record.expiration = now.plus(LIFE).ceil_seconds();
        record.deadline = None;
        record.stored_at = Some(now);
        CompleteRequest { record, owner: claim.owner.clone(), now }
    }

    /// Claims, and fails the case unless the claim wins as `expected`.
    pub(super) async fn wins(&self, request: &ClaimRequest, expected: Replaced) -> Verdict {
        match self.try_claim(request).await? {
            ClaimAnswer::Claimed(replaced) if replaced == expected => Ok(()),
            other => Err(format!("the claim must win over {expected:?}, but: {other:?}")),
        }
    }

    /// Claims, and fails the case unless the claim is refused; the judgement on the record in the way.
    pub(super) async fn loses(&self, request: &ClaimRequest) -> Result<(Record, Judgement), String> {
        match self.try_claim(request).await? {
            ClaimAnswer::Refused { record, now } | ClaimAnswer::Remembered { record, now } => {
                let claimant = Claimant {
                    owner: &request.owner,
                    validation: request.validation.as_ref(),
                    margin: request.margin,
                };
                let judgement = decide::classify(&record, claimant, now);
                Ok((record, judgement))
            }
            other => Err(format!("the claim must be refused, but: {other:?}")),
        }
    }

    pub(super) async fn try_claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, String> {
        let request = ClaimRequest { now: self.subject.now(), ..request.clone() };
        self.store().claim(&request).await.map_err(|error| error.to_string())
    }

    /// Completes; `None` when it is recorded, else the record in the way.
    pub(super) async fn complete(&self, request: &CompleteRequest) -> Result<Option<Record>, String> {
        let request = CompleteRequest { now: self.subject.now(), ..request.clone() };
        match self.store().complete(&request).await.map_err(|error| error.to_string())? {
            CompleteAnswer::Recorded => Ok(None),
            CompleteAnswer::Overtaken { record } => Ok(Some(record)),
            CompleteAnswer::Vanished => Err("nothing is in the way, but the completion was refused".into()),
        }
    }

    pub(super) async fn records(&self, request: &CompleteRequest) -> Verdict {
        match self.complete(request).await? {
            None => Ok(()),
            Some(record) => Err(format!("the completion must be recorded, but {record:?} was in the way")),
        }
    }

    /// Gives the key back.
    pub(super) async fn release(&self, owner: &Owner) -> Result<ReleaseAnswer, String> {
        self.given_back(owner, false).await
    }

    /// Gives the key back as an abandoned claim.
    pub(super) async fn leave(&self, owner: &Owner) -> Result<ReleaseAnswer, String> {
        self.given_back(owner, true).await
    }

    async fn given_back(&self, owner: &Owner, leave: bool) -> Result<ReleaseAnswer, String> {
        let request = ReleaseRequest { id: self.id(0)?, owner: owner.clone(), leave };
        self.store().release(&request).await.map_err(|error| error.to_string())
    }

    /// A renewal of that claim to `lease` from now.
    pub(super) fn renewal(&self, claim: &ClaimRequest, lease: Duration) -> RenewRequest {
        let now = self.subject.now();
        let lease_end = now.plus(lease);
        RenewRequest {
            id: claim.id.clone(),
            owner: claim.owner.clone(),
            lease_end,
            expiration: lease_end.plus(MARGIN).ceil_seconds(),
            deadline: None,
            now,
        }
    }

    pub(super) async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, String> {
        self.store().renew(request).await.map_err(|error| error.to_string())
    }

    /// The case's first record as it stands.
    pub(super) async fn stands(&self) -> Result<Option<Record>, String> {
        let reading = self.store().get(&self.id(0)?, self.subject.now()).await;
        Ok(reading.map_err(|error| error.to_string())?.record)
    }

    /// Fails the case unless the record stands exactly as `expected`, as far as it means something.
    pub(super) async fn still(&self, expected: &Record) -> Verdict {
        let found = self.stands().await?.map(meaningful);
        let expected = Some(meaningful(expected.clone()));
        if found == expected {
            Ok(())
        } else {
            Err(format!("the record must be {expected:?} but is {found:?}"))
        }
    }

    pub(super) async fn pass(&self, by: Duration) {
        self.subject.advance(by).await;
    }
}

/// The record without what has no meaning: lease and deadline of a final one. Times are compared to
/// within [`MOMENT`] by [`close`], not here: a store that was moved by shifting its times back holds others.
pub(super) fn meaningful(mut record: Record) -> Record {
    if record.status.is_final() {
        record.lease_end = None;
        record.deadline = None;
    }
    record.expiration = crate::EpochSeconds::new(0);
    record.lease_end = record.lease_end.map(|_| EpochMillis::new(0));
    record.deadline = record.deadline.map(|_| EpochMillis::new(0));
    record
}

/// Whether two instants are as good as equal.
pub(super) fn close(a: EpochMillis, b: EpochMillis) -> bool {
    a.until(b) < MOMENT && b.until(a) < MOMENT
}

pub(super) fn owner() -> Result<Owner, String> {
    Owner::random().map_err(|error| error.to_string())
}

/// The fingerprint of `content` under the ordinary rule.
pub(super) fn content(content: &str) -> Result<Option<Validation>, String> {
    Fingerprint::Whole.of(&format!("\"{content}\"")).map_err(|error| error.to_string())
}

/// The fingerprint of `content` under another rule: not comparable.
pub(super) fn other_rule(content: &str) -> Result<Option<Validation>, String> {
    let rule = Expression::parse("[@]").map_err(|error| error.to_string())?;
    Fingerprint::Narrowed(rule).of(&format!("\"{content}\"")).map_err(|error| error.to_string())
}

/// The hash of `content` as another utility writes it, without a rule.
pub(super) fn bare_hash(content: &str) -> Result<Option<Validation>, String> {
    let rule = Expression::parse("[@]").map_err(|error| error.to_string())?;
    let content = format!("\"{content}\"");
    Powertools::python()
        .validation(Some(&Fingerprint::Narrowed(rule)), &content)
        .map_err(|error| error.to_string())
}
