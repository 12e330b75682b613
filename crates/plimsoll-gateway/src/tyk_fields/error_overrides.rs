//! What is said in the place of errors, in `tyk.conf` and in definitions alike (`apidef/api_definitions.go`, `ErrorOverride`).

use super::Class::{Refused, Supported};
use super::Field;

const OVERRIDE_FLAG: &str = "one that no error has here matches none, which is told";
const OVERRIDE_PATTERN: &str =
    "an expression of Go; one that is none takes its rule out, as in Tyk, which is told";
const OVERRIDE_FIELD: &str =
    "names and places with dots between; of upstreams' errors alone, in their first 4096 bytes";
const OVERRIDE_STATUS: &str = "200 to 599 that goes with a body";
const OVERRIDE_BODY: &str = "with `{{.StatusCode}}` and `{{.Message}}` alone";
const OVERRIDE_TEMPLATE: &str = "files of templates are not read: write the text as `body`";

pub(super) const FIELDS: &[Field] = &[
    Field("error_overrides.*.*.match.flag", Supported, OVERRIDE_FLAG),
    Field(
        "error_overrides.*.*.match.message_pattern",
        Supported,
        OVERRIDE_PATTERN,
    ),
    Field(
        "error_overrides.*.*.match.body_field",
        Supported,
        OVERRIDE_FIELD,
    ),
    Field(
        "error_overrides.*.*.match.body_value",
        Supported,
        OVERRIDE_FIELD,
    ),
    Field(
        "error_overrides.*.*.response.status_code",
        Supported,
        OVERRIDE_STATUS,
    ),
    Field(
        "error_overrides.*.*.response.body",
        Supported,
        OVERRIDE_BODY,
    ),
    Field(
        "error_overrides.*.*.response.message",
        Supported,
        "in Tyk's own template, where there is no `body`",
    ),
    Field(
        "error_overrides.*.*.response.template",
        Refused(&[]),
        OVERRIDE_TEMPLATE,
    ),
    Field(
        "error_overrides.*.*.response.headers",
        Supported,
        "none that frame a message",
    ),
];
