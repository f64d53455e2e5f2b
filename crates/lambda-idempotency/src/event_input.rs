//! What the key of a handler is taken from: the bytes that Lambda sent.

use std::sync::Once;

use lambda_idempotency_core::Settings;
use lambda_runtime::{Context, LambdaEvent};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::bounds::Describes;
use crate::service_fn::invocation;
use crate::{Error, Identity, Invocation, Raw};

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

    /// What came with it.
    fn context(&self) -> &Context;
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

    fn context(&self) -> &Context {
        &self.context
    }
}

impl EventInput for LambdaEvent<Box<RawValue>> {
    type Payload = Box<RawValue>;

    fn payload(&self) -> &Box<RawValue> {
        &self.payload
    }

    fn context(&self) -> &Context {
        &self.context
    }
}

impl<T: EventInput> EventInput for &T {
    type Payload = T::Payload;

    fn payload(&self) -> &T::Payload {
        (**self).payload()
    }

    fn context(&self) -> &Context {
        (**self).context()
    }
}

/// What an annotated function takes its key from. Without a bound on the type: the function that made
/// it has said what is missing.
pub struct Input<'a, I: ?Sized> {
    value: &'a I,
    identify: Identify<I>,
    /// The invocation that an event brings with it.
    brings: Option<Invocation>,
}

type Identify<I> = fn(&I, &Settings, &Invocation) -> Result<Option<Identity>, Error>;

/// Any value as the input. Where it can be the whole event, written out as `input = event.payload`, it is
/// checked like one.
pub fn input<I: Describes + ?Sized>(value: &I) -> Input<'_, I> {
    Input {
        value,
        identify: |value, settings, invocation| match can_be_an_event(std::any::type_name::<I>()) {
            true => settings.identify_event(value, invocation),
            false => settings.identify(value, invocation),
        },
        brings: None,
    }
}

/// The payload of a Lambda event as the input.
pub fn event_input<E: EventInput>(event: &E) -> Input<'_, E> {
    Input {
        value: event,
        identify: |event, settings, invocation| settings.identify_event(event.payload(), invocation),
        brings: Some(invocation(event.context())),
    }
}

impl<I: ?Sized> Input<'_, I> {
    pub(crate) fn identify(&self, settings: &Settings) -> Result<Option<Identity>, Error> {
        self.check(settings.name())?;
        let invocation = self.own_invocation().unwrap_or_else(Invocation::current);
        (self.identify)(self.value, settings, &invocation)
    }

    /// The invocation that the event brings, where none is set around the call: under another `service_fn`,
    /// or in a task of its own.
    pub(crate) fn own_invocation(&self) -> Option<Invocation> {
        if Invocation::is_set() {
            return None;
        }
        if self.brings.is_none() {
            warn_without_invocation();
        }
        self.brings.clone()
    }

    /// Refuses a parsed AWS event: what is written of it again is not what was sent. Header names are
    /// in lower case, unknown fields are gone and absent ones invented.
    fn check(&self, function: &str) -> Result<(), Error> {
        let name = std::any::type_name::<I>();
        if !is_parsed_aws_event(name) {
            return Ok(());
        }
        let message = format!(
            "{function}: the key cannot be taken from `{name}`: what is written of a parsed event is not what \
             was sent, and a key that is gone would be one key for everybody; take the event as \
             `LambdaEvent<Raw<…>>`, or give `input` the value that says which work this is"
        );
        Err(Error::Config { message })
    }
}

/// In a deployed function there is always one; without it a tenant's records are everybody's.
fn warn_without_invocation() {
    static ONCE: Once = Once::new();
    if std::env::var_os("AWS_LAMBDA_FUNCTION_NAME").is_some() {
        ONCE.call_once(|| {
            tracing::warn!(
                target: "lambda_idempotency",
                "an annotated function was called outside of an invocation: its deadline and tenant are not known. \
                 Use lambda_idempotency::service_fn, and run spawned tasks in Invocation::current().scope(…)"
            );
        });
    }
}

/// By the name of the type: it holds any JSON as it came. A `batch::Record` does too, but it is one record, and a
/// type of the user's own says what it is.
fn can_be_an_event(name: &str) -> bool {
    ["lambda_idempotency::raw::Raw<", "serde_json::raw::RawValue", "serde_json::value::Value"]
        .iter()
        .any(|known| inner_type(name).starts_with(known))
}

/// By the name of the type.
fn is_parsed_aws_event(name: &str) -> bool {
    inner_type(name).starts_with("aws_lambda_events::")
}

/// The name of a type behind references and what the standard library puts around it.
fn inner_type(mut name: &str) -> &str {
    const AROUND: [&str; 6] =
        ["&", "mut ", "alloc::boxed::Box<", "alloc::sync::Arc<", "alloc::vec::Vec<", "core::option::Option<"];
    while let Some(inner) = AROUND.iter().find_map(|around| name.strip_prefix(around)) {
        name = inner.trim_start_matches('[');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{can_be_an_event, is_parsed_aws_event};
    use crate::{Raw, batch::Record};
    use serde_json::{Value, value::RawValue};
    use std::any::type_name;

    #[test]
    fn what_holds_any_json_can_be_an_event() {
        for name in [
            type_name::<Raw<u8>>(),
            type_name::<&&Raw<Value>>(),
            type_name::<Box<RawValue>>(),
            type_name::<&RawValue>(),
            type_name::<Value>(),
        ] {
            assert!(can_be_an_event(name), "{name}");
        }
        for name in [type_name::<Record<Value>>(), type_name::<&Record<Raw<u8>>>(), type_name::<String>()] {
            assert!(!can_be_an_event(name), "{name}");
        }
    }

    #[test]
    fn parsed_aws_events_are_known_by_their_crate() {
        for name in [
            "aws_lambda_events::event::sqs::SqsMessage",
            "&aws_lambda_events::event::sqs::SqsMessage",
            "&&mut aws_lambda_events::event::apigw::ApiGatewayProxyRequest",
            "alloc::vec::Vec<aws_lambda_events::event::sqs::SqsMessage>",
            "&[aws_lambda_events::event::sqs::SqsMessage]",
            "core::option::Option<&aws_lambda_events::event::s3::S3Event>",
        ] {
            assert!(is_parsed_aws_event(name), "{name}");
        }
        for name in [
            "alloc::string::String",
            "orders::aws_lambda_events::Order",
            "lambda_idempotency::raw::Raw<aws_lambda_events::event::apigw::ApiGatewayProxyRequest>",
            "lambda_idempotency::batch::record::Record<aws_lambda_events::event::s3::S3Event>",
            "&lambda_idempotency::raw::Raw<aws_lambda_events::event::s3::S3Event>",
        ] {
            assert!(!is_parsed_aws_event(name), "{name}");
        }
    }
}
