//! `#[idempotent]`: see the facade crate `lambda-idempotency`, which re-exports it.

mod args;
mod duration;
mod expand;
mod function;
mod names;
mod problems;
mod types;

use proc_macro::TokenStream;

/// Guards an `async` function or method: the same work is done once, and everybody who asks gets its answer.
///
/// The function's result needs `Serialize + DeserializeOwned`, its error type
/// `From<lambda_idempotency::Error>`, and what the key is taken from `Serialize`. Nothing is asked of other
/// arguments. The body stays as it is written; its future is as `Send` as it was.
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `key = "<JMESPath>"` | which work this is; checked at compile time | required; `"@"` is the whole input |
/// | `allow_volatile_key` | takes a `key` that is refused because it is new at every delivery (`requestContext.requestId`): a retry is then another piece of work | such a key is refused |
/// | `input = <expression>` | what key and fingerprint are taken from: any value that serialises | the only argument that is not `self` (of a `LambdaEvent`, its payload) |
/// | `fingerprint = "<JMESPath>"` | narrows what is compared; `"none"` compares nothing | the whole input |
/// | `expires_after = "1h"` or a `Duration` | life of a completed record | what the event source needs, else one day |
/// | `store = <expression>` | the store | the installed one |
/// | `name = "orders.submit"` | scope of the key; set it in production: a rename otherwise makes live records unreachable. `${AWS_LAMBDA_FUNCTION_NAME}` in it stands for the Lambda function's name | Lambda function name, module, type of a method, function |
/// | `wait = "10s"` or a `Duration` | another attempt is at work: wait for its answer, never up to the own deadline | `AlreadyInProgress` |
/// | `in_progress = "skip"` | another attempt is at work: succeed with the result type's `Default` | `AlreadyInProgress` |
/// | `on_error = "release"`, `"store"`, `"keep"` or a `fn(&E) -> OnError` | after `Err`: the next attempt is real, the failure is the answer, or the claim stays until its lease has passed. `"store"` and a function need `E: Serialize + DeserializeOwned` | `"release"` |
/// | `store_if = <fn(&T) -> bool>` | which `Ok` values are the answer for everybody | all |
/// | `on_replay = <fn(&T, &Replay) -> Result<(), E>>` | a look at each replayed answer | none |
/// | `previous = "<JMESPath>"` | the key of the work that this one continues; its result or failure is then `Attempt::previous` | none |
/// | `policy = <Policy or path>` | everything else; what an argument says goes before it | `Policy::new()` |
/// | `crate = <path>` | where this library is, if it was renamed or is re-exported | `::lambda_idempotency` |
///
/// The order of a list counts. A `HashSet`, or a list made from a `HashMap`, has another order in every process,
/// and so another key and fingerprint: as the input, take a `BTreeSet`, a sorted list, or the map itself (the order
/// of an object's members does not count).
///
/// An event of several records is several pieces of work, and refused before any effect, also as
/// `input = event.payload`; a `batch::Record` is one, whatever its body looks like. A `Raw` or `Record` whose value
/// was borrowed as `&mut` is refused as an input, since text and value may differ.
///
/// Durations are a whole number and one of `s`, `m`, `h`, `d`. `expires_after`, `wait` and `policy` are made
/// once, at the first call, so they cannot use the function's arguments; `input` and `store` are made at
/// each call.
///
/// A function that module and name do not tell apart must be given a `name`: a generic one (it is one scope for
/// all its types) is refused by the compiler, a method of a trait or of a generic type, an associated function and
/// a function inside of another at their first call. Two functions of one explicit `name` share their records; the
/// log warns of it.
///
/// A method that takes `&mut self` or `self` cannot lend its store as well: `store = self.store.clone()`.
#[proc_macro_attribute]
pub fn idempotent(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(args.into(), item.into()).into()
}
