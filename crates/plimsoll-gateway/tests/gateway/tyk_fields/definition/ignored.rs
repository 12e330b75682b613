//! The fields of API definitions that change nothing: each is given, told, and makes no difference.

use super::super::{Unread, upstream};
use crate::support::Upstream;
use crate::tyk::{Files, target};
use serde_json::{Value, json};

pub const UNREAD: &[Unread] = &[
    Unread(
        "id",
        "apidef/api_definitions.go: Id is the database's",
        r#""x""#,
    ),
    Unread(
        "_id",
        "apidef/api_definitions.go: Id is the database's",
        r#""x""#,
    ),
    Unread(
        "slug",
        "gateway/api_definition.go: getVersionFromRequest (of versions alone)",
        r#""x""#,
    ),
    Unread(
        "auth.name",
        "apidef/api_definitions.go: AuthConfig.Name is read by nobody",
        r#""x""#,
    ),
    Unread(
        "auth.param_name",
        "gateway/middleware.go: getAuthToken",
        r#""key""#,
    ),
    Unread(
        "auth.cookie_name",
        "gateway/middleware.go: getAuthToken",
        r#""key""#,
    ),
    Unread(
        "auth.signature",
        "gateway/mw_auth_key.go: validateSignature",
        r#"{"algorithm":"MasheryMD5","secret":"s"}"#,
    ),
    Unread(
        "auth_configs.authToken.name",
        "apidef/api_definitions.go: AuthConfig.Name is read by nobody",
        r#""x""#,
    ),
    Unread(
        "auth_configs.authToken.param_name",
        "gateway/middleware.go: getAuthToken",
        r#""key""#,
    ),
    Unread(
        "auth_configs.authToken.cookie_name",
        "gateway/middleware.go: getAuthToken",
        r#""key""#,
    ),
    Unread(
        "auth_configs.authToken.signature",
        "gateway/mw_auth_key.go: validateSignature",
        r#"{"algorithm":"MasheryMD5","secret":"s"}"#,
    ),
    Unread(
        "auth_configs.jwt",
        "gateway/mw_jwt.go: EnabledForSpec",
        r#"{"cookie_name":"c"}"#,
    ),
    Unread(
        "auth_configs.hmac",
        "gateway/mw_http_signature_validation.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Hmac"}"#,
    ),
    Unread(
        "auth_configs.basic",
        "gateway/mw_basic_auth.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Basic"}"#,
    ),
    Unread(
        "auth_configs.coprocess",
        "gateway/coprocess.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Co"}"#,
    ),
    Unread(
        "auth_configs.oauth",
        "gateway/mw_oauth2_key_exists.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Oauth"}"#,
    ),
    Unread(
        "auth_configs.externalOAuth",
        "gateway/mw_external_oauth.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Oauth"}"#,
    ),
    Unread(
        "auth_configs.oidc",
        "gateway/mw_openid.go: EnabledForSpec",
        r#"{"auth_header_name":"X-Oidc"}"#,
    ),
    Unread(
        "jwt_skip_kid",
        "gateway/mw_jwt.go: EnabledForSpec",
        r#"true"#,
    ),
    Unread(
        "jwt_scope_claim_name",
        "gateway/mw_jwt.go: EnabledForSpec",
        r#""scope""#,
    ),
    Unread(
        "scopes",
        "gateway/mw_jwt.go: EnabledForSpec",
        r#"{"jwt":{"scope_claim_name":"scope","scope_to_policy":{"a":"p"}}}"#,
    ),
    Unread(
        "idp_client_id_mapping_disabled",
        "gateway/mw_jwt.go: processCentralisedJWT",
        r#"true"#,
    ),
    Unread(
        "basic_auth",
        "gateway/mw_basic_auth.go: EnabledForSpec",
        r#"{"disable_caching":true,"extract_from_body":true}"#,
    ),
    Unread(
        "oauth_meta",
        "gateway/mw_oauth2_key_exists.go: EnabledForSpec",
        r#"{"allowed_access_types":["client_credentials"]}"#,
    ),
    Unread(
        "notifications",
        "gateway/oauth_manager.go: NotificationsDetails, told to nobody else",
        r#"{"shared_secret":"s","oauth_on_keychange_url":"http://x"}"#,
    ),
    Unread(
        "external_oauth",
        "gateway/mw_external_oauth.go: EnabledForSpec",
        r#"{"providers":[{"jwt":{"enabled":true}}]}"#,
    ),
    Unread(
        "openid_options",
        "gateway/mw_openid.go: EnabledForSpec",
        r#"{"segregate_by_client":true}"#,
    ),
    Unread(
        "hmac_allowed_clock_skew",
        "gateway/mw_http_signature_validation.go: EnabledForSpec",
        r#"5"#,
    ),
    Unread(
        "hmac_allowed_algorithms",
        "gateway/mw_http_signature_validation.go: EnabledForSpec",
        r#"["hmac-sha256"]"#,
    ),
    Unread(
        "auth_provider",
        "gateway/api_loader.go: configureAuthAndOrgStores",
        r#"{"name":"n","meta":{"a":1}}"#,
    ),
    Unread(
        "session_provider",
        "gateway/api_loader.go: configureAuthAndOrgStores",
        r#"{"name":"n","meta":{"a":1}}"#,
    ),
    Unread(
        "ip_access_control_disabled",
        "gateway/mw_ip_whitelist.go: EnabledForSpec",
        r#"true"#,
    ),
    Unread(
        "proxy.service_discovery",
        "gateway/reverse_proxy.go: urlFromService, by use_discovery_service",
        r#"{"query_endpoint":"http://x","data_path":"host"}"#,
    ),
    Unread(
        "upstream_certificates_disabled",
        "gateway/cert.go: getUpstreamCertificate",
        r#"true"#,
    ),
    Unread(
        "certificate_pinning_disabled",
        "gateway/cert.go: getPinnedPublicKeys",
        r#"true"#,
    ),
    Unread(
        "upstream_auth",
        "gateway/mw_upstream_basic_auth.go: EnabledForSpec",
        r#"{"basic_auth":{"username":"u","password":"p"}}"#,
    ),
    Unread(
        "request_signing",
        "gateway/mw_request_signing.go: EnabledForSpec",
        r#"{"secret":"s","key_id":"k","algorithm":"hmac-sha256"}"#,
    ),
    Unread(
        "certificates",
        "gateway/cert.go: getTLSConfigForClient",
        r#"["id"]"#,
    ),
    Unread(
        "definition",
        "gateway/api_definition.go: getVersionFromRequest",
        r#"{"location":"url-param","key":"v","default":"v1","fallback_to_default":true}"#,
    ),
    Unread(
        "version_data.default_version",
        "gateway/api_definition.go: Version",
        r#""v2""#,
    ),
    Unread(
        "version_data.versions.*.name",
        "gateway/api_definition.go: Version (a name of RxPaths)",
        r#""another""#,
    ),
    Unread(
        "version_data.versions.*.extended_paths.transform_headers.*.act_on",
        "gateway/api_definition.go: compileInjectedHeaderSpec",
        r#""response""#,
    ),
    Unread(
        "version_data.versions.*.extended_paths.transform_response_headers.*.act_on",
        "gateway/api_definition.go: compileInjectedHeaderSpec",
        r#""request""#,
    ),
    Unread(
        "version_data.versions.*.extended_paths.track_endpoints",
        "gateway/mw_track_endpoints.go: ProcessRequest",
        r#"[{"path":"/x","method":"GET"}]"#,
    ),
    Unread(
        "custom_middleware.auth_check",
        "gateway/api_loader.go: processSpec",
        r#"{"name":"f","path":"f.py"}"#,
    ),
    Unread(
        "custom_middleware.id_extractor",
        "gateway/coprocess.go: CreateCoProcessMiddleware",
        r#"{"extract_from":"header","extract_with":"value"}"#,
    ),
    Unread(
        "custom_middleware_",
        "apidef/api_definitions.go: no such field",
        r#"{"a":1}"#,
    ),
    Unread(
        "extended_paths",
        "apidef/api_definitions.go: no such field",
        r#"{"black_list":[{"path":"/"}]}"#,
    ),
    Unread(
        "check_host_against_uptime_tests",
        "apidef/api_definitions.go: no such field",
        r#"true"#,
    ),
    Unread(
        "analytics_plugin",
        "gateway/analytics_go_plugin.go: of enable alone",
        r#"{"plugin_path":"p.so","func_name":"f"}"#,
    ),
    Unread(
        "cache_options.enable_cache",
        "gateway/mw_redis_cache.go: ProcessRequest",
        r#"true"#,
    ),
    Unread(
        "cache_options",
        "gateway/mw_redis_cache.go: EnabledForSpec",
        r#"{"cache_timeout":60,"cache_response_codes":[200]}"#,
    ),
    Unread(
        "CORS",
        "gateway/mw_cors.go: EnabledForSpec",
        r#"{"allowed_origins":["*"],"max_age":24,"allow_credentials":true}"#,
    ),
    Unread(
        "graphql",
        "gateway/mw_graphql.go: EnabledForSpec",
        r#"{"schema":"type Query { a: String }","execution_mode":"proxyOnly"}"#,
    ),
    Unread(
        "enable_context_vars",
        "gateway/mw_context_vars.go: EnabledForSpec",
        r#"true"#,
    ),
    Unread(
        "config_data",
        "gateway/mw_js_plugin.go: specToJson",
        r#"{"a":1}"#,
    ),
    Unread(
        "config_data_disabled",
        "gateway/mw_js_plugin.go: specToJson",
        r#"true"#,
    ),
    Unread(
        "tag_headers",
        "gateway/handler_success.go: tagHeaders",
        r#"["X-Tag"]"#,
    ),
    Unread(
        "tags",
        "gateway/api_definition.go: FromDir takes every file",
        r#"["edge"]"#,
    ),
    Unread(
        "tags_disabled",
        "gateway/api_definition.go: FromDir takes every file",
        r#"true"#,
    ),
    Unread(
        "detailed_tracing",
        "gateway/api_loader.go: processSpec",
        r#"true"#,
    ),
    Unread(
        "uptime_tests",
        "gateway/host_checker_manager.go: populateHostListByApiSpec",
        r#"{"check_list":[{"url":"http://x"}],"config":{"expire_utime_after":60}}"#,
    ),
    Unread(
        "event_handlers",
        "gateway/event_system.go: FireEvent",
        r#"{"events":{"QuotaExceeded":[{"handler_name":"eh_log_handler","handler_meta":{"prefix":"x"}}]}}"#,
    ),
    Unread(
        "hook_references",
        "apidef/api_definitions.go: no such field",
        r#"[{"event_name":"QuotaExceeded"}]"#,
    ),
    Unread(
        "proxy.transport.dial_timeout",
        "apidef/api_definitions.go: ProxyConfig",
        "5",
    ),
];

