//! The arguments of `#[idempotent(…)]`: all that is wrong with them at once, on the user's tokens.

use lambda_idempotency_key::{Fingerprint, Key, Name};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path, Token, parse_quote_spanned};

use crate::problems::Problems;
use crate::{duration, names};

/// What is written, as far as it is right.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) key: Option<LitStr>,
    /// Whether the key may be new at every delivery.
    pub(crate) allow_volatile_key: bool,
    pub(crate) input: Option<Expr>,
    pub(crate) fingerprint: Option<LitStr>,
    /// An expression of type `Duration`.
    pub(crate) expires_after: Option<TokenStream>,
    pub(crate) store: Option<Expr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) in_progress: InProgress,
    pub(crate) on_error: OnError,
    /// Paths of functions.
    pub(crate) store_if: Option<Expr>,
    pub(crate) on_replay: Option<Expr>,
    /// The key of the work that this work continues.
    pub(crate) previous: Option<LitStr>,
    pub(crate) policy: Option<Expr>,
    /// The path of the facade.
    pub(crate) facade: Option<Path>,
    /// Whether an `input` is written, right or wrong.
    pub(crate) names_input: bool,
}

/// What to do where another attempt is at work.
#[derive(Default)]
pub(crate) enum InProgress {
    #[default]
    AsThePolicySays,
    /// An expression of type `Duration`.
    Wait(TokenStream),
    Skip,
}

/// What to do after a failure.
#[derive(Default)]
pub(crate) enum OnError {
    #[default]
    AsThePolicySays,
    /// A variant of the facade's `OnError`.
    Always(Ident),
    Store,
    /// The path of a function.
    Classify(Expr),
}

impl Args {
    pub(crate) fn parse(tokens: TokenStream, problems: &mut Problems) -> Self {
        let list = |input: ParseStream<'_>| Ok(arguments(input, problems));
        let (arguments, written) = list.parse2(tokens).unwrap_or_default();
        let mut args = Self {
            // Before the key, which may stand before it.
            allow_volatile_key: arguments
                .iter()
                .any(|(name, value)| name == FLAG && value.as_ref().and_then(as_bool) == Some(true)),
            names_input: written.iter().any(|name| name == "input"),
            ..Self::default()
        };
        for (index, (name, value)) in arguments.into_iter().enumerate() {
            args.take(&name, value, &written[..index], problems);
        }
        if !written.iter().any(|name| names::meant(&name.to_string()) == Some("key")) {
            problems.add(
                Span::call_site(),
                "`key` is missing: it says which work this is. Write `key = \"order_id\"`, or `key = \"@\"` for the \
                 whole input (any field that changes per delivery then switches deduplication off)",
            );
        }
        args
    }

    fn take(&mut self, name: &Ident, value: Option<Expr>, before: &[Ident], problems: &mut Problems) {
        let word = name.to_string();
        if !names::is_known(&word) {
            return problems.add(name.span(), names::unknown(&word));
        }
        if before.contains(name) {
            return problems.add(name.span(), format!("`{word}` is given twice; keep one"));
        }
        if matches!(&*word, "wait" | "in_progress")
            && before.iter().any(|b| b == "wait" || b == "in_progress")
        {
            let message = "`wait` and `in_progress` exclude each other: wait for the other attempt's answer, \
                           or succeed without one; keep one";
            return problems.add(name.span(), message);
        }
        // What is no expression has been complained about.
        let Some(value) = value else { return };
        match &*word {
            "key" => self.key = problems.keep(checked_key("key", &value, self.allow_volatile_key)),
            "previous" => {
                self.previous = problems.keep(checked_key("previous", &value, self.allow_volatile_key));
            }
            FLAG => drop(problems.keep(checked_flag(&value))),
            "input" => {
                self.input = problems.keep(place(value, "input", "an expression, not its name in quotes"))
            }
            "fingerprint" => self.fingerprint = problems.keep(checked_fingerprint(&value)),
            "expires_after" => self.expires_after = problems.keep(checked_duration(value)),
            "store" => {
                self.store = problems.keep(place(value, "store", "a value, not the name of a table"));
            }
            "name" => self.name = problems.keep(checked_name(&value)),
            "wait" => {
                if let Some(wait) = problems.keep(checked_duration(value)) {
                    self.in_progress = InProgress::Wait(wait);
                }
            }
            "in_progress" => {
                if problems.keep(checked_skip(&value)).is_some() {
                    self.in_progress = InProgress::Skip;
                }
            }
            "on_error" => {
                if let Some(on_error) = problems.keep(checked_on_error(value)) {
                    self.on_error = on_error;
                }
            }
            "store_if" => {
                self.store_if = problems.keep(place(value, "store_if", "a function `fn(&T) -> bool`"))
            }
            "on_replay" => {
                let what = "a function `fn(&T, &Replay) -> Result<(), E>`";
                self.on_replay = problems.keep(place(value, "on_replay", what));
            }
            "policy" => {
                self.policy = problems.keep(place(value, "policy", "a `Policy` or a path to a static one"));
            }
            _ => self.facade = problems.keep(checked_path(value)),
        }
    }
}

/// The argument that stands alone.
const FLAG: &str = "allow_volatile_key";

/// The arguments in order, and the names of all that were begun.
type Arguments = (Vec<(Ident, Option<Expr>)>, Vec<Ident>);

