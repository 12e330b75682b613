//! The supported part of an API definition: wire structs of its fields. Their meaning is [`super::compile`]'s.

use super::overrides;
use deserr::Deserr;
use plimsoll_base::document::{Entries, Text};
use serde_json::Value;

#[derive(Debug, Deserr)]
pub(super) struct Definition {
    #[deserr(default)]
    pub(super) api_id: Option<String>,
    #[deserr(default)]
    pub(super) name: Option<String>,
    #[deserr(default)]
    pub(super) org_id: Option<String>,
    #[deserr(default)]
    pub(super) enable_batch_request_support: Option<bool>,
    #[deserr(default)]
    pub(super) do_not_track: Option<bool>,
    #[deserr(default)]
    pub(super) enable_detailed_recording: Option<bool>,
    #[deserr(default)]
    pub(super) expire_analytics_after: Option<i64>,
    #[deserr(default)]
    pub(super) session_lifetime: Option<i64>,
    #[deserr(default)]
    pub(super) session_lifetime_respects_key_expiration: Option<bool>,
    #[deserr(default)]
    pub(super) active: Option<bool>,
    #[deserr(default)]
    pub(super) internal: Option<bool>,
    #[deserr(default)]
    pub(super) use_keyless: Option<bool>,
    #[deserr(default)]
    pub(super) enable_coprocess_auth: Option<bool>,
    #[deserr(default)]
    pub(super) custom_plugin_auth_enabled: Option<bool>,
    #[deserr(default)]
    pub(super) custom_middleware: Option<CustomMiddleware>,
    #[deserr(default)]
    pub(super) custom_middleware_bundle: Option<String>,
    #[deserr(default)]
    pub(super) custom_middleware_bundle_disabled: Option<bool>,
    #[deserr(default)]
    pub(super) domain: Option<String>,
    #[deserr(default)]
    pub(super) domain_disabled: Option<bool>,
    #[deserr(default)]
    pub(super) use_standard_auth: Option<bool>,
    #[deserr(default)]
    pub(super) base_identity_provided_by: Option<String>,
    #[deserr(default)]
    pub(super) enable_jwt: Option<bool>,
    #[deserr(default)]
    pub(super) jwt_signing_method: Option<String>,
    #[deserr(default)]
    pub(super) jwt_source: Option<String>,
    #[deserr(default)]
    pub(super) jwt_jwks_uris: Option<Vec<KeySet>>,
    #[deserr(default)]
    pub(super) jwt_identity_base_field: Option<String>,
    #[deserr(default)]
    pub(super) jwt_client_base_field: Option<String>,
    #[deserr(default)]
    pub(super) jwt_policy_field_name: Option<String>,
    #[deserr(default)]
    pub(super) jwt_default_policies: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) jwt_issued_at_validation_skew: Option<u32>,
    #[deserr(default)]
    pub(super) jwt_expires_at_validation_skew: Option<u32>,
    #[deserr(default)]
    pub(super) jwt_not_before_validation_skew: Option<u32>,
    #[deserr(default)]
    pub(super) jwt_disable_issued_at_validation: Option<bool>,
    #[deserr(default)]
    pub(super) jwt_disable_expires_at_validation: Option<bool>,
    #[deserr(default)]
    pub(super) jwt_disable_not_before_validation: Option<bool>,
    #[deserr(default)]
    pub(super) jwt_scope_to_policy_mapping: Option<Entries<String>>,
    #[deserr(default)]
    pub(super) scopes: Option<Scopes>,
    #[deserr(default)]
    pub(super) auth: Option<Auth>,
    #[deserr(default)]
    pub(super) auth_configs: Option<AuthConfigs>,
    #[deserr(default)]
    pub(super) strip_auth_data: Option<bool>,
    pub(super) proxy: Proxy,
    #[deserr(default)]
    pub(super) version_data: Option<VersionData>,
    #[deserr(default)]
    pub(super) disable_rate_limit: Option<bool>,
    #[deserr(default)]
    pub(super) disable_quota: Option<bool>,
    #[deserr(default)]
    pub(super) global_rate_limit: Option<GlobalRateLimit>,
    #[deserr(default)]
    pub(super) error_overrides: Option<overrides::Wire>,
    #[deserr(default)]
    pub(super) error_overrides_disabled: Option<bool>,
}

