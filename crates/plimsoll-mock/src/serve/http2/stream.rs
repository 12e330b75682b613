//! One stream: its request is read and its answer found and waited for. How that is sent is `sending`'s business.

use super::StreamState;
use super::sending::{Outgoing, Sender};
use crate::admin;
use crate::kept_body::{Full, KeptBody};
use crate::records::metrics::Known;
use crate::serve::exchange::{Call, Decision, Exchange, LATE_BODY, Pending};
use crate::serve::webhooks::Afterwards;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Method, Request, Response, StatusCode};
use plimsoll_base::counters::Counter;
use plimsoll_http::server::http2::{CutOff, Ending, request_head};
use plimsoll_http::{Patience, ProtocolError, RequestHead};
use plimsoll_wiremock::response::answer::{Answer, Extent};
use plimsoll_wiremock::stub::behaviour::Room;
use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// Why a request is not answered as it asks for.
enum Trouble {
    Malformed(ProtocolError),
    /// Its body took too long.
    Late,
    /// There is no room to hold its body.
    Full,
    /// Its stream, or something that serving needs, is gone.
    Gone,
}

impl From<Full> for Trouble {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

impl From<h2::Error> for Trouble {
    fn from(_: h2::Error) -> Self {
        Self::Gone
    }
}

impl From<std::io::Error> for Trouble {
    fn from(_: std::io::Error) -> Self {
        Self::Gone
    }
}

/// Serves a stream to its end.
pub(super) async fn serve(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    stage: Rc<StreamState>,
    cut_off: CutOff,
) -> Ending {
    let received = Instant::now();
    stage.shard.counters.add(Counter::Received, 1);
    let (parts, body) = request.into_parts();
    let head = request_head(&parts, body.is_end_stream(), stage.shard.shared.limits);
    let head = head.map_err(Trouble::Malformed);
    let expects = head.as_ref().is_ok_and(RequestHead::expects_continue);
    if expects && !body.is_end_stream() {
        let mut leave = Response::new(());
        *leave.status_mut() = StatusCode::CONTINUE;
        if respond.send_informational(leave).is_err() {
            cut_off.look(|context| respond.poll_reset(context));
            return cut_off.ending();
        }
    }
    let prepared = async { prepare(&head?, body, received, &stage).await };
    let prepared = tokio::select! {
        biased;
        // The client does not want the answer any more. Asked first: a body that ends so is no other trouble.
        reset = poll_fn(|context| respond.poll_reset(context)) => {
            if reset.is_ok() {
                cut_off.count();
            }
            return cut_off.ending();
        }
        prepared = prepared => prepared,
    };
    let (outgoing, afterwards) = match prepared {
        Ok(prepared) => prepared,
        Err(trouble) => match refusal(&trouble, &stage) {
            Some(answer) => (Outgoing::new(answer, None), Afterwards::default()),
            None => return cut_off.ending(),
        },
    };
    let extent = match parts.method {
        Method::HEAD => Extent::HeadOnly,
        _ => Extent::Whole,
    };
    Sender {
        respond,
        extent,
        received,
        stage: &stage,
        cut_off: &cut_off,
    }
    .send(outgoing)
    .await;
    afterwards.begin(&stage.shard.webhooks);
    cut_off.ending()
}

/// The refusal in place of an answer.
fn refusal(trouble: &Trouble, stage: &StreamState) -> Option<Answer> {
    let counters = &stage.shard.counters;
    let (status, why) = match trouble {
        Trouble::Malformed(error) => {
            counters.add(Counter::Malformed, 1);
            (error.status(), error.to_string())
        }
        Trouble::Late => {
            counters.add(Counter::TimedOut, 1);
            (408, LATE_BODY.to_owned())
        }
        Trouble::Full => (503, "too many bodies are held".to_owned()),
        Trouble::Gone => return None,
    };
    Some(Answer::text(status, &format!("{why}\n")))
}

/// Reads the body, finds the answer and waits as long as it has to.
async fn prepare(
    head: &RequestHead,
    body: RecvStream,
    received: Instant,
    stage: &StreamState,
) -> Result<(Outgoing, Afterwards), Trouble> {
    let own = |answer, place| (Outgoing::new(answer, place), Afterwards::default());
    let shard = &stage.shard;
    let mut kept = KeptBody::new(Arc::clone(&shard.shared.bodies));
    if admin::is_admin(head.path()) {
        let call = Call::of(shard, head, stage.channel.scheme);
        take_body(&mut kept, head, body, stage).await?;
        return Ok(own(call.answer(kept.take()).await?, None));
    }
    take_body(&mut kept, head, body, stage).await?;
    let exchange = Exchange {
        shard,
        head,
        body: kept.bytes(),
        channel: stage.channel,
        received,
        place: Cell::new(None),
        id: OnceCell::new(),
        misread: Cell::default(),
    };
    let decision = exchange.decide(|_| false);
    let place = exchange.place.get();
    // What waits holds no body, unless its answer is made of it yet.
    match decision {
        Decision::Own(answer, delay) => {
            drop(kept);
            wait(stage, place, delay).await?;
            Ok(own(answer, place))
        }
        Decision::File(file) => {
            let answer = Box::pin(exchange.read_static(file)).await;
            Ok(own(answer, place))
        }
        Decision::Stub(mut pending) if pending.is_elsewhere() => {
            let Ok(permit) = enter(pending.room.as_ref()).await else {
                return Ok(own(Room::refusal(), place));
            };
            exchange.fetch(&mut pending).await;
            drop(kept);
            wait(stage, place, pending.delay).await?;
            Ok(outgoing(pending, place, permit))
        }
        Decision::Stub(pending) => {
            drop(kept);
            let Ok(permit) = enter(pending.room.as_ref()).await else {
                return Ok(own(Room::refusal(), place));
            };
            wait(stage, place, pending.delay).await?;
            Ok(outgoing(pending, place, permit))
        }
        // Nothing is sent at once here.
        Decision::Done => Err(Trouble::Gone),
    }
}

/// There is no place to wait for.
struct NoPlace;

/// Waits for a place, where one is needed.
async fn enter(room: Option<&Room>) -> Result<Option<OwnedSemaphorePermit>, NoPlace> {
    let Some(room) = room else { return Ok(None) };
    if let Ok(permit) = room.try_enter() {
        return Ok(Some(permit));
    }
    room.enter().await.map(Some).map_err(|_| NoPlace)
}

/// A stub's answer that has waited, and what follows it.
fn outgoing(
    mut pending: Pending,
    place: Known,
    permit: Option<OwnedSemaphorePermit>,
) -> (Outgoing, Afterwards) {
    let afterwards = std::mem::take(&mut pending.afterwards);
    let outgoing = Outgoing::Stub {
        pending,
        place,
        _permit: permit,
    };
    (outgoing, afterwards)
}

/// Reads the body; keeps it where somebody wants it.
async fn take_body(
    kept: &mut KeptBody,
    head: &RequestHead,
    mut body: RecvStream,
    stage: &StreamState,
) -> Result<(), Trouble> {
    let shared = &stage.shard.shared;
    let mut wish = shared.wish(head.path());
    let mut patience = Patience::new(shared.timeouts.body);
    let mut bytes = 0;
    while !body.is_end_stream() {
        let since = Instant::now();
        let data = tokio::time::timeout(patience.allowance(bytes), body.data()).await;
        let Some(data) = data.map_err(|_| Trouble::Late)?.transpose()? else {
            break;
        };
        patience.waited(since.elapsed());
        bytes += data.len() as u64;
        if bytes > shared.limits.body_bytes {
            return Err(Trouble::Malformed(ProtocolError::BodyTooLarge));
        }
        kept.keep(&mut wish, &data)?;
        body.flow_control().release_capacity(data.len())?;
    }
    Ok(())
}

async fn wait(stage: &StreamState, place: Known, delay: Duration) -> Result<(), Trouble> {
    if delay.is_zero() {
        return Ok(());
    }
    let deadline = Instant::now() + delay;
    stage.shard.timer.sleep_until(deadline).await?;
    let late = Instant::now().duration_since(deadline);
    let metrics = &stage.shard.shared.metrics;
    metrics.delayed(stage.shard.index, place, delay, late);
    Ok(())
}