/// A definition in which every ignored field has its place.
fn base(upstream: &Upstream) -> Value {
    let edits = json!([{ "path": "/t", "method": "GET", "add_headers": { "X-Own": "2" } }]);
    let lists = json!({ "transform_headers": edits, "transform_response_headers": edits });
    json!({
        "use_keyless": false,
        "proxy": target(upstream.address),
        "auth_configs": { "authToken": { "auth_header_name": "X-Key" } },
        "version_data": { "versions": { "Default": { "extended_paths": lists } } },
    })
}

#[test]
fn ignored_fields_of_definitions_change_nothing_and_are_told() {
    let upstream = upstream();
    let files = Files::new();
    let open = |definition: Value| {
        files.api("a", definition);
        let opened = files.open(false);
        let (_, config, notes) = opened.unwrap_or_else(|problems| panic!("{problems}"));
        (format!("{config:?}"), notes.join("\n"))
    };
    let base = base(&upstream);
    let (without, _) = open(base.clone());
    let telling = Unread("strip_auth_data", "", "true");
    assert_ne!(open(telling.in_document(&base)).0, without);
    for unread in UNREAD {
        let (with, notes) = open(unread.in_document(&base));
        assert_eq!(with, without, "{}", unread.0);
        assert!(notes.contains(unread.shown()), "{}: {notes}", unread.0);
    }
}