/// Code that Tyk would run.
#[derive(Debug, Deserr)]
pub(super) struct CustomMiddleware {
    #[deserr(default)]
    pub(super) driver: Option<String>,
    #[deserr(default)]
    pub(super) pre: Option<Vec<Hook>>,
    #[deserr(default)]
    pub(super) post: Option<Vec<Hook>>,
    #[deserr(default)]
    pub(super) post_key_auth: Option<Vec<Hook>>,
    #[deserr(default)]
    pub(super) response: Option<Vec<Hook>>,
}

/// One piece of it.
#[derive(Debug, Deserr)]
pub(super) struct Hook {
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct AuthConfigs {
    #[deserr(default, rename = "authToken")]
    pub(super) auth_token: Option<Auth>,
    #[deserr(default)]
    pub(super) jwt: Option<TokenAuth>,
    #[deserr(default)]
    hmac: Option<Value>,
    #[deserr(default)]
    basic: Option<Value>,
    #[deserr(default)]
    coprocess: Option<Value>,
    #[deserr(default)]
    oauth: Option<Value>,
    #[deserr(default, rename = "externalOAuth")]
    external_oauth: Option<Value>,
    #[deserr(default)]
    oidc: Option<Value>,
}

impl AuthConfigs {
    /// Whether ways are there that are neither the key nor the token.
    pub(super) fn has_others(&self) -> bool {
        let others = [
            &self.hmac,
            &self.basic,
            &self.coprocess,
            &self.oauth,
            &self.external_oauth,
            &self.oidc,
        ];
        others.into_iter().any(Option::is_some)
    }
}

#[derive(Debug, Deserr)]
pub(super) struct Auth {
    #[deserr(default)]
    pub(super) auth_header_name: Option<String>,
    #[deserr(default)]
    pub(super) cookie_name: Option<String>,
}

/// Where a token is.
#[derive(Debug, Deserr)]
pub(super) struct TokenAuth {
    #[deserr(default)]
    pub(super) auth_header_name: Option<String>,
    #[deserr(default)]
    pub(super) cookie_name: Option<String>,
    #[deserr(default)]
    pub(super) use_param: Option<bool>,
    #[deserr(default)]
    pub(super) use_cookie: Option<bool>,
    #[deserr(default)]
    pub(super) disable_header: Option<bool>,
}

/// Keys that are to be fetched.
#[derive(Debug, Deserr)]
pub(super) struct KeySet {}

#[derive(Debug, Deserr)]
pub(super) struct Scopes {
    #[deserr(default)]
    pub(super) jwt: Option<ScopeClaim>,
}

#[derive(Debug, Deserr)]
pub(super) struct ScopeClaim {
    #[deserr(default)]
    pub(super) scope_to_policy: Option<Entries<String>>,
}

#[derive(Debug, Deserr)]
pub(super) struct Proxy {
    pub(super) listen_path: String,
    #[deserr(default)]
    pub(super) target_url: Option<String>,
    #[deserr(default)]
    pub(super) strip_listen_path: Option<bool>,
    #[deserr(default)]
    pub(super) preserve_host_header: Option<bool>,
    #[deserr(default)]
    pub(super) enable_load_balancing: Option<bool>,
    #[deserr(default)]
    pub(super) target_list: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) disable_strip_slash: Option<bool>,
    #[deserr(default)]
    pub(super) transport: Option<Transport>,
}

/// How connections to targets are made.
#[derive(Debug, Deserr)]
pub(super) struct Transport {
    #[deserr(default)]
    pub(super) ssl_insecure_skip_verify: Option<bool>,
    #[deserr(default)]
    pub(super) ssl_min_version: Option<u16>,
    #[deserr(default)]
    pub(super) ssl_max_version: Option<u16>,
}

