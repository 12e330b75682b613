//! `POST /mappings/reset` and `POST /reset`: back to the stubs of the root directory, and an empty journal. If its files have problems, nothing changes.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::mappings::source;
use plimsoll_wiremock::reader::problem::StubProblem;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let root = admin.root.as_deref();
    let loaded = source::load_initial(root, &admin.around, admin.proxy_all.as_deref())
        .map_err(|error| AdminError::internal(&error.to_string()))?;
    if !loaded.problems.is_empty() {
        let in_file = |problem: &plimsoll_wiremock::reader::problem::FileProblem| StubProblem {
            message: format!("{}: {}", problem.file, problem.problem.message),
            ..problem.problem.clone()
        };
        let problems: Vec<StubProblem> = loaded.problems.iter().map(in_file).collect();
        return Err(AdminError::refused(&problems));
    }
    admin.stubs.replace_all(loaded.mappings)?;
    admin.journal.clear();
    Ok(AnswerBuilder::new(200, None).body(b""))
}
