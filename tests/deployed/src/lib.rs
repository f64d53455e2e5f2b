//! The template as data, and the stack made from it as a thing to send orders to.

mod aws;
mod sandbox;
mod stack;
mod template;

use std::error::Error as StdError;

pub use aws::Aws;
pub use sandbox::Sandbox;
pub use stack::{Letter, Stack, order};
pub use template::Template;

/// Whatever went wrong.
pub type Error = Box<dyn StdError + Send + Sync>;

/// What a test returns.
pub type TestResult = Result<(), Error>;

/// The folder of the template.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
