//! The main job, on this machine alone: `cargo run -p demo`.
//!
//! Builds the orders worker, starts DynamoDB, a Lambda runtime API and a model provider on loopback,
//! and delivers orders as SQS does: twice, at the same moment, edited, and to a worker that dies.
//! Ends with a table, one JSON object, and exit status 1 when a number is not what it must be.

mod scenes;
mod stage;
mod tally;

use std::process::ExitCode;

use stage::Stage;

#[tokio::main]
async fn main() -> ExitCode {
    match show().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the demo could not run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Plays everything; whether every number was what it must be.
async fn show() -> Result<bool, loopback::Error> {
    let mut stage = Stage::set_up().await?;
    let played = scenes::play(&mut stage).await;
    let tally = stage.strike().await;
    played?;
    Ok(tally.print())
}
