//! `POST /reload`: reads the configuration anew, and answers when every shard serves by it, or says why none does.

use super::{Sources, refusal};
use crate::reloading::reload::{Loaded, Refusal};
use plimsoll_http::pages::Page;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

pub(super) async fn page(sources: &Sources) -> Page {
    let Some(reloader) = &sources.reloader else {
        return refusal(501, "this gateway was not started from a file");
    };
    let (asker, answer) = oneshot::channel();
    match reloader.try_send(asker) {
        Ok(()) => {}
        Err(TrySendError::Full(_)) => return refusal(503, "too many reloads are waiting"),
        Err(TrySendError::Closed(_)) => return refusal(503, "the gateway is stopping"),
    }
    match answer.await {
        Ok(Ok(loaded)) => loaded_page(&loaded),
        Ok(Err(Refusal::Stopping)) | Err(_) => refusal(503, "the gateway is stopping"),
        Ok(Err(reason)) => refusal(422, &reason.to_string()),
    }
}

fn loaded_page(loaded: &Loaded) -> Page {
    let opened =
        (loaded.opened.iter()).map(|(name, address)| (name.clone(), address.to_string().into()));
    let body = serde_json::json!({
        "generation": loaded.generation,
        "opened": opened.collect::<serde_json::Map<_, _>>(),
    });
    Page::new(200, "application/json", body.to_string() + "\n")
}
