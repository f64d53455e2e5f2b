//! Where a table with a sort key keeps a record's id.

/// The sort key of a table, and which half of its primary key holds the ids.
///
/// ```
/// use lambda_idempotency_dynamodb::{AttributeNames, SortKey};
///
/// // A table of the application's own, keyed by PK and SK: ids in PK, and so spread over its partitions.
/// let mut names = AttributeNames::default();
/// names.id = "PK".into();
/// names.sort_key = Some(SortKey::fixed("SK", "IDEMPOTENCY"));
///
/// // As Powertools for AWS Lambda has it with `sort_key_attr`.
/// names.id = "id".into();
/// names.sort_key = Some(SortKey::with_id("sort_key", "idempotency#orders"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    pub(crate) name: String,
    /// What the half that is not the id holds in every record.
    pub(crate) fixed: String,
    pub(crate) holds_id: bool,
}

impl SortKey {
    /// Ids are in the partition key; the sort key `name`, of type S, is `value` in every record. Each record is a
    /// partition of its own, as in a table without sort key.
    pub fn fixed(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), fixed: value.into(), holds_id: false }
    }

    /// Ids are in the sort key `name`, of type S; the partition key is `partition` in every record. All records are
    /// then in one partition, of which DynamoDB serves at most 1,000 write units a second (its quota): for tables
    /// that are laid out so already.
    pub fn with_id(name: impl Into<String>, partition: impl Into<String>) -> Self {
        Self { name: name.into(), fixed: partition.into(), holds_id: true }
    }
}
