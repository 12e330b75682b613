//! WireMock's error JSON: `{"errors": [{"code", "source": {"pointer"}, "title", "detail"}]}`.

use crate::mappings::stubs::NotPlaced;
use plimsoll_wiremock::budget::TooCostly;
use plimsoll_wiremock::reader::problem::{ProblemKind, StubProblem};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use serde_json::{Value, json};
use std::fmt;

/// An admin request that is answered with an error.
#[derive(Debug)]
pub(crate) struct AdminError {
    status: u16,
    errors: Vec<Value>,
}

/// WireMock's code for what it cannot parse or use.
const INVALID: u32 = 10;
/// WireMock's code for a query parameter that it cannot use.
const BAD_PARAMETER: u32 = 15;
/// WireMock's code for a state that is not possible.
const NO_STATE: u32 = 11;
/// WireMock's code for ending a recording that has not begun.
const NOT_RECORDING: u32 = 30;
/// WireMock's code for an id that is taken.
const DUPLICATE_ID: u32 = 109;

impl AdminError {
    /// A parameter or id that is not well-formed.
    pub(crate) fn bad_parameter(title: &str) -> Self {
        Self::single(400, INVALID, title)
    }

    /// A parameter that is no time.
    pub(crate) fn bad_time(parameter: &str, text: &str) -> Self {
        let title = format!("{text} is not a valid ISO8601 date");
        let mut error = Self::single(400, INVALID, &title);
        error.errors[0]["source"] = json!({"pointer": parameter});
        error
    }

    /// A stub's id among the parameters that is not well-formed.
    pub(crate) fn bad_stub_parameter(id: &str) -> Self {
        let title = format!("Query parameter matchingStub value '{id}' is not a valid UUID");
        Self::single(400, BAD_PARAMETER, &title)
    }

    /// A caller without the right credentials.
    pub(crate) fn unauthorised() -> Self {
        Self::single(401, INVALID, "Unauthorized")
    }

    /// A caller that may not call.
    pub(crate) fn forbidden(title: &str) -> Self {
        Self::single(403, INVALID, title)
    }

    /// A stub, request or file that is not there: WireMock's answer has no body.
    pub(crate) fn absent() -> Self {
        Self {
            status: 404,
            errors: Vec::new(),
        }
    }

    /// Something that is not there.
    pub(crate) fn not_found(title: &str) -> Self {
        Self::single(404, INVALID, title)
    }

    /// A scenario that is not there.
    pub(crate) fn no_scenario(name: &str) -> Self {
        Self::single(404, 404, &format!("Scenario {name} does not exist"))
    }

    /// A state that no stub of a scenario names.
    pub(crate) fn no_state(name: &str, state: &str) -> Self {
        let title = format!("Scenario {name} does not support state {state}");
        Self::single(422, NO_STATE, &title)
    }

    /// The end of a recording that has not begun.
    pub(crate) fn not_recording() -> Self {
        Self::single(400, NOT_RECORDING, "Not currently recording.")
    }

    /// A route of WireMock's that this version does not have.
    pub(crate) fn not_available(route: &str) -> Self {
        let detail = format!("{route} is not available in this version");
        Self {
            status: 404,
            errors: vec![json!({"code": INVALID, "title": "Not found", "detail": detail})],
        }
    }

    /// Something of ours that failed.
    pub(crate) fn internal(title: &str) -> Self {
        Self::single(500, INVALID, title)
    }

    /// A stub mapping that is refused, with all its problems.
    pub(crate) fn refused(problems: &[StubProblem]) -> Self {
        let error = |problem: &StubProblem| {
            let title = match problem.kind {
                ProblemKind::NotAvailable => "Not available",
                _ => "Error parsing JSON",
            };
            let pointer = &problem.pointer;
            let mut error = json!({"code": INVALID, "title": title, "detail": problem.message});
            error["source"] = match problem.kind {
                ProblemKind::Syntax => json!({}),
                _ if pointer.is_empty() => json!({"pointer": "/"}),
                _ => json!({"pointer": pointer}),
            };
            error
        };
        Self {
            status: 422,
            errors: problems.iter().map(error).collect(),
        }
    }

    /// The answer to send.
    pub(crate) fn answer(&self) -> Answer {
        if self.errors.is_empty() {
            return AnswerBuilder::new(self.status, None).body(b"");
        }
        Answer::json(self.status, &json!({"errors": self.errors}))
    }

    fn single(status: u16, code: u32, title: &str) -> Self {
        Self {
            status,
            errors: vec![json!({"code": code, "title": title})],
        }
    }
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |error: &Value| {
            let words = error["detail"].as_str().or(error["title"].as_str());
            words.unwrap_or_default().to_owned()
        };
        let errors: Vec<String> = self.errors.iter().map(words).collect();
        f.write_str(&errors.join("; "))
    }
}

impl From<TooCostly> for AdminError {
    fn from(error: TooCostly) -> Self {
        Self::internal(&error.to_string())
    }
}

impl From<NotPlaced> for AdminError {
    fn from(reason: NotPlaced) -> Self {
        let detail = reason.to_string();
        let (code, title) = match reason {
            NotPlaced::DuplicateId(_) => (DUPLICATE_ID, "Duplicate stub mapping ID"),
            NotPlaced::TooMany => (INVALID, "Too many stub mappings"),
        };
        Self {
            status: 422,
            errors: vec![json!({"code": code, "title": title, "detail": detail})],
        }
    }
}
