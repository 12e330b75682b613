//! Exchanges of the control API: the request's body is read whole, and the call answered beside the shard's thread.

use super::body::{Unread, read_body};
use super::progress::Progress;
use super::{After, Ended, answer, may_discard_body};
use crate::answering::answer::Answer;
use crate::routing::service::Service;
use crate::shard::Shard;
use crate::shard::client::Client;
use crate::tyk::control_api::{self, Call, MOST_BODY};
use plimsoll_records::Ending;

/// Answers the call whose head `client` has read.
pub(super) async fn serve(
    shard: &Shard,
    service: &Service,
    client: &mut Client,
    progress: &Progress,
) -> Ended {
    let control =
        (service.control.clone()).expect("invariant: routes to the control API come with it");
    let head = client.connection.requests.head();
    let mut call = Call {
        method: head.method().to_owned(),
        path: client.scratch.path.clone(),
        query: head.query().unwrap_or_default().to_owned(),
        secret: head.fields().get("x-tyk-authorization").map(<[u8]>::to_vec),
        body: Vec::new(),
        peer: client.peer.clone(),
        leaving: shard.leaving.get(),
    };
    // Nothing of a stranger's body is read.
    if let Some(told) = control_api::answer_without_body(&control, &call) {
        let keep = may_discard_body(client);
        return answer(shard, service, client, told, keep, progress).await;
    }
    call.body = match read_body(client, progress, MOST_BODY).await {
        Ok(body) => body,
        Err(Unread::Refused(refusal)) => {
            return answer(shard, service, client, refusal, false, progress).await;
        }
        Err(Unread::Broken) => {
            return Ended {
                status: 0,
                after: After::Abort,
                ending: Ending::ClientGone,
            };
        }
    };
    let answered = tokio::task::spawn_blocking(move || control_api::answer(&control, &call)).await;
    let told = answered.unwrap_or_else(|_| Answer::new(500, "the control API has a defect"));
    let keep = may_discard_body(client);
    answer(shard, service, client, told, keep, progress).await
}
