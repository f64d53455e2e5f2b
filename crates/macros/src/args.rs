//! The arguments of `#[idempotent(…)]`: all that is wrong with them at once, on the user's tokens.

use lambda_idempotency_key::{Expression, Key};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Token};

use crate::duration;

/// What a user may write.
const ALLOWED: &str =
    "`key`, `input`, `fingerprint`, `expires_after`, `store`, `name`, `wait`, `in_progress`";

pub(crate) struct Args {
    pub(crate) key: LitStr,
    pub(crate) input: Option<Expr>,
    pub(crate) fingerprint: Option<LitStr>,
    /// An expression of type `Duration`.
    pub(crate) expires_after: Option<TokenStream>,
    pub(crate) store: Option<Expr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) in_progress: InProgress,
}

/// What to do where another attempt is at work.
pub(crate) enum InProgress {
    Refuse,
    /// An expression of type `Duration`.
    Wait(TokenStream),
    Skip,
}

struct Argument {
    name: Ident,
    value: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any_keyword)?;
        input.parse::<Token![=]>().map_err(|error| {
            syn::Error::new(error.span(), format!("write `{name} = …`; the arguments are {ALLOWED}"))
        })?;
        Ok(Self { name, value: input.parse()? })
    }
}

/// `Ident::parse_any` under a name of its own: keywords too, so that `crate = …` gets our message.
trait ParseAnyKeyword: Sized {
    fn parse_any_keyword(input: ParseStream<'_>) -> syn::Result<Self>;
}

impl ParseAnyKeyword for Ident {
    fn parse_any_keyword(input: ParseStream<'_>) -> syn::Result<Self> {
        use syn::ext::IdentExt;
        Ident::parse_any(input)
    }
}

impl Args {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut problems = Problems::default();
        let mut seen: Vec<String> = Vec::new();
        let (mut key, mut input, mut fingerprint, mut expires_after, mut store, mut name) =
            (None, None, None, None, None, None);
        let mut in_progress = InProgress::Refuse;
        for Argument { name: argument, value } in arguments {
            let word = argument.to_string();
            if seen.contains(&word) {
                problems.add(argument.span(), format!("`{word}` is given twice; keep one"));
                continue;
            }
            match word.as_str() {
                "key" => key = problems.keep(checked_key(&value)),
                "input" => input = Some(value),
                "fingerprint" => fingerprint = problems.keep(checked_fingerprint(&value)),
                "expires_after" => expires_after = problems.keep(checked_duration(value)),
                "store" => store = Some(value),
                "wait" | "in_progress" if seen.iter().any(|word| word == "wait" || word == "in_progress") => {
                    let message = "`wait` and `in_progress` exclude each other; keep one".to_owned();
                    problems.add(argument.span(), message);
                }
                "wait" => {
                    if let Some(wait) = problems.keep(checked_duration(value)) {
                        in_progress = InProgress::Wait(wait);
                    }
                }
                "in_progress" => match problems.keep(text(&value, "in_progress = \"skip\"")) {
                    Some(word) if word.value() == "skip" => in_progress = InProgress::Skip,
                    Some(word) => {
                        let message = "the only value is \"skip\": succeed with the default where another attempt \
                                       is at work; without it such a call is refused with AlreadyInProgress";
                        problems.add(word.span(), message.to_owned());
                    }
                    None => {}
                },
                "name" => name = problems.keep(checked_name(&value)),
                _ => problems
                    .add(argument.span(), format!("unknown argument `{word}`; the arguments are {ALLOWED}")),
            }
            seen.push(word);
        }
        if !seen.iter().any(|word| word == "key") {
            problems.add(
                Span::call_site(),
                "`key` is missing: it says which work this is. Write `key = \"order_id\"`, or `key = \"@\"` for the \
                 whole input (any field that changes per delivery then switches deduplication off)"
                    .to_owned(),
            );
        }
        problems.into_result()?;
        let key = key.ok_or_else(|| syn::Error::new(Span::call_site(), "`key` is missing"))?;
        Ok(Self { key, input, fingerprint, expires_after, store, name, in_progress })
    }
}

#[derive(Default)]
struct Problems(Option<syn::Error>);

impl Problems {
    fn add(&mut self, span: Span, message: String) {
        self.push(syn::Error::new(span, message));
    }

    fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

fn text(value: &Expr, example: &str) -> syn::Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        other => Err(syn::Error::new(other.span(), format!("write a string literal: `{example}`"))),
    }
}

fn checked_key(value: &Expr) -> syn::Result<LitStr> {
    let text = text(value, "key = \"order_id\"")?;
    Key::parse(&text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    Ok(text)
}

fn checked_fingerprint(value: &Expr) -> syn::Result<LitStr> {
    let text = text(value, "fingerprint = \"[instruction, model]\"")?;
    if text.value() != "none" {
        Expression::parse(&text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    }
    Ok(text)
}

fn checked_name(value: &Expr) -> syn::Result<LitStr> {
    let text = text(value, "name = \"orders.submit\"")?;
    lambda_idempotency_key::Name::new(text.value()).map_err(|error| syn::Error::new(text.span(), error))?;
    Ok(text)
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