#[derive(Debug, Deserr)]
pub(super) struct GlobalRateLimit {
    #[deserr(default)]
    pub(super) rate: Option<f64>,
    #[deserr(default)]
    pub(super) per: Option<f64>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct VersionData {
    #[deserr(default)]
    pub(super) not_versioned: Option<bool>,
    #[deserr(default)]
    pub(super) versions: Option<Entries<Version>>,
}

#[derive(Debug, Deserr)]
pub(super) struct Version {
    #[deserr(default)]
    pub(super) expires: Option<String>,
    #[deserr(default)]
    pub(super) use_extended_paths: Option<bool>,
    #[deserr(default)]
    pub(super) paths: Option<PlainPaths>,
    #[deserr(default)]
    pub(super) extended_paths: Option<ExtendedPaths>,
    #[deserr(default)]
    pub(super) ignore_endpoint_case: Option<bool>,
    #[deserr(default)]
    pub(super) global_headers: Option<Entries<Text>>,
    #[deserr(default)]
    pub(super) global_headers_remove: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) global_headers_disabled: Option<bool>,
    #[deserr(default)]
    pub(super) global_response_headers: Option<Entries<Text>>,
    #[deserr(default)]
    pub(super) global_response_headers_remove: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) global_response_headers_disabled: Option<bool>,
    #[deserr(default)]
    pub(super) global_size_limit: Option<u64>,
    #[deserr(default)]
    pub(super) global_size_limit_disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct PlainPaths {
    #[deserr(default)]
    pub(super) ignored: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) white_list: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) black_list: Option<Vec<String>>,
}

#[derive(Debug, Deserr)]
pub(super) struct ExtendedPaths {
    #[deserr(default)]
    pub(super) ignored: Option<Vec<Listed>>,
    #[deserr(default)]
    pub(super) white_list: Option<Vec<Listed>>,
    #[deserr(default)]
    pub(super) black_list: Option<Vec<Listed>>,
    #[deserr(default)]
    pub(super) mock_response: Option<Vec<Mock>>,
    #[deserr(default)]
    pub(super) hard_timeouts: Option<Vec<HardTimeout>>,
    #[deserr(default)]
    pub(super) circuit_breakers: Option<Vec<CircuitBreaker>>,
    #[deserr(default)]
    pub(super) transform_headers: Option<Vec<HeaderInjection>>,
    #[deserr(default)]
    pub(super) transform_response_headers: Option<Vec<HeaderInjection>>,
    #[deserr(default)]
    pub(super) size_limits: Option<Vec<SizeLimit>>,
}

/// A path of the lists that open and close.
#[derive(Debug, Deserr)]
pub(super) struct Listed {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) method_actions: Option<Entries<MethodAction>>,
    #[deserr(default)]
    pub(super) ignore_case: Option<bool>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct MethodAction {
    #[deserr(default)]
    pub(super) action: Option<String>,
    #[deserr(default)]
    pub(super) code: Option<u16>,
    #[deserr(default)]
    pub(super) data: Option<String>,
    #[deserr(default)]
    pub(super) headers: Option<Entries<Text>>,
}

#[derive(Debug, Deserr)]
pub(super) struct Mock {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) code: Option<u16>,
    #[deserr(default)]
    pub(super) body: Option<String>,
    #[deserr(default)]
    pub(super) headers: Option<Entries<Text>>,
    #[deserr(default)]
    pub(super) ignore_case: Option<bool>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct HardTimeout {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) timeout: Option<f64>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct CircuitBreaker {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) threshold_percent: Option<f64>,
    #[deserr(default)]
    pub(super) samples: Option<u32>,
    #[deserr(default)]
    pub(super) return_to_service_after: Option<u32>,
    #[deserr(default)]
    pub(super) disable_half_open_state: Option<bool>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct HeaderInjection {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) delete_headers: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) add_headers: Option<Entries<Text>>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct SizeLimit {
    pub(super) path: String,
    #[deserr(default)]
    pub(super) method: Option<String>,
    #[deserr(default)]
    pub(super) size_limit: Option<u64>,
    #[deserr(default)]
    pub(super) disabled: Option<bool>,
}
