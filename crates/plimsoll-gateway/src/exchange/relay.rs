//! Relays an upstream's response: interim heads, the final head with framing of the client's connection, the body.

use super::admission::Plan;
use super::party::Party;
use super::progress::{Progress, Upload};
use super::pump::{Coding, Flow, PumpError, flush, is_at_hand, pass, peek, pump};
use crate::answering::overrides::media::Media;
use crate::answering::overrides::{LOOKED_AT, Overrides, Replaced, Verdict};
use crate::clients::shard_map::ShardMap;
use crate::keys::allowance::Left;
use crate::messages::edits::FieldEdits;
use crate::messages::expiry::{self, Expiry};
use crate::messages::fields::{Kind, kind};
use crate::routing::outgoing::upgrade;
use crate::routing::outgoing::withheld::Withheld;
use plimsoll_base::counters::Counter;
use plimsoll_http::clock;
use plimsoll_http::{
    Bare, ConnectionOptions, Framing, Output, ReadError, ResponseHead, ResponseReader, Row, encode,
};
use std::cell::Cell;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Why a response was not relayed to its end.
#[derive(Debug)]
pub(super) enum RelayError {
    /// The upstream failed or ended too early.
    Upstream(ReadError),
    /// The upstream switched to a protocol that nobody offered, or sent more of something than is taken.
    Malformed,
    /// The client takes no more.
    Client,
}

/// Outcome of relaying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relayed {
    /// A whole response.
    Whole {
        /// Whether the client's connection may be kept, as the client was told.
        keep: bool,
        /// Whether the upstream's was read to its end: its connection may be kept.
        read: bool,
    },
    /// The head of a 101: from here on both ends speak another protocol.
    Switch,
}

/// Terms of the client's connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) plan: &'a Plan,
    /// Words in the place of errors.
    pub(super) overrides: &'a Overrides,
    pub(super) expiry: Option<&'a Expiry>,
    /// In which form.
    pub(super) media: Media,
    /// The protocols that the request offers to switch to, as a list.
    pub(super) offered: &'a str,
    /// Whether the head says how long it took.
    pub(super) timed: bool,
    /// Asked when the answer's head is written, which may be long after the request came.
    pub(super) draining: &'a Cell<bool>,
    pub(super) counters: &'a Row,
    /// The shard map, if answers say what it made of their requests.
    pub(super) shown_map: Option<&'a ShardMap>,
}

/// Interim responses that one exchange may bring.
const INTERIM_RESPONSES: usize = 16;

/// Relays the next response.
pub(super) async fn relay<R: AsyncRead + Bare + Unpin, W: AsyncWrite + Bare + Unpin>(
    responses: &mut ResponseReader<R>,
    client: &mut Output<W>,
    terms: Terms<'_>,
    progress: &Progress,
) -> Result<Relayed, RelayError> {
    final_head(responses, client, terms, progress).await?;
    let now = Instant::now();
    progress.moved(now);
    let head = responses.head();
    progress.head.set(Some((head.status(), now)));
    progress.settle(now);
    if ConnectionOptions::of(head.fields()).are_too_many() {
        return Err(RelayError::Malformed);
    }
    if head.status() == 101 {
        switch(head, client.buffer(), terms, progress)?;
        client.flush().await.map_err(|_| RelayError::Client)?;
        return Ok(Relayed::Switch);
    }
    let shape = Shape::of(head, terms, progress);
    let edits = terms.plan.effects.response.as_deref();
    let mut flow = Flow {
        coding: match shape.body {
            BodyShape::Chunked => Coding::Chunked,
            BodyShape::None | BodyShape::Length(_) | BodyShape::UntilClose => Coding::Identity,
        },
        source: Party::Upstream,
        bytes: &progress.bytes_out,
        copy: None,
        withheld: Withheld {
            edits,
            ..Withheld::default()
        },
        patience: Cell::new(progress.patience()),
        progress,
    };
    let (looked_at, replaced) = judge(responses, &flow, terms).await.map_err(of_pump)?;
    let mut said = Said::by_upstream(responses.head(), edits, shape);
    if let Some(replaced) = &replaced {
        progress.outcome.set(Some(responses.head().status()));
        said.replace(replaced);
        flow.withheld.edits = said.edits;
        if let Some(body) = &replaced.body {
            flow.coding = Coding::Identity;
            return instead(responses, client, (said, body), terms, &flow).await;
        }
    }
    begin(client.buffer(), responses.head(), said, terms, progress);
    pass(client, &flow, &looked_at);
    pump(responses, client, &flow).await.map_err(of_pump)?;
    Ok(Relayed::Whole {
        keep: !shape.close,
        read: true,
    })
}

