//! What an annotated function's types must be able to do, in one trait for each demand, so that the
//! compiler says each missing one once and in this library's words.

use lambda_idempotency_core::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The result of an annotated function.
#[diagnostic::on_unimplemented(
    message = "`#[idempotent]` needs a `Result`, not `{Self}`",
    label = "write `Result<{Self}, Error>`",
    note = "what is recorded is the `Ok` value; the error type carries this library's errors as well"
)]
pub trait Guarded {
    /// What is recorded.
    type Ok;
    /// The function's own error, which can hold ours.
    type Err;
}

impl<T, E> Guarded for Result<T, E> {
    type Ok = T;
    type Err = E;
}

/// A result that can be written into the record.
#[diagnostic::on_unimplemented(
    message = "the result `{Self}` cannot be recorded: it is not `serde::Serialize`",
    label = "a duplicate is answered from the record, which holds this as JSON",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it (a type parameter needs `T: Serialize + DeserializeOwned`); a stream or an open connection cannot be recorded"
)]
pub trait Recordable: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Recordable for T {}

/// A result that can be read from the record.
#[diagnostic::on_unimplemented(
    message = "the result `{Self}` cannot be replayed: it is not `serde::Deserialize` without borrowing",
    label = "a duplicate is answered from the record, of which nothing can be borrowed",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and let it own what it holds: `String`, not `&str` (a type parameter needs `T: Serialize + DeserializeOwned`)"
)]
pub trait Replayable: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Replayable for T {}

/// An error type that can hold this library's errors.
#[diagnostic::on_unimplemented(
    message = "the error type `{Self}` cannot carry `lambda_idempotency::Error`",
    label = "it needs `From<lambda_idempotency::Error>`: a call can be refused before the function runs",
    note = "with thiserror: a variant `#[error(\"…\")] Idempotency(#[from] lambda_idempotency::Error)`; `lambda_runtime::Error` can do it as it is"
)]
pub trait CarriesErrors: From<Error> {}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> CarriesErrors for E {}

/// A failure that can be an answer.
#[diagnostic::on_unimplemented(
    message = "the failure `{Self}` cannot be stored: it is not `serde::Serialize` and `serde::Deserialize`",
    label = "with `on_error = \"store\"` or a function, a duplicate gets the stored failure",
    note = "derive both for it (`#[serde(skip)]` on what holds `lambda_idempotency::Error`), or write `on_error = \"release\"` or `\"keep\"`"
)]
pub trait Storable: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<E: Serialize + DeserializeOwned> Storable for E {}

/// A result for work that is left to another attempt.
#[diagnostic::on_unimplemented(
    message = "`in_progress = \"skip\"` has no answer to give: `{Self}` is not `Default`",
    label = "a call that finds another attempt at work succeeds with the default of this",
    note = "return `Result<(), …>` or an `Option`, derive `Default`, or leave `in_progress` out"
)]
pub trait Skippable: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> Skippable for T {}

/// What key and fingerprint can be taken from.
#[diagnostic::on_unimplemented(
    message = "key and fingerprint cannot be taken from `{Self}`: it is not `serde::Serialize`",
    label = "this says what the work is, and has to be written as JSON for that",
    note = "derive `serde::Serialize` for it (a type parameter needs `T: Serialize`), or name another value: `input = <expression>`"
)]
pub trait Describes: Serialize {}

#[diagnostic::do_not_recommend]
impl<I: Serialize + ?Sized> Describes for I {}
