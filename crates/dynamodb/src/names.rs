//! How the attributes of a record are called in the table, and which of them are its key.

use lambda_idempotency_core::Error;
use lambda_idempotency_core::key::RecordId;

use crate::SortKey;
use crate::item::{Item, text};

/// Names of the record's attributes. The defaults are those of Powertools for AWS Lambda, and `owner`.
///
/// Any name will do, reserved words too. The TTL attribute of the table must be the one named in
/// `expiration`.
///
/// ```
/// use lambda_idempotency_dynamodb::AttributeNames;
///
/// let mut names = AttributeNames::default();
/// names.expiration = "ttl".into();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeNames {
    /// The partition key, S: the record's id, unless the sort key holds it.
    pub id: String,
    /// The sort key, in a table that has one.
    pub sort_key: Option<SortKey>,
    /// When the record stops counting, N, in **seconds**.
    pub expiration: String,
    /// When the lease ends, N, in **milliseconds**.
    pub in_progress_expiration: String,
    /// `INPROGRESS`, `COMPLETED` or `FAILED`, S.
    pub status: String,
    /// The result as JSON text, S; in any type where Powertools for TypeScript wrote it or is to read it.
    pub data: String,
    /// The fingerprint, S.
    pub validation: String,
    /// The attempt that holds the record, S.
    pub owner: String,
    /// With at-most-once: the end of the holder's lease, N, in **milliseconds**.
    pub deadline: String,
    /// How `data` is encoded where it is not JSON text, S.
    pub encoding: String,
    /// When the result was recorded, N, in **milliseconds**.
    pub stored_at: String,
}

impl Default for AttributeNames {
    fn default() -> Self {
        Self {
            id: "id".into(),
            sort_key: None,
            expiration: "expiration".into(),
            in_progress_expiration: "in_progress_expiration".into(),
            status: "status".into(),
            data: "data".into(),
            validation: "validation".into(),
            owner: "owner".into(),
            deadline: "deadline".into(),
            encoding: "encoding".into(),
            stored_at: "stored_at".into(),
        }
    }
}

impl AttributeNames {
    /// Each attribute by what it is for.
    fn all(&self) -> Vec<(&'static str, &str)> {
        let sort_key = self.sort_key.as_ref().map(|sort_key| ("sort_key", sort_key.name.as_str()));
        let mut all = vec![
            ("id", self.id.as_str()),
            ("expiration", self.expiration.as_str()),
            ("in_progress_expiration", self.in_progress_expiration.as_str()),
            ("status", self.status.as_str()),
            ("data", self.data.as_str()),
            ("validation", self.validation.as_str()),
            ("owner", self.owner.as_str()),
            ("deadline", self.deadline.as_str()),
            ("encoding", self.encoding.as_str()),
            ("stored_at", self.stored_at.as_str()),
        ];
        all.extend(sort_key);
        all
    }

    /// The primary key of a record: the one place that knows the table's key schema.
    pub(crate) fn primary_key(&self, id: &RecordId) -> Item {
        let id = text(id.as_str());
        match &self.sort_key {
            None => Item::from([(self.id.clone(), id)]),
            Some(SortKey { name, fixed, holds_id }) => {
                let fixed = text(fixed);
                let (partition, sort) = if *holds_id { (fixed, id) } else { (id, fixed) };
                Item::from([(self.id.clone(), partition), (name.clone(), sort)])
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::Config { message });
        let all = self.all();
        for (index, (attribute, name)) in all.iter().enumerate() {
            if name.is_empty() {
                return refuse(format!("the attribute `{attribute}` has an empty name; give it one"));
            }
            if let Some((other, _)) = all[..index].iter().find(|(_, earlier)| earlier == name) {
                return refuse(format!(
                    "`{other}` and `{attribute}` are both called `{name}`; give each attribute a name of its own"
                ));
            }
        }
        if self.sort_key.as_ref().is_some_and(|sort_key| sort_key.fixed.is_empty()) {
            return refuse(
                "the fixed half of the primary key is empty, which DynamoDB refuses; give it a text".into(),
            );
        }
        Ok(())
    }
}
