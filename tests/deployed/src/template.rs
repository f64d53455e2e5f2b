//! `template.yaml` as written: tags such as `!Ref` are kept, nothing is resolved.

use serde_yaml_ng::Value;

use crate::{Error, root};

/// The template.
#[derive(Debug)]
pub struct Template(Value);

impl Template {
    /// Reads it.
    ///
    /// # Errors
    /// When it is not there or no YAML.
    pub fn read() -> Result<Self, Error> {
        Ok(Self(serde_yaml_ng::from_str(&std::fs::read_to_string(root().join("template.yaml"))?)?))
    }

    /// What is at `path`, such as `Resources.OrdersQueue.Properties`.
    ///
    /// # Panics
    /// When nothing is there.
    pub fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.0, |value, name| {
            let below = match value {
                Value::Tagged(tagged) => tagged.value.get(name),
                _ => value.get(name),
            };
            below.unwrap_or_else(|| panic!("the template has no {path}: {name} is missing"))
        })
    }

    /// The number at `path`.
    ///
    /// # Panics
    /// When there is none.
    pub fn number(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or_else(|| panic!("{path} is no number"))
    }

    /// Each function timeout that can be chosen, with the visibility timeout that goes with it.
    ///
    /// # Panics
    /// When the mapping is of another form.
    pub fn timeouts(&self) -> Vec<(u64, u64)> {
        let mapping = self.at("Mappings.VisibilityTimeout").as_mapping().expect("a mapping");
        let seconds = |row: &Value| row["Seconds"].as_u64().expect("seconds");
        let timeout = |key: &Value| key.as_str().and_then(|key| key.parse().ok()).expect("a timeout");
        mapping.iter().map(|(key, row)| (timeout(key), seconds(row))).collect()
    }

    /// How long after its work a message can come once more, in seconds: it lay in the dead-letter
    /// queue, was sent back and lay in the queue, each as long as the template allows.
    pub fn latest_duplicate(&self) -> u64 {
        let visibility = self.timeouts().into_iter().map(|(_, visibility)| visibility).max();
        self.number("Resources.DeadLetterQueue.Properties.MessageRetentionPeriod")
            + self.number("Parameters.MessageRetention.MaxValue")
            + visibility.unwrap_or_default()
    }
}
