//! `#[idempotent]`: see the facade crate `lambda-idempotency`, which re-exports it.

mod args;
mod duration;
mod expand;
mod function;
mod names;
mod problems;
mod types;

use proc_macro::TokenStream;

/// Guards an `async` function: the same work is done once, and everybody who asks gets its answer.
///
/// ```ignore
/// #[idempotent(key = "[order_id, version]", expires_after = "1d")]
/// async fn submit(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
///     provider::create_run(&event.payload).await
/// }
/// ```
///
/// The function's error type needs `From<lambda_idempotency::Error>`, its result
/// `Serialize + DeserializeOwned`.
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `key = "<JMESPath>"` | which work this is; checked at compile time | required; `"@"` is the whole input |
/// | `input = <expr>` | what key and fingerprint are taken from: any `Serialize` value | the only argument that is not `self` (of a `LambdaEvent`, its payload) |
/// | `fingerprint = "<JMESPath>"` | narrows what is compared; `"none"` compares nothing | the whole input |
/// | `expires_after = "1h"` or a `Duration` expression | life of a completed record | what the event source needs, else one day |
/// | `store = <expr>` | the store | the installed one |
/// | `name = "orders.submit"` | scope of the key; set it in production: a rename otherwise makes live records unreachable | Lambda function name, module path and function |
/// | `wait = "10s"` | another attempt is at work: wait for its answer, never up to the own deadline | `AlreadyInProgress` |
/// | `in_progress = "skip"` | another attempt is at work: succeed with the result type's `Default` | `AlreadyInProgress` |
///
/// Durations are a whole number and one of `s`, `m`, `h`, `d`.
#[proc_macro_attribute]
pub fn idempotent(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(args.into(), item.into()).into()
}
