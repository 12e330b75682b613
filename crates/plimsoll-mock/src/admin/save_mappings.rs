//! `POST /mappings/save`: writes every stub to the file that it came from, or else to one of its own below `mappings`, so that a reset brings it
//! back, and marks it as persistent.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use plimsoll_wiremock::stub::read_mapping;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let set = admin.stubs.current();
    for stub in set.stubs() {
        let mut document = stub.document.clone();
        document["persistent"] = true.into();
        let mapping = read_mapping(&document.to_string(), &admin.surroundings());
        let mapping = mapping.map_err(|problems| AdminError::refused(&problems))?;
        // One that was removed meanwhile stays so.
        if let Some(saved) = admin.stubs.replace(stub.id, mapping)? {
            admin.save(&saved)?;
        }
    }
    Ok(AnswerBuilder::new(200, None).body(b""))
}
