//! The stack, deployed once for all tests of a process.

use std::future::Future;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use loopback::Provider;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{Aws, Error, root};

/// Seconds that the deployed function may run, and that a message is then hidden.
const TIMEOUT: u64 = 5;
const VISIBILITY: u64 = 30;
/// A message that cannot be worked on is given up after this many times [`VISIBILITY`].
const DELIVERIES: u64 = 4;

/// Long for everything that the queues do.
const PATIENCE: Duration = Duration::from_secs(VISIBILITY * DELIVERIES + 60);

/// What was deployed, and the provider that it calls.
#[derive(Debug)]
pub struct Stack {
    /// The emulator that it is deployed to.
    pub aws: Aws,
    /// Whom the function calls.
    pub provider: Provider,
    /// The function's name.
    pub function: String,
    /// The table's name.
    pub table: String,
    queue: String,
    dead_letter_queue: String,
    runtime: Runtime,
}

/// A message that was given up.
#[derive(Debug, PartialEq, Eq)]
pub struct Letter(pub String);

/// The body of an order's message.
pub fn order(order_id: u64) -> String {
    json!({"order_id": order_id, "version": 1, "instruction": "15s teaser"}).to_string()
}

/// Waits until `done`, and says what was waited for if it does not come.
async fn until<F, Fut>(what: &str, mut done: F) -> Result<(), Error>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<bool, Error>>,
{
    let started = Instant::now();
    while !done().await? {
        if started.elapsed() > PATIENCE {
            return Err(format!("{what}: not within {PATIENCE:?}").into());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

impl Stack {
    /// How long the function may run before it is killed.
    pub const FUNCTION_TIMEOUT: Duration = Duration::from_secs(TIMEOUT);

    /// Runs a test on the stack, which is deployed for the first.
    ///
    /// # Errors
    /// Those of the test, and of the deployment.
    pub fn test<F, Fut>(test: F) -> Result<(), Error>
    where
        F: FnOnce(&'static Stack) -> Fut,
        Fut: Future<Output = Result<(), Error>>,
    {
        static STACK: OnceLock<Result<Stack, String>> = OnceLock::new();
        let stack = STACK.get_or_init(|| Stack::deploy().map_err(|error| error.to_string()));
        let stack = stack.as_ref().map_err(String::as_str)?;
        stack.runtime.block_on(test(stack))
    }

    fn deploy() -> Result<Self, Error> {
        let aws = Aws::from_env()?;
        let runtime = Runtime::new()?;
        let provider = runtime.block_on(Provider::start())?;
        sam(&[
            "deploy",
            "--no-confirm-changeset",
            "--no-progressbar",
            "--parameter-overrides",
            &format!("ModelProviderUrl={}", provider.url()),
            &format!("FunctionTimeout={TIMEOUT}"),
            &format!("MaxReceiveCount={DELIVERIES}"),
            "BatchSize=10",
        ])?;
        let outputs: Value = serde_json::from_str(&sam(&["list", "stack-outputs", "--output", "json"])?)?;
        let output = |name: &str| {
            let outputs = outputs.as_array().into_iter().flatten();
            let found = outputs.into_iter().find(|output| output["OutputKey"] == name);
            let value = found.and_then(|output| output["OutputValue"].as_str());
            value.map(str::to_owned).ok_or_else(|| format!("the stack has no output {name}"))
        };
        Ok(Self {
            aws,
            provider,
            function: output("FunctionName")?,
            table: output("TableName")?,
            queue: output("QueueUrl")?,
            dead_letter_queue: output("DeadLetterQueueUrl")?,
            runtime,
        })
    }

    /// How often the provider was called for an order.
    pub fn calls(&self, order_id: u64) -> usize {
        self.provider.calls_for(&order_id.to_string(), 1)
    }

    /// Sends messages to the queue, ten at once as a producer would.
    ///
    /// # Errors
    /// When one is not taken.
    pub async fn send(&self, bodies: &[String]) -> Result<(), Error> {
        for ten in bodies.chunks(10) {
            let entry = |(id, body): (usize, &String)| json!({"Id": id.to_string(), "MessageBody": body});
            let entries: Vec<_> = ten.iter().enumerate().map(entry).collect();
            let input = json!({"QueueUrl": self.queue, "Entries": entries});
            let answer = self.aws.sqs("SendMessageBatch", input).await?;
            if answer["Successful"].as_array().map(Vec::len) != Some(ten.len()) {
                return Err(format!("not every message was taken: {answer}").into());
            }
        }
        Ok(())
    }

    /// Delivers one message past the queue, and says whether it was worked on (or was to come again).
    ///
    /// # Errors
    /// When the function fails as a whole.
    pub async fn deliver(&self, message_id: &str, body: &str) -> Result<bool, Error> {
        let event = json!({"Records": [{
            "messageId": message_id,
            "receiptHandle": "AQEB",
            "body": body,
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:orders",
            "awsRegion": "us-east-1",
        }]});
        let answer = self.aws.invoke(&self.function, &event).await?;
        let failures = answer["batchItemFailures"].as_array().ok_or("no partial batch response")?;
        Ok(failures.is_empty())
    }

    /// Waits until the provider has been called `calls` times for an order.
    ///
    /// # Errors
    /// When it was not.
    pub async fn called(&self, order_id: u64, calls: usize) -> Result<(), Error> {
        let what = format!("{calls} calls for order {order_id}");
        until(&what, || async { Ok(self.calls(order_id) >= calls) }).await
    }

    /// Waits until nothing is left in the queue: everything was worked on, or given up.
    ///
    /// # Errors
    /// When something stays.
    pub async fn drained(&self) -> Result<(), Error> {
        until("an empty queue", || async {
            let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
            let input = json!({"QueueUrl": self.queue, "AttributeNames": names});
            let answer = self.aws.sqs("GetQueueAttributes", input).await?;
            Ok(names.iter().all(|name| answer["Attributes"][name] == "0"))
        })
        .await
    }

    /// Everything that was given up; it stays there.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub async fn given_up(&self) -> Result<Vec<Letter>, Error> {
        let input =
            json!({"QueueUrl": self.dead_letter_queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": 0});
        let answer = self.aws.sqs("ReceiveMessage", input).await?;
        let messages = answer["Messages"].as_array().into_iter().flatten();
        Ok(messages.filter_map(|message| message["Body"].as_str()).map(|body| Letter(body.into())).collect())
    }
}

/// Runs the SAM CLI next to the template.
fn sam(arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("sam").args(arguments).current_dir(root()).output();
    let output = output.map_err(|error| format!("sam: {error}"))?;
    let said = String::from_utf8(output.stdout)?;
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("sam {arguments:?}: {said}\n{}", String::from_utf8_lossy(&output.stderr)).into())
}
