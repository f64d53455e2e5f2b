//! Random histories: the same steps on the store under test and on the memory store, compared after
//! each.

use std::time::Duration;

use lambda_idempotency_key::{Fingerprint, Key, Name, RecordId, Validation};

use super::Subject;
use crate::{
    ClaimAnswer, ClaimRequest, CompleteAnswer, CompleteRequest, MemoryStore, Owner, Record, ReleaseRequest,
    RenewRequest, Status, Store,
};

const KEYS: u32 = 2;
const WORKERS: usize = 3;
const CONTENTS: usize = 3;
const MARGIN: Duration = Duration::from_secs(20);

/// Plays `steps` random steps that `seed` decides, and says where the two stores differ.
///
/// The memory store is moved along with the subject by the instants of the requests, so this is for
/// subjects whose [`now`](Subject::now) stands still between two [`advance`](Subject::advance)s.
///
/// # Errors
/// The first difference, with seed and step, so that it can be played again.
pub async fn play(subject: &dyn Subject, seed: u64, steps: usize) -> Result<(), String> {
    let mut random = Random(seed);
    let reference = MemoryStore::new();
    let nonce = Owner::random().map_err(|error| error.to_string())?;
    let name = Name::new(format!("history.{}", nonce.as_str())).map_err(|error| error.to_string())?;
    let key = Key::parse("@").map_err(|error| error.to_string())?;
    let mut ids = Vec::new();
    for number in 0..KEYS {
        let key = key.of(&number.to_string()).map_err(|error| error.to_string())?;
        ids.push(RecordId::new(&name, None, &key, None));
    }
    let mut contents: Vec<Option<Validation>> = vec![None];
    for content in 1..CONTENTS {
        contents.push(Fingerprint::Whole.of(&content.to_string()).map_err(|error| error.to_string())?);
    }
    let owners: Vec<Owner> =
        (0..WORKERS).map(|worker| Owner::from_text(format!("worker-{worker}"))).collect();

    for step in 0..steps {
        let at = |what: &str| format!("seed {seed}, step {step}, {what}");
        let (id, owner) = (random.pick(&ids).clone(), random.pick(&owners).clone());
        let validation = random.pick(&contents).clone();
        let now = subject.now();
        let claim = ClaimRequest {
            id: id.clone(),
            owner: owner.clone(),
            validation,
            expiration: now.plus(Duration::from_secs(200)).ceil_seconds(),
            lease_end: now.plus(Duration::from_secs(60 + 30 * random.below(2))),
            deadline: None,
            margin: MARGIN,
            now,
        };
        match random.below(9) {
            0..=2 => {
                let (a, b) = (subject.store().claim(&claim).await, reference.claim(&claim).await);
                same(&at("claim"), a, b, claim_shape)?;
            }
            3 | 4 => {
                let mut record = claim.record();
                record.status = if random.below(4) == 0 { Status::Failed } else { Status::Completed };
                record.data = Some(random.below(100).to_string());
                record.stored_at = Some(now);
                let request = CompleteRequest { record, owner, now };
                let (a, b) = (subject.store().complete(&request).await, reference.complete(&request).await);
                same(&at("complete"), a, b, complete_shape)?;
            }
            5 => {
                let request = ReleaseRequest { id: id.clone(), owner, leave: random.below(2) == 0 };
                let (a, b) = (subject.store().release(&request).await, reference.release(&request).await);
                same(&at("release"), a, b, |answer| format!("{answer:?}"))?;
            }
            6 => {
                let lease_end = now.plus(Duration::from_secs(30 + 60 * random.below(4)));
                let expiration = lease_end.plus(MARGIN).ceil_seconds();
                let request =
                    RenewRequest { id: id.clone(), owner, lease_end, expiration, deadline: None, now };
                let (a, b) = (subject.store().renew(&request).await, reference.renew(&request).await);
                same(&at("renew"), a, b, |answer| format!("{answer:?}"))?;
            }
            _ => subject.advance(Duration::from_secs(15 + 15 * random.below(6))).await,
        }
        for id in &ids {
            let now = subject.now();
            let (a, b) = (subject.store().get(id, now).await, reference.get(id, now).await);
            let shape = |reading: crate::Reading| format!("{:?}", reading.record.map(record_shape));
            same(&at("the record after it"), a, b, shape)?;
        }
    }
    Ok(())
}

type Answer<T> = Result<T, crate::StoreError>;

fn same<T>(at: &str, a: Answer<T>, b: Answer<T>, shape: impl Fn(T) -> String) -> Result<(), String> {
    let text = |answer: Answer<T>| answer.map(&shape).map_err(|error| format!("{at}: {error}"));
    let (subject, reference) = (text(a)?, text(b)?);
    if subject == reference {
        Ok(())
    } else {
        Err(format!("{at}: the store says {subject}, the memory store says {reference}"))
    }
}

/// An expired record counts as absent, and a store may or may not have dropped it.
fn claim_shape(answer: ClaimAnswer) -> String {
    match answer {
        ClaimAnswer::Claimed(crate::Replaced::Nothing | crate::Replaced::Expired) => "claimed".to_owned(),
        ClaimAnswer::Claimed(crate::Replaced::Abandoned) => "taken over".to_owned(),
        ClaimAnswer::Refused { record, .. } | ClaimAnswer::Remembered { record, .. } => {
            format!("refused by {:?}", record_shape(record))
        }
        ClaimAnswer::Vanished => "vanished".to_owned(),
    }
}

fn complete_shape(answer: CompleteAnswer) -> String {
    match answer {
        CompleteAnswer::Recorded => "recorded".to_owned(),
        CompleteAnswer::Overtaken { record } => format!("overtaken by {:?}", record_shape(record)),
        CompleteAnswer::Vanished => "vanished".to_owned(),
    }
}

/// Everything that means something; lease and deadline of a final record do not.
fn record_shape(mut record: Record) -> (Record, Option<String>) {
    if record.status.is_final() {
        record.lease_end = None;
        record.deadline = None;
    }
    let data = record.data.clone();
    (record, data)
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap_or_default()]
    }
}
