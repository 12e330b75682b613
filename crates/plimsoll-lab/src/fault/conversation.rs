//! Proofs by conversation: what a client sees of a way to a server that is slow, broken or silent.

use plimsoll_experiment::Effect;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How long an answer may take where nothing is broken, beyond what was asked for.
const PROMPTLY: Duration = Duration::from_millis(500);
/// How long a way may take to be well again.
const WELL_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(20);
/// For how long nothing must arrive on a silent way.
const SILENT_FOR: Duration = Duration::from_millis(200);
/// How many answers must all be late.
const ROUNDS: u32 = 3;
/// A rate that is measured in so short a time is off by less than this.
const RATE_ERROR: f64 = 0.25;

/// A client with a server that answers it.
pub(super) trait Conversation {
    /// Bytes that the server answers.
    fn request(&self) -> &[u8];

    /// A connection like any client's.
    async fn connect(&self) -> io::Result<TcpStream>;

    /// Time from sending a little until something has come back, on a connection of its own.
    async fn round_trip(&self) -> Result<Duration, String>;

    /// Bytes that came back in a longer answer, and the time they took, where at most `limit` bytes a second pass.
    async fn transfer(&self, limit: f64) -> Result<(f64, Duration), String>;
}

/// The quickest of some round trips where nothing is broken: a machine that stalls takes time for itself.
pub(super) async fn quickest(way: &impl Conversation) -> Result<Duration, String> {
    let mut quickest = PROMPTLY;
    for _ in 0..ROUNDS {
        quickest = quickest.min(prompt(way).await?);
    }
    Ok(quickest)
}

/// A round trip where nothing is broken; looks again for a while, for machines stall.
pub(super) async fn prompt(way: &impl Conversation) -> Result<Duration, String> {
    let deadline = Instant::now() + WELL_WITHIN;
    loop {
        let found = match timeout(PROMPTLY, way.round_trip()).await {
            Ok(Ok(took)) => return Ok(took),
            Ok(Err(why)) => why,
            Err(_) => format!("bytes take longer than {} ms", PROMPTLY.as_millis()),
        };
        if Instant::now() > deadline {
            return Err(found);
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// Proves that a way is well again.
pub(super) async fn is_well(way: &impl Conversation) -> Result<String, String> {
    let took = prompt(way).await?;
    Ok(format!("bytes come back in {} ms", ms(took)))
}

/// Proves that the effect is there, while a round trip took `before` without it.
pub(super) async fn sees(
    way: &impl Conversation,
    effect: &Effect,
    before: Duration,
) -> Result<String, String> {
    match effect {
        Effect::Delay { delay, jitter } => is_late(way, *delay, *jitter, before).await,
        Effect::Bandwidth(bytes) => is_limited(way, *bytes).await,
        Effect::Silence => match timeout(SILENT_FOR, way.round_trip()).await {
            Err(_) => Ok(format!(
                "bytes do not come back within {} ms",
                SILENT_FOR.as_millis()
            )),
            Ok(Ok(_)) => Err("bytes come back".to_owned()),
            Ok(Err(why)) => Err(why),
        },
        Effect::Refuse => match way.connect().await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok("connections are refused".to_owned())
            }
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("connections are accepted".to_owned()),
        },
        Effect::Reset => {
            let said = |error: io::Error| error.to_string();
            let mut client = way.connect().await.map_err(said)?;
            client.write_all(way.request()).await.map_err(said)?;
            match timeout(PROMPTLY, client.read(&mut [0; 1])).await {
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => {
                    Ok("connections are reset".to_owned())
                }
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(_)) | Err(_) => Err("connections are not reset".to_owned()),
            }
        }
    }
}

async fn is_late(
    way: &impl Conversation,
    delay: Duration,
    jitter: Duration,
    before: Duration,
) -> Result<String, String> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.push(way.round_trip().await?);
    }
    let said: Vec<String> = took.iter().copied().map(ms).collect();
    let said = said.join(", ");
    // The proxy draws in whole milliseconds.
    let least =
        (delay - jitter).saturating_sub(Duration::from_millis(u64::from(!jitter.is_zero())));
    // Jitter may take all of a delay from one of them, and not from their sum.
    let sum: Duration = took.iter().sum();
    let is_late = jitter.is_zero() || sum > (before + delay / 4) * ROUNDS;
    match is_late
        && took
            .iter()
            .all(|time| *time >= least && *time < delay + jitter + PROMPTLY)
    {
        true => Ok(format!("bytes come back after {said} ms")),
        false => Err(format!(
            "bytes come back after {said} ms, which is not {} ms",
            ms(delay)
        )),
    }
}

async fn is_limited(way: &impl Conversation, limit: u64) -> Result<String, String> {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let limit = limit as f64;
    let (bytes, took) = way.transfer(limit).await?;
    let rate = bytes / took.as_secs_f64();
    let said = format!(
        "{:.0} kB came back in {:.2} s",
        bytes / 1e3,
        took.as_secs_f64()
    );
    match rate <= limit * (1.0 + RATE_ERROR) {
        true => Ok(said),
        false => Err(format!(
            "{said}, which is more than {:.0} kB/s",
            limit / 1e3
        )),
    }
}

fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}
