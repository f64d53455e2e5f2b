//! A function that does what its event says: the worker of this package's tests.

use lambda_runtime::{Diagnostic, Error, LambdaEvent, run, service_fn};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    if let Some(marker) = std::env::var_os("FAIL_INIT_IF")
        && std::path::Path::new(&marker).exists()
    {
        eprintln!("found {}", marker.display());
        return Err("told not to start".into());
    }
    run(service_fn(handle)).await
}

async fn handle(event: LambdaEvent<Value>) -> Result<Value, Diagnostic> {
    let (event, context) = event.into_parts();
    println!("took {}", event["do"]);
    match event["do"].as_str() {
        Some("wait") => std::future::pending().await,
        Some("fail") => {
            Err(Diagnostic { error_type: "Refused".into(), error_message: "as the event says".into() })
        }
        Some("panic") => panic!("as the event says"),
        Some("exit") => {
            print!("no end of line");
            std::io::Write::flush(&mut std::io::stdout()).expect("the test reads");
            std::process::exit(3)
        }
        Some("fill") => Ok(Value::String("x".repeat(7 * 1024 * 1024))),
        _ => Ok(json!({
            "event": event,
            "pid": std::process::id(),
            "request_id": context.request_id,
            "deadline": context.deadline,
            "arn": context.invoked_function_arn,
            "tenant": context.tenant_id,
            "env": std::env::vars().collect::<std::collections::BTreeMap<_, _>>(),
        })),
    }
}