/// What is no argument is complained about and left out, up to the next comma.
fn arguments(input: ParseStream<'_>, problems: &mut Problems) -> Arguments {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        match argument(input, problems) {
            Some(argument) => arguments.push(argument),
            None => skip(input),
        }
        if input.is_empty() {
            break;
        }
        if input.parse::<Token![,]>().is_err() {
            let next = input.cursor().token_tree().map_or_else(String::new, |(token, _)| token.to_string());
            problems.add(input.span(), format!("a comma is missing before `{next}`"));
            let begins_another = input.peek(Ident::peek_any) && input.peek2(Token![=]);
            if !begins_another {
                skip(input);
                let _comma = input.parse::<Token![,]>();
            }
        }
    }
    let written = arguments.iter().map(|(name, _)| name.clone()).collect();
    (arguments, written)
}

fn argument(input: ParseStream<'_>, problems: &mut Problems) -> Option<(Ident, Option<Expr>)> {
    if !input.peek(Ident::peek_any) {
        let at = input.span();
        return match input.parse::<LitStr>() {
            Ok(text) => {
                problems.add(at, format!("name the argument: `key = \"{}\"`", text.value()));
                Some((Ident::new("key", at), None))
            }
            Err(_) => {
                problems.add(at, format!("write `name = value`; the arguments are {}", names::allowed()));
                None
            }
        };
    }
    let name = input.call(Ident::parse_any).ok()?;
    let word = name.to_string();
    if word == FLAG && (input.is_empty() || input.peek(Token![,])) {
        let at = name.span();
        return Some((name, Some(parse_quote_spanned!(at=> true))));
    }
    if input.parse::<Token![=]>().is_err() {
        if names::is_known(&word) {
            problems.add(name.span(), format!("write `{}`", names::example(&word)));
        }
        skip(input);
        return Some((name, None));
    }
    let at = if input.is_empty() || input.peek(Token![,]) { name.span() } else { input.span() };
    match input.parse::<Expr>() {
        Ok(value) => Some((name, Some(value))),
        Err(_) => {
            if names::is_known(&word) {
                problems.add(at, format!("`{word}` has no value; write `{}`", names::example(&word)));
            }
            skip(input);
            Some((name, None))
        }
    }
}

/// Up to the next comma.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _skipped = input.parse::<TokenTree>();
    }
}

fn text(value: &Expr, name: &str) -> syn::Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        other => {
            let message = format!("write a string literal: `{}`", names::example(name));
            Err(syn::Error::new(other.span(), message))
        }
    }
}

/// Anything but a literal.
fn place(value: Expr, name: &str, what: &str) -> syn::Result<Expr> {
    match value {
        Expr::Lit(literal) => {
            let message = format!("`{name}` is {what}: write `{}`", names::example(name));
            Err(syn::Error::new(literal.span(), message))
        }
        value => Ok(value),
    }
}

fn as_bool(value: &Expr) -> Option<bool> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Bool(word), .. }) => Some(word.value),
        _ => None,
    }
}

fn checked_flag(value: &Expr) -> syn::Result<()> {
    as_bool(value).map(drop).ok_or_else(|| {
        let message = "the key is checked at compile time, so this is `true` or `false`; write \
                       `allow_volatile_key`, or leave it out";
        syn::Error::new(value.span(), message)
    })
}

fn checked_key(name: &str, value: &Expr, allow_volatile: bool) -> syn::Result<LitStr> {
    let text = text(value, name)?;
    let parse = if allow_volatile { Key::parse_allowing_volatile } else { Key::parse };
    parse(&text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    Ok(text)
}

fn checked_fingerprint(value: &Expr) -> syn::Result<LitStr> {
    let text = text(value, "fingerprint")?;
    Fingerprint::parse(&text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    Ok(text)
}

fn checked_name(value: &Expr) -> syn::Result<LitStr> {
    let text = text(value, "name")?;
    Name::new(text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    Ok(text)
}

fn checked_skip(value: &Expr) -> syn::Result<()> {
    let word = text(value, "in_progress")?;
    match &*word.value() {
        "skip" => Ok(()),
        "wait" => Err(syn::Error::new(word.span(), "say how long: `wait = \"10s\"`")),
        _ => Err(syn::Error::new(
            word.span(),
            "the only value is \"skip\": succeed with the default where another attempt is at work; \
             without it such a call is refused with AlreadyInProgress",
        )),
    }
}

fn checked_on_error(value: Expr) -> syn::Result<OnError> {
    let Expr::Lit(ExprLit { lit: Lit::Str(word), .. }) = value else {
        let what = "\"release\", \"store\", \"keep\" or a function `fn(&E) -> OnError`";
        return place(value, "on_error", what).map(OnError::Classify);
    };
    match &*word.value() {
        "release" => Ok(OnError::Always(Ident::new("Release", word.span()))),
        "keep" => Ok(OnError::Always(Ident::new("Keep", word.span()))),
        "store" => Ok(OnError::Store),
        _ => Err(syn::Error::new(
            word.span(),
            "write \"release\" (the next attempt is real), \"store\" (the failure is the answer), \"keep\" (the claim \
             stays until its lease has passed) or the path of a `fn(&E) -> OnError`",
        )),
    }
}

fn checked_duration(value: Expr) -> syn::Result<TokenStream> {
    match &value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            let seconds =
                duration::seconds(&text.value()).map_err(|what| syn::Error::new(text.span(), what))?;
            Ok(quote!(::core::time::Duration::from_secs(#seconds)))
        }
        Expr::Lit(other) => Err(syn::Error::new(
            other.span(),
            "write the unit: `\"1h\"`, or an expression of type `Duration`",
        )),
        _ => Ok(quote!(#value)),
    }
}

fn checked_path(value: Expr) -> syn::Result<Path> {
    match value {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => Ok(path.path),
        other => {
            let message = format!("write the path of the facade: `{}`", names::example("crate"));
            Err(syn::Error::new(other.span(), message))
        }
    }
}
