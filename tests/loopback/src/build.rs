//! Building the binary under test through cargo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::Error;

/// Builds the binary `orders`; see [`binary`].
pub async fn orders_binary(packages: &[&str]) -> Result<PathBuf, Error> {
    binary("orders", packages).await
}

/// Builds a binary in the profile and target directory of the running executable, once per process.
///
/// `packages` is the selection that the running executable was built with (`["demo", "orders"]`, or nothing
/// for the whole workspace). Cargo unifies features over the selection: another one would build the heavy
/// crates a second time. Cargo's progress goes to standard error.
pub async fn binary(name: &str, packages: &[&str]) -> Result<PathBuf, Error> {
    build("bin", name, packages).await
}

/// Builds an example in the same way. The selection then includes the packages' dev-dependencies.
pub async fn example(name: &str, packages: &[&str]) -> Result<PathBuf, Error> {
    build("example", name, packages).await
}

/// Builds a binary of `package` that needs the package's feature of the same name, with these arguments for
/// the compiler (`-C panic=abort`). They are not those of its dependencies, which are not built again.
///
/// # Errors
/// [`Error::Build`] when cargo does not build it.
pub async fn binary_with_rustc_args(package: &str, name: &str, args: &[&str]) -> Result<PathBuf, Error> {
    let mut selection = vec!["--package", package, "--features", name];
    selection.push("--");
    selection.extend(args);
    once("rustc", "bin", name, &selection).await
}

async fn build(kind: &str, name: &str, packages: &[&str]) -> Result<PathBuf, Error> {
    let mut selection = vec![];
    if packages.is_empty() {
        selection.push("--workspace");
    }
    for package in packages {
        selection.extend(["--package", package]);
    }
    once("build", kind, name, &selection).await
}

/// Once per process and name.
async fn once(subcommand: &str, kind: &str, name: &str, selection: &[&str]) -> Result<PathBuf, Error> {
    static BUILT: Mutex<BTreeMap<(String, String), PathBuf>> = Mutex::const_new(BTreeMap::new());
    let mut built = BUILT.lock().await;
    let key = (kind.to_owned(), name.to_owned());
    if let Some(path) = built.get(&key) {
        return Ok(path.clone());
    }
    let path = cargo(subcommand, kind, name, selection).await?;
    built.insert(key, path.clone());
    Ok(path)
}

async fn cargo(subcommand: &str, kind: &str, name: &str, selection: &[&str]) -> Result<PathBuf, Error> {
    let running = std::env::current_exe().map_err(Error::io("the path of this executable"))?;
    let layout = Layout::of(&running)?;
    // This package is `tests/loopback`.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args([subcommand, "--message-format=json-render-diagnostics"]);
    command.args([format!("--{kind}"), name.to_owned()]).args(["--profile", &layout.profile]);
    command.arg("--target-dir").arg(&layout.target_dir);
    if let Some(triple) = &layout.triple {
        command.args(["--target", triple]);
    }
    command.args(selection);
    // Set by `cargo run` and `cargo test` for this executable, not for what it builds.
    for (variable, _) in std::env::vars_os() {
        let text = variable.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&variable);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(Error::io("running cargo"))?;
    let output = child.wait_with_output().await.map_err(Error::io("running cargo"))?;
    if !output.status.success() {
        return Err(Error::Build(format!("{kind} {name}: {}", output.status)));
    }
    executable(&String::from_utf8_lossy(&output.stdout), kind, name)
        .ok_or_else(|| Error::Build(format!("no executable for {kind} {name} among cargo's messages")))
}

/// Finds the executable among cargo's JSON messages.
fn executable(messages: &str, kind: &str, name: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let kinds = target["kind"].as_array()?;
        let wanted = target["name"] == name && kinds.iter().any(|found| found == kind);
        message["executable"].as_str().filter(|_| wanted).map(PathBuf::from)
    })
}

/// Where cargo put the running executable.
#[derive(Debug, PartialEq)]
struct Layout {
    target_dir: PathBuf,
    triple: Option<String>,
    profile: String,
}

impl Layout {
    /// From `TARGET_DIR[/TRIPLE]/PROFILE[/deps or /examples]/NAME`.
    fn of(executable: &Path) -> Result<Layout, Error> {
        let unknown = || Error::Build(format!("{} is not in a target directory", executable.display()));
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut profile_dir = executable.parent().ok_or_else(unknown)?;
        if matches!(name(profile_dir).as_deref(), Some("deps" | "examples")) {
            profile_dir = profile_dir.parent().ok_or_else(unknown)?;
        }
        let profile = match name(profile_dir).ok_or_else(unknown)? {
            // The one profile whose directory has another name.
            debug if debug == "debug" => "dev".to_owned(),
            other => other,
        };
        let parent = profile_dir.parent().ok_or_else(unknown)?;
        // Cargo writes these into the target directory, not into the directory of a triple in it.
        let marked =
            |dir: &Path| [".rustc_info.json", "CACHEDIR.TAG"].iter().any(|file| dir.join(file).exists());
        Ok(match parent.parent().filter(|above| marked(above) && !marked(parent)) {
            Some(above) => Layout { target_dir: above.to_owned(), triple: name(parent), profile },
            None => Layout { target_dir: parent.to_owned(), triple: None, profile },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_read_from_the_path() -> Result<(), Box<dyn std::error::Error>> {
        let target_dir = std::env::temp_dir().join(format!("layout-{}", std::process::id()));
        std::fs::create_dir_all(&target_dir)?;
        std::fs::write(target_dir.join(".rustc_info.json"), "")?;
        let layout = |path: &str| Layout::of(&target_dir.join(path));
        let expected = |triple: Option<&str>, profile: &str| Layout {
            target_dir: target_dir.clone(),
            triple: triple.map(str::to_owned),
            profile: profile.to_owned(),
        };
        assert_eq!(layout("debug/deps/demo-1")?, expected(None, "dev"));
        assert_eq!(layout("release/demo")?, expected(None, "release"));
        assert_eq!(layout("x86-musl/small/deps/demo-1")?, expected(Some("x86-musl"), "small"));
        std::fs::remove_dir_all(&target_dir)?;
        Ok(())
    }

    #[test]
    fn the_executable_is_found_among_the_messages() {
        let message = |kind: &str| {
            let target = serde_json::json!({ "kind": [kind], "name": "orders" });
            serde_json::json!({ "target": target, "executable": format!("/{kind}") }).to_string()
        };
        let messages = format!("{}\n{}\nnot JSON", message("lib"), message("bin"));
        assert_eq!(executable(&messages, "bin", "orders"), Some(PathBuf::from("/bin")));
        assert_eq!(executable(&messages, "example", "orders"), None);
    }
}
