//! From an annotated function to a guarded one. The body's tokens stay as they were written, so that
//! an error inside points to its line and half-typed code still completes.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Pat, PatType, ReturnType, Signature, Type, Visibility};

use crate::args::{Args, InProgress};

/// A function whose body is not looked at.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::parse.parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let hint =
                syn::Error::new(error.span(), format!("`#[idempotent]` goes on an `async fn`: {error}"));
            return with_errors(hint, item);
        }
    };
    match guarded(args, function) {
        Ok(tokens) => tokens,
        // The function itself stays, so that only the real mistake is reported.
        Err(error) => with_errors(error, item),
    }
}

fn with_errors(error: syn::Error, item: TokenStream) -> TokenStream {
    let errors = error.into_compile_error();
    quote!(#errors #item)
}

fn guarded(args: TokenStream, function: Function) -> syn::Result<TokenStream> {
    let args = Args::parse(args);
    let shape = check_shape(&function.signature);
    let args = match (args, shape) {
        (Ok(args), Ok(())) => args,
        (Err(mut args), Err(shape)) => {
            args.combine(shape);
            return Err(args);
        }
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    let Function { attributes, visibility, mut signature, body } = function;
    let root = quote!(::lambda_idempotency);

    // What key and fingerprint are taken from.
    let mut unpack = TokenStream::new();
    let (call, input) = match &args.input {
        Some(input) => (quote!(call), quote_spanned!(input.span()=> &(#input))),
        None => {
            let argument = only_argument(&mut signature)?;
            let name = argument_name(argument, &mut unpack);
            match is_lambda_event(&argument.ty) {
                true => {
                    let event = quote_spanned!(argument.ty.span()=> #root::__private::event_input(&#name));
                    (quote!(call_event), event)
                }
                false => (quote!(call), quote_spanned!(argument.ty.span()=> &#name)),
            }
        }
    };

    let key = &args.key;
    let function_name = signature.ident.to_string();
    let name = optional(args.name.as_ref());
    let fingerprint = optional(args.fingerprint.as_ref());
    let expires_after = args.expires_after.map(|duration| quote!(.expires_after(#duration)));
    let (in_progress, run) = match &args.in_progress {
        InProgress::Refuse => (None, quote!(run)),
        InProgress::Wait(wait) => (Some(quote!(.in_progress(#root::InProgress::Wait(#wait)))), quote!(run)),
        InProgress::Skip => (Some(quote!(.in_progress(#root::InProgress::Skip))), quote!(run_or_default)),
    };
    let store = match &args.store {
        Some(store) => {
            quote_spanned!(store.span()=> ::core::option::Option::Some(&(#store) as &dyn #root::Store))
        }
        None => quote!(::core::option::Option::None),
    };
    let ReturnType::Type(_, result) = &signature.output else {
        return Err(syn::Error::new(signature.span(), NO_RESULT));
    };

    Ok(quote! {
        #(#attributes)*
        #visibility #signature {
            static __SITE: #root::__private::Site = #root::__private::Site::new(#root::__private::Spec {
                key: #key,
                name: #name,
                fingerprint: #fingerprint,
                module: ::core::module_path!(),
                function: #function_name,
            });
            let __call = __SITE.#call(|| #root::Policy::new()#expires_after #in_progress, #input);
            let __store = #store;
            __call.#run(__store, move |_| #root::__private::body::<#result, _>(async move {
                #unpack
                #body
            })).await
        }
    })
}

const NO_RESULT: &str = "`#[idempotent]` needs a `Result`: what is recorded is its `Ok` value, and the error type \
     carries this library's errors (`E: From<lambda_idempotency::Error>`). Write `-> Result<(), Error>`";

fn check_shape(signature: &Signature) -> syn::Result<()> {
    if signature.asyncness.is_none() {
        return Err(syn::Error::new(
            signature.fn_token.span(),
            "`#[idempotent]` goes on an `async fn`: the claim and the completion are store calls",
        ));
    }
    match &signature.output {
        ReturnType::Default => Err(syn::Error::new(signature.ident.span(), NO_RESULT)),
        ReturnType::Type(_, result) if matches!(**result, Type::ImplTrait(_)) => Err(syn::Error::new(
            result.span(),
            "the result must be a named type: a replay has to decode it from the stored record",
        )),
        ReturnType::Type(..) => Ok(()),
    }
}

fn only_argument(signature: &mut Signature) -> syn::Result<&mut PatType> {
    let at = signature.ident.span();
    let inputs = &mut signature.inputs;
    let count = inputs.iter().filter(|argument| matches!(argument, FnArg::Typed(_))).count();
    if count != 1 {
        let many = if count == 0 { "there is no argument" } else { "there are several arguments" };
        return Err(syn::Error::new(
            at,
            format!(
                "{many}: say what the key is taken from with `input = <expression>`, any value that serialises"
            ),
        ));
    }
    inputs
        .iter_mut()
        .find_map(|argument| match argument {
            FnArg::Typed(argument) => Some(argument),
            FnArg::Receiver(_) => None,
        })
        .ok_or_else(|| syn::Error::new(at, "there is no argument"))
}

/// The name by which the argument can be borrowed before the body; a pattern is taken apart inside.
fn argument_name(argument: &mut PatType, unpack: &mut TokenStream) -> Ident {
    if let Pat::Ident(pattern) = &*argument.pat
        && pattern.by_ref.is_none()
        && pattern.subpat.is_none()
    {
        return pattern.ident.clone();
    }
    let name = format_ident!("__input", span = Span::mixed_site());
    let pattern = std::mem::replace(&mut *argument.pat, Pat::Verbatim(name.to_token_stream()));
    unpack.extend(quote!(let #pattern = #name;));
    name
}

/// By its last path segment, as `lambda_runtime::LambdaEvent<…>` or under any import.
fn is_lambda_event(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "LambdaEvent"),
        Type::Reference(reference) => is_lambda_event(&reference.elem),
        Type::Group(group) => is_lambda_event(&group.elem),
        Type::Paren(paren) => is_lambda_event(&paren.elem),
        _ => false,
    }
}

fn optional(value: Option<&syn::LitStr>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
