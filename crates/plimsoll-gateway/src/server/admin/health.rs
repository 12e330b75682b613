//! `/healthz`: 200 while requests are taken, 503 while the gateway drains.

use super::Sources;
use plimsoll_http::pages::Page;

pub(super) fn page(sources: &Sources) -> Page {
    let draining = *sources.stop.borrow();
    let (status, word) = if draining {
        (503, "draining")
    } else {
        (200, "ok")
    };
    Page::new(
        status,
        "application/json",
        serde_json::json!({ "status": word }).to_string() + "\n",
    )
}
