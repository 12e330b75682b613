//! `POST /mappings/save`: writes every stub to a file of its own below `mappings`, so that a reset brings it back.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::answer::{Answer, AnswerBuilder};

pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let set = admin.stubs.current();
    for stub in set.stubs() {
        admin.save(stub)?;
    }
    Ok(AnswerBuilder::new(200, None).body(b""))
}
