//! The parts, and how a delivery is made and watched.

use std::io::Write;
use std::time::Duration;

use loopback::{Answer, DynamoDb, Error, Invocation, Lambda, LambdaOptions, Line, Provider};
use serde_json::{Value, json};

use crate::tally::{Row, Tally};

const TABLE: &str = "idempotency";
/// Two: the second delivery at the same moment needs a worker of its own.
const WORKERS: usize = 2;

/// One SQS message with an order in it.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    message_id: &'static str,
    order_id: u64,
    version: u32,
    instruction: &'static str,
}

impl Delivery {
    pub(crate) fn new(
        message_id: &'static str,
        order_id: u64,
        version: u32,
        instruction: &'static str,
    ) -> Self {
        Self { message_id, order_id, version, instruction }
    }

    fn event(&self) -> String {
        let Self { message_id, order_id, version, instruction } = self;
        let body = json!({"order_id": order_id, "version": version, "instruction": instruction});
        json!({"Records": [{
            "messageId": message_id,
            "receiptHandle": "AQEB-demo",
            "body": body.to_string(),
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:orders",
            "awsRegion": "us-east-1",
        }]})
        .to_string()
    }

    fn order(&self) -> String {
        format!("{} v{}", self.order_id, self.version)
    }
}

pub(crate) struct Stage {
    lambda: Lambda,
    provider: Provider,
    dynamo: DynamoDb,
    scenes: usize,
    tally: Tally,
}

impl Stage {
    pub(crate) async fn set_up() -> Result<Self, Error> {
        println!("building the orders worker …");
        let binary = loopback::build::orders_binary(&["demo", "orders"]).await?;
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let provider = Provider::start().await?;
        let mut options = LambdaOptions::new(binary, "orders");
        options.workers = WORKERS;
        options.env = dynamo.env();
        options.env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        options.env.push(("MODEL_PROVIDER_URL".into(), provider.url()));
        let lambda = Lambda::start(options).await?;
        println!("DynamoDB on {}, table `{TABLE}`", dynamo.endpoint());
        println!("model provider on {}", provider.url());
        println!("{WORKERS} workers of the function `orders`, unmodified, under a Lambda runtime API");
        Ok(Self { lambda, provider, dynamo, scenes: 0, tally: Tally::default() })
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    pub(crate) fn scene(&mut self, title: &str) {
        self.scenes += 1;
        println!("\n{}. {title}", self.scenes);
    }

    pub(crate) fn say(&self, text: &str) {
        println!("   {text}");
    }

    /// Waits, and shows that it does.
    pub(crate) async fn wait(&self, what: &str, duration: Duration) {
        print!("   waiting for {what} ");
        for _ in 0..duration.as_millis().div_ceil(500) {
            print!(".");
            // Only the display depends on it.
            let _ = std::io::stdout().flush();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        println!();
    }

    /// Sends an event that ends by itself or is finished later.
    pub(crate) fn send(&mut self, delivery: &Delivery, timeout: Duration) -> Invocation {
        self.tally.deliveries += 1;
        self.lambda.invoke(delivery.event(), timeout)
    }

    pub(crate) async fn deliver(
        &mut self,
        delivery: &Delivery,
        timeout: Duration,
        expected: &'static str,
    ) -> Result<(), Error> {
        let invocation = self.send(delivery, timeout);
        self.finish(delivery, invocation, expected).await
    }

    /// Waits for the answer and for the line that the worker prints about it.
    pub(crate) async fn finish(
        &mut self,
        delivery: &Delivery,
        invocation: Invocation,
        expected: &'static str,
    ) -> Result<(), Error> {
        let answer = match invocation.result().await {
            Answer::Response(answer) => answer,
            other => format!("{other:?}"),
        };
        let request_id = invocation.request_id.clone();
        let is_ours = move |line: &Line| report_of(line).is_some_and(|report| report.1 == request_id);
        let line = self.lambda.wait_for_line(is_ours, Duration::from_secs(10)).await?;
        let report = report_of(&line).map(|(report, _)| report).unwrap_or_default();
        let outcome = report["fields"]["outcome"].as_str().unwrap_or("?").to_owned();
        let takeover = report["fields"]["takeover"].as_bool().unwrap_or_default();
        let to_queue = answer.contains(delivery.message_id);
        let row = Row {
            message: report["span"]["message_id"].as_str().unwrap_or("?").to_owned(),
            order: delivery.order(),
            record: report["fields"]["record_id"].as_str().unwrap_or("?").to_owned(),
            outcome,
            takeover,
            acknowledged: !to_queue,
            expected,
        };
        println!("   {row}");
        self.tally.rows.push(row);
        Ok(())
    }

    /// Kills the worker that holds the invocation: it leaves its claim behind and no line.
    pub(crate) async fn kill(&mut self, invocation: Invocation) -> Result<(), Error> {
        let worker = invocation.started().await?;
        println!("   process {} has sent its call and is killed now", worker.pid);
        invocation.kill().await;
        Ok(())
    }

    /// Ends all parts and takes the provider's numbers.
    pub(crate) async fn strike(mut self) -> Tally {
        self.lambda.stop().await;
        self.dynamo.stop().await;
        self.tally.provider_calls = self.provider.calls().len();
        for call in self.provider.calls() {
            let order = format!("{} v{}", call.order_id, call.version);
            *self.tally.calls_per_order.entry(order).or_default() += 1;
        }
        self.tally
    }
}

/// A worker's report on one piece of work, and the request that it belongs to.
fn report_of(line: &Line) -> Option<(Value, String)> {
    let report: Value = serde_json::from_str(&line.text).ok()?;
    report["fields"]["outcome"].as_str()?;
    let spans = report["spans"].as_array()?;
    let request_id = spans.iter().find_map(|span| span["requestId"].as_str())?.to_owned();
    Some((report, request_id))
}
