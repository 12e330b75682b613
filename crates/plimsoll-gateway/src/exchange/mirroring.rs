//! Which exchanges have copies sent, and what of an exchange its copy is made of. How copies are sent is [`crate::shard::mirror`]'s.

use super::ServedBy;
use super::admission::Plan;
use super::progress::{Progress, Upload};
use crate::shard::client::Client;
use crate::shard::mirror::{Begun, Original};

/// Takes a place for a copy of a request, if it is to be copied, before its exchange begins.
pub(super) fn begin(under: ServedBy<'_>, plan: &Plan) -> Option<Begun> {
    let (mirror, sharding) = (
        plan.mirror.as_ref()?,
        under.generation.service.sharding.as_ref()?,
    );
    let most = sharding.mirror.queue;
    Some(under.shard.mirrors.begin(mirror, under.generation, most))
}

/// Has the copy sent that was begun, if there is one, now that the exchange is over.
pub(super) fn hand_on(
    begun: Option<Begun>,
    under: ServedBy<'_>,
    client: &mut Client,
    plan: &Plan,
    progress: &Progress,
) {
    let (Some(begun), Some(mirror)) = (begun, &plan.mirror) else {
        return;
    };
    let sent = matches!(progress.upload.get(), Upload::Complete(_));
    let Some((status, _)) = progress.head.get().filter(|_| sent) else {
        return;
    };
    let upstream = &under.generation.upstreams[mirror.upstream];
    let original = Original {
        head: &client.scratch.outgoing,
        framing: plan.framing,
        to_head: plan.to_head,
        repeatable: plan.repeatable,
        changes: plan.changes,
        key: upstream.key_of(client.connection.requests.head(), &client.peer),
        status,
    };
    if let Some(copied) = begun.complete(mirror, original) {
        client.lane().push(copied, &under.shard.mirrors);
    }
}
