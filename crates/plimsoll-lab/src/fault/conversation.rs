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
/// For how long nothing must arrive on a silent way, and for how many usual round trips.
const SILENT_FOR: Duration = Duration::from_millis(200);
const SILENT_ROUNDS: u32 = 4;
/// A shorter delay shows, however long round trips take that are as short as this.
const SHORT: Duration = Duration::from_millis(10);
/// How many answers must all be late, or not come.
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

    /// Bytes that came back in a longer answer, and the time they took, where at most `limit` bytes a second may pass.
    async fn transfer(&self, limit: f64) -> Result<(f64, Duration), String>;
}

/// How a way is where nothing is broken: the quickest of some round trips, for a machine that stalls takes time for itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usual {
    round_trip: Duration,
}

impl Usual {
    /// Looks how it is, before this effect is brought about.
    ///
    /// # Errors
    /// In words, why the effect could not be told from it.
    pub(super) async fn of(way: &impl Conversation, effect: &Effect) -> Result<Self, String> {
        let mut round_trip = PROMPTLY;
        for _ in 0..ROUNDS {
            round_trip = round_trip.min(prompt(way).await?);
        }
        match effect {
            Effect::Delay { delay, .. } if round_trip > (*delay).max(SHORT) => Err(format!(
                "bytes come back in {} ms without the fault, so a delay of {} ms does not show",
                ms(round_trip),
                ms(*delay)
            )),
            Effect::Bandwidth(limit) => {
                let (said, rate) = rate(way, *limit).await?;
                match rate > allowed(*limit) {
                    true => Ok(Self { round_trip }),
                    false => Err(format!(
                        "{said} without the fault, so a limit does not show"
                    )),
                }
            }
            _ => Ok(Self { round_trip }),
        }
    }
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

/// Proves that a way on which this effect was, and which was so before it, is well again: what would prove the effect is not seen any more.
/// Looks again for a while, for machines stall.
pub(super) async fn is_well(
    way: &impl Conversation,
    effect: &Effect,
    usual: Option<Usual>,
) -> Result<String, String> {
    let took = prompt(way).await?;
    let Some(usual) = usual else {
        return Ok(format!("bytes come back in {} ms", ms(took)));
    };
    let deadline = Instant::now() + WELL_WITHIN;
    loop {
        let seen = match effect {
            Effect::Delay { delay, .. } => is_prompt(way, *delay, usual).await,
            Effect::Bandwidth(limit) => is_wide(way, *limit).await,
            _ => return Ok(format!("bytes come back in {} ms", ms(took))),
        };
        if seen.is_ok() || Instant::now() > deadline {
            return seen;
        }
        sleep(AGAIN_AFTER).await;
    }
}

async fn is_prompt(
    way: &impl Conversation,
    delay: Duration,
    usual: Usual,
) -> Result<String, String> {
    let (sum, said) = rounds(way).await?;
    match is_late_in(sum, delay, usual) {
        false => Ok(format!("bytes come back after {said} ms")),
        true => Err(format!("bytes come back after {said} ms still")),
    }
}

async fn is_wide(way: &impl Conversation, limit: u64) -> Result<String, String> {
    let (said, rate) = rate(way, limit).await?;
    match rate > allowed(limit) {
        true => Ok(said),
        false => Err(format!("{said} still")),
    }
}

/// The sum of some round trips, and each in words.
async fn rounds(way: &impl Conversation) -> Result<(Duration, String), String> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.push(way.round_trip().await?);
    }
    let said: Vec<String> = took.iter().copied().map(ms).collect();
    Ok((took.iter().sum(), said.join(", ")))
}

/// Whether the sum of some round trips shows a delay: jitter may take all of it from one of them, and not from their sum.
fn is_late_in(sum: Duration, delay: Duration, usual: Usual) -> bool {
    sum > (usual.round_trip + delay / 4) * ROUNDS
}

