//! Answers as Go's `net/http` and Gorilla's router make them.

use super::TOXIPROXY;
use crate::error::ApiError;
use plimsoll_http::pages::Page;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// A document.
pub fn json(status: u16, value: &Value) -> Page {
    Page::new(status, JSON, value.to_string())
}

/// Done, and nothing to say.
pub fn nothing() -> Page {
    Page::new(204, TEXT, String::new())
}

/// Why it is not done: JSON, but sent as text.
pub fn error(error: &ApiError) -> Page {
    let body = json!({ "error": error.message, "status": error.status });
    text(error.status, &body.to_string())
}

/// A line of text, which no browser may take for anything else.
pub fn text(status: u16, line: &str) -> Page {
    let mut page = Page::new(status, TEXT, format!("{line}\n"));
    page.fields
        .push(("X-Content-Type-Options", "nosniff".to_owned()));
    page
}

/// No such path.
pub fn not_found() -> Page {
    text(404, "404 page not found")
}

/// No such method.
pub fn method_not_allowed() -> Page {
    Page::new(405, TEXT, String::new())
}

/// The version of the API.
pub fn version() -> Page {
    let body = format!("{{\"version\": \"{TOXIPROXY}\"}}\n");
    Page::new(200, "application/json;charset=utf-8", body)
}

/// Proxies that `/populate` made, and why no more.
pub fn populated(proxies: Value, error: Option<&ApiError>) -> Page {
    match error {
        None => json(201, &json!({ "proxies": proxies })),
        Some(error) => json(
            error.status,
            &json!({ "error": error.message, "status": error.status, "proxies": proxies }),
        ),
    }
}

/// The page with an id of its own, of twenty characters as Toxiproxy's are.
pub fn with_request_id(mut page: Page) -> Page {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    page.fields
        .push(("X-Toxiproxy-Request-Id", format!("{count:020x}")));
    page
}
