//! Why an exchange failed, and what follows for its accounts and its client.

use super::party::Party;
use super::progress::{Progress, Upload};
use super::relay::RelayError;
use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use crate::metrics::UpstreamMetrics;
use crate::shard::Shard;
use crate::upstream::dial::DialError;
use plimsoll_base::counters::Counter;
use plimsoll_base::reason::Reason;
use plimsoll_http::{ConnectError, ReadError};
use plimsoll_records::Ending;
use std::io;

/// Why an exchange failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// No endpoint may take another exchange.
    Unavailable,
    Connect(DialError),
    /// The upstream ended TLS after the handshake, mostly because of the certificate that it was shown.
    Objected(Reason),
    Relay(RelayError),
    /// The request's body did not arrive whole.
    ClientBody(ReadError),
    /// The client left while it waited.
    ClientLeft,
    /// A deadline passed.
    Elapsed,
}

impl Failure {
    /// Whether the upstream closed the connection, or it broke.
    pub(super) fn is_close(&self) -> bool {
        matches!(
            self,
            Self::Relay(RelayError::Upstream(ReadError::Closed | ReadError::Io(_)))
        )
    }

    /// Ending of an exchange that is not answered for it.
    pub(super) fn ending(&self, progress: &Progress) -> Ending {
        match self {
            Self::ClientBody(_) | Self::ClientLeft | Self::Relay(RelayError::Client) => {
                Ending::ClientGone
            }
            Self::Elapsed if is_client_late(progress) => Ending::ClientSlow,
            Self::Elapsed => Ending::UpstreamSlow,
            Self::Relay(RelayError::Malformed | RelayError::Upstream(_))
            | Self::Connect(_)
            | Self::Objected(_)
            | Self::Unavailable => Ending::UpstreamBroke,
        }
    }

    /// Whether it speaks against the endpoint that was asked.
    pub(super) fn is_upstreams(&self, progress: &Progress) -> bool {
        match self {
            Self::Relay(RelayError::Malformed | RelayError::Upstream(_)) => true,
            Self::Objected(_) => true,
            Self::Elapsed => !is_client_late(progress),
            Self::Unavailable | Self::Connect(_) | Self::ClientBody(_) => false,
            Self::ClientLeft | Self::Relay(RelayError::Client) => false,
        }
    }

    /// Counts it where it is not counted already.
    pub(super) fn count(&self, shard: &Shard, metrics: &UpstreamMetrics, progress: &Progress) {
        let counter = match self {
            Self::Unavailable => &metrics.unavailable,
            Self::Relay(RelayError::Malformed | RelayError::Upstream(ReadError::Protocol(_))) => {
                &metrics.malformed
            }
            Self::Relay(RelayError::Upstream(_)) => &metrics.closed,
            Self::Elapsed if is_client_late(progress) => {
                shard.counters.add(Counter::TimedOut, 1);
                match progress.answered.get() {
                    Some(_) => &shard.metrics.ended.unread,
                    None => &shard.metrics.ended.slow_body,
                }
            }
            Self::Elapsed => &metrics.timed_out,
            // Counted when it happened, for each endpoint.
            Self::Connect(_) => return,
            Self::Objected(reason) => return metrics.tls_failed(*reason),
            Self::ClientBody(_) | Self::ClientLeft | Self::Relay(RelayError::Client) => return,
        };
        counter.add(1);
    }

    /// Answer to a client that none has begun to yet; `None`: its connection is broken instead.
    pub(super) fn answer(&self, progress: &Progress) -> Option<Answer> {
        match self {
            _ if progress.answered.get().is_some() => None,
            Self::Unavailable => {
                Some(Answer::new(503, "no endpoint is available").because(ErrorKind::NoEndpoint))
            }
            Self::Connect(DialError::Connect(error)) => Some(unconnected(error)),
            Self::Connect(DialError::NoAddress) => Some(
                Answer::new(502, "the upstream's name has no address")
                    .because(ErrorKind::UpstreamUnknown),
            ),
            Self::Connect(DialError::Tls(reason)) | Self::Objected(reason) => {
                let why = format!("TLS to the upstream failed: {}", reason.words());
                Some(Answer::new(502, why).because(ErrorKind::UpstreamFailed(None)))
            }
            Self::Relay(RelayError::Malformed | RelayError::Upstream(ReadError::Protocol(_))) => {
                Some(
                    Answer::new(502, "the upstream's response is malformed")
                        .because(ErrorKind::UpstreamFailed(None)),
                )
            }
            Self::Relay(RelayError::Upstream(error)) => {
                let told = Answer::new(502, "the upstream closed the connection");
                Some(told.because(ErrorKind::UpstreamFailed(kind_of(error))))
            }
            Self::Elapsed if is_client_late(progress) => {
                Some(Answer::new(408, "the request's body took too long"))
            }
            Self::Elapsed => Some(
                Answer::new(504, "the upstream took too long").because(ErrorKind::UpstreamTimeout),
            ),
            Self::ClientBody(ReadError::Protocol(error)) => {
                Some(Answer::new(error.status(), error.to_string()))
            }
            Self::ClientBody(_) | Self::ClientLeft | Self::Relay(RelayError::Client) => None,
        }
    }
}

/// Answer to a client when no connection could be made.
fn unconnected(error: &ConnectError) -> Answer {
    match error {
        ConnectError::Exhausted(_) => Answer::new(503, "the gateway has no connection left"),
        ConnectError::TimedOut => Answer::new(504, "connecting to the upstream timed out")
            .because(ErrorKind::UpstreamTimeout),
        ConnectError::Refused(error) => Answer::new(502, "the upstream refused the connection")
            .because(ErrorKind::UpstreamFailed(Some(error.kind()))),
    }
}

/// Why reading failed, as the system says.
fn kind_of(error: &ReadError) -> Option<io::ErrorKind> {
    match error {
        ReadError::Io(error) => Some(error.kind()),
        _ => None,
    }
}

/// Whether a deadline that passed was waiting for the client: to take its answer or, before there is one, to send its body.
fn is_client_late(progress: &Progress) -> bool {
    let holding_up = match progress.answered.get() {
        Some(_) => &progress.answer_waits_for,
        None if progress.upload.get() == Upload::UnderWay => &progress.upload_waits_for,
        None => return false,
    };
    holding_up.get() == Some(Party::Client)
}
