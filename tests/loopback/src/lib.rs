//! The neighbours of a Lambda function on 127.0.0.1, for tests and the demo: the Lambda runtime API with
//! its worker processes ([`lambda`]), a model provider ([`provider`]), DynamoDB ([`dynamo`]) and a proxy
//! in front of it that records and breaks requests ([`proxy`]).
//!
//! Everything listens on a port that the system chooses, awaits events instead of polling, and ends what
//! it started when it is stopped or dropped.

pub mod build;
pub mod dynamo;
mod error;
mod fault;
mod hold;
mod http;
pub mod lambda;
mod output;
mod process;
pub mod provider;
pub mod proxy;
mod runtime_api;
mod sandbox;
mod worker;

pub use dynamo::DynamoDb;
pub use error::Error;
pub use fault::Fault;
pub use hold::Held;
pub use lambda::{Answer, DeadlineHeader, Event, Invocation, Lambda, LambdaOptions, WorkerId};
pub use output::{Line, Stream};
pub use process::signal;
pub use provider::{Call, Provider};
pub use proxy::{Logged, Proxy};
