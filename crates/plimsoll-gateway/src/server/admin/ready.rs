//! `/ready`: whether new requests should come here. 503 from the moment the gateway is told to stop, which may be before it takes none any
//! more.

use super::Sources;
use plimsoll_http::pages::Page;

pub(super) fn page(sources: &Sources) -> Page {
    let stopping = *sources.stop.borrow();
    let (status, word) = match stopping {
        true => (503, "stopping"),
        false => (200, "ready"),
    };
    Page::new(
        status,
        "application/json",
        serde_json::json!({ "status": word }).to_string() + "\n",
    )
}
