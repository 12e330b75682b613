//! A call of the admin API: judged on the shard, answered on another thread.

use crate::admin::AdminRequest;
use crate::admin::cors;
use crate::serve::shard::Shard;
use plimsoll_http::RequestHead;
use plimsoll_wiremock::request::Scheme;
use plimsoll_wiremock::request::content_type;
use plimsoll_wiremock::response::answer::Answer;
use std::io;
use std::sync::Arc;

/// A call of the admin API, judged by its head; it is answered when its body is there.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    shard: &'a Shard,
    /// The answer, if none has to be made: a refusal, or what a browser asks beforehand.
    ready: Option<Answer>,
    /// Another server whose page may read it, unless it says so itself.
    origin: Option<String>,
    request: AdminRequest,
}

impl<'a> Call<'a> {
    /// A call with this head.
    pub(crate) fn of(shard: &'a Shard, head: &RequestHead, scheme: Scheme) -> Self {
        let guard = &shard.shared.guard;
        let origin = guard.shared_with(head);
        let preflight = origin.and_then(|origin| cors::preflight(head, origin));
        let refusal = || Some(guard.check(head, scheme).err()?.answer());
        Self {
            shard,
            origin: origin.filter(|_| preflight.is_none()).map(str::to_owned),
            ready: preflight.or_else(refusal),
            request: AdminRequest {
                method: head.method().to_owned(),
                path: head.path().to_owned(),
                query: head.query().unwrap_or_default().to_owned(),
                accept: head.fields().get("Accept").unwrap_or_default().to_vec(),
                encoding: content_type::encoding(
                    head.fields().get("Content-Type").unwrap_or_default(),
                ),
                body: Vec::new(),
            },
        }
    }

    /// Its answer. It is made on another thread, so that a large change of the stubs holds up nobody.
    pub(crate) async fn answer(self, body: Vec<u8>) -> io::Result<Answer> {
        let origin = self.origin.clone();
        let answer = self.unshared(body).await?;
        Ok(match origin {
            Some(origin) => cors::shared(&answer, &origin),
            None => answer,
        })
    }

    async fn unshared(self, body: Vec<u8>) -> io::Result<Answer> {
        if let Some(ready) = self.ready {
            return Ok(ready);
        }
        let request = AdminRequest {
            body,
            ..self.request
        };
        let admin = Arc::clone(&self.shard.shared.admin);
        tokio::task::spawn_blocking(move || admin.answer(&request))
            .await
            .map_err(io::Error::other)
    }
}
