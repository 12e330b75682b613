//! How callers of an API prove who they are, and what of them is counted.

use super::{Api, Check, token};
use crate::config::SessionConfig;
use crate::policy::session::Counts;
use crate::tyk::conf::Conf;
use crate::tyk::definition::Definition;

/// The session of whoever calls an API, and where its key or token stands.
pub(super) fn session(c: &mut Check<'_>, api: &Api, conf: &Conf) -> SessionConfig {
    let definition = &api.definition;
    let token = token::token(c, api, conf);
    let header = match &token {
        Some(_) => token::header(definition),
        None => header(definition),
    };
    let header = header
        .filter(|name| !name.is_empty())
        .unwrap_or("Authorization");
    if let Some(message) = crate::messages::edits::refusal(header, "") {
        c.refuse("auth.auth_header_name", message);
    }
    match definition.base_identity_provided_by.as_deref() {
        None | Some("") => {}
        Some("jwt_claim") if token.is_some() => {}
        Some("auth_token") if token.is_none() => {}
        Some(other) => {
            let message = format!(
                "`{other}` is not how callers of this API prove who they are: leave it out"
            );
            c.refuse("base_identity_provided_by", message);
        }
    }
    if definition.strip_auth_data == Some(true) {
        let way = match token {
            Some(_) => Way::Token,
            None => Way::Key,
        };
        check_strip(c, definition, way);
    }
    SessionConfig {
        header: header.to_owned(),
        hide: definition.strip_auth_data.unwrap_or(false),
        api: api.id.clone(),
        organisation: definition.org_id.clone().unwrap_or_default(),
        shortest: conf.keys.shortest,
        counts: Counts {
            rate: !definition.disable_rate_limit.unwrap_or(false),
            quota: !definition.disable_quota.unwrap_or(false),
        },
        token: token.map(std::sync::Arc::new),
    }
}

/// How callers of an API prove who they are.
#[derive(Debug, Clone, Copy)]
enum Way {
    Key,
    Token,
}

/// The field of the key.
fn header(definition: &Definition) -> Option<&str> {
    let configs = definition.auth_configs.as_ref();
    let own = configs.and_then(|configs| configs.auth_token.as_ref());
    let auth = own.or(definition.auth.as_ref());
    auth.and_then(|auth| auth.auth_header_name.as_deref())
}

/// With `strip_auth_data` Tyk removes what every listed way of authentication would look at, whether it is switched on or not.
fn check_strip(c: &mut Check<'_>, definition: &Definition, way: Way) {
    let configs = definition.auth_configs.as_ref();
    let key = configs.and_then(|configs| configs.auth_token.as_ref());
    let token = configs.and_then(|configs| configs.jwt.as_ref());
    let is_other = match way {
        Way::Key => token.is_some(),
        Way::Token => key.is_some(),
    };
    let cookies = [
        key.and_then(|auth| auth.cookie_name.as_deref()),
        token.and_then(|auth| auth.cookie_name.as_deref()),
        (definition.auth.as_ref()).and_then(|auth| auth.cookie_name.as_deref()),
    ];
    let has_cookie = cookies.into_iter().flatten().any(|name| !name.is_empty());
    if is_other || has_cookie || configs.is_some_and(|configs| configs.has_others()) {
        c.refuse(
            "strip_auth_data",
            "the field of the key or token alone is removed here: leave the other ways, and `cookie_name`, out of `auth_configs`",
        );
    }
}
