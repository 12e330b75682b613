//! The oracle for requests: hyper's server, fed from memory.

use crate::drive::{Wire, drive};
use crate::story::{End, Message, Start, Story, header_map};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use std::cell::RefCell;
use std::convert::Infallible;

/// The requests that hyper sees in `bytes`.
pub fn hyper_reads_requests(bytes: &[u8]) -> Story {
    let messages = RefCell::new(Vec::new());
    let service = service_fn(|request| serve(request, &messages));
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(Wire::to_server(bytes), service);
    let end = match drive(connection) {
        None => End::Waiting,
        Some(Ok(())) => End::Closing,
        Some(Err(error)) => End::RefusedByOracle(format!("{error:?}")),
    };
    Story {
        messages: messages.into_inner(),
        end,
    }
}

async fn serve(
    request: Request<Incoming>,
    messages: &RefCell<Vec<Message>>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    let path = head.uri.path();
    messages.borrow_mut().push(Message {
        start: Start {
            version: u8::from(head.version == Version::HTTP_11),
            method: head.method.as_str().to_owned(),
            authority: head
                .uri
                .authority()
                .map_or_else(String::new, ToString::to_string),
            path: if path.is_empty() { "/" } else { path }.to_owned(),
            query: head.uri.query().map(str::to_owned),
            ..Start::default()
        },
        fields: header_map(&head.headers),
        ..Message::default()
    });
    let mut response = Response::new(Empty::new());
    if head.method == Method::CONNECT {
        // No tunnel, so that what follows is read as HTTP.
        *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Ok(response);
        };
        let mut messages = messages.borrow_mut();
        let message = messages.last_mut().expect("pushed above");
        match frame.into_data() {
            Ok(data) => message.body.extend_from_slice(&data),
            Err(frame) => {
                message.trailers = frame.trailers_ref().map(header_map).unwrap_or_default()
            }
        }
    }
    messages
        .borrow_mut()
        .last_mut()
        .expect("pushed above")
        .complete = true;
    Ok(response)
}
