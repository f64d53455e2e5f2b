//! What needs more of AWS than a table in this process: S3, and a second opinion on transactions.
//!
//! `scripts/test deploy` starts an emulated AWS for it.

mod on_the_stack {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_sdk_dynamodb::types::{
        AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
    };
    use lambda_idempotency::s3::aws_sdk_s3;
    use lambda_idempotency::{
        Aes256Gcm, DynamoDbStore, Engine, Error, Key, Outcome, Policy, ResultMode, RunError, S3Offload,
    };
    use lambda_idempotency_tests::{TestResult, client, crashes, name_of};
    use serde_json::json;

    type Answer = Result<Outcome<String>, RunError<Error>>;

    /// More than an item holds.
    const LARGE: usize = 1_000_000;

    /// The emulator's address; never the cloud.
    fn endpoint() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
        match endpoint.starts_with("http://127.0.0.1:") {
            true => Ok(endpoint),
            false => Err("AWS_ENDPOINT_URL is no emulator on loopback: run `scripts/test deploy`".into()),
        }
    }

    async fn table(name: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let endpoint = endpoint()?;
        let id = AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S);
        let key = KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash);
        let request =
            client(&endpoint).create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
        request.attribute_definitions(id.build()?).key_schema(key.build()?).send().await?;
        Ok(endpoint)
    }

    fn s3(endpoint: &str) -> aws_sdk_s3::Client {
        use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(endpoint)
            .force_path_style(true)
            .credentials_provider(Credentials::new("loopback", "loopback", None, None, "loopback"))
            .http_client(loopback::dynamo::http_client())
            .build();
        aws_sdk_s3::Client::from_conf(config)
    }

    /// A table and a bucket of one name.
    struct Place {
        endpoint: String,
        name: &'static str,
        s3: aws_sdk_s3::Client,
        runs: Arc<AtomicUsize>,
    }

    impl Place {
        async fn new(name: &'static str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            let endpoint = table(name).await?;
            let s3 = s3(&endpoint);
            s3.create_bucket().bucket(name).send().await?;
            Ok(Self { endpoint, name, s3, runs: Arc::default() })
        }

        /// As another process has it: with clients of its own.
        fn engine(&self, policy: Policy) -> Result<Engine, Box<dyn std::error::Error + Send + Sync>> {
            let store = DynamoDbStore::new(client(&self.endpoint), self.name);
            let place = S3Offload::new(s3(&self.endpoint), self.name);
            Ok(Engine::new("reports.render", store, Key::parse("id")?)?.policy(policy)?.offload(place)?)
        }

        async fn run(&self, engine: &Engine, id: u32, size: usize) -> Answer {
            let work = |_| async {
                self.runs.fetch_add(1, Ordering::SeqCst);
                Ok("marker".repeat(size / 6))
            };
            engine.run(&json!({"id": id}), work).await
        }

        fn runs(&self) -> usize {
            self.runs.load(Ordering::SeqCst)
        }

        async fn keys(&self) -> Result<Vec<String>, Box<dyn std::error::Error + Send + Sync>> {
            let listed = self.s3.list_objects_v2().bucket(self.name).send().await?;
            Ok(listed.contents().iter().filter_map(|object| object.key().map(str::to_owned)).collect())
        }

        async fn bytes(&self, key: &str) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
            let object = self.s3.get_object().bucket(self.name).key(key).send().await?;
            Ok(object.body.collect().await?.to_vec())
        }
    }

    #[tokio::test]
    #[ignore = "needs an emulated AWS: scripts/test deploy"]
    async fn a_result_too_large_for_the_table_is_in_the_bucket_and_replays_elsewhere() -> TestResult {
        let place = Place::new("large-results").await?;
        let first = place.run(&place.engine(Policy::new())?, 1, LARGE).await?.into_value();
        assert_eq!(first.as_ref().map(String::len), Some(LARGE / 6 * 6));
        let keys = place.keys().await?;
        assert!(keys.len() == 1 && keys[0].starts_with("idempotency/reports.render/"), "{keys:?}");
        let again = place.run(&place.engine(Policy::new())?, 1, 6).await;
        assert_eq!((name_of(&again), again?.into_value()), ("Replayed", first));
        assert_eq!(place.runs(), 1);

        // What fits stays where it is.
        place.run(&place.engine(Policy::new())?, 2, 600).await?;
        assert_eq!(place.keys().await?.len(), 1);
        place.run(&place.engine(Policy::new().offload_over(100))?, 3, 600).await?;
        assert_eq!(place.keys().await?.len(), 2);
        Ok(())
    }

    #[tokio::test]
    #[ignore = "needs an emulated AWS: scripts/test deploy"]
    async fn what_is_in_the_bucket_is_encrypted_and_bound_to_its_record() -> TestResult {
        let place = Place::new("encrypted-results").await?;
        let policy = || Policy::new().offload_over(100).result_mode(ResultMode::Compressed);
        let engine = || {
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(
                place.engine(policy())?.cipher(Aes256Gcm::new(&[7; 32]))?,
            )
        };
        place.run(&engine()?, 1, LARGE).await?;
        place.run(&engine()?, 2, LARGE + 6).await?;
        let keys = place.keys().await?;
        assert_eq!(keys.len(), 2);
        let objects = [place.bytes(&keys[0]).await?, place.bytes(&keys[1]).await?];
        for object in &objects {
            assert!(!object.windows(6).any(|bytes| bytes == b"marker"));
        }
        assert_eq!(
            place.run(&engine()?, 1, 6).await?.into_value().map(|text| text.len()),
            Some(LARGE / 6 * 6)
        );
        // Swapped.
        for (key, object) in keys.iter().zip(objects.iter().rev()) {
            let body = aws_sdk_s3::primitives::ByteStream::from(object.clone());
            place.s3.put_object().bucket(place.name).key(key).body(body).send().await?;
        }
        for id in [1, 2] {
            assert_eq!(name_of(&place.run(&engine()?, id, 6).await), "ReplayDecode");
        }
        assert_eq!(place.runs(), 2);
        Ok(())
    }

    #[tokio::test]
    #[ignore = "needs an emulated AWS: scripts/test deploy"]
    async fn an_object_that_is_gone_and_a_bucket_that_is_not_there_are_told_apart() -> TestResult {
        let place = Place::new("lost-results").await?;
        let engine = place.engine(Policy::new())?;
        place.run(&engine, 1, LARGE).await?;
        let key = place.keys().await?.pop().ok_or("no object")?;
        place.s3.delete_object().bucket(place.name).key(key).send().await?;
        let gone = place.run(&engine, 1, 6).await;
        let Err(RunError::Idempotency(Error::ResultNotStored { bytes, .. })) = gone else {
            return Err("it ran".into());
        };
        assert_eq!(bytes, (LARGE / 6 * 6 + 2) as u64);

        // A place that does not take it: this caller has the answer, a replay is told that there is none.
        place.s3.delete_bucket().bucket(place.name).send().await?;
        assert_eq!(name_of(&place.run(&engine, 2, LARGE).await), "Executed");
        assert_eq!(name_of(&place.run(&engine, 2, 6).await), "ResultNotStored");

        // And one that does not give it, for a record that names an object there.
        place.s3.create_bucket().bucket(place.name).send().await?;
        place.run(&engine, 3, LARGE).await?;
        let key = place.keys().await?.pop().ok_or("no object")?;
        place.s3.delete_object().bucket(place.name).key(key).send().await?;
        place.s3.delete_bucket().bucket(place.name).send().await?;
        let Err(RunError::Idempotency(error)) = place.run(&engine, 3, 6).await else {
            return Err("it ran".into());
        };
        assert_eq!(error.name(), "ResultUnavailable");
        assert!(error.to_string().contains("create the bucket `lost-results`"), "{error}");
        assert_eq!(place.runs(), 3);
        Ok(())
    }

    #[tokio::test]
    #[ignore = "needs an emulated AWS: scripts/test deploy"]
    async fn a_crash_at_each_point_of_a_transaction_leaves_both_or_neither() -> TestResult {
        let endpoint = table("crashes").await?;
        crashes::a_crash_at_each_point_leaves_both_or_neither(&endpoint, "crashes").await
    }
}
