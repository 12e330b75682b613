//! `enable_jwt` and what belongs to it: how tokens are verified, and which policies they stand for.
//!
//! Keys that are fetched, other ways of authentication beside it and policies by scope are refused: what is left of them would let in others
//! than Tyk does.

use super::super::conf::Conf;
use super::super::definition::{Definition, TokenAuth};
use super::{Api, Check};
use crate::clients::jwt::claims::Skews;
use crate::clients::jwt::key::{Method, VerifyingKey, Written};
use crate::keys::grant::Policies;
use crate::policy::token::TokenRules;

/// An API's rules for tokens, if it is open to them.
pub(super) fn token(c: &mut Check<'_>, api: &Api, conf: &Conf) -> Option<TokenRules> {
    let definition = &api.definition;
    if definition.enable_jwt != Some(true) {
        return None;
    }
    check_others(c, definition);
    check_place(c, definition);
    let method = method(c, definition);
    let key = key(c, definition, method);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(TokenRules {
        key,
        skews: Skews {
            expires: definition.jwt_expires_at_validation_skew.unwrap_or(0),
            issued: definition.jwt_issued_at_validation_skew.unwrap_or(0),
            not_before: definition.jwt_not_before_validation_skew.unwrap_or(0),
        },
        identity: text(&definition.jwt_identity_base_field),
        policy: text(&definition.jwt_policy_field_name),
        defaults: definition.jwt_default_policies.clone().unwrap_or_default(),
        form: conf.keys.form,
        listed: !conf.keys.hashed,
    })
}

/// Note on an API whose tokens stand for a policy that there is not.
pub(in crate::tyk) fn unserved(api: &Api, policies: &Policies) -> Option<String> {
    let definition = &api.definition;
    if definition.enable_jwt != Some(true) || definition.use_keyless == Some(true) {
        return None;
    }
    let first = definition.jwt_default_policies.as_ref()?.first()?;
    let organisation = definition.org_id.as_deref().unwrap_or_default();
    let is_there = (policies.get(first)).is_some_and(|policy| policy.organisation == organisation);
    let name = api.file.display();
    (!is_there).then(|| {
        format!("{name}: jwt_default_policies: `{organisation}` has no policy `{first}`, so tokens that name none are refused")
    })
}

/// The field that carries the token.
pub(super) fn header(definition: &Definition) -> Option<&str> {
    match place(definition) {
        Some(own) => own.auth_header_name.as_deref(),
        None => definition.auth.as_ref()?.auth_header_name.as_deref(),
    }
}

fn place(definition: &Definition) -> Option<&TokenAuth> {
    definition.auth_configs.as_ref()?.jwt.as_ref()
}

/// Whatever else would have a say.
fn check_others(c: &mut Check<'_>, definition: &Definition) {
    let on = |flag: Option<bool>| flag == Some(true);
    if on(definition.use_standard_auth) {
        let message = "a request proves in one way who it is from here: leave `enable_jwt` or this";
        c.refuse("use_standard_auth", message);
    }
    if definition
        .jwt_jwks_uris
        .as_ref()
        .is_some_and(|uris| !uris.is_empty())
    {
        let message = "keys are not fetched: write the key itself as `jwt_source`, in Base64";
        c.refuse("jwt_jwks_uris", message);
    }
    let says = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    if says(&definition.jwt_client_base_field) && !says(&definition.jwt_policy_field_name) {
        let message = "the policy of another key is not borrowed: name the claim that holds one in `jwt_policy_field_name`";
        c.refuse("jwt_client_base_field", message);
    }
    let unscoped = "policies do not follow from scopes: name the claim that holds one in `jwt_policy_field_name`";
    let scopes = definition
        .scopes
        .as_ref()
        .and_then(|scopes| scopes.jwt.as_ref());
    let scopes = scopes.and_then(|scope| scope.scope_to_policy.as_ref());
    if scopes.is_some_and(|scopes| scopes.iter().next().is_some()) {
        c.refuse("scopes.jwt.scope_to_policy", unscoped);
    }
    let mapping = definition.jwt_scope_to_policy_mapping.as_ref();
    if mapping.is_some_and(|mapping| mapping.iter().next().is_some()) {
        c.refuse("jwt_scope_to_policy_mapping", unscoped);
    }
    for (name, switch) in [
        (
            "jwt_disable_issued_at_validation",
            definition.jwt_disable_issued_at_validation,
        ),
        (
            "jwt_disable_expires_at_validation",
            definition.jwt_disable_expires_at_validation,
        ),
        (
            "jwt_disable_not_before_validation",
            definition.jwt_disable_not_before_validation,
        ),
    ] {
        if on(switch) {
            c.refuse(
                name,
                "times are always held to: leave it out, and write a skew if clocks differ",
            );
        }
    }
}

/// Where else a token might be.
fn check_place(c: &mut Check<'_>, definition: &Definition) {
    let Some(own) = place(definition) else { return };
    for (name, switch) in [
        ("use_param", own.use_param),
        ("use_cookie", own.use_cookie),
        ("disable_header", own.disable_header),
    ] {
        if switch == Some(true) {
            let message = "tokens travel in a header alone: leave it out";
            c.refuse(format!("auth_configs.jwt.{name}").as_str(), message);
        }
    }
}

fn method(c: &mut Check<'_>, definition: &Definition) -> Method {
    match definition.jwt_signing_method.as_deref() {
        None | Some("" | "hmac") => Method::Hmac,
        Some("rsa") => Method::Rsa,
        Some("ecdsa") => Method::Ecdsa,
        Some(other) => {
            let message = format!(
                "there is no method `{other}`, and Tyk would take it for `hmac`: write `hmac`, `rsa` or `ecdsa`"
            );
            c.refuse("jwt_signing_method", message);
            Method::Hmac
        }
    }
}

fn key(c: &mut Check<'_>, definition: &Definition, method: Method) -> VerifyingKey {
    let at = "jwt_source";
    let source = definition.jwt_source.as_deref().unwrap_or_default();
    if source.is_empty() {
        let message = "one key verifies all tokens here, and none is written: write it as `jwt_source`, in Base64";
        c.refuse("enable_jwt", message);
        return VerifyingKey::nobodys(method);
    }
    match Written::read(source) {
        Written::Url => {
            c.refuse(at, "keys are not fetched: write the key itself, in Base64");
            VerifyingKey::nobodys(method)
        }
        Written::Unreadable => {
            let message = "it is not Base64, so no token opens this API, as in Tyk";
            c.note(&plimsoll_base::document::Path::root().key(at), message);
            VerifyingKey::nobodys(method)
        }
        Written::Bytes(bytes) => VerifyingKey::new(method, &bytes).unwrap_or_else(|unfit| {
            c.refuse(at, unfit.to_string());
            VerifyingKey::nobodys(method)
        }),
    }
}
