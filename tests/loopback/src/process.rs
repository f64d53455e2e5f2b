use std::process::Stdio;

use crate::Error;

/// Sends a signal, such as `STOP`, `CONT` or `KILL`, to one process, through the `kill` command.
pub async fn signal(pid: u32, name: &str) -> Result<(), Error> {
    let doing = format!("kill -{name} {pid}");
    let status = tokio::process::Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await;
    match status.map_err(Error::io(doing.clone()))? {
        status if status.success() => Ok(()),
        status => Err(Error::Io { doing, source: std::io::Error::other(status.to_string()) }),
    }
}
