//! Active checks: a GET to each endpoint now and then, on a connection of its own and by the protocol that requests go out by, and what a row
//! of results means.
//!
//! Each endpoint is checked by one shard, whatever their number; the verdict holds for all ([`super::health`]).

use super::dial::Way;
use super::http2::Sessions;
use crate::config::Check;
use plimsoll_http::{Limits, TcpClient, encode};
use std::time::Duration;

/// Limits of an answer.
const ANSWER_LIMITS: Limits = Limits {
    head_bytes: 16 * 1024,
    fields: 100,
    target_bytes: 1024,
    body_bytes: 64 * 1024,
    trailer_bytes: 1024,
};

/// Judgement of an endpoint by the results so far; it is up until they say otherwise.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    down: bool,
    /// Results in a row that speak against the verdict.
    against: u32,
}

impl Verdict {
    /// Takes in a result; whether the endpoint is down now.
    pub(super) fn hear(&mut self, passed: bool, rules: &Check) -> bool {
        self.against = match passed == self.down {
            true => self.against + 1,
            false => 0,
        };
        let needed = if self.down {
            rules.up_after
        } else {
            rules.down_after
        };
        if self.against >= needed {
            self.down = !self.down;
            self.against = 0;
        }
        self.down
    }
}

/// Asks an endpoint once; whether it answered in time with a status that is no error.
pub(super) async fn passes(way: &Way, authority: &str, rules: &Check) -> bool {
    let status = tokio::time::timeout(rules.timeout, ask(way, authority, rules)).await;
    matches!(status, Ok(Some(200..400)))
}

async fn ask(way: &Way, authority: &str, rules: &Check) -> Option<u16> {
    let stream = way.dial(|| {}).await.ok()?;
    // Its connection ends with it.
    let sessions = way
        .speaks_http2(&stream)
        .then(|| Sessions::new(1, ANSWER_LIMITS, way.connector.is_some()));
    let mut connection = match &sessions {
        Some(sessions) => sessions.connect(0, stream).await.ok()?,
        None => TcpClient::from_stream(stream, ANSWER_LIMITS),
    };
    let out = connection.output.buffer();
    encode::request_line(out, "GET", &rules.path);
    encode::field(out, "Host", authority);
    encode::field(out, "User-Agent", "plimsoll-health-check");
    encode::field(out, "Connection", "close");
    encode::end_head(out);
    connection.output.flush().await.ok()?;
    connection.responses.expect(false);
    loop {
        connection.responses.next_head().await.ok()?;
        match connection.responses.head().status() {
            100..200 => {}
            status => return Some(status),
        }
    }
}

/// When a check of one endpoint begins after the last: those of several do not fall together.
pub(super) fn offset(index: usize, count: usize, every: Duration) -> Duration {
    let nth = u32::try_from(index).unwrap_or(0);
    every * nth / u32::try_from(count.max(1)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_results_changes_the_verdict() {
        let rules = Check {
            path: "/".to_owned(),
            every: Duration::from_secs(1),
            timeout: Duration::from_secs(1),
            up_after: 2,
            down_after: 3,
        };
        let mut verdict = Verdict::default();
        let heard: String = "++--+---+-+-++--"
            .chars()
            .map(|result| match verdict.hear(result == '+', &rules) {
                true => 'd',
                false => 'u',
            })
            .collect();
        assert_eq!(heard, "uuuuuuudddddduuu");
    }

    #[test]
    fn checks_are_spread_over_the_interval() {
        let second = Duration::from_secs(1);
        let offsets = [0, 1, 3].map(|index| offset(index, 4, second).as_millis());
        assert_eq!(offsets, [0, 250, 750]);
    }
}
