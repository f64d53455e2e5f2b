//! The completion and writes of the caller's in one `TransactWriteItems`.

use std::any::Any;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use lambda_idempotency_core::decide::{Commit, may_commit};
use lambda_idempotency_core::{
    CommitAnswer, CompleteRequest, Error, RefusedWrite, StoreError, StoreErrorKind,
};

use crate::{DynamoDbStore, expression};

/// Writes for [`Attempt::commit_with`](lambda_idempotency_core::Attempt::commit_with): applied together
/// with the record of the result, or not at all.
///
/// At most 99 items, each other than the record and than each other (DynamoDB takes 100 items in one
/// transaction and the record is one of them). The function's role needs the rights for them.
///
/// ```
/// use lambda_idempotency_dynamodb::Writes;
/// use lambda_idempotency_dynamodb::aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
///
/// let order = Put::builder()
///     .table_name("orders")
///     .item("id", AttributeValue::S("order-77".into()))
///     .item("run_id", AttributeValue::S("run-1".into()))
///     .build()?;
/// let writes = Writes::new([TransactWriteItem::builder().put(order).build()])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Writes(Vec<TransactWriteItem>);

/// The most items in one transaction (a DynamoDB quota); the record is one of them.
const MOST: usize = 100;

impl Writes {
    /// These items.
    ///
    /// # Errors
    /// [`Error::Config`] when there are more than 99: found out before the function has an effect, not after.
    pub fn new(items: impl IntoIterator<Item = TransactWriteItem>) -> Result<Self, Error> {
        let items: Vec<_> = items.into_iter().collect();
        if items.len() >= MOST {
            let message = format!(
                "{} writes and the record are more than the {MOST} items of one DynamoDB transaction",
                items.len()
            );
            return Err(Error::Config { message });
        }
        Ok(Self(items))
    }
}

impl std::fmt::Debug for Writes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Writes(<{} items>)", self.0.len())
    }
}

impl lambda_idempotency_core::Writes for Writes {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What DynamoDB says of an item that did not keep a transaction from being applied.
const FINE: &str = "None";
const CONDITION: &str = "ConditionalCheckFailed";
const CONFLICT: &str = "TransactionConflict";
/// Reasons that pass: another transaction or too much load.
const PASSING: [&str; 3] = [CONFLICT, "ThrottlingError", "ProvisionedThroughputExceeded"];

impl DynamoDbStore {
    pub(crate) async fn commit_transaction(
        &self,
        request: &CompleteRequest,
        writes: &dyn lambda_idempotency_core::Writes,
    ) -> Result<CommitAnswer, StoreError> {
        let call = self.call("TransactWriteItems");
        let Some(Writes(items)) = writes.as_any().downcast_ref() else {
            return Err(StoreError::new(StoreErrorKind::Other, format!("transaction on {self:?}"))
                .code("the writes are another store's")
                .cure("give `Attempt::commit_with` the `Writes` of this store"));
        };
        let update = expression::commit(request, self.names());
        let record = Update::builder()
            .table_name(self.table())
            .set_key(Some(self.names().primary_key(&request.record.id)))
            .set_update_expression(update.update)
            .condition_expression(update.condition)
            .set_expression_attribute_names(Some(update.names))
            .set_expression_attribute_values(Some(update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map_err(|error| StoreError::new(StoreErrorKind::Other, "transaction").source(error))?;
        let mut all = vec![TransactWriteItem::builder().update(record).build()];
        all.extend(items.iter().cloned());
        let sent = self
            .client()
            .transact_write_items()
            .set_transact_items(Some(all))
            // A resend of the same request is applied once (DynamoDB remembers the token for 10 minutes;
            // the condition holds for ever).
            .client_request_token(request.token())
            .send()
            .await;
        match sent {
            Ok(_) => Ok(CommitAnswer::Committed),
            Err(SdkError::ServiceError(error))
                if matches!(error.err(), TransactWriteItemsError::TransactionCanceledException(_)) =>
            {
                let TransactWriteItemsError::TransactionCanceledException(cancelled) = error.into_err()
                else {
                    return Ok(CommitAnswer::Vanished);
                };
                self.cancelled(request, cancelled.cancellation_reasons()).await
            }
            Err(error) => Err(call.failed(error)),
        }
    }

    /// What a cancelled transaction means: the record first, then the caller's writes.
    async fn cancelled(
        &self,
        request: &CompleteRequest,
        reasons: &[CancellationReason],
    ) -> Result<CommitAnswer, StoreError> {
        let code = |reason: &CancellationReason| reason.code().unwrap_or(FINE).to_owned();
        let Some((record, others)) = reasons.split_first() else { return Ok(CommitAnswer::Vanished) };
        if code(record) == CONDITION {
            let Some(record) = self.in_the_way(record.item(), &request.record.id).await? else {
                return Ok(CommitAnswer::Vanished);
            };
            return Ok(match may_commit(Some(&record), &request.owner, request.now) {
                Commit::Applied => CommitAnswer::Committed,
                Commit::Overtaken => CommitAnswer::Overtaken { record },
                Commit::Apply => CommitAnswer::Vanished,
            });
        }
        if let Some(passing) = reasons.iter().map(code).find(|code| PASSING.contains(&code.as_str())) {
            let what = format!("TransactWriteItems on DynamoDB table `{}`", self.table());
            return Err(StoreError::new(StoreErrorKind::Throttled, what).code(passing));
        }
        let refused = others.iter().enumerate().map(|(index, reason)| (index, code(reason)));
        let refused: Vec<RefusedWrite> = refused
            .filter(|(_, code)| code != FINE)
            .map(|(index, code)| RefusedWrite { index, code })
            .collect();
        if refused.is_empty() {
            // The record itself, and not by its condition: say what DynamoDB said.
            let what = format!("TransactWriteItems on DynamoDB table `{}`", self.table());
            return Err(StoreError::new(StoreErrorKind::Other, what).code(code(record)));
        }
        Ok(CommitAnswer::Refused { reasons: refused })
    }
}
