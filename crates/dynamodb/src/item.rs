//! From record to item and back, strictly: what cannot be read is neither absent nor a run.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency_core::key::RecordId;
use lambda_idempotency_core::{EpochMillis, EpochSeconds, TooLarge};
use lambda_idempotency_core::{Owner, Record, Status, StoreError, StoreErrorKind};

use crate::{AttributeNames, native};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// The most that one item holds: 400 KB, names and values together (a DynamoDB quota).
pub(crate) const ITEM_LIMIT: usize = 400 * 1024;

pub(crate) fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// The attributes of a record besides its id, by name; `None` where the record has none.
pub(crate) fn attributes<'a>(
    record: &Record,
    names: &'a AttributeNames,
) -> [(&'a str, Option<AttributeValue>); 9] {
    let millis = |instant: Option<EpochMillis>| instant.map(|instant| number(instant.get()));
    let string = |value: &Option<String>| value.as_ref().map(text);
    let (data, encoding) = result(record);
    [
        (&names.expiration, Some(number(record.expiration.get()))),
        (&names.in_progress_expiration, millis(record.lease_end)),
        (&names.status, Some(text(record.status.as_str()))),
        (&names.data, data),
        (&names.validation, string(&record.validation)),
        (&names.owner, record.owner.as_ref().map(|owner| text(owner.as_str()))),
        (&names.deadline, millis(record.deadline)),
        (&names.encoding, encoding.map(text)),
        (&names.stored_at, millis(record.stored_at)),
    ]
}

/// The result, and how it is to be read where its type does not say so.
fn result(record: &Record) -> (Option<AttributeValue>, Option<&str>) {
    match (&record.data, record.encoding.as_deref()) {
        (Some(json), Some(Record::NATIVE)) => match native::value(json) {
            Some(value) => (Some(value), None),
            None => (Some(text(json)), Some(Record::JSON)),
        },
        (data, encoding) => (data.as_ref().map(text), encoding),
    }
}

pub(crate) fn encode(record: &Record, names: &AttributeNames) -> Item {
    let present = attributes(record, names).into_iter();
    let mut item: Item = present.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    item.extend(names.primary_key(&record.id));
    item
}

/// Whether the item fits.
pub(crate) fn check_size(record: &Record, names: &AttributeNames) -> Result<(), TooLarge> {
    let size = |(name, value): (&String, &AttributeValue)| name.len() + native::size(value);
    let item = encode(record, names);
    // An update is refused a little earlier, by its statement: 3, and 19 for each value that it sets. Observed, not
    // documented; a result that near to the limit is better left out than refused.
    let statement = 3 + 19 * item.len() + names_that_are_removed(record, names);
    let bytes: usize = item.iter().map(size).sum::<usize>() + statement;
    if bytes > ITEM_LIMIT { Err(TooLarge { bytes, limit: ITEM_LIMIT }) } else { Ok(()) }
}

/// What an update is charged for the attributes that it removes: 1 and the name.
fn names_that_are_removed(record: &Record, names: &AttributeNames) -> usize {
    attributes(record, names)
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| 1 + name.len())
        .sum()
}

/// Reads an item that stands at `id` in `table`.
pub(crate) fn decode(
    item: &Item,
    id: &RecordId,
    names: &AttributeNames,
    table: &str,
) -> Result<Record, StoreError> {
    let reader = Reader { item, id, table };
    for (name, asked) in names.primary_key(id) {
        if item.get(&name) != Some(&asked) {
            return Err(reader.corrupt(&name, "is not the key that was asked for"));
        }
    }
    let word = reader.text(&names.status)?.ok_or_else(|| reader.corrupt(&names.status, "is missing"))?;
    let status =
        Status::parse(&word).ok_or_else(|| reader.corrupt(&names.status, "is no status that is known"))?;
    let expiration =
        reader.number(&names.expiration)?.ok_or_else(|| reader.corrupt(&names.expiration, "is missing"))?;
    // Of a final record, lease and deadline mean nothing and are not looked at.
    let millis = |name: &str| -> Result<Option<EpochMillis>, StoreError> {
        if status.is_final() { Ok(None) } else { Ok(reader.number(name)?.map(EpochMillis::new)) }
    };
    // And of an unfinished one the result.
    let (data, encoding) = if status.is_final() { reader.result(names)? } else { (None, None) };
    Ok(Record {
        id: id.clone(),
        expiration: EpochSeconds::new(expiration),
        status,
        lease_end: millis(&names.in_progress_expiration)?,
        owner: reader.text(&names.owner)?.map(Owner::from_text),
        validation: reader.text(&names.validation)?,
        data,
        encoding,
        deadline: millis(&names.deadline)?,
        stored_at: if status.is_final() {
            reader.number(&names.stored_at)?.map(EpochMillis::new)
        } else {
            None
        },
    })
}

/// The `expiration` of an item that was replaced unread, where it has one.
pub(crate) fn expiration(item: &Item, names: &AttributeNames) -> Option<f64> {
    match item.get(&names.expiration) {
        Some(AttributeValue::N(number)) => number.parse().ok(),
        _ => None,
    }
}

struct Reader<'a> {
    item: &'a Item,
    id: &'a RecordId,
    table: &'a str,
}

impl Reader<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.corrupt(name, "is not a string (S)")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<i64>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::N(number)) => {
                number.parse().map(Some).map_err(|_| self.corrupt(name, "is not a whole number of 64 bits"))
            }
            Some(_) => Err(self.corrupt(name, "is not a number (N)")),
        }
    }

    /// The result, and how it is to be read.
    fn result(&self, names: &AttributeNames) -> Result<(Option<String>, Option<String>), StoreError> {
        match self.item.get(&names.data) {
            None | Some(AttributeValue::S(_)) => Ok((self.text(&names.data)?, self.text(&names.encoding)?)),
            Some(value) => {
                let what = "is neither JSON text (S) nor a value that JSON has";
                let json = native::json(value).ok_or_else(|| self.corrupt(&names.data, what))?;
                Ok((Some(json), Some(Record::NATIVE.to_owned())))
            }
        }
    }

    fn corrupt(&self, name: &str, what: &str) -> StoreError {
        StoreError::new(
            StoreErrorKind::Corrupt,
            format!("record {} in DynamoDB table `{}`: attribute `{name}` {what}", self.id, self.table),
        )
        .cure("find out who wrote it, then delete or repair the item by hand")
    }
}
