//! The annotated function as it was written. Its body is not looked at, so that half-typed code
//! still completes.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, Pat, PatType, ReceiverKind, ReturnType, Signature, Token, Type, Visibility,
};

use crate::args::Args;
use crate::problems::Problems;
use crate::types;

pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    /// `#![…]` at the head of the body.
    pub(crate) inner_attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            let message = "there is no body to guard: annotate the function that implements it";
            return Err(syn::Error::new(signature.ident.span(), message));
        }
        let body: Group = input.parse()?;
        let split =
            |body: ParseStream<'_>| Ok((body.call(Attribute::parse_inner)?, body.parse::<TokenStream>()?));
        let (inner_attributes, statements) = split.parse2(body.stream())?;
        let body = if inner_attributes.is_empty() { body } else { braces(statements, &body) };
        Ok(Self { attributes, inner_attributes, visibility, signature, body })
    }
}

/// `statements` in the place of `body`.
fn braces(statements: TokenStream, body: &Group) -> Group {
    let mut group = Group::new(Delimiter::Brace, statements);
    group.set_span(body.span());
    group
}

impl Function {
    /// What `#[idempotent]` cannot guard.
    pub(crate) fn check(&self, args: &Args, problems: &mut Problems) {
        let signature = &self.signature;
        if signature.asyncness.is_none() {
            let message = match returns_a_future(signature) {
                true => {
                    "this function returns a future instead of being `async`. Under `#[async_trait]`, annotate an \
                     `async fn` of your own and call it from the trait's method; an `async fn` in a trait needs no such macro"
                }
                false => {
                    "`#[idempotent]` goes on an `async fn`: the claim and the completion are store calls"
                }
            };
            return problems.add(signature.fn_token.span(), message);
        }
        let again = |attribute: &&Attribute| {
            attribute.path().segments.last().is_some_and(|segment| segment.ident == "idempotent")
        };
        if let Some(again) = self.attributes.iter().find(again) {
            problems.add(
                again.span(),
                "`#[idempotent]` is given twice: the inner claim would find the outer one in progress",
            );
        }
        types::check_result(signature, problems);
        self.check_parameters(args, problems);
        if let Some(store) = &args.store
            && !self.lends_self()
            && is_field_of_self(store)
        {
            let message = "this method takes `self` or `&mut self` into its body, so that the store cannot be borrowed from \
                           it: write `store = self.store.clone()` (an `Arc` is cheap to clone)";
            problems.add(store.span(), message);
        }
        if args.names_input {
            return;
        }
        let mut arguments = self.arguments();
        match (arguments.next(), arguments.next()) {
            (Some(only), None) => types::check_argument(&only.ty, problems),
            (first, _) => {
                let many =
                    if first.is_none() { "there is no argument" } else { "there are several arguments" };
                problems.add(
                    signature.ident.span(),
                    format!(
                        "{many}: say what the key is taken from with `input = <expression>`, any value that serialises"
                    ),
                );
            }
        }
    }

    /// A generic function is one function for all its types: their records are one scope, and its policy is
    /// asked once.
    fn check_parameters(&self, args: &Args, problems: &mut Problems) {
        let generics = &self.signature.generics;
        let takes_impl = |argument: &PatType| argument.ty.to_token_stream().to_string().contains("impl ");
        let generic =
            generics.params.iter().any(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)));
        if (generic || self.arguments().any(takes_impl)) && args.name.is_none() {
            problems.add(
                self.signature.ident.span(),
                "a generic function is one scope for all its types: a call with one type would be answered with what \
                 was done for another. Say that this is meant with `name = \"…\"`, and put into the key what tells \
                 the types apart",
            );
        }
        if let Some(expires_after) = &args.expires_after
            && let Some(parameter) =
                generics.type_params().find(|parameter| names(expires_after, &parameter.ident.to_string()))
        {
            let message = format!(
                "`{}` cannot be used here: the policy is asked once, at the first call, for all types",
                parameter.ident
            );
            problems.add(expires_after.span(), message);
        }
    }

    /// All but `self`.
    fn arguments(&self) -> impl Iterator<Item = &PatType> {
        self.signature.inputs.iter().filter_map(|argument| match argument {
            FnArg::Typed(argument) => Some(argument),
            FnArg::Receiver(_) => None,
        })
    }

    /// The name by which the only argument can be borrowed before the body, and its type. A pattern is
    /// taken apart at the head of the body.
    pub(crate) fn name_of_the_argument(&mut self) -> Option<(Ident, Type)> {
        let argument = self.signature.inputs.iter_mut().find_map(|argument| match argument {
            FnArg::Typed(argument) => Some(argument),
            FnArg::Receiver(_) => None,
        })?;
        let ty = (*argument.ty).clone();
        if let Pat::Ident(pattern) = &*argument.pat
            && pattern.by_ref.is_none()
            && pattern.subpat.is_none()
        {
            return Some((pattern.ident.clone(), ty));
        }
        let name = format_ident!("input", span = Span::mixed_site());
        let pattern = std::mem::replace(&mut *argument.pat, Pat::Verbatim(name.to_token_stream()));
        self.prepend(quote!(let #pattern = #name;));
        Some((name, ty))
    }

    /// Puts statements at the head of the body.
    pub(crate) fn prepend(&mut self, head: TokenStream) {
        let statements = self.body.stream();
        self.body = braces(quote!(#head #statements), &self.body);
    }

    /// Whether `self` can be borrowed beside the body: there is none, or it is `&self`.
    fn lends_self(&self) -> bool {
        self.signature.receiver().is_none_or(|receiver| match &receiver.kind {
            ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
            // Under a type of its own the compiler knows better.
            ReceiverKind::Typed(..) => true,
            _ => false,
        })
    }

    pub(crate) fn is_method(&self) -> bool {
        self.signature.receiver().is_some()
    }
}

/// Whether a word is among the tokens.
fn names(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == word,
        proc_macro2::TokenTree::Group(group) => names(&group.stream(), word),
        _ => false,
    })
}

fn is_field_of_self(expression: &Expr) -> bool {
    match expression {
        Expr::Field(field) => match &*field.base {
            Expr::Path(path) => path.path.is_ident("self"),
            base => is_field_of_self(base),
        },
        Expr::Reference(reference) => is_field_of_self(&reference.expr),
        Expr::Paren(paren) => is_field_of_self(&paren.expr),
        _ => false,
    }
}

/// As macros that make functions of `async` ones write it.
fn returns_a_future(signature: &Signature) -> bool {
    let ReturnType::Type(_, result) = &signature.output else { return false };
    let result = result.to_token_stream().to_string();
    result.contains("Future")
}
