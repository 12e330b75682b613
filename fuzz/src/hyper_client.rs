//! The oracle for responses: hyper's client, fed from memory.

use crate::drive::{Wire, drive};
use crate::story::{End, Message, Start, Story, header_map};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::{Method, Request, Response, Version};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// The response that hyper sees in `bytes`, behind interim ones, of which it tells status and fields.
pub fn hyper_reads_response(bytes: &[u8], to_head: bool) -> Story {
    let interim = Arc::new(Mutex::new(Vec::new()));
    let last = RefCell::new(None);
    let error = drive(exchange(bytes, to_head, &interim, &last)).flatten();
    let mut messages = std::mem::take(&mut *interim.lock().expect("one thread"));
    messages.extend(last.into_inner());
    let end = match error {
        Some(error) => End::RefusedByOracle(format!("{error:?}")),
        None => End::Closing,
    };
    Story { messages, end }
}

/// Asks once and notes what comes; gives the error that ended it.
async fn exchange(
    bytes: &[u8],
    to_head: bool,
    interim: &Arc<Mutex<Vec<Message>>>,
    last: &RefCell<Option<Message>>,
) -> Option<hyper::Error> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Empty<Bytes>>(Wire::to_client(bytes))
            .await
            .ok()?;
    let mut request = Request::new(Empty::new());
    *request.method_mut() = if to_head { Method::HEAD } else { Method::GET };
    let seen = Arc::clone(interim);
    hyper::ext::on_informational(&mut request, move |response| {
        let message = Message {
            start: start(response.status().as_u16(), response.version(), Vec::new()),
            fields: header_map(response.headers()),
            complete: true,
            ..Message::default()
        };
        seen.lock().expect("one thread").push(message);
    });
    let exchange = async {
        let response = sender.send_request(request).await?;
        read(response, last).await
    };
    let (mut exchange, mut connection) = (pin!(exchange), pin!(connection));
    let mut connection_ended = false;
    poll_fn(|context| {
        if !connection_ended {
            connection_ended = connection.as_mut().poll(context).is_ready();
        }
        match exchange.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result.err()),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn read(
    response: Response<Incoming>,
    last: &RefCell<Option<Message>>,
) -> Result<(), hyper::Error> {
    let (head, mut body) = response.into_parts();
    let reason = match head.extensions.get::<ReasonPhrase>() {
        Some(reason) => reason.as_bytes().to_vec(),
        None => head.status.canonical_reason().unwrap_or("").into(),
    };
    *last.borrow_mut() = Some(Message {
        start: start(head.status.as_u16(), head.version, reason),
        fields: header_map(&head.headers),
        ..Message::default()
    });
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        let mut last = last.borrow_mut();
        let message = last.as_mut().expect("set above");
        match frame.into_data() {
            Ok(data) => message.body.extend_from_slice(&data),
            Err(frame) => {
                message.trailers = frame.trailers_ref().map(header_map).unwrap_or_default();
            }
        }
    }
    last.borrow_mut().as_mut().expect("set above").complete = true;
    Ok(())
}

fn start(status: u16, version: Version, reason: Vec<u8>) -> Start {
    Start {
        version: u8::from(version == Version::HTTP_11),
        status,
        reason,
        ..Start::default()
    }
}
