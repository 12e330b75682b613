//! Who may use the API: no browser, and only who addresses it by a name of loopback, unless it was opened on purpose.
//!
//! The first is Toxiproxy's. The others keep web pages out that rebind a name or call across origins, and do not say that they are browsers.

use super::answer;
use plimsoll_http::RequestHead;
use plimsoll_http::authority::names_loopback;
use plimsoll_http::pages::Page;

/// The check that every request passes first.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Whoever reaches the API may use it, by whatever name.
    pub is_open: bool,
}

impl Guard {
    /// The refusal of a request, if it is refused.
    pub fn refuse(self, head: &RequestHead) -> Option<Page> {
        let field = |name| head.fields().get(name);
        if field("user-agent").is_some_and(|agent| agent.starts_with(b"Mozilla/")) {
            return Some(answer::text(403, "User agent not allowed"));
        }
        if field("origin").is_some() {
            return Some(answer::text(403, "Pages of the web may not use this API"));
        }
        let is_known = self.is_open || names_loopback(head.authority());
        (!is_known).then(|| {
            let line = "Host is not a name of the loopback interface (start with --admin-open to allow others)";
            answer::text(403, line)
        })
    }
}
