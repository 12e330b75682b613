//! One stream of a client: its request goes into a pipe, at whose other end an exchange takes place as over a connection of its own, and
//! what comes out is its response.
//!
//! A stream that the client resets closes the pipe, and an exchange that breaks off resets the stream: nothing that is cut short ends as if it
//! were whole.

use crate::exchange::{self, After};
use crate::messages::http2::{Broken, PIPE_BYTES, form, send};
use crate::shard::Shard;
use crate::shard::client::{Arrival, Client, Peer};
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{Request, Response, StatusCode};
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::server::http2::{CutOff, Ending, request_head};
use plimsoll_http::{
    Framing, Limits, Output, ProtocolError, ResponseReader, TcpClient, encode, pipe, stream,
};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

/// Who speaks on a connection, or on a stream of it.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) peer: Peer,
    /// Times of the connection, to be told to its first request.
    pub(crate) arrival: Arrival,
}

impl Caller {
    /// For the next stream. Whose certificate it is was settled with the connection; what follows from it is what the map says now.
    pub(super) fn next(&mut self, shard: &Shard) -> Self {
        self.peer.under(&shard.current());
        Self {
            peer: self.peer.clone(),
            arrival: std::mem::take(&mut self.arrival),
        }
    }
}

/// The client does not want the rest, or the connection is over.
fn cut_by(cut: &CutOff, reset: &Result<Reason, h2::Error>) -> Broken {
    if reset.is_ok() {
        cut.count();
    }
    Broken
}

/// Serves a stream to its end, and counts it in `cut_off` as soon as the client does not want it any more; says whether that came.
pub(super) async fn serve(
    shard: Rc<Shard>,
    caller: Caller,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
    cut_off: &CutOff,
) -> Ending {
    let (parts, body) = request.into_parts();
    let limits = shard.current().service.limits;
    let ends = body.is_end_stream();
    let head = match request_head(&parts, ends, limits.request) {
        Ok(head) => head,
        Err(error) => {
            refuse(&shard, respond, &error);
            return Ending::Complete;
        }
    };
    let (server, ours) = pipe(PIPE_BYTES, wide(limits.request), limits.response);
    let TcpClient {
        mut responses,
        mut output,
    } = ours;
    let framing = form::write_request(output.buffer(), &head, ends);
    responses.expect(head.method() == "HEAD");
    let client = Client::of_stream(server, caller.peer, caller.arrival);
    let exchange = pin!(serve_once(shard, client));
    let upload = pin!(upload(body, output, framing, cut_off));
    let download = Box::pin(download(responses, respond, cut_off));
    together(exchange, upload, download).await;
    cut_off.ending()
}

/// Serves the one request of a stream, which is in its pipe as a whole or on its way there.
async fn serve_once(shard: Rc<Shard>, mut client: Client) {
    if !matches!(client.connection.requests.next_head().await, Ok(true)) {
        return; // its stream was reset
    }
    if exchange::serve(&shard, &mut client).await == After::Abort {
        client.connection.reset();
    }
}

/// The limits of a head that was within these when it came by HTTP/2, and has grown a little in its other form.
pub(super) fn wide(limits: Limits) -> Limits {
    Limits {
        head_bytes: limits.head_bytes * 2,
        fields: limits.fields + 4,
        ..limits
    }
}

/// Runs all three until the exchange is over and its response on the way. If the request breaks off, so does the response, and the exchange is
/// left to find its pipe closed.
async fn together(
    mut exchange: Pin<&mut impl Future<Output = ()>>,
    mut upload: Pin<&mut impl Future<Output = Result<(), Broken>>>,
    download: Pin<Box<impl Future<Output = ()>>>,
) {
    let mut download = Some(download);
    let (mut uploading, mut exchanging) = (true, true);
    poll_fn(|context| {
        if uploading && let Poll::Ready(sent) = upload.as_mut().poll(context) {
            uploading = false;
            if sent.is_err() {
                download = None;
            }
        }
        if exchanging && exchange.as_mut().poll(context).is_ready() {
            exchanging = false;
        }
        if let Some(under_way) = &mut download
            && under_way.as_mut().poll(context).is_ready()
        {
            download = None;
        }
        match exchanging || download.is_some() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
}

/// Says why something is no request.
fn refuse(shard: &Shard, mut respond: SendResponse<Bytes>, error: &ProtocolError) {
    for counter in [Counter::Malformed, Counter::Received, Counter::Served] {
        shard.counters.add(counter, 1);
    }
    shard.current().tally.unrouted().answered(error.status());
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(error.status()).unwrap_or_default();
    respond
        .send_response(response, true)
        .ignored("the client has left");
}

/// Moves the request's body into the pipe, behind its head.
pub(super) async fn upload(
    mut body: RecvStream,
    mut output: Output<stream::WriteHalf>,
    framing: Framing,
    cut: &CutOff,
) -> Result<(), Broken> {
    output.flush().await?;
    while let Some(data) = body.data().await {
        let data = data.inspect_err(|error| {
            if error.is_reset() && error.is_remote() {
                cut.count();
            }
        })?;
        match framing {
            Framing::Chunked => encode::chunk(output.buffer(), &data),
            _ => output.buffer().extend_from_slice(&data),
        }
        if output.flush().await.is_err() {
            // The exchange wants no more of it, which is not the client's failure.
            return Ok(());
        }
        body.flow_control().release_capacity(data.len())?;
    }
    let trailers = body.trailers().await?;
    if framing == Framing::Chunked {
        form::write_last_chunk(output.buffer(), trailers.as_ref());
    }
    output.flush().await.ignored("as above");
    Ok(())
}

/// Sends what comes out of the pipe; a response that breaks off resets the stream.
async fn download(
    mut responses: ResponseReader<stream::ReadHalf>,
    mut respond: SendResponse<Bytes>,
    cut: &CutOff,
) {
    if relay(&mut responses, &mut respond, cut).await.is_err() {
        respond.send_reset(Reason::INTERNAL_ERROR);
    }
}

async fn relay(
    responses: &mut ResponseReader<stream::ReadHalf>,
    respond: &mut SendResponse<Bytes>,
    cut: &CutOff,
) -> Result<(), Broken> {
    loop {
        tokio::select! {
            arrived = responses.next_head() => arrived?,
            // The client does not want it any more.
            reset = poll_fn(|context| respond.poll_reset(context)) => return Err(cut_by(cut, &reset)),
        }
        let head = responses.head();
        let response = form::response(head).ok_or(Broken)?;
        if !matches!(head.status(), 100 | 102..200) {
            break;
        }
        respond.send_informational(response)?;
    }
    let head = responses.head();
    let response = form::response(head).ok_or(Broken)?;
    let ends = matches!(head.framing(), Framing::None | Framing::Length(0));
    let mut sending = respond.send_response(response, ends)?;
    if ends {
        return Ok(());
    }
    loop {
        let data = tokio::select! {
            data = responses.next_data() => data?,
            reset = poll_fn(|context| sending.poll_reset(context)) => return Err(cut_by(cut, &reset)),
        };
        match data {
            Some(data) => {
                if send(&mut sending, data).await.is_err() {
                    cut.look(|context| sending.poll_reset(context));
                    return Err(Broken);
                }
            }
            None => break,
        }
    }
    let trailers = form::fields(responses.trailers()).ok_or(Broken)?;
    match trailers.is_empty() {
        true => sending.send_data(Bytes::new(), true)?,
        false => sending.send_trailers(trailers)?,
    }
    Ok(())
}