fn of_pump(error: PumpError) -> RelayError {
    match error {
        PumpError::Source(error) => RelayError::Upstream(error),
        PumpError::Sink => RelayError::Client,
    }
}

/// Writes a final head, which counts as served from here on.
fn begin(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    said: Said<'_>,
    terms: Terms<'_>,
    progress: &Progress,
) {
    write_head(out, head, said, terms);
    if terms.timed {
        progress.phases(Instant::now()).write_field(out);
    }
    encode::end_head(out);
    terms.counters.add(Counter::Served, 1);
    progress.answered.set(Some(said.status));
    if let Some(detail) = progress.detail.get() {
        detail.response(head, said.status);
    }
}

/// Replacement of the response, if there is one; and the part of its body that was read for that.
async fn judge<R: AsyncRead + Bare + Unpin>(
    responses: &mut ResponseReader<R>,
    flow: &Flow<'_>,
    terms: Terms<'_>,
) -> Result<(Vec<u8>, Option<Replaced>), PumpError> {
    let status = responses.head().status();
    let mut looked_at = Vec::new();
    let mut verdict = terms.overrides.of_upstream(status, None);
    if let Verdict::Unread = verdict {
        looked_at = peek(responses, flow, LOOKED_AT).await?;
        let beginning = &looked_at[..looked_at.len().min(LOOKED_AT)];
        verdict = terms.overrides.of_upstream(status, Some(beginning));
    }
    let edits = terms.plan.effects.response.as_deref();
    let replaced = match verdict {
        Verdict::Instead(rule) => Some(rule.replace(status, terms.media, edits)),
        Verdict::Unchanged | Verdict::Unread => None,
    };
    Ok((looked_at, replaced))
}

