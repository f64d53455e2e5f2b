//! The orders worker under `cargo lambda watch`, as docs/local.md says.
//!
//! `scripts/test watch` installs cargo-lambda and runs this.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deployed::{Error, TestResult};
use loopback::{DynamoDb, Provider, build};
use tokio::process::{Child, Command};

const TABLE: &str = "idempotency";
/// A claim whose deadline is not known.
const QUARTER_OF_AN_HOUR_MS: i64 = 900_000;
/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// cargo-lambda's runtime API on loopback, without a function.
struct Watch {
    port: String,
    child: Child,
}

impl Watch {
    async fn start() -> Result<Self, Error> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = cargo_lambda();
        command.args(["watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P", &port.to_string()]);
        let mut child = command.spawn()?;
        let listens = async {
            while tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
                if let Some(status) = child.try_wait()? {
                    return Err(Error::from(format!("cargo lambda watch: {status}")));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        };
        tokio::time::timeout(LONG, listens).await??;
        Ok(Self { port: port.to_string(), child })
    }

    /// What `cargo lambda invoke` prints for the example's event.
    async fn invoke(&self) -> Result<String, Error> {
        let event = root().join("examples/orders/event.json");
        let mut command = cargo_lambda();
        command.args(["invoke", "-A", "127.0.0.1", "-P", &self.port, "--data-file"]).arg(event);
        let output = tokio::time::timeout(LONG, command.stdout(Stdio::piped()).output()).await??;
        if !output.status.success() {
            return Err(format!("cargo lambda invoke: {output:?}").into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cargo_lambda() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg("lambda").current_dir(root()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn now_ms() -> Result<i64, Error> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs cargo-lambda: scripts/test watch"]
async fn under_cargo_lambda_watch_two_invocations_are_one_call_and_a_claim_lasts_a_quarter_of_an_hour()
-> TestResult {
    let binary = build::orders_binary(&[]).await?;
    let (dynamo, provider) = (DynamoDb::start().await?, Provider::start().await?);
    dynamo.create_table(TABLE).await?;
    let mut watch = Watch::start().await?;

    let log_path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("watch-{}.log", std::process::id()));
    let log = File::create(&log_path)?;
    let mut orders = Command::new(binary);
    orders.env_clear().envs(dynamo.env()).env("IDEMPOTENCY_TABLE", TABLE);
    orders.env("MODEL_PROVIDER_URL", provider.url());
    orders.env("AWS_LAMBDA_RUNTIME_API", format!("http://127.0.0.1:{}/.rt", watch.port));
    orders.env("AWS_LAMBDA_FUNCTION_NAME", "_").env("AWS_LAMBDA_FUNCTION_VERSION", "1");
    orders.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "4096");
    orders.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
    let mut orders = orders.spawn()?;

    let held = provider.hold_next();
    let earliest = now_ms()? + QUARTER_OF_AN_HOUR_MS;
    let while_it_runs = async {
        held.arrived().await?;
        let items = dynamo.items(TABLE).await?;
        held.answer();
        Ok::<_, Error>(items)
    };
    let (first, items) = tokio::join!(watch.invoke(), while_it_runs);
    let (first, items) = (first?, items?);
    let lease_end = items[0]["in_progress_expiration"].as_n().map_err(|other| format!("{other:?}"))?;
    let lease_end: i64 = lease_end.parse()?;
    assert!((earliest..=now_ms()? + QUARTER_OF_AN_HOUR_MS).contains(&lease_end), "{lease_end}");

    let second = watch.invoke().await?;
    assert_eq!([&*first, &*second], [r#"{"batchItemFailures":[]}"#; 2]);
    assert_eq!(provider.calls().len(), 1);

    orders.kill().await?;
    watch.child.kill().await?;
    let log = std::fs::read_to_string(&log_path)?;
    assert_eq!(log.matches("the deadline of this invocation is not an instant").count(), 1, "{log}");
    assert!(log.contains("Executed") && log.contains("Replayed"), "{log}");
    std::fs::remove_file(&log_path)?;
    Ok(())
}
