//! What the key of a handler is taken from: the bytes that Lambda sent.

use lambda_runtime::LambdaEvent;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Raw;

/// An event whose JSON text is at hand.
///
/// Sealed: a type that was parsed and is written again has lost unknown fields and spelling, and a
/// key on it can be null for every request, which would be one shared key.
#[diagnostic::on_unimplemented(
    message = "the key is taken from the bytes of the event, which `{Self}` does not keep",
    label = "write `LambdaEvent<Raw<…>>` around the payload's type",
    note = "`lambda_idempotency::Raw<T>` derefs to `T`; `input = <expression>` takes the key from something else"
)]
pub trait EventInput: sealed::Sealed {
    /// The payload as it came.
    type Payload: Serialize;

    /// The payload as it came.
    fn payload(&self) -> &Self::Payload;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for lambda_runtime::LambdaEvent<crate::Raw<T>> {}
    impl Sealed for lambda_runtime::LambdaEvent<Box<serde_json::value::RawValue>> {}
    impl<T: Sealed> Sealed for &T {}
}

impl<T> EventInput for LambdaEvent<Raw<T>> {
    type Payload = Raw<T>;

    fn payload(&self) -> &Raw<T> {
        &self.payload
    }
}

impl EventInput for LambdaEvent<Box<RawValue>> {
    type Payload = Box<RawValue>;

    fn payload(&self) -> &Box<RawValue> {
        &self.payload
    }
}

impl<T: EventInput> EventInput for &T {
    type Payload = T::Payload;

    fn payload(&self) -> &T::Payload {
        (**self).payload()
    }
}

/// The payload of an event, for `#[idempotent]`.
pub fn event_input<E: EventInput>(event: &E) -> &E::Payload {
    event.payload()
}
