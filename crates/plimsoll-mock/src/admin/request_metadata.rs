//! `POST /requests/remove-by-metadata`: removes requests by the metadata of the stubs that answered them.

use super::error::AdminError;
use super::mapping_metadata::holds;
use super::requests_matching::removed;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::read_matcher;

pub(super) fn remove(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let pattern =
        read_matcher(&request.text()).map_err(|problems| AdminError::refused(&problems))?;
    let mut found = Vec::new();
    for entry in admin.journal.snapshot().entries {
        if let Some(stub) = entry.stub()
            && holds(&pattern, stub)?
        {
            found.push(entry);
        }
    }
    Ok(removed(admin, &found))
}