/// Proves that the effect is there, on a way that was so without it.
pub(super) async fn sees(
    way: &impl Conversation,
    effect: &Effect,
    usual: Usual,
) -> Result<String, String> {
    match effect {
        Effect::Delay { delay, jitter } => is_late(way, (*delay, *jitter), usual).await,
        Effect::Bandwidth(bytes) => is_limited(way, *bytes).await,
        Effect::Silence => {
            let long = SILENT_FOR.max(usual.round_trip * SILENT_ROUNDS);
            // One after the other: a machine that stalls is silent once.
            for _ in 0..ROUNDS {
                match timeout(long, way.round_trip()).await {
                    Err(_) => {}
                    Ok(Ok(_)) => return Err("bytes come back".to_owned()),
                    Ok(Err(why)) => return Err(why),
                }
            }
            Ok(format!(
                "bytes do not come back within {} ms, {ROUNDS} times",
                long.as_millis()
            ))
        }
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
    (delay, jitter): (Duration, Duration),
    usual: Usual,
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
    let most = usual.round_trip + delay + jitter + PROMPTLY;
    let is_late = is_late_in(took.iter().sum(), delay, usual);
    match is_late && took.iter().all(|time| (least..most).contains(time)) {
        true => Ok(format!("bytes come back after {said} ms")),
        false => Err(format!(
            "bytes come back after {said} ms, which is not {} ms",
            ms(delay)
        )),
    }
}

async fn is_limited(way: &impl Conversation, limit: u64) -> Result<String, String> {
    let (said, rate) = rate(way, limit).await?;
    match rate <= allowed(limit) {
        true => Ok(said),
        false => Err(format!("{said}, which is more than {} kB/s", limit / 1000)),
    }
}

/// Bytes per second that come back where at most so many may pass, in words too.
async fn rate(way: &impl Conversation, limit: u64) -> Result<(String, f64), String> {
    let (bytes, took) = way.transfer(as_f64(limit)).await?;
    let took = took.as_secs_f64();
    let said = format!("{:.1} kB came back in {took:.2} s", bytes / 1e3);
    Ok((said, bytes / took))
}

/// A rate up to which a limit is kept, as far as that can be measured.
fn allowed(limit: u64) -> f64 {
    as_f64(limit) * (1.0 + RATE_ERROR)
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn as_f64(rate: u64) -> f64 {
    rate as f64
}

fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way on which bytes come back after this time, in milliseconds, and at this rate.
    #[derive(Clone, Copy)]
    struct Steady {
        ms: u64,
        per_s: f64,
    }

    impl Conversation for Steady {
        fn request(&self) -> &[u8] {
            b"x"
        }

        async fn connect(&self) -> io::Result<TcpStream> {
            Err(io::ErrorKind::ConnectionRefused.into())
        }

        async fn round_trip(&self) -> Result<Duration, String> {
            let time = Duration::from_millis(self.ms);
            sleep(time).await;
            Ok(time)
        }

        async fn transfer(&self, limit: f64) -> Result<(f64, Duration), String> {
            Ok((limit, Duration::from_secs_f64(limit / self.per_s)))
        }
    }

    fn way(ms: u64) -> Steady {
        Steady { ms, per_s: 1e6 }
    }

    /// Whether an effect is proved on a way that is now so and was so before; `None`: it could not be told.
    async fn proved(effect: Effect, before: Steady, now: Steady) -> Option<bool> {
        let usual = Usual::of(&before, &effect).await.ok()?;
        Some(sees(&now, &effect, usual).await.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_still_there_is_not_healed() {
        let healed = async |effect: Effect, before: Steady, now: Steady| {
            let usual = Usual::of(&before, &effect).await.unwrap();
            is_well(&now, &effect, Some(usual)).await.is_ok()
        };
        let delay = Effect::Delay {
            delay: Duration::from_millis(20),
            jitter: Duration::ZERO,
        };
        assert!(healed(delay.clone(), way(1), way(2)).await);
        assert!(!healed(delay.clone(), way(1), way(21)).await);
        assert!(healed(delay.clone(), way(15), way(16)).await);
        assert!(is_well(&way(21), &delay, None).await.is_ok());
        let limit = Effect::Bandwidth(100_000);
        let narrow = Steady { ms: 1, per_s: 1e5 };
        assert!(healed(limit.clone(), way(1), way(1)).await);
        assert!(!healed(limit, way(1), narrow).await);
        assert!(!healed(Effect::Silence, way(1), way(3_600_000)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_slow_by_itself_proves_nothing() {
        let delay = |ms| Effect::Delay {
            delay: Duration::from_millis(ms),
            jitter: Duration::ZERO,
        };
        assert_eq!(proved(delay(20), way(1), way(21)).await, Some(true));
        assert_eq!(proved(delay(20), way(1), way(19)).await, Some(false));
        assert_eq!(proved(delay(20), way(20), way(20)).await, Some(false));
        assert_eq!(proved(delay(20), way(20), way(40)).await, Some(true));
        assert_eq!(proved(delay(20), way(50), way(50)).await, None);
        // Nothing of the machine's doing may look like a short one.
        assert_eq!(proved(delay(1), way(3), way(4)).await, Some(true));
        let silent = way(3_600_000);
        assert_eq!(proved(Effect::Silence, way(1), silent).await, Some(true));
        assert_eq!(proved(Effect::Silence, way(1), way(1)).await, Some(false));
        assert_eq!(
            proved(Effect::Silence, way(300), way(300)).await,
            Some(false)
        );
        let limit = Effect::Bandwidth(100_000);
        let narrow = Steady { ms: 1, per_s: 1e5 };
        assert_eq!(proved(limit.clone(), way(1), narrow).await, Some(true));
        assert_eq!(proved(limit.clone(), way(1), way(1)).await, Some(false));
        assert_eq!(proved(limit, narrow, narrow).await, None);
    }
}
