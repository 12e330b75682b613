//! When a foreign component counts as ready: it accepts connections, or answers a GET, before a deadline.

use super::address::Address;
use crate::error::LabError;
use crate::topology::child::Child;
use crate::topology::http_get;
use crate::topology::way::Way;
use plimsoll_experiment::{Command, Readiness};
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Between two attempts.
const AGAIN_AFTER: Duration = Duration::from_millis(20);
/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(2);
/// How long an external component may take to accept a connection.
const EXTERNAL: Duration = Duration::from_secs(5);
/// The port that the `Host` field need not name.
const HTTP_PORT: u16 = 80;

/// Waits until a command is ready. The error is a reason in words.
pub(super) async fn wait(
    child: &mut Child,
    command: &Command,
    (way, address): (&Way, &Address),
) -> Result<(), String> {
    tokio::select! {
        biased;
        exit = child.ended() => Err(exit.to_string()),
        ready = answers(&command.readiness, (way, address), command.ready_within) => ready,
    }
}

/// Waits until it answers at an address, for so long. The error is a reason in words.
pub(super) async fn answers(
    readiness: &Readiness,
    (way, address): (&Way, &Address),
    within: Duration,
) -> Result<(), String> {
    let mut last = "nothing answered".to_owned();
    let attempts = async {
        loop {
            match attempt(readiness, way, address).await {
                Ok(()) => return,
                Err(reason) => last = reason,
            }
            sleep(AGAIN_AFTER).await;
        }
    };
    match timeout(within, attempts).await {
        Ok(()) => Ok(()),
        Err(_) => Err(format!(
            "it was not ready within {} s: {last}",
            within.as_secs_f64()
        )),
    }
}

/// The `Date` of an answer to a GET. The error is a reason in words.
pub(super) async fn date(way: &Way, address: &Address, path: &str) -> Result<SystemTime, String> {
    let asked = async {
        let stream = way
            .connect(&address.host, address.port)
            .await
            .map_err(|error| error.to_string())?;
        let answer = http_get::get(stream, &address.authority(HTTP_PORT), path).await?;
        let date = answer.field("date").ok_or("its answers have no date")?;
        httpdate::parse_http_date(&date).map_err(|_| format!("its answers have the date `{date}`"))
    };
    let asked = timeout(ATTEMPT, asked).await;
    asked.unwrap_or_else(|_| Err("it does not answer".to_owned()))
}

/// Checks that an external component accepts connections.
pub(super) async fn reachable(name: &str, address: &Address) -> Result<(), LabError> {
    let unreachable = |reason: String| LabError::NotStarted {
        component: name.to_owned(),
        reason: format!("{address} is not reachable: {reason}"),
        log: None,
    };
    match timeout(
        EXTERNAL,
        TcpStream::connect((address.host.as_str(), address.port)),
    )
    .await
    {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(unreachable(error.to_string())),
        Err(_) => Err(unreachable(format!(
            "no answer within {} s",
            EXTERNAL.as_secs()
        ))),
    }
}

async fn attempt(readiness: &Readiness, way: &Way, address: &Address) -> Result<(), String> {
    let stream = match timeout(ATTEMPT, way.connect(&address.host, address.port)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(format!("{address}: {error}")),
        Err(_) => return Err(format!("{address}: no connection")),
    };
    let Readiness::Http(path) = readiness else {
        return Ok(());
    };
    match timeout(
        ATTEMPT,
        http_get::get(stream, &address.authority(HTTP_PORT), path),
    )
    .await
    {
        Ok(Ok(answer)) if answer.status() < 400 => Ok(()),
        Ok(Ok(answer)) => Err(format!("{path} answers with status {}", answer.status())),
        Ok(Err(error)) => Err(format!("{path}: {error}")),
        Err(_) => Err(format!("{path} does not answer")),
    }
}
