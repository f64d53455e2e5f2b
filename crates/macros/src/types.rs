//! What can be seen of a signature's types before the compiler knows them.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, PathSegment, ReturnType, Signature, Type};

use crate::problems::Problems;

/// Events that hold any number of records, by the names under which `aws_lambda_events` has them.
const SEVERAL_RECORDS: [&str; 14] = [
    "SqsEvent",
    "SqsEventObj",
    "KinesisEvent",
    "KinesisTimeWindowEvent",
    "KinesisFirehoseEvent",
    "DynamodbEvent",
    "DynamoDbEvent",
    "DynamoDBEvent",
    "S3Event",
    "SnsEvent",
    "SnsEventObj",
    "KafkaEvent",
    "ActiveMqEvent",
    "RabbitMqEvent",
];

/// Answers that are sent while they are made.
const STREAMS: [&str; 3] = ["StreamResponse", "FunctionResponse", "BodyStream"];

/// By its last path segment, as `lambda_runtime::LambdaEvent<…>` or under any import.
pub(crate) fn is_lambda_event(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "LambdaEvent")
}

/// Refuses an argument that is many pieces of work.
pub(crate) fn check_argument(ty: &Type, problems: &mut Problems) {
    let Some(segment) = last_segment(ty) else { return };
    let name = segment.ident.to_string();
    let holder = matches!(&*name, "LambdaEvent" | "Raw" | "Box");
    if holder && let Some(inner) = type_arguments(segment).next() {
        return check_argument(inner, problems);
    }
    if SEVERAL_RECORDS.contains(&&*name) {
        let how = match name.starts_with("Sqs") {
            true => {
                "annotate the function that does one record's work, and let `batch::sqs` call it for each"
            }
            false => "annotate a function that does one record's work, and call it for each record",
        };
        problems.add(
            segment.ident.span(),
            format!("`{name}` holds several records, each of them work of its own: {how}"),
        );
    }
}

/// Refuses results that no record can hold.
pub(crate) fn check_result(signature: &Signature, problems: &mut Problems) {
    let ReturnType::Type(_, result) = &signature.output else {
        return problems.add(signature.ident.span(), NO_RESULT);
    };
    if is_no_result(result) {
        return problems.add(result.span(), NO_RESULT);
    }
    if let Type::ImplTrait(_) = &**result {
        return problems.add(result.span(), NO_NAME);
    }
    let Some(segment) = last_segment(result) else { return };
    let mut parts = type_arguments(segment);
    // An alias can have its own parameters; the first one is the `Ok` type wherever we have seen it.
    if let Some(answer) = parts.next() {
        check_answer(answer, problems);
    }
    for error in parts {
        if let Some(span) = find(error, &|ty| matches!(ty, Type::ImplTrait(_)).then(|| ty.span())) {
            problems.add(
                span,
                "the error must be a named type: it is built from `lambda_idempotency::Error` as well",
            );
        }
    }
}

const NO_RESULT: &str = "`#[idempotent]` needs a `Result`: what is recorded is its `Ok` value, and the error type \
     carries this library's errors (`E: From<lambda_idempotency::Error>`). Write `-> Result<(), Error>`";

const NO_NAME: &str = "the result must be a named type: a replay has to decode it from the stored record. For an HTTP \
     answer that is a type that serialises, such as `ApiGatewayV2httpResponse` or one of your own";

fn check_answer(answer: &Type, problems: &mut Problems) {
    if let Some(span) = find(answer, &|ty| matches!(ty, Type::ImplTrait(_)).then(|| ty.span())) {
        return problems.add(span, NO_NAME);
    }
    if let Some(span) = find(answer, &|ty| matches!(ty, Type::Reference(_)).then(|| ty.span())) {
        let message = "the result must own what it holds: a duplicate is answered from the stored record, of which \
                       nothing can be borrowed. Write `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`";
        return problems.add(span, message);
    }
    if let Some(span) = find(answer, &lends) {
        let message = "the result must own what it holds: a duplicate is answered from the stored record, of which \
                       nothing can be borrowed. Give its fields owned types, or write `'static` where they can be owned";
        return problems.add(span, message);
    }
    if let Some(span) = find(answer, &stream) {
        let message = "a streaming response cannot be recorded, so no duplicate can be answered with it. Do the work in \
                       an annotated function that returns a value, and stream that value from the handler";
        problems.add(span, message);
    }
}

fn stream(ty: &Type) -> Option<Span> {
    let segment = last_segment(ty)?;
    let is_stream = STREAMS.iter().any(|name| segment.ident == name);
    let of_a_body = || {
        segment.ident == "Response"
            && type_arguments(segment).any(|ty| last_segment(ty).is_some_and(|body| body.ident == "Body"))
    };
    (is_stream || of_a_body()).then(|| segment.ident.span())
}

/// A lifetime that is not `'static`. What a `Cow` borrows it can own as well.
fn lends(ty: &Type) -> Option<Span> {
    let segment = last_segment(ty)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) if lifetime.ident != "static" && segment.ident != "Cow" => {
            Some(segment.ident.span())
        }
        _ => None,
    })
}

/// What is no `Result` under any import.
fn is_no_result(ty: &Type) -> bool {
    const OTHERS: [&str; 18] = [
        "Option", "Vec", "String", "Box", "Value", "HashMap", "bool", "char", "u8", "u16", "u32", "u64",
        "usize", "i32", "i64", "f64", "Poll", "Pin",
    ];
    match ty {
        Type::Tuple(_)
        | Type::Array(_)
        | Type::Reference(_)
        | Type::Slice(_)
        | Type::Ptr(_)
        | Type::Never(_) => true,
        _ => last_segment(ty).is_some_and(|segment| OTHERS.iter().any(|name| segment.ident == name)),
    }
}

/// The first thing that `look` sees in `ty`, from the outside in.
fn find(ty: &Type, look: &dyn Fn(&Type) -> Option<Span>) -> Option<Span> {
    if let Some(found) = look(ty) {
        return Some(found);
    }
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .iter()
            .find_map(|segment| type_arguments(segment).find_map(|ty| find(ty, look))),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(|ty| find(ty, look)),
        Type::Array(array) => find(&array.elem, look),
        Type::Slice(slice) => find(&slice.elem, look),
        Type::Reference(reference) => find(&reference.elem, look),
        Type::Group(group) => find(&group.elem, look),
        Type::Paren(paren) => find(&paren.elem, look),
        _ => None,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Reference(reference) => last_segment(&reference.elem),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

fn type_arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
