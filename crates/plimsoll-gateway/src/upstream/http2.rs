//! An upstream of HTTP/2: one connection per shard and endpoint, on which every exchange has a stream. To the exchange it looks like a connection of
//! its own, at whose other end the stream is.

use super::dial::DialError;
use crate::messages::http2::{Broken, PIPE_BYTES, form, send};
use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use http::Method;
use http::uri::Scheme;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::reason::Reason as Objection;
use plimsoll_http::http2::{CONNECTION_WINDOW, SEND_BUFFER, STREAM_WINDOW};
use plimsoll_http::{
    ConnectError, Framing, Limits, Output, RequestReader, Stream, TcpClient, TcpServer, encode,
    pipe, stream, tls,
};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::task::JoinSet;

/// The connections of one shard to the endpoints of an upstream.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// By endpoint: the newest connection. Those before it end with their last stream.
    newest: Box<[RefCell<Option<SendRequest<Bytes>>>]>,
    /// By endpoint: what it had against us when it ended the last connection. In TLS 1.3 it says so only when we take the handshake for done.
    objections: Box<[Rc<Cell<Option<Objection>>>]>,
    /// Tasks that read and write for them, and carry their streams; they end with the upstream.
    tasks: RefCell<JoinSet<()>>,
    limits: Limits,
    /// Scheme in requests.
    scheme: Scheme,
}

impl Sessions {
    /// To so many endpoints, of which none is connected yet; responses are held to `limits`.
    pub(crate) fn new(endpoints: usize, limits: Limits, secured: bool) -> Self {
        Self {
            newest: (0..endpoints).map(|_| RefCell::default()).collect(),
            objections: (0..endpoints).map(|_| Rc::default()).collect(),
            tasks: RefCell::default(),
            limits,
            scheme: match secured {
                true => Scheme::HTTPS,
                false => Scheme::HTTP,
            },
        }
    }

    /// This endpoint's objection, if it has just ended a connection for it.
    pub(crate) fn objection(&self, index: usize) -> Option<Objection> {
        self.objections[index].take()
    }

    /// A stream on the connection to an endpoint, if there is one that is not known to be closed.
    pub(crate) fn stream(&self, index: usize) -> Option<TcpClient> {
        let mut newest = self.newest[index].borrow_mut();
        let sender = newest.as_mut()?;
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(Err(_)) = sender.poll_ready(&mut context) {
            *newest = None;
            return None;
        }
        Some(self.open(sender.clone()))
    }

    /// A session on a new connection, over this stream.
    pub(crate) async fn connect(
        &self,
        index: usize,
        stream: Stream,
    ) -> Result<TcpClient, DialError> {
        let handshake = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buffer_size(SEND_BUFFER)
            .handshake::<_, Bytes>(stream);
        let (sender, connection) = handshake.await.map_err(|error| {
            ConnectError::Refused(error.into_io().unwrap_or(io::ErrorKind::InvalidData.into()))
        })?;
        let objection = Rc::clone(&self.objections[index]);
        // What it had against an earlier connection says nothing of this one.
        objection.set(None);
        self.tasks.borrow_mut().spawn_local(async move {
            // Every stream that was under way says itself that it was cut short.
            if let Err(error) = connection.await
                && let Some(reason) = error.get_io().and_then(tls::reason)
            {
                objection.set(Some(reason));
            }
        });
        self.newest[index].replace(Some(sender.clone()));
        Ok(self.open(sender))
    }

    /// A pipe whose other end is carried on a stream.
    fn open(&self, sender: SendRequest<Bytes>) -> TcpClient {
        let request = Limits {
            body_bytes: u64::MAX,
            // The gateway has added to what its client sent within the limits.
            head_bytes: self.limits.head_bytes * 2,
            fields: self.limits.fields + 16,
            ..self.limits
        };
        let (server, client) = pipe(PIPE_BYTES, request, self.limits);
        let scheme = self.scheme.clone();
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(async move {
            carry(sender, server, scheme).await.ignored(
                "the exchange finds its end of the pipe closed before its response is whole",
            );
        });
        client
    }
}

