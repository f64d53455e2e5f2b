//! Records in a DynamoDB table.
//!
//! The table needs a partition key `id` of type S and, so that old records vanish, TTL on
//! `expiration`; other names and a sort key are said by [`AttributeNames`]. Four rights on that table suffice: `dynamodb:PutItem` (claim), `UpdateItem`
//! (complete, renew), `DeleteItem` (release) and `GetItem` (only where the service does not return
//! the record that refused a claim).
//!
//! ```no_run
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! use lambda_idempotency_dynamodb::{DynamoDbStore, aws_sdk_dynamodb};
//!
//! # let config: aws_sdk_dynamodb::Config = unimplemented!();
//! let client = aws_sdk_dynamodb::Client::from_conf(config);
//! let store = DynamoDbStore::new(client, "idempotency");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "aws-config")]
mod env;
mod error;
mod expression;
mod item;
mod names;
mod native;
mod sort_key;
mod store;
mod transaction;

pub use aws_sdk_dynamodb;
pub use names::AttributeNames;
pub use sort_key::SortKey;
pub use store::DynamoDbStore;
pub use transaction::Writes;
