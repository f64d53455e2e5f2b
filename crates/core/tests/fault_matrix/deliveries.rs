//! One delivery of one order, how it ends, and what the next deliveries must find.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use lambda_idempotency_core::testing::Fault;
use lambda_idempotency_core::{Attempt, Clock, Outcome, Policy, RunError};

use crate::support::{Bed, Ran, TIME, order};

/// How a function ends after its effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Work {
    Succeeds,
    /// Succeeds after so long.
    SucceedsAfter(Duration),
    Fails,
    Panics,
    IsDropped,
}

/// How a delivery ended.
#[derive(Debug)]
pub(crate) enum End {
    Returned(Ran),
    Panicked,
    Dropped,
}

pub(crate) const WORKS: [Work; 4] = [Work::Succeeds, Work::Fails, Work::Panics, Work::IsDropped];

/// Longer than an ordinary lease and its margin.
pub(crate) const LONG: Duration = Duration::from_secs(35);
/// From the first delivery to the third one's work.
const INTO_THE_TAKEOVER: Duration = Duration::from_secs(34);

pub(crate) const FAULTS: [Fault; 9] = [
    Fault::ErrorBefore,
    Fault::ReplyLost,
    Fault::Duplicate,
    Fault::Throttle,
    Fault::Deny,
    Fault::Delay(Duration::from_secs(1)),
    Fault::Delay(LONG),
    Fault::Stray(Duration::ZERO),
    Fault::Stray(INTO_THE_TAKEOVER),
];

/// A delivery that is polled by hand.
pub(crate) type Delivery<'a> = Pin<Box<dyn Future<Output = End> + 'a>>;

/// The function: one effect, then its end. `before_end` is awaited in between.
pub(crate) async fn work_of(
    bed: &Bed,
    work: Work,
    before_end: impl Future<Output = ()>,
) -> Result<String, &'static str> {
    let effect = bed.effect();
    before_end.await;
    match work {
        Work::Succeeds => Ok(effect),
        Work::SucceedsAfter(time) => {
            bed.clock.sleep(time).await;
            Ok(effect)
        }
        Work::Fails => Err("declined"),
        Work::Panics => panic!("the function panics"),
        Work::IsDropped => std::future::pending().await,
    }
}

/// One delivery with this much time, whose work awaits what `before_end` makes of its attempt.
pub(crate) fn delivery<'a, F, Fut>(
    bed: &'a Bed,
    policy: Policy,
    time: Duration,
    work: Work,
    before_end: F,
) -> Delivery<'a>
where
    F: FnOnce(Attempt) -> Fut + 'a,
    Fut: Future<Output = ()> + 'a,
{
    Box::pin(async move {
        let engine = bed.engine(policy);
        let input = order();
        let run = engine.run(&input, |attempt| work_of(bed, work, before_end(attempt)));
        match AssertUnwindSafe(bed.invoke(time, run)).catch_unwind().await {
            Ok(ran) => End::Returned(ran),
            Err(_) => End::Panicked,
        }
    })
}

/// Polls a delivery to its end; one that does not end is dropped.
pub(crate) async fn finish(mut delivery: Delivery<'_>) -> End {
    for _ in 0..1_000 {
        match futures_util::poll!(&mut delivery) {
            Poll::Ready(end) => return end,
            Poll::Pending => tokio::task::yield_now().await,
        }
    }
    End::Dropped
}

pub(crate) async fn deliver(bed: &Bed, policy: &Policy, work: Work) -> End {
    finish(delivery(bed, policy.clone(), TIME, work, |_| std::future::ready(()))).await
}

/// The answer that an end gave, if it gave one.
pub(crate) fn answer(end: &End) -> Option<&String> {
    match end {
        End::Returned(Ok(Outcome::Executed(value) | Outcome::Replayed(value, _))) => Some(value),
        _ => None,
    }
}

pub(crate) fn refused(end: &End) -> Option<&'static str> {
    match end {
        End::Returned(Err(RunError::Idempotency(error))) => Some(error.name()),
        _ => None,
    }
}

/// Whether this is how a function ends that has run, whatever the store did about it.
pub(crate) fn is_end_of(work: Work, end: &End) -> bool {
    match work {
        Work::Succeeds | Work::SucceedsAfter(_) => {
            answer(end).is_some() || matches!(refused(end), Some("NotRecorded" | "LeaseLost"))
        }
        Work::Fails => matches!(end, End::Returned(Err(RunError::Function("declined")))),
        Work::Panics => matches!(end, End::Panicked),
        Work::IsDropped => matches!(end, End::Dropped),
    }
}

/// Once every lease has passed, somebody gets through, or (at-most-once) is told why not; with an answer that
/// is known, it is that one and nothing runs. From then on there is one answer.
pub(crate) async fn in_the_end(bed: &Bed, policy: &Policy, known: Option<&String>, what: &str) {
    let before = bed.effects();
    bed.store.heal();
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
    // Long enough for what is on its way to arrive in the middle of it.
    let third = deliver(bed, policy, Work::SucceedsAfter(Duration::from_secs(4))).await;
    match known {
        Some(known) => {
            assert_eq!(answer(&third), Some(known), "{what}: {third:?}");
            assert_eq!(bed.effects(), before, "{what}: an effect after an answer");
        }
        None => {
            let interrupted = refused(&third) == Some("Interrupted");
            assert!(answer(&third).is_some() || interrupted, "{what}: {third:?}");
        }
    }
    if let Some(known) = answer(&third) {
        let effects = bed.effects();
        bed.clock.advance(TIME * 2);
        let fourth = deliver(bed, policy, Work::Succeeds).await;
        assert_eq!((answer(&fourth), bed.effects()), (Some(known), effects), "{what}: {fourth:?}");
        assert_eq!(bed.store.strays(), 0, "{what}: something has not arrived");
    }
}
