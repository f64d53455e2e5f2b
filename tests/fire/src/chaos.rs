use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::Seed;

/// A proxy of bytes that cuts, delays and swallows by chance, and can be down altogether.
///
/// Each piece that a client sends (a request, or half of one) draws its fate.
#[derive(Debug)]
pub struct Chaos {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    upstream: String,
    down: watch::Sender<Down>,
    chance: Mutex<Chance>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Down {
    down: bool,
    /// How often all connections were ended.
    ended: u64,
}

#[derive(Debug)]
struct Chance {
    seed: Seed,
    percent: u64,
    swallow_all: bool,
    tally: Tally,
}

/// How often what was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Connections that clients made.
    pub connections: u64,
    /// Passed on as it was.
    pub passed: u64,
    /// Passed on later.
    pub delayed: u64,
    /// Cut before all of the request had been passed on.
    pub requests_cut: u64,
    /// Passed on whole, and the connection closed in place of the reply.
    pub replies_lost: u64,
    /// Passed on whole, and the connection closed within the reply.
    pub replies_cut: u64,
    /// Neither passed on nor answered.
    pub swallowed: u64,
    /// Connections refused or ended while down.
    pub refused: u64,
}

#[derive(Clone, Copy)]
enum Fate {
    Pass,
    Delay,
    CutRequest,
    LoseReply,
    CutReply,
    Swallow,
}

impl Chaos {
    /// Starts one, calm, in front of `http://HOST:PORT`.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn start(upstream: &str, seed: Seed) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream: upstream.trim_start_matches("http://").trim_end_matches('/').to_owned(),
            down: watch::Sender::new(Down::default()),
            chance: Mutex::new(Chance { seed, percent: 0, swallow_all: false, tally: Tally::default() }),
        });
        let accepting = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    Ok((client, _)) = listener.accept() => {
                        accepting.chance().tally.connections += 1;
                        connections.spawn(Arc::clone(&accepting).connection(client));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { address, shared, task: task.abort_handle() })
    }

    /// `http://127.0.0.1:PORT`
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Breaks this many of a hundred pieces from now on.
    pub fn break_percent(&self, percent: u64) {
        self.shared.chance().percent = percent;
    }

    /// Ends every connection and refuses new ones, or takes them again.
    pub fn down(&self, down: bool) {
        self.shared.down.send_modify(|state| state.down = down);
    }

    /// Ends every connection, and takes new ones.
    pub fn end_connections(&self) {
        self.shared.down.send_modify(|state| state.ended += 1);
    }

    /// Swallows everything from now on, or no longer.
    pub fn swallow_all(&self, swallow: bool) {
        self.shared.chance().swallow_all = swallow;
    }

    /// What it did so far.
    pub fn tally(&self) -> Tally {
        self.shared.chance().tally
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn chance(&self) -> MutexGuard<'_, Chance> {
        self.chance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fate of the next piece, and two random numbers for its details.
    fn draw(&self) -> (Fate, u64, u64) {
        let mut chance = self.chance();
        let Chance { seed, percent, swallow_all, tally } = &mut *chance;
        if *swallow_all {
            tally.swallowed += 1;
            return (Fate::Swallow, 0, 0);
        }
        let (fate, count) = match seed.percent(*percent).then(|| seed.below(10)) {
            None => (Fate::Pass, &mut tally.passed),
            Some(0..=1) => (Fate::Delay, &mut tally.delayed),
            Some(2..=3) => (Fate::CutRequest, &mut tally.requests_cut),
            Some(4..=6) => (Fate::LoseReply, &mut tally.replies_lost),
            Some(7..=8) => (Fate::CutReply, &mut tally.replies_cut),
            Some(_) => (Fate::Swallow, &mut tally.swallowed),
        };
        *count += 1;
        (fate, seed.below(u64::MAX), seed.below(u64::MAX))
    }

    async fn connection(self: Arc<Self>, client: TcpStream) {
        let mut down = self.down.subscribe();
        let ended = down.borrow().ended;
        tokio::select! {
            biased;
            _ = down.wait_for(|state| state.down || state.ended > ended) => self.chance().tally.refused += 1,
            // An error is a connection that ended, which is what this proxy is for.
            _ = self.carry(client) => {}
        }
    }

    async fn carry(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(&self.upstream).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (mut up, mut down) = ([0; 16 * 1024], [0; 16 * 1024]);
        // How much of what the server sends is still passed on.
        let mut allowed = None;
        loop {
            tokio::select! {
                length = client.read(&mut up) => {
                    let piece = &up[..length?];
                    if piece.is_empty() {
                        return Ok(());
                    }
                    let (fate, first, second) = self.draw();
                    match fate {
                        Fate::Pass => {}
                        Fate::Delay => tokio::time::sleep(std::time::Duration::from_millis(first % 80)).await,
                        Fate::CutRequest => return server.write_all(&piece[..part(first, piece.len())]).await,
                        Fate::LoseReply => allowed = Some(0),
                        Fate::CutReply => allowed = Some(usize::try_from(second % 300).unwrap_or_default()),
                        Fate::Swallow => {
                            // Until the client has had enough.
                            while client.read(&mut up).await? > 0 {}
                            return Ok(());
                        }
                    }
                    server.write_all(piece).await?;
                }
                length = server.read(&mut down) => {
                    let piece = &down[..length?];
                    if piece.is_empty() {
                        return Ok(());
                    }
                    if let Some(allowed) = allowed {
                        return client.write_all(&piece[..allowed.min(piece.len())]).await;
                    }
                    client.write_all(piece).await?;
                }
            }
        }
    }
}

/// A random length below `length`.
fn part(random: u64, length: usize) -> usize {
    usize::try_from(random).unwrap_or_default().checked_rem(length).unwrap_or_default()
}
