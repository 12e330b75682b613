//! `POST /mappings/remove`: removes the mappings of the body, one or a list, by id or else by equal request.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use plimsoll_wiremock::stub::{Stub, StubMapping, read_document};
use std::sync::Arc;

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let (results, _) = read_document(&request.text(), &admin.surroundings());
    let mut wanted = Vec::new();
    for result in results {
        wanted.push(result.map_err(|problems| AdminError::refused(&problems))?);
    }
    let unwanted: Vec<Arc<Stub>> = {
        let set = admin.stubs.current();
        let found = wanted.iter().filter_map(|wanted| {
            let stubs = set.stubs();
            let by_id = stubs.iter().find(|stub| Some(stub.id) == wanted.id);
            let by_request = || stubs.iter().find(|stub| same_request(stub, wanted));
            by_id.or_else(by_request).cloned()
        });
        found.collect()
    };
    admin.remove(&unwanted)?;
    Ok(AnswerBuilder::new(200, None).body(b""))
}

/// Whether two mappings are for the same requests, by what is written.
fn same_request(stub: &Stub, wanted: &StubMapping) -> bool {
    stub.document.get("request") == wanted.shown(stub.id).get("request")
}
