//! A request and its response in full, for a record: heads without what proves who somebody is, and of bodies as much as is recorded.

use super::progress::Party;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_http::{Fields, RequestHead, ResponseHead, encode};
use std::cell::RefCell;

/// Fields whose values are not recorded: they prove who somebody is, or stand for it.
const SECRET: [&str; 13] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
    "x-access-token",
    "x-amz-security-token",
    "x-csrf-token",
    "x-tyk-authorization",
    "www-authenticate",
];
/// The same of a query's parameters.
const SECRET_PARAMETERS: [&str; 12] = [
    "access_token",
    "refresh_token",
    "id_token",
    "token",
    "api_key",
    "apikey",
    "key",
    "password",
    "secret",
    "client_secret",
    "code",
    "signature",
];
/// What stands in their place.
const REDACTED: &str = "[redacted]";

/// Both messages, as far as they have passed.
#[derive(Debug)]
pub(crate) struct Detail {
    /// Bytes of each body.
    most: usize,
    /// The field in which keys of this route travel.
    key_field: Option<String>,
    request: RefCell<Message>,
    response: RefCell<Message>,
}

#[derive(Debug, Default)]
struct Message {
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Detail {
    /// Of a request with this head.
    pub(super) fn new(head: &RequestHead, key_field: Option<&str>, most: usize) -> Self {
        let detail = Self {
            most,
            key_field: key_field.map(str::to_owned),
            request: RefCell::default(),
            response: RefCell::default(),
        };
        let mut out = Vec::new();
        let query = head.query().map(redacted_query);
        let target = match &query {
            Some(query) => format!("{}?{query}", head.path()),
            None => head.path().to_owned(),
        };
        encode::request_line(&mut out, head.method(), &target);
        if !head.authority().is_empty() && head.fields().get("host").is_none() {
            encode::field(&mut out, "Host", head.authority());
        }
        detail.fields(&mut out, head.fields());
        detail.request.borrow_mut().head = out;
        detail
    }

    /// The head of the response, as the upstream has sent it.
    pub(super) fn response(&self, head: &ResponseHead) {
        let mut out = Vec::new();
        encode::status_line(&mut out, head.status(), Some(head.reason()));
        self.fields(&mut out, head.fields());
        self.response.borrow_mut().head = out;
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
            let Message { head, body } = &*message.borrow();
            BASE64_STANDARD.encode([head.as_slice(), body].concat())
        })
    }

    fn fields(&self, out: &mut Vec<u8>, fields: &Fields) {
        for (name, value) in fields.iter() {
            match self.is_secret(name) {
                true => encode::field(out, name, REDACTED),
                false => encode::field(out, name, value),
            }
        }
        encode::end_head(out);
    }

    fn is_secret(&self, name: &str) -> bool {
        let is = |secret: &str| name.eq_ignore_ascii_case(secret);
        SECRET.into_iter().any(is) || self.key_field.as_deref().is_some_and(is)
    }
}

/// A query whose secret parameters have no values.
fn redacted_query(query: &str) -> String {
    let parameters = query.split('&').map(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        let is = |secret: &str| name.eq_ignore_ascii_case(secret);
        match SECRET_PARAMETERS.into_iter().any(is) {
            true => format!("{name}={REDACTED}"),
            false => parameter.to_owned(),
        }
    });
    parameters.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_lose_their_secrets_and_nothing_else() {
        let check = |query: &str, expected: &str| assert_eq!(redacted_query(query), expected);
        check("", "");
        check("a=1&b", "a=1&b");
        check("a=1&Token=s3cret&b=2", "a=1&Token=[redacted]&b=2");
        check("api_key", "api_key=[redacted]");
        check("api_key=a=b&monkey=1", "api_key=[redacted]&monkey=1");
    }
}
