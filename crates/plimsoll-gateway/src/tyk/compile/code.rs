//! Code that a definition names. None is run here, so a definition is refused for what Tyk would run; what Tyk does not run either is told.
//!
//! Source: Tyk 5.15, `gateway/server.go` (`loadCustomMiddleware`), `gateway/api_loader.go` (`processSpec`), `gateway/coprocess.go`
//! (`EnabledForSpec`).

use super::super::conf::Conf;
use super::super::definition::{CustomMiddleware, Definition, Hook};
use super::Check;
use plimsoll_base::document::Path;

/// Refuses what Tyk would run.
pub(super) fn check(c: &mut Check<'_>, definition: &Definition, conf: &Conf) {
    let code = definition.custom_middleware.as_ref();
    let is_dropped = !conf.coprocess && code.is_some_and(is_coprocess);
    if let Some(code) = code {
        hooks(c, code, is_dropped);
    }
    for (name, switch) in [
        ("enable_coprocess_auth", definition.enable_coprocess_auth),
        (
            "custom_plugin_auth_enabled",
            definition.custom_plugin_auth_enabled,
        ),
    ] {
        match switch == Some(true) {
            false => {}
            true if is_dropped => c.note(
                &Path::root().key(name),
                "is not run while `coprocess_options.enable_coprocess` is off, and keys are asked for, as in Tyk",
            ),
            true => c.refuse(name, "code is not run here: write what it asks for as keys and rules"),
        }
    }
    let is_off = definition.custom_middleware_bundle_disabled == Some(true);
    let bundle = definition.custom_middleware_bundle.as_deref();
    if bundle.is_some_and(|bundle| !bundle.is_empty()) && !is_off {
        c.refuse(
            "custom_middleware_bundle",
            "code is not run here: remove it",
        );
    }
}

/// Whether it would run in a process beside Tyk.
fn is_coprocess(code: &CustomMiddleware) -> bool {
    matches!(code.driver.as_deref(), Some("python" | "lua" | "grpc"))
}

fn hooks(c: &mut Check<'_>, code: &CustomMiddleware, is_dropped: bool) {
    let at = Path::root().key("custom_middleware");
    for (name, hooks) in [
        ("pre", &code.pre),
        ("post_key_auth", &code.post_key_auth),
        ("post", &code.post),
        ("response", &code.response),
    ] {
        let runs = |hook: &&Hook| hook.disabled != Some(true);
        if hooks.iter().flatten().find(runs).is_none() {
            continue;
        }
        match is_dropped && name != "response" {
            true => c.note(
                &at.key(name),
                "is not run while `coprocess_options.enable_coprocess` is off, as in Tyk",
            ),
            false => c.refuse(
                at.key(name),
                "code is not run here: write what it does as rules, or remove it",
            ),
        }
    }
}
