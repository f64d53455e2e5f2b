//! The orders of `examples/orders` on a deployed stack: `sam deploy` into an emulator, whose queue,
//! event source mapping and function are then used as they are. The tests share one stack and run at
//! the same time, each with orders of its own.
//!
//! `scripts/test deploy` builds, starts and stops what they need.

mod on_the_stack {
    use std::time::{SystemTime, UNIX_EPOCH};

    use deployed::{Letter, Sandbox, Stack, Template, TestResult, order};
    use futures_util::future::join_all;
    use lambda_idempotency::dynamodb::AttributeNames;

    /// What a body must not be.
    const UNREADABLE: &str = r#"{"order_id": "#;

    /// Nothing of ours is left, and only what cannot be read was given up.
    async fn nothing_is_lost(stack: &Stack) -> TestResult {
        stack.drained().await?;
        let unreadable = Letter(UNREADABLE.into());
        let lost: Vec<_> = stack.given_up().await?.into_iter().filter(|one| *one != unreadable).collect();
        assert_eq!(lost, []);
        Ok(())
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn a_message_that_comes_twice_is_one_call() -> TestResult {
        Stack::test(async |stack| {
            assert!(stack.deliver("m-1", &order(1)).await?, "worked on");
            assert!(stack.deliver("m-1", &order(1)).await?, "answered from the record");
            assert_eq!(stack.calls(1), 1);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn the_producers_second_message_is_one_call() -> TestResult {
        Stack::test(async |stack| {
            stack.send(&[order(2)]).await?;
            stack.called(2, 1).await?;
            stack.send(&[order(2)]).await?;
            nothing_is_lost(stack).await?;
            assert_eq!(stack.calls(2), 1);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn forty_deliveries_at_the_same_time_are_one_call() -> TestResult {
        Stack::test(async |stack| {
            let ids: Vec<_> = (0..40).map(|number| format!("m-3-{number}")).collect();
            let all_at_once = || join_all(ids.iter().map(|id| async { stack.deliver(id, &order(3)).await }));

            let held = stack.provider.hold_for("3", 1);
            let overlap = async {
                held.arrived().await?;
                tokio::time::sleep(Stack::FUNCTION_TIMEOUT / 2).await;
                held.answer();
                Ok::<_, deployed::Error>(())
            };
            let (answers, overlapped) = tokio::join!(all_at_once(), overlap);
            overlapped?;
            let worked_on = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
            assert!(worked_on.contains(&true), "one of them did the work");
            assert!(worked_on.contains(&false), "others met it at work");

            for answer in all_at_once().await {
                assert!(answer?, "whoever comes again has the answer");
            }
            assert_eq!(stack.calls(3), 1);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn forty_messages_of_one_order_are_one_call() -> TestResult {
        Stack::test(async |stack| {
            let held = stack.provider.hold_for("4", 1);
            stack.send(&vec![order(4); 40]).await?;
            held.arrived().await?;
            tokio::time::sleep(Stack::FUNCTION_TIMEOUT / 2).await;
            held.answer();
            nothing_is_lost(stack).await?;
            assert_eq!(stack.calls(4), 1);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn a_bad_message_does_not_take_the_good_ones_with_it() -> TestResult {
        Stack::test(async |stack| {
            stack.send(&[order(51), order(52), UNREADABLE.into(), order(53)]).await?;
            nothing_is_lost(stack).await?;
            assert_eq!([51, 52, 53].map(|id| stack.calls(id)), [1, 1, 1]);
            assert_eq!(stack.given_up().await?, [Letter(UNREADABLE.into())]);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn a_worker_killed_by_the_timeout_is_followed_by_one_other() -> TestResult {
        Stack::test(async |stack| {
            let held = stack.provider.hold_for("6", 1);
            stack.send(&[order(6)]).await?;
            let first = held.arrived().await?;
            let sandbox = Sandbox::holding(first.remote)?;
            // It would give up by itself before its time is over.
            sandbox.freeze().await?;
            // The producer sends again: both messages come back after the kill.
            stack.send(&[order(6)]).await?;

            stack.called(6, 2).await?;
            assert!(!sandbox.exists(), "the platform has killed it");
            nothing_is_lost(stack).await?;
            assert_eq!(stack.calls(6), 2, "the killed one and the one after it");
            let calls = stack.provider.calls();
            let second = calls.iter().rfind(|call| call.order_id == "6").ok_or("no call")?;
            let apart = second.at.duration_since(first.at)?;
            assert!(apart > Stack::FUNCTION_TIMEOUT, "it waited for the end of the lease: {apart:?}");
            drop(held);
            Ok(())
        })
    }

    #[test]
    #[ignore = "needs a stack: scripts/test deploy"]
    fn records_outlive_the_queues() -> TestResult {
        Stack::test(async |stack| {
            stack.send(&[order(7)]).await?;
            nothing_is_lost(stack).await?;
            assert_eq!(stack.calls(7), 1);

            let names = AttributeNames::default();
            let client = loopback::dynamo::client_for(stack.aws.endpoint());
            let records = client.scan().table_name(&stack.table).consistent_read(true).send().await?;
            let completed = |record: &&std::collections::HashMap<_, _>| {
                record[&names.status] == aws_sdk_dynamodb::types::AttributeValue::S("COMPLETED".into())
            };
            let latest = Template::read()?.latest_duplicate();
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
            let mut seen = 0;
            for record in records.items().iter().filter(completed) {
                let expiration = record[&names.expiration].as_n().map_err(|other| format!("{other:?}"))?;
                let lives = expiration.parse::<u64>()?.saturating_sub(now);
                assert!(lives > latest, "{lives} s are too few: a duplicate can come after {latest} s");
                seen += 1;
            }
            assert!(seen > 0, "no record is there");
            Ok(())
        })
    }
}
