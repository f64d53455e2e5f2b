//! What happens, scene by scene, and what must come of it.

use std::time::Duration;

use loopback::Error;

use crate::stage::{Delivery, Stage};

/// Ordinary time for one invocation.
const PLENTY: Duration = Duration::from_secs(30);
/// The time of the invocation that is killed: its lease ends with it.
const SHORT: Duration = Duration::from_secs(3);
/// How long after its lease end a claim is left alone (`Policy::DEFAULT_MARGIN`), and a moment more.
const MARGIN: Duration = Duration::from_millis(2_100);

const TEASER: &str = "15s teaser";
const NEW_PRICE: &str = "15s teaser, new price";

pub(crate) async fn play(stage: &mut Stage) -> Result<(), Error> {
    stage.scene("First delivery: the key is claimed, the model is called, the receipt is recorded");
    let order = Delivery::new("message-1", 77, 1, TEASER);
    stage.deliver(&order, PLENTY, "Executed").await?;

    stage.scene("SQS delivers the same message again: the receipt comes from the record");
    stage.deliver(&order, PLENTY, "Replayed").await?;

    stage.scene("Two deliveries at the same moment: one works, the other is sent back to the queue");
    let twin = Delivery::new("message-2", 78, 1, TEASER);
    let call = stage.provider().hold_for("78", 1);
    let first = stage.send(&twin, PLENTY);
    call.arrived().await?;
    stage.say("the provider holds the first one's call; the second delivery arrives");
    stage.deliver(&twin, PLENTY, "AlreadyInProgress").await?;
    call.answer();
    stage.finish(&twin, first, "Executed").await?;
    stage.say("the message that was sent back is delivered again");
    stage.deliver(&twin, PLENTY, "Replayed").await?;

    stage.scene("The producer sends the order again, in another message with another message id");
    stage.deliver(&Delivery::new("message-3", 77, 1, TEASER), PLENTY, "Replayed").await?;

    stage.scene("The order was edited, but somebody forgot to raise its version: refused, loudly");
    stage.deliver(&Delivery::new("message-4", 77, 1, NEW_PRICE), PLENTY, "PayloadMismatch").await?;

    stage.scene("The edit is shipped as version 2: new key, new work");
    stage.deliver(&Delivery::new("message-5", 77, 2, NEW_PRICE), PLENTY, "Executed").await?;

    stage.scene("A worker is killed in the middle of the call (its invocation had 3 s)");
    let doomed = Delivery::new("message-6", 79, 1, TEASER);
    let call = stage.provider().hold_for("79", 1);
    let killed = stage.send(&doomed, SHORT);
    call.arrived().await?;
    stage.kill(killed).await?;
    call.answer();
    stage.say("the message becomes visible again while the dead worker's lease still holds");
    stage.deliver(&doomed, PLENTY, "AlreadyInProgress").await?;
    stage.wait("lease end and margin (3 s + 2 s)", SHORT + MARGIN).await;
    stage.say("the lease has passed: the next delivery takes over");
    stage.deliver(&doomed, PLENTY, "Executed").await
}
