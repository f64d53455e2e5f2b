//! From an annotated function to a guarded one. The body's tokens stay as they were written, so that
//! an error inside points to its line.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprReference, ReturnType, Token, parse_quote};

use crate::args::{Args, InProgress, OnError};
use crate::function::Function;
use crate::problems::Problems;
use crate::types::is_lambda_event;

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut problems = Problems::default();
    let args = Args::parse(args, &mut problems);
    let function = match Function::parse.parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            problems.add(error.span(), format!("`#[idempotent]` goes on an `async fn`: {error}"));
            return with_errors(problems, item);
        }
    };
    function.check(&args, &mut problems);
    match problems.into_result().and_then(|()| guarded(args, function)) {
        Ok(tokens) => tokens,
        Err(error) => {
            let mut problems = Problems::default();
            problems.push(error);
            with_errors(problems, item)
        }
    }
}

/// The function itself stays, so that only the real mistake is reported.
fn with_errors(problems: Problems, item: TokenStream) -> TokenStream {
    let errors = problems.into_result().err().map(syn::Error::into_compile_error);
    quote!(#errors #item)
}

fn guarded(args: Args, mut function: Function) -> syn::Result<TokenStream> {
    let at = function.signature.ident.span();
    let missing = |what| syn::Error::new(at, what);
    let Some(key) = args.key else { return Err(missing("`key` is missing")) };
    let ReturnType::Type(_, result) = function.signature.output.clone() else {
        return Err(missing("there is no result"));
    };
    let facade = args.facade.unwrap_or_else(|| parse_quote!(::lambda_idempotency));
    let function_name = function.signature.ident.to_string();
    let name = args.name.map(|name| quote!(.name(#name)));
    let allow_volatile_key = args.allow_volatile_key.then(|| quote!(.allow_volatile_key()));
    let fingerprint = args.fingerprint.map(|fingerprint| quote!(.fingerprint(#fingerprint)));

    let previous = args.previous.map(|previous| quote!(.previous(#previous)));

    let (in_progress, skip) = match args.in_progress {
        InProgress::AsThePolicySays => (None, None),
        InProgress::Wait(wait) => (Some(quote!(.in_progress(#facade::InProgress::Wait(#wait)))), None),
        InProgress::Skip => (Some(quote!(.in_progress(#facade::InProgress::Skip))), Some(quote!(.skip()))),
    };
    let (policy_on_error, on_error) = match args.on_error {
        OnError::AsThePolicySays => (None, None),
        OnError::Always(what) => (Some(quote!(.on_error(#facade::OnError::#what))), None),
        OnError::Store => (None, Some(quote!(.store_failures()))),
        OnError::Classify(function) => (None, Some(quote!(.store_failures().on_error(#function)))),
    };
    let store_if = args.store_if.map(|function| quote!(.store_if(#function)));
    let on_replay = args.on_replay.map(|function| quote!(.on_replay(#function)));
    let expires_after = args.expires_after.map(|duration| quote!(.expires_after(#duration)));
    let policy = match args.policy {
        Some(policy) => {
            let span = policy.span();
            let policy = borrowed(policy);
            quote_spanned!(span=> #facade::__private::policy(#policy))
        }
        None => quote!(#facade::Policy::new()),
    };

    // What key and fingerprint are taken from.
    let input = match args.input {
        Some(input) => {
            let span = input.span();
            let input = borrowed(input);
            quote_spanned!(span=> #facade::__private::input(#input))
        }
        None => {
            let Some((name, ty)) = function.name_of_the_argument() else {
                return Err(missing("there is no argument"));
            };
            // Where the type is written, by the name that is borrowed.
            let mut name_at_type = name.clone();
            name_at_type.set_span(ty.span().resolved_at(name.span()));
            match is_lambda_event(&ty) {
                true => quote_spanned!(ty.span()=> #facade::__private::event_input(&#name_at_type)),
                false => quote_spanned!(ty.span()=> #facade::__private::input(&#name_at_type)),
            }
        }
    };
    let call = match function.is_method() {
        true => quote!(method_call::<Self, _>),
        false => quote!(call),
    };
    let store = match args.store {
        Some(store) => {
            let span = store.span();
            let store = borrowed(store);
            quote_spanned!(span=> ::core::option::Option::Some(#store as &dyn #facade::Store))
        }
        None => quote!(::core::option::Option::None),
    };

    let answers = quote_spanned!(result.span()=> #facade::__private::answers::<#result>());
    // Before the first statement, so that `?` and `return` mean what they meant, and a wrong value is pointed to.
    function.prepend(quote!(if false { return #facade::__private::returns::<#result>(); }));
    let Function { attributes, inner_attributes, visibility, signature, body } = function;
    Ok(quote! {
        #(#attributes)*
        #visibility #signature {
            #(#inner_attributes)*
            static __SITE: #facade::__private::Site =
                #facade::__private::Site::new(::core::module_path!(), #function_name, #key)
                    #allow_volatile_key #name #fingerprint #previous;
            fn __here() {}
            __SITE
                .#call(::core::any::type_name_of_val(&__here), || #policy #expires_after #in_progress #policy_on_error, #input)
                .run(#store, #answers #skip #on_error #store_if #on_replay, move || async move #body)
                .await
        }
    })
}

/// `&expression`, in parentheses where it needs them.
fn borrowed(expression: Expr) -> Expr {
    Expr::Reference(ExprReference {
        attrs: Vec::new(),
        and_token: Token![&](expression.span()),
        mutability: None,
        expr: Box::new(expression),
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::expand;

    #[test]
    fn under_another_path_nothing_names_the_facade() {
        let args = quote!(
            key = "id",
            crate = deps::safe,
            wait = "1s",
            on_error = "keep",
            store = s,
            policy = P,
            store_if = f,
            on_replay = g
        );
        let tokens = expand(
            args,
            quote!(
                async fn f(order: Order) -> Result<(), Error> {
                    Ok(())
                }
            ),
        )
        .to_string();
        assert!(tokens.contains("deps :: safe :: __private :: Site"), "{tokens}");
        assert!(!tokens.contains("lambda_idempotency"), "{tokens}");
    }

    #[test]
    fn the_body_stays_as_it_is_written_even_when_it_is_not_finished() {
        let item = quote!(async fn f(order: Order) -> Result<(), Error> { order. ; let x = ; });
        let tokens = expand(quote!(key = "id"), item).to_string();
        assert!(tokens.contains("order . ; let x = ;"), "{tokens}");
    }

    #[test]
    fn with_an_error_the_function_is_still_there() {
        let item = quote!(
            pub async fn f(order: Order) -> Result<(), Error> {
                Ok(())
            }
        );
        let tokens = expand(quote!(), item.clone()).to_string();
        assert!(tokens.contains("compile_error") && tokens.ends_with(&item.to_string()), "{tokens}");
    }
}
