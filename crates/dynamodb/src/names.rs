//! How the attributes of a record are called in the table.

use lambda_idempotency_core::Error;

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
    /// The partition key, S.
    pub id: String,
    /// When the record stops counting, N, in **seconds**.
    pub expiration: String,
    /// When the lease ends, N, in **milliseconds**.
    pub in_progress_expiration: String,
    /// `INPROGRESS`, `COMPLETED` or `FAILED`, S.
    pub status: String,
    /// The result as JSON text, S.
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
    fn all(&self) -> [(&'static str, &str); 10] {
        [
            ("id", &self.id),
            ("expiration", &self.expiration),
            ("in_progress_expiration", &self.in_progress_expiration),
            ("status", &self.status),
            ("data", &self.data),
            ("validation", &self.validation),
            ("owner", &self.owner),
            ("deadline", &self.deadline),
            ("encoding", &self.encoding),
            ("stored_at", &self.stored_at),
        ]
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
        Ok(())
    }
}
