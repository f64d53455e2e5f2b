//! The five verbs, each one DynamoDB call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{ReturnValue, ReturnValuesOnConditionCheckFailure};
use lambda_idempotency_core::key::RecordId;
use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, Error, Reading,
    Record, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Replaced, Store, StoreError, TooLarge,
    Writes,
};

use crate::error::Call;
use crate::item::{self, Item};
use crate::{AttributeNames, expression};

/// Records in one DynamoDB table. Cheap to clone; one store serves any number of functions.
#[derive(Clone)]
pub struct DynamoDbStore {
    client: Client,
    table: String,
    names: AttributeNames,
    /// The table, and what half of the primary key its records have in common.
    location: String,
    /// Whether the table is known to have the sort key.
    sort_key_seen: Arc<AtomicBool>,
}

impl DynamoDbStore {
    /// A store on `table` that uses `client` as it is: its region, credentials, timeouts and retries.
    ///
    /// Give the client an operation timeout of a few seconds; its defaults take much longer to
    /// give up. The engine waits no longer than the policy's store timeout in any case.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        Self {
            client,
            location: table.clone(),
            table,
            names: AttributeNames::default(),
            sort_key_seen: Arc::default(),
        }
    }

    /// Other names for the record's attributes, and the sort key of a table that has one: that the table has it is
    /// checked by one read, before the first claim.
    ///
    /// # Errors
    /// [`Error::Config`] when a name is empty or stands for two attributes: a record written so could be
    /// claimed but never completed.
    pub fn attribute_names(mut self, names: AttributeNames) -> Result<Self, Error> {
        names.check()?;
        self.location = match &names.sort_key {
            None => self.table.clone(),
            Some(sort_key) => format!("{}/{}", self.table, sort_key.fixed),
        };
        self.names = names;
        Ok(self)
    }

    /// The table's name.
    pub fn table(&self) -> &str {
        &self.table
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn names(&self) -> &AttributeNames {
        &self.names
    }

    pub(crate) fn call(&self, operation: &'static str) -> Call<'_> {
        Call { operation, table: &self.table, names: &self.names }
    }

    fn decode(&self, item: &Item, id: &RecordId) -> Result<Record, StoreError> {
        item::decode(item, id, &self.names, &self.table)
    }

    /// The record that refused a write: as the service returned it, else read.
    pub(crate) async fn in_the_way(
        &self,
        returned: Option<&Item>,
        id: &RecordId,
    ) -> Result<Option<Record>, StoreError> {
        match returned.filter(|item| !item.is_empty()) {
            Some(item) => Ok(Some(self.decode(item, id)?)),
            None => self.read(id).await,
        }
    }

    /// A table without the sort key would take the claim, with the sort key as one more attribute, and refuse its
    /// completion after the work. A read finds it out, once.
    async fn check_sort_key(&self, id: &RecordId) -> Result<(), StoreError> {
        if self.names.sort_key.is_some() && !self.sort_key_seen.load(Ordering::Relaxed) {
            self.read_item(id).await?;
            self.sort_key_seen.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn read(&self, id: &RecordId) -> Result<Option<Record>, StoreError> {
        self.read_item(id).await?.map(|item| self.decode(&item, id)).transpose()
    }

    async fn read_item(&self, id: &RecordId) -> Result<Option<Item>, StoreError> {
        let request = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(self.names.primary_key(id)))
            .consistent_read(true);
        let output = request.send().await.map_err(|error| self.call("GetItem").failed(error))?;
        Ok(output.item)
    }
}

#[async_trait::async_trait]
impl Store for DynamoDbStore {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        self.check_sort_key(&request.id).await?;
        let condition = expression::claim(request, &self.names);
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item::encode(&request.record(), &self.names)))
            .condition_expression(condition.condition)
            .set_expression_attribute_names(Some(condition.names))
            .set_expression_attribute_values(Some(condition.values))
            .return_values(ReturnValue::AllOld)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(output) => Ok(ClaimAnswer::Claimed(match output.attributes().filter(|old| !old.is_empty()) {
                None => Replaced::Nothing,
                Some(old) => self.replaced(old, request.now),
            })),
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => {
                let PutItemError::ConditionalCheckFailedException(refusal) = error.into_err() else {
                    return Ok(ClaimAnswer::Vanished);
                };
                Ok(match self.in_the_way(refusal.item(), &request.id).await? {
                    Some(record) => ClaimAnswer::Refused { record, now: request.now },
                    None => ClaimAnswer::Vanished,
                })
            }
            Err(error) => Err(self.call("PutItem").failed(error)),
        }
    }

    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        let update = expression::complete(request, &self.names);
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(self.names.primary_key(&request.record.id)))
            .set_update_expression(update.update)
            .condition_expression(update.condition)
            .set_expression_attribute_names(Some(update.names))
            .set_expression_attribute_values(Some(update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(CompleteAnswer::Recorded),
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => {
                let UpdateItemError::ConditionalCheckFailedException(refusal) = error.into_err() else {
                    return Ok(CompleteAnswer::Vanished);
                };
                Ok(match self.in_the_way(refusal.item(), &request.record.id).await? {
                    Some(record) => CompleteAnswer::Overtaken { record },
                    None => CompleteAnswer::Vanished,
                })
            }
            Err(error) => Err(self.call("UpdateItem").failed(error)),
        }
    }

    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        self.commit_transaction(request, writes).await
    }

    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        let write = expression::release(request, &self.names);
        let key = self.names.primary_key(&request.id);
        if let Some(update) = write.update {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(key))
                .update_expression(update)
                .condition_expression(write.condition)
                .set_expression_attribute_names(Some(write.names))
                .set_expression_attribute_values(Some(write.values))
                .send()
                .await;
            return self.released("UpdateItem", sent, UpdateItemError::is_conditional_check_failed_exception);
        }
        let sent = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key))
            .condition_expression(write.condition)
            .set_expression_attribute_names(Some(write.names))
            .set_expression_attribute_values(Some(write.values))
            .send()
            .await;
        self.released("DeleteItem", sent, DeleteItemError::is_conditional_check_failed_exception)
    }

    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        // DynamoDB has no "greater of the two" in an update; which of them is sent is decided by the
        // condition, never by a read.
        for grow_expiration in [true, false] {
            let update = expression::renew(request, &self.names, grow_expiration);
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(self.names.primary_key(&request.id)))
                .set_update_expression(update.update)
                .condition_expression(update.condition)
                .set_expression_attribute_names(Some(update.names))
                .set_expression_attribute_values(Some(update.values))
                .send()
                .await;
            match sent {
                Ok(_) => return Ok(RenewAnswer::Renewed),
                Err(error)
                    if refused(
                        error.as_service_error(),
                        UpdateItemError::is_conditional_check_failed_exception,
                    ) => {}
                Err(error) => return Err(self.call("UpdateItem").failed(error)),
            }
        }
        Ok(RenewAnswer::Lost)
    }

    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        let record = self.read(id).await?.filter(|record| !record.is_expired(now));
        Ok(Reading { record, now })
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        item::check_size(record, &self.names)
    }
}

impl DynamoDbStore {
    /// Why the condition let us write over `old`. An expired record is replaced unread, so that only
    /// its `expiration` is looked at.
    fn replaced(&self, old: &Item, now: EpochMillis) -> Replaced {
        let expired =
            item::expiration(old, &self.names).is_some_and(|at| at < now.floor_seconds().get() as f64);
        if expired { Replaced::Expired } else { Replaced::Abandoned }
    }

    fn released<T, E>(
        &self,
        operation: &'static str,
        sent: Result<T, SdkError<E, HttpResponse>>,
        is_refusal: impl Fn(&E) -> bool,
    ) -> Result<ReleaseAnswer, StoreError>
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        match sent {
            Ok(_) => Ok(ReleaseAnswer::Released),
            Err(error) if refused(error.as_service_error(), is_refusal) => Ok(ReleaseAnswer::NotMine),
            Err(error) => Err(self.call(operation).failed(error)),
        }
    }
}

/// Whether the condition refused a write.
fn refused<E>(error: Option<&E>, is_refusal: impl Fn(&E) -> bool) -> bool {
    error.is_some_and(is_refusal)
}

impl fmt::Debug for DynamoDbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamoDB table `{}`", self.location)
    }
}
