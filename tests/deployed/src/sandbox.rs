//! The process in which a function runs.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use crate::Error;

/// One process of a function, found by a connection that it holds.
#[derive(Debug)]
pub struct Sandbox {
    pid: u32,
}

impl Sandbox {
    /// The process whose end of a TCP connection is `address`.
    ///
    /// # Errors
    /// When there is none.
    pub fn holding(address: SocketAddr) -> Result<Self, Error> {
        let inode = socket(address)?.ok_or_else(|| format!("nobody is connected from {address}"))?;
        let wanted = format!("socket:[{inode}]");
        for process in std::fs::read_dir("/proc")?.flatten() {
            let Ok(pid) = process.file_name().to_string_lossy().parse() else { continue };
            let Ok(files) = std::fs::read_dir(process.path().join("fd")) else { continue };
            let holds = |file: std::fs::DirEntry| {
                std::fs::read_link(file.path()).is_ok_and(|target| target == Path::new(&wanted))
            };
            if files.flatten().any(holds) {
                return Ok(Self { pid });
            }
        }
        Err(format!("no process holds the connection from {address}").into())
    }

    /// Stops it in its tracks: from now on it neither works nor notices that its time is over.
    ///
    /// # Errors
    /// When it has ended.
    pub async fn freeze(&self) -> Result<(), Error> {
        Ok(loopback::signal(self.pid, "STOP").await?)
    }

    /// Whether it has not been killed.
    pub fn exists(&self) -> bool {
        Path::new("/proc").join(self.pid.to_string()).exists()
    }
}

/// The socket's inode, from the kernel's table.
fn socket(address: SocketAddr) -> Result<Option<String>, Error> {
    let IpAddr::V4(ip) = address.ip() else { return Err("an IPv4 address was expected".into()) };
    // In the byte order of the machine.
    let wanted = format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port());
    let table = std::fs::read_to_string("/proc/net/tcp")?;
    let row = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        (fields.get(1) == Some(&wanted.as_str())).then(|| fields.get(9).map(ToString::to_string)).flatten()
    };
    Ok(table.lines().find_map(row))
}