/// Carries the one request that comes out of the pipe, and its response back.
async fn carry(
    sender: SendRequest<Bytes>,
    server: TcpServer,
    scheme: Scheme,
) -> Result<(), Broken> {
    let TcpServer {
        mut requests,
        output,
    } = server;
    if !requests.next_head().await? {
        return Ok(());
    }
    let head = requests.head();
    let framing = head.framing();
    let request = form::request(head, scheme).ok_or(Broken)?;
    let to_head = *request.method() == Method::HEAD;
    let mut sender = sender.ready().await?;
    let (response, sending) = sender.send_request(request, framing == Framing::None)?;
    let whole = Cell::new(false);
    let mut upload = pin!(async {
        if framing != Framing::None {
            upload(&mut requests, sending, framing).await?;
        }
        // There is one request: what comes behind it is the end of the exchange.
        requests.arrives().await.map_err(Broken::from)
    });
    let mut download = pin!(download(response, output, to_head, &whole));
    let mut uploading = true;
    poll_fn(|context| {
        if uploading && let Poll::Ready(ended) = upload.as_mut().poll(context) {
            uploading = false;
            // An exchange that has given up wants no response any more; its stream is reset with what is dropped here.
            if ended.is_err() || !whole.get() {
                return Poll::Ready(Err(Broken));
            }
        }
        download.as_mut().poll(context)
    })
    .await
}

/// Sends the request's body; one that breaks off resets the stream.
async fn upload(
    requests: &mut RequestReader<stream::ReadHalf>,
    mut sending: SendStream<Bytes>,
    framing: Framing,
) -> Result<(), Broken> {
    loop {
        match requests.next_data().await {
            Ok(Some(data)) => send(&mut sending, data).await?,
            Ok(None) => break,
            Err(_) => {
                sending.send_reset(Reason::CANCEL);
                return Err(Broken);
            }
        }
    }
    let trailers = form::fields(requests.trailers()).ok_or(Broken)?;
    match framing == Framing::Chunked && !trailers.is_empty() {
        true => sending.send_trailers(trailers)?,
        false => sending.send_data(Bytes::new(), true)?,
    }
    Ok(())
}

/// Writes the response into the pipe. It is `whole` for the exchange, which may have a length that says so, before the stream is over.
async fn download(
    mut response: ResponseFuture,
    mut output: Output<stream::WriteHalf>,
    to_head: bool,
    whole: &Cell<bool>,
) -> Result<(), Broken> {
    let response = loop {
        let interim = poll_fn(|context| match response.poll_informational(context) {
            Poll::Ready(Some(interim)) => Poll::Ready(interim.map(Ok)),
            _ => Pin::new(&mut response).poll(context).map_ok(Err),
        });
        let parts = match interim.await? {
            Ok(interim) => interim.into_parts().0,
            Err(response) => break response,
        };
        form::write_response(output.buffer(), &parts, true, true);
        output.flush().await?;
    };
    let (parts, mut body) = response.into_parts();
    let bare = to_head || matches!(parts.status.as_u16(), 204 | 304);
    let framing = form::write_response(output.buffer(), &parts, body.is_end_stream(), bare);
    let mut left = match framing {
        Framing::Length(bytes) => Some(bytes),
        Framing::None => Some(0),
        Framing::Chunked | Framing::UntilClose => None,
    };
    whole.set(left == Some(0));
    output.flush().await?;
    while let Some(data) = body.data().await {
        let data = data?;
        left = left.map(|left| left.saturating_sub(data.len() as u64));
        whole.set(left == Some(0));
        match framing {
            Framing::Chunked => encode::chunk(output.buffer(), &data),
            Framing::Length(_) => output.buffer().extend_from_slice(&data),
            Framing::None | Framing::UntilClose => return Err(Broken),
        }
        output.flush().await?;
        body.flow_control().release_capacity(data.len())?;
    }
    let trailers = body.trailers().await?;
    if framing == Framing::Chunked {
        form::write_last_chunk(output.buffer(), trailers.as_ref());
    }
    output.flush().await?;
    Ok(())
}
