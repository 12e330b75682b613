//! A request and its response in full, for a record: heads without what proves who somebody is, and of bodies as much as is recorded.

use super::party::Party;
use crate::messages::secrecy::Secrecy;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_http::{Fields, RequestHead, ResponseHead, encode};
use std::cell::RefCell;

/// The media type of forms whose bodies are parameters.
const FORM: &[u8] = b"application/x-www-form-urlencoded";

/// Both messages, as far as they have passed.
#[derive(Debug)]
pub(crate) struct Detail {
    /// Bytes of each body.
    most: usize,
    secrecy: Secrecy,
    request: RefCell<Message>,
    response: RefCell<Message>,
}

#[derive(Debug, Default)]
struct Message {
    head: Vec<u8>,
    body: Vec<u8>,
    /// The body is a form in plaintext, whose parameters are looked into.
    is_form: bool,
}

impl Detail {
    /// Of a request with this head.
    pub(super) fn new(head: &RequestHead, secrecy: Secrecy, most: usize) -> Self {
        let detail = Self {
            most,
            secrecy,
            request: RefCell::default(),
            response: RefCell::default(),
        };
        let mut out = Vec::new();
        let query = head
            .query()
            .map(|query| detail.secrecy.parameters(query.as_bytes()));
        let path = detail.secrecy.path(head.path());
        let target = match &query {
            Some(query) => format!("{path}?{}", String::from_utf8_lossy(query)),
            None => path.into_owned(),
        };
        encode::request_line(&mut out, head.method(), &target);
        if !head.authority().is_empty() && head.fields().get("host").is_none() {
            encode::field(&mut out, "Host", head.authority());
        }
        detail.fields(&mut out, head.fields());
        let mut request = detail.request.borrow_mut();
        (request.head, request.is_form) = (out, is_form(head.fields()));
        drop(request);
        detail
    }

    /// The head of the response, as the upstream has sent it, but with the `status` that the client is told.
    pub(super) fn response(&self, head: &ResponseHead, status: u16) {
        let mut out = Vec::new();
        let reason = (status == head.status()).then(|| head.reason());
        encode::status_line(&mut out, status, reason);
        self.fields(&mut out, head.fields());
        let mut response = self.response.borrow_mut();
        (response.head, response.is_form) = (out, is_form(head.fields()));
    }

    /// An answer of the gateway itself, which holds no secret.
    pub(super) fn answer(&self, bytes: &[u8]) {
        let mut response = self.response.borrow_mut();
        response.head = bytes.to_vec();
    }

    /// More of a body has passed.
    pub(super) fn body(&self, source: Party, data: &[u8]) {
        let message = match source {
            Party::Client => &self.request,
            Party::Upstream => &self.response,
        };
        let body = &mut message.borrow_mut().body;
        let room = self.most.saturating_sub(body.len());
        body.extend_from_slice(&data[..data.len().min(room)]);
    }

    /// The request and the response, in Base64.
    pub(super) fn encoded(&self) -> [String; 2] {
        [&self.request, &self.response].map(|message| {
            let Message {
                head,
                body,
                is_form,
            } = &*message.borrow();
            BASE64_STANDARD.encode(match is_form {
                true => [head.as_slice(), &self.secrecy.parameters(body)].concat(),
                false => [head.as_slice(), body].concat(),
            })
        })
    }

    fn fields(&self, out: &mut Vec<u8>, fields: &Fields) {
        for (name, value) in fields.iter() {
            let value = self.secrecy.field(name, value);
            encode::field(out, name, value);
        }
        encode::end_head(out);
    }
}

/// Whether a message with these fields has a form for its body, and nothing has packed it.
fn is_form(fields: &Fields) -> bool {
    let media_type = fields.get("content-type").unwrap_or_default();
    let media_type = media_type.split(|byte| *byte == b';').next();
    let media_type = media_type.unwrap_or_default().trim_ascii();
    media_type.eq_ignore_ascii_case(FORM) && fields.get("content-encoding").is_none()
}
