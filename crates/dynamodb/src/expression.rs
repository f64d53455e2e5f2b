//! The conditions of the protocol in DynamoDB's language.
//!
//! Every attribute name goes through a `#placeholder`, so that reserved words can be names.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency_core::key::Comparable;
use lambda_idempotency_core::{ClaimRequest, CompleteRequest, Owner, ReleaseRequest, RenewRequest, Status};

use crate::AttributeNames;
use crate::item::{attributes, number, text};

/// An expression with its names and values.
#[derive(Debug, Default)]
pub(crate) struct Expression {
    pub(crate) condition: String,
    pub(crate) update: Option<String>,
    pub(crate) names: HashMap<String, String>,
    pub(crate) values: HashMap<String, AttributeValue>,
}

impl Expression {
    fn name(&mut self, placeholder: &str, name: &str) {
        self.names.insert(placeholder.to_owned(), name.to_owned());
    }

    fn value(&mut self, placeholder: &str, value: AttributeValue) {
        self.values.insert(placeholder.to_owned(), value);
    }
}

/// `decide::claimable`: nothing there, or expired, or an abandoned claim of the same content.
///
/// An abandoned claim is taken over only if it can be read: each attribute that a reader would
/// refuse for its type keeps the condition from holding, so that the record is reported and not run over.
pub(crate) fn claim(request: &ClaimRequest, names: &AttributeNames) -> Expression {
    let mut it = Expression::default();
    it.name("#id", &names.id);
    it.name("#expiration", &names.expiration);
    it.name("#status", &names.status);
    it.name("#lease", &names.in_progress_expiration);
    it.name("#validation", &names.validation);
    it.name("#owner", &names.owner);
    it.name("#deadline", &names.deadline);
    it.value(":now_s", number(request.now.floor_seconds().get()));
    it.value(":takeover_ms", number(request.now.minus(request.margin).get()));
    it.value(":inprogress", text(Status::InProgress.as_str()));
    it.value(":number", text("N"));
    it.value(":string", text("S"));

    let same_content = match &request.validation {
        Some(validation) => {
            it.value(":fingerprint", text(validation.as_str()));
            let (prefix, not_comparable) = match validation.comparable() {
                Comparable::StartingWith(prefix) => (prefix, "NOT begins_with(#validation, :prefix)"),
                Comparable::NotStartingWith(prefix) => (prefix, "begins_with(#validation, :prefix)"),
            };
            it.value(":prefix", text(prefix));
            format!("(#validation = :fingerprint OR {not_comparable})")
        }
        None => "attribute_exists(#validation)".to_owned(),
    };
    it.condition = format!(
        "attribute_not_exists(#id) OR #expiration < :now_s OR (\
         #status = :inprogress AND #lease < :takeover_ms AND attribute_type(#expiration, :number) AND \
         (attribute_not_exists(#owner) OR attribute_type(#owner, :string)) AND \
         (attribute_not_exists(#deadline) OR attribute_type(#deadline, :number)) AND \
         (attribute_not_exists(#validation) OR (attribute_type(#validation, :string) AND {same_content})))"
    );
    it
}

/// `decide::may_complete`: nothing there, or expired, or mine, or left by its holder. Sets every attribute of the final
/// record and removes those that it does not have.
pub(crate) fn complete(request: &CompleteRequest, names: &AttributeNames) -> Expression {
    let mut it = Expression::default();
    it.name("#id", &names.id);
    it.value(":now_s", number(request.now.floor_seconds().get()));
    it.value(":mine", text(request.owner.as_str()));

    let (mut set, mut remove) = (Vec::new(), Vec::new());
    let placeholders =
        ["expiration", "lease", "status", "data", "validation", "owner", "deadline", "encoding", "stored_at"];
    for (placeholder, (name, value)) in placeholders.iter().zip(attributes(&request.record, names)) {
        it.name(&format!("#{placeholder}"), name);
        match value {
            Some(value) => {
                it.value(&format!(":{placeholder}"), value);
                set.push(format!("#{placeholder} = :{placeholder}"));
            }
            None => remove.push(format!("#{placeholder}")),
        }
    }
    let mut update = format!("SET {}", set.join(", "));
    if !remove.is_empty() {
        update.push_str(" REMOVE ");
        update.push_str(&remove.join(", "));
    }
    it.update = Some(update);
    it.value(":inprogress", text(Status::InProgress.as_str()));
    it.value(":nobody", text(Owner::NOBODY));
    it.condition = "attribute_not_exists(#id) OR #expiration < :now_s OR #owner = :mine OR \
                    (#owner = :nobody AND #status = :inprogress)"
        .to_owned();
    it
}

/// `decide::may_commit`: as [`complete`], but of my own record only while it is unfinished.
pub(crate) fn commit(request: &CompleteRequest, names: &AttributeNames) -> Expression {
    let mut it = complete(request, names);
    it.condition = "attribute_not_exists(#id) OR #expiration < :now_s OR \
                    (#owner IN (:mine, :nobody) AND #status = :inprogress)"
        .to_owned();
    it
}

/// `decide::may_release`: mine and unfinished. To leave the record (`decide::left`) is an update.
pub(crate) fn release(request: &ReleaseRequest, names: &AttributeNames) -> Expression {
    let mut it = Expression::default();
    it.name("#owner", &names.owner);
    it.name("#status", &names.status);
    it.value(":mine", text(request.owner.as_str()));
    it.value(":inprogress", text(Status::InProgress.as_str()));
    it.condition = "#owner = :mine AND #status = :inprogress".to_owned();
    if request.leave {
        it.name("#lease", &names.in_progress_expiration);
        it.value(":nobody", text(Owner::NOBODY));
        it.value(":over", number(0));
        it.update = Some("SET #owner = :nobody, #lease = :over".to_owned());
    }
    it
}

/// `decide::may_renew`, in two steps of one condition each: whether `expiration` grows too decides
/// which of the two updates is sent; exactly one of their conditions can hold.
pub(crate) fn renew(request: &RenewRequest, names: &AttributeNames, grow_expiration: bool) -> Expression {
    let mut it = Expression::default();
    it.name("#owner", &names.owner);
    it.name("#status", &names.status);
    it.name("#expiration", &names.expiration);
    it.value(":mine", text(request.owner.as_str()));
    it.value(":inprogress", text(Status::InProgress.as_str()));
    it.value(":now_s", number(request.now.floor_seconds().get()));
    it.value(":new_expiration", number(request.expiration.get()));

    let mut set = Vec::new();
    // With at-most-once the lease lasts as long as the record, so it moves only with `expiration`.
    if grow_expiration || request.deadline.is_none() {
        it.name("#lease", &names.in_progress_expiration);
        it.value(":new_lease", number(request.lease_end.get()));
        set.push("#lease = :new_lease");
    }
    let earlier = match request.deadline {
        Some(deadline) => {
            it.name("#deadline", &names.deadline);
            it.value(":new_deadline", number(deadline.get()));
            set.push("#deadline = :new_deadline");
            "#deadline < :new_deadline"
        }
        None => "#lease < :new_lease",
    };
    let grows = if grow_expiration {
        set.push("#expiration = :new_expiration");
        "#expiration < :new_expiration"
    } else {
        "#expiration >= :new_expiration"
    };
    it.update = Some(format!("SET {}", set.join(", ")));
    it.condition = format!(
        "#owner = :mine AND #status = :inprogress AND #expiration >= :now_s AND {earlier} AND {grows}"
    );
    it
}