/// Sends another body than the upstream's. Of that no more is read than has arrived.
async fn instead<R: AsyncRead + Bare + Unpin, W: AsyncWrite + Bare + Unpin>(
    responses: &mut ResponseReader<R>,
    client: &mut Output<W>,
    (said, body): (Said<'_>, &str),
    terms: Terms<'_>,
    flow: &Flow<'_>,
) -> Result<Relayed, RelayError> {
    begin(
        client.buffer(),
        responses.head(),
        said,
        terms,
        flow.progress,
    );
    if !terms.plan.to_head {
        pass(client, flow, body.as_bytes());
    }
    flush(client, flow).await.map_err(of_pump)?;
    Ok(Relayed::Whole {
        keep: !said.shape.close,
        read: is_at_hand(responses).await,
    })
}

/// Writes the head of a 101, if it answers what the request offered and the request was sent whole.
fn switch(
    head: &ResponseHead,
    out: &mut Vec<u8>,
    terms: Terms<'_>,
    progress: &Progress,
) -> Result<(), RelayError> {
    let sent = matches!(progress.upload.get(), Upload::Complete(_));
    let protocol = upgrade::chosen(terms.offered, head).filter(|_| sent);
    let protocol = protocol.ok_or(RelayError::Malformed)?;
    encode::status_line(out, 101, Some(head.reason()));
    let edits = terms.plan.effects.response.as_deref();
    write_passing(out, head, BodyShape::None, (terms, edits));
    upgrade::write(out, protocol);
    encode::end_head(out);
    terms.counters.add(Counter::Served, 1);
    progress.answered.set(Some(101));
    Ok(())
}

/// Reads heads until the final one, or a 101; relays interim ones to clients that know them.
async fn final_head<R: AsyncRead + Bare + Unpin, W: AsyncWrite + Bare + Unpin>(
    responses: &mut ResponseReader<R>,
    client: &mut Output<W>,
    terms: Terms<'_>,
    progress: &Progress,
) -> Result<(), RelayError> {
    for _ in 0..=INTERIM_RESPONSES {
        responses.next_head().await.map_err(RelayError::Upstream)?;
        let head = responses.head();
        match head.status() {
            101 => return Ok(()),
            100..200 if terms.plan.http10 => {}
            100..200 => {
                let out = client.buffer();
                encode::status_line(out, head.status(), None);
                write_passing(out, head, BodyShape::None, (terms, None));
                encode::end_head(out);
                let taken = client.flush().await;
                if taken.is_err() && !terms.plan.is_carried_through() {
                    return Err(RelayError::Client);
                }
                progress.moved(Instant::now());
            }
            _ => return Ok(()),
        }
    }
    Err(RelayError::Malformed)
}

/// How the response is framed towards the client.
#[derive(Debug, Clone, Copy)]
struct Shape {
    body: BodyShape,
    close: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyShape {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

impl Shape {
    fn of(head: &ResponseHead, terms: Terms<'_>, progress: &Progress) -> Self {
        let body = match head.framing() {
            Framing::None => BodyShape::None,
            Framing::Length(bytes) => BodyShape::Length(bytes),
            Framing::Chunked | Framing::UntilClose if terms.plan.http10 => BodyShape::UntilClose,
            Framing::Chunked | Framing::UntilClose => BodyShape::Chunked,
        };
        // An answer before the end of the request is mostly a refusal: the rest of the body will not be wanted.
        let early = !matches!(progress.upload.get(), Upload::Complete(_))
            && (head.status() >= 300 || !head.keep_alive());
        Self {
            body,
            close: !terms.plan.keep_alive
                || terms.draining.get()
                || early
                || body == BodyShape::UntilClose,
        }
    }
}

/// Fields of a final head for the client.
#[derive(Debug, Clone, Copy)]
struct Said<'a> {
    status: u16,
    /// Whether the status is the upstream's, and so the words that go with it.
    is_upstreams: bool,
    edits: Option<&'a FieldEdits>,
    shape: Shape,
}

impl<'a> Said<'a> {
    fn by_upstream(head: &ResponseHead, edits: Option<&'a FieldEdits>, shape: Shape) -> Self {
        Self {
            status: head.status(),
            is_upstreams: true,
            edits,
            shape,
        }
    }

    fn replace(&mut self, replaced: &'a Replaced) {
        self.is_upstreams = self.status == replaced.status;
        self.status = replaced.status;
        self.edits = Some(&replaced.edits);
        if let Some(body) = &replaced.body {
            self.shape.body = BodyShape::Length(body.len() as u64);
        }
    }
}

/// Writes a final head but for its end.
fn write_head(out: &mut Vec<u8>, head: &ResponseHead, said: Said<'_>, terms: Terms<'_>) {
    let plan = terms.plan;
    let Said { edits, shape, .. } = said;
    let reason = said.is_upstreams.then(|| head.reason());
    encode::status_line(out, said.status, reason);
    write_passing(out, head, shape.body, (terms, edits));
    if let Some(edits) = edits {
        edits.write(out);
    }
    if let Some(expiry) = terms.expiry
        && let Some(date) = expiry.shown(clock::since_epoch().as_secs())
    {
        encode::field(out, expiry::FIELD, date);
    }
    if let Some(left) = plan.caller.left {
        write_quota(out, left);
    }
    if let (Some(shard), Some(map)) = (plan.shard, terms.shown_map) {
        encode::field(out, "X-Shard", &map.shards[shard].name);
        encode::field(out, "X-Shard-Map-Version", map.version.to_string());
    }
    match shape.body {
        BodyShape::Length(bytes) => encode::content_length(out, bytes),
        BodyShape::Chunked => encode::transfer_chunked(out),
        BodyShape::UntilClose => {}
        BodyShape::None => {
            // To HEAD and in 304 the length is that of the body which is not sent.
            let length = head.fields().get("content-length");
            if let (Some(length), false) = (length, head.status() == 204) {
                encode::field(out, "Content-Length", length);
            }
        }
    }
    if shape.close {
        encode::field(out, "Connection", "close");
    } else if plan.http10 {
        encode::field(out, "Connection", "keep-alive");
    }
}

/// Says what is left of the key's quota, in Tyk's fields.
fn write_quota(out: &mut Vec<u8>, left: Left) {
    encode::field(out, "X-RateLimit-Limit", left.max.to_string());
    encode::field(out, "X-RateLimit-Remaining", left.remaining.to_string());
    encode::field(out, "X-RateLimit-Reset", left.renews.to_string());
}

/// Writes the upstream's fields that pass.
fn write_passing(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    body: BodyShape,
    (terms, edits): (Terms<'_>, Option<&FieldEdits>),
) {
    let options = ConnectionOptions::of(head.fields());
    for (name, value) in head.fields().iter() {
        if edits.is_some_and(|edits| edits.drops(name)) {
            continue;
        }
        let passes = match kind(name) {
            Kind::HopByHop => false,
            // Which shard it was is the gateway's to say where it goes by shards.
            Kind::Identity => terms.plan.shard.is_none(),
            Kind::Trailer => body == BodyShape::Chunked,
            Kind::EndToEnd => !options.name(name),
            Kind::Host | Kind::ForwardedFor | Kind::Forwarded | Kind::Expect | Kind::Protected => {
                true
            }
        };
        if passes {
            encode::field(out, name, value);
        }
    }
}
