//! Rows of the fields of `tyk.conf`.

use super::*;

const STORAGE: &str = "storage/connection_handler.go: NewConnector";
const HOSTS: &str = "config/util.go: HostAddrs";
const SHARED: &str = "redis::a_key_made_at_one_gateway_opens_and_closes_at_all";
const NAMED: &str = "tyk_fields::records::redis_is_reached_as_it_is_named";
const KEPT: &str = "tyk_fields::records::records_are_kept_as_the_configuration_says";
const TWO: &str = "sinks::tyks_files_may_name_addresses_to_ignore_and_another_redis_with_ten_lists";
const REFUSED: &str = "tyk_fields::conf::what_is_kept_elsewhere_is_refused";
const LISTENS: &str = "tyk_fields::conf::it_listens_where_it_is_told";
const HASHES: &str = "tyk_fields::conf::keys_are_listed_and_named_as_tyk_does";
const FORCED: &str = "tyk_fields::lifetimes::a_forced_lifetime_is_everybodys";
const CODE: &str = "tyk_meaning::code_is_refused_unless_tyk_would_not_run_it_either";
const ANCHORED: &str = "tyk_meaning::paths_are_anchored_where_the_configuration_says_so";
const POLICIES: &str =
    "tyk_meaning::without_a_name_there_are_no_policies_and_a_directory_has_one_in_each_file";
const HEALTH: &str = "gateway/server.go: loadControlAPIEndpoints";

pub const ROWS: &[Row] = &[
    held("listen_address", "gateway/server.go: startServer", LISTENS),
    held("listen_port", "gateway/server.go: startServer", LISTENS),
    held(
        "secret",
        "gateway/server.go: checkIsAPIOwner",
        "tyk::the_secret_is_demanded_and_its_absence_told",
    ),
    held(
        "app_path",
        "gateway/api_definition.go: FromDir",
        "tyk::definitions_are_written_and_served_after_a_reload",
    ),
    held(
        "policies.policy_source",
        "gateway/server.go: syncPolicies",
        REFUSED,
    ),
    held(
        "policies.policy_record_name",
        "gateway/policy.go: LoadPoliciesFromFile",
        POLICIES,
    ),
    held(
        "policies.policy_path",
        "gateway/policy.go: LoadPoliciesFromDir",
        POLICIES,
    ),
    held("storage.type", STORAGE, REFUSED),
    held("storage.host", HOSTS, SHARED),
    held("storage.port", HOSTS, SHARED),
    held("storage.addrs", HOSTS, NAMED),
    held("storage.username", STORAGE, NAMED),
    held(
        "storage.password",
        STORAGE,
        "redis::a_password_of_the_environment_opens_redis_and_none_does_not",
    ),
    held("storage.database", STORAGE, NAMED),
    held("storage.hosts", HOSTS, NAMED),
    held("hash_keys", "gateway/api.go: keyHandler", HASHES),
    held(
        "hash_key_function",
        "internal/crypto/token.go: GenerateToken",
        HASHES,
    ),
    held(
        "enable_hashed_keys_listing",
        "gateway/api.go: keyHandler",
        HASHES,
    ),
    row(
        "min_token_length",
        "gateway/middleware.go: CheckSessionAndIdentityForValidKey",
        "{}",
        r#"{"min_token_length":6}"#,
        &[
            Ask(
                "POST /tyk/keys/abc\n\n{\"access_rights\":{\"keyed\":{}}}",
                Statuses(1),
                "200",
                "400",
            ),
            Ask("GET /keyed/\nAuthorization: abc", Statuses(1), "200", "403"),
            Ask(
                "POST /tyk/keys/ab\n\n{\"access_rights\":{\"keyed\":{}}}",
                Statuses(1),
                "400",
                "400",
            ),
            Ask(
                "POST /tyk/keys/abcdef\n\n{\"access_rights\":{\"keyed\":{}}}",
                Statuses(1),
                "200",
                "200",
            ),
        ],
    ),
    row(
        "allow_master_keys",
        "gateway/api.go: createKeyHandler",
        "{}",
        r#"{"allow_master_keys":true}"#,
        &[
            Ask("POST /tyk/keys/create\n\n{}", Statuses(1), "400", "200"),
            Ask("POST /tyk/keys/master\n\n{}", Statuses(1), "400", "200"),
            Ask(
                "GET /keyed/\nAuthorization: master",
                Statuses(1),
                "403",
                "200",
            ),
        ],
    ),
    held("enable_analytics", "config/config.go: StoreAnalytics", KEPT),
    held(
        "analytics_config.type",
        "gateway/server.go: setupGlobals",
        REFUSED,
    ),
    held(
        "analytics_config.ignored_ips",
        "config/config.go: StoreAnalytics",
        TWO,
    ),
    held(
        "analytics_config.enable_detailed_recording",
        "gateway/handler_success.go: recordDetailUnsafe",
        KEPT,
    ),
    held(
        "analytics_config.storage_expiration_time",
        "gateway/redis_analytics_purger.go: PurgeCache",
        KEPT,
    ),
    held(
        "analytics_config.enable_multiple_analytics_keys",
        "gateway/analytics.go: recordWorker",
        TWO,
    ),
    held(
        "analytics_config.serializer_type",
        "gateway/analytics.go: Init",
        REFUSED,
    ),
    row(
        "health_check_endpoint_name",
        HEALTH,
        "{}",
        r#"{"health_check_endpoint_name":"alive"}"#,
        &[
            Ask("GET /hello", Statuses(1), "200", "404"),
            Ask("GET /alive", Statuses(1), "404", "200"),
        ],
    ),
    row(
        "readiness_check_endpoint_name",
        HEALTH,
        "{}",
        r#"{"readiness_check_endpoint_name":"prepared"}"#,
        &[
            Ask("GET /ready", Statuses(1), "200", "404"),
            Ask("GET /prepared", Statuses(1), "404", "200"),
        ],
    ),
    held(
        "graceful_shutdown_timeout_duration",
        "gateway/server.go: gracefulShutdown",
        "tyk_fields::conf::what_is_under_way_is_waited_for_as_long_as_it_says",
    ),
    held(
        "graceful_shutdown_delay_seconds",
        "gateway/server.go: gracefulShutdown",
        "tyk::it_says_that_it_will_leave_before_it_does",
    ),
    held(
        "proxy_default_timeout",
        "gateway/reverse_proxy.go: proxyTimeout",
        "tyk::what_a_gateway_answers_itself_is_tyks_to_the_byte",
    ),
    held(
        "max_idle_connections_per_host",
        "gateway/reverse_proxy.go: httpTransport",
        "tyk_fields::conf::so_many_idle_connections_are_kept",
    ),
    row(
        "hide_generator_header",
        "gateway/handler_error.go: writeTemplateErrorResponse",
        "{}",
        r#"{"hide_generator_header":true}"#,
        &[
            Ask("GET /keyed/", Got("x-generator"), "tyk.io", "-"),
            Ask("GET /open/", Got("x-generator"), "-", "-"),
        ],
    ),
    row(
        "ignore_endpoint_case",
        "gateway/api_definition.go: generateRegex",
        "{}",
        r#"{"ignore_endpoint_case":true}"#,
        &[
            Ask("GET /listed/SHUT", Statuses(1), "200", "403"),
            Ask("GET /listed/shut", Statuses(1), "403", "403"),
        ],
    ),
    row(
        "http_server_options.max_request_body_size",
        "gateway/proxy_muxer.go: ServeHTTP",
        "{}",
        r#"{"http_server_options":{"max_request_body_size":4}}"#,
        &[
            Ask("POST /open/\n\n12345", Statuses(1), "200", "413"),
            Ask("POST /open/\n\n1234", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "http_server_options.enable_websockets",
        "gateway/reverse_proxy.go: upgradeType",
        "{}",
        r#"{"http_server_options":{"enable_websockets":true}}"#,
        &[
            Ask(
                "GET /open/\nConnection: Upgrade\nUpgrade: websocket",
                Sent("upgrade"),
                "-",
                "websocket",
            ),
            Ask(
                "GET /open/\nConnection: Upgrade\nUpgrade: other",
                Sent("upgrade"),
                "-",
                "-",
            ),
        ],
    ),
    held(
        "http_server_options.enable_path_prefix_matching",
        "internal/httputil/mux.go: PreparePathRegexp",
        ANCHORED,
    ),
    held(
        "http_server_options.enable_path_suffix_matching",
        "internal/httputil/mux.go: PreparePathRegexp",
        ANCHORED,
    ),
    held(
        "enable_custom_domains",
        "gateway/api_loader.go: loadHTTPService",
        "tyk_meaning::a_domain_counts_where_domains_are_on",
    ),
    held(
        "force_global_session_lifetime",
        "user/session.go: Lifetime",
        FORCED,
    ),
    held(
        "global_session_lifetime",
        "user/session.go: Lifetime",
        FORCED,
    ),
    held(
        "session_lifetime_respects_key_expiration",
        "user/session.go: calculateLifetime",
        "tyk_fields::lifetimes::expiry_has_a_say_where_an_api_or_the_configuration_says_so",
    ),
    held(
        "middleware_path",
        "gateway/server.go: loadCustomMiddleware",
        "tyk_meaning::what_tyk_would_do_and_is_not_done_here_is_refused_by_name",
    ),
    held(
        "coprocess_options.enable_coprocess",
        "gateway/coprocess.go: EnabledForSpec",
        CODE,
    ),
    held("enable_separate_analytics_store", STORAGE, TWO),
    held("analytics_storage.type", STORAGE, REFUSED),
    held("analytics_storage.host", HOSTS, TWO),
    held("analytics_storage.port", HOSTS, TWO),
    held("analytics_storage.addrs", HOSTS, NAMED),
    held("analytics_storage.username", STORAGE, NAMED),
    held("analytics_storage.password", STORAGE, TWO),
    held("analytics_storage.database", STORAGE, NAMED),
    held(
        "error_overrides.*.*.match.body_field",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::an_upstreams_error_is_told_otherwise_by_status_and_body",
    ),
    held(
        "error_overrides.*.*.match.body_value",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::an_upstreams_error_is_told_otherwise_by_status_and_body",
    ),
    held(
        "error_overrides.*.*.match.flag",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "error_overrides.*.*.match.message_pattern",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "error_overrides.*.*.response.body",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "error_overrides.*.*.response.headers",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "error_overrides.*.*.response.message",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::an_error_takes_the_form_that_its_request_has",
    ),
    held(
        "error_overrides.*.*.response.status_code",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "proxy_enable_http2",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "proxy_ssl_insecure_skip_verify",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "proxy_ssl_max_version",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "proxy_ssl_min_version",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
];

pub const UNREAD: &[Unread] = &[
    Unread(
        "policies.policy_connection_string",
        "gateway/server.go: syncPolicies",
        r#""http://x""#,
    ),
    Unread(
        "policies.allow_explicit_policy_id",
        "gateway/server.go: syncPolicies",
        r#"true"#,
    ),
    Unread(
        "storage",
        "storage/connection_handler.go: NewConnector",
        r#"{"optimisation_max_idle":9,"timeout":5,"ssl_insecure_skip_verify":true,"ca_file":"f","tls_min_version":"1.2","sentinel_password":"s","compress_policies":true}"#,
    ),
    Unread(
        "analytics_config",
        "gateway/analytics.go: Init, NormalisePath",
        r#"{"enable_geo_ip":true,"geo_ip_db_path":"f","normalise_urls":{"enabled":true,"normalise_numbers":true},"pool_size":9,"records_buffer_size":9,"purge_interval":5}"#,
    ),
    Unread(
        "http_server_options.certificates",
        "gateway/server.go: startServer (with use_ssl)",
        r#"[{"domain_name":"x","cert_file":"c","key_file":"k"}]"#,
    ),
    Unread(
        "http_server_options.ssl_certificates",
        "gateway/server.go: startServer (with use_ssl)",
        r#"["id"]"#,
    ),
    Unread(
        "http_server_options.ssl_ciphers",
        "gateway/server.go: startServer (with use_ssl)",
        r#"["x"]"#,
    ),
    Unread(
        "http_server_options.min_version",
        "gateway/server.go: startServer (with use_ssl)",
        r#"771"#,
    ),
    Unread(
        "http_server_options.max_version",
        "gateway/server.go: startServer (with use_ssl)",
        r#"772"#,
    ),
    Unread(
        "http_server_options.server_name",
        "gateway/server.go: startServer (with use_ssl)",
        r#""x""#,
    ),
    Unread(
        "http_server_options.ssl_insecure_skip_verify",
        "gateway/server.go: startServer (with use_ssl)",
        r#"true"#,
    ),
    Unread(
        "http_server_options.enable_http2",
        "gateway/server.go: startServer (with use_ssl)",
        r#"true"#,
    ),
    Unread(
        "http_server_options.override_defaults",
        "gateway/server.go: startServer",
        r#"true"#,
    ),
    Unread(
        "http_server_options.read_timeout",
        "gateway/server.go: startServer",
        r#"1"#,
    ),
    Unread(
        "http_server_options.write_timeout",
        "gateway/server.go: startServer",
        r#"1"#,
    ),
    Unread(
        "http_server_options.flush_interval",
        "gateway/reverse_proxy.go: flushInterval",
        r#"1"#,
    ),
    Unread(
        "http_server_options.xff_depth",
        "request/real_ip.go: RealIP, of records and of lists of addresses",
        r#"1"#,
    ),
    Unread(
        "http_server_options.enable_strict_routes",
        "gateway/api_loader.go: explicitRouteSubpaths",
        r#"true"#,
    ),
    Unread(
        "http_server_options.skip_url_cleaning",
        "gateway/proxy_muxer.go: ServeHTTP",
        r#"true"#,
    ),
    Unread(
        "http_server_options.skip_target_path_escaping",
        "gateway/reverse_proxy.go: TykNewSingleHostReverseProxy",
        r#"true"#,
    ),
    Unread(
        "db_app_conf_options",
        "gateway/api_definition.go: FromDir takes every file",
        r#"{"connection_string":"http://x","node_is_segmented":true,"tags":["edge"]}"#,
    ),
    Unread(
        "disable_dashboard_zeroconf",
        "gateway/redis_signals.go: handleDashboardZeroConfMessage",
        r#"true"#,
    ),
    Unread(
        "slave_options",
        "gateway/server.go: syncAPISpecs, by use_rpc",
        r#"{"rpc_key":"k","connection_string":"x","bind_to_slugs":true}"#,
    ),
    Unread(
        "enforce_org_data_age",
        "gateway/middleware.go: OrgSession, of records",
        r#"true"#,
    ),
    Unread(
        "enforce_org_data_detail_logging",
        "gateway/handler_success.go: recordDetailUnsafe",
        r#"true"#,
    ),
    Unread(
        "experimental_process_org_off_thread",
        "gateway/mw_organisation_activity.go: ProcessRequest",
        r#"true"#,
    ),
    Unread(
        "security",
        "gateway/cert.go: getTLSConfigForClient, getUpstreamCertificate; gateway/mw_auth_key.go: validateWithTLSCertificate",
        r#"{"private_certificate_encoding_secret":"s","certificates":{"apis":["id"],"control_api":["id"]},"allow_unsafe_dynamic_mtls_token":true,"certificate_expiry_monitor":{"warning_threshold_days":9}}"#,
    ),
    Unread(
        "enable_non_transactional_rate_limiter",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"true"#,
    ),
    Unread(
        "enable_sentinel_rate_limiter",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"true"#,
    ),
    Unread(
        "enable_redis_rolling_limiter",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"true"#,
    ),
    Unread(
        "enable_fixed_window_rate_limiter",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"true"#,
    ),
    Unread(
        "drl_threshold",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"1.5"#,
    ),
    Unread(
        "drl_notification_frequency",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"2"#,
    ),
    Unread(
        "drl_enable_sentinel_rate_limiter",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"true"#,
    ),
    Unread(
        "local_session_cache",
        "gateway/middleware.go: CheckSessionAndIdentityForValidKey",
        r#"{"disable_cached_session_state":true,"cached_session_timeout":5}"#,
    ),
    Unread(
        "close_connections",
        "gateway/handler_error.go: writeTemplateErrorResponse; gateway/reverse_proxy.go: HandleResponse",
        r#"true"#,
    ),
    Unread(
        "close_idle_connections",
        "gateway/reverse_proxy.go: cleanIdleMemConnProviders",
        r#"true"#,
    ),
    Unread(
        "proxy_close_connections",
        "gateway/reverse_proxy.go: httpTransport",
        r#"true"#,
    ),
    Unread(
        "max_idle_connections",
        "gateway/reverse_proxy.go: httpTransport",
        r#"5"#,
    ),
    Unread(
        "max_conn_time",
        "gateway/reverse_proxy.go: httpTransport",
        r#"5"#,
    ),
    Unread(
        "proxy_ssl_disable_renegotiation",
        "gateway/reverse_proxy.go: tlsClientConfig",
        r#"true"#,
    ),
    Unread("reload_wait_time", "gateway/server.go: reloadLoop", r#"5"#),
    Unread("reload_interval", "gateway/server.go: reloadLoop", r#"5"#),
    Unread(
        "suppress_redis_signal_reload",
        "gateway/redis_signals.go: Notify",
        r#"true"#,
    ),
    Unread(
        "health_check",
        "gateway/api_healthcheck.go: StoreCounterVal",
        r#"{"enable_health_checks":true,"health_check_value_timeouts":60}"#,
    ),
    Unread(
        "liveness_check",
        "gateway/health_check.go: initHealthCheck",
        r#"{"check_duration":10}"#,
    ),
    Unread(
        "template_path",
        "gateway/handler_error.go: writeTemplateErrorResponse",
        r#""templates""#,
    ),
    Unread(
        "tyk_js_path",
        "gateway/mw_js_plugin.go: Init",
        r#""js/tyk.js""#,
    ),
    Unread(
        "coprocess_options",
        "gateway/coprocess.go: EnabledForSpec",
        r#"{"coprocess_grpc_server":"tcp://x:1","python_path_prefix":"p"}"#,
    ),
    Unread(
        "enable_bundle_downloader",
        "gateway/coprocess_bundle.go: loadBundle",
        r#"true"#,
    ),
    Unread(
        "bundle_base_url",
        "gateway/coprocess_bundle.go: FetchBundle",
        r#""http://x""#,
    ),
    Unread(
        "bundle_insecure_skip_verify",
        "gateway/coprocess_bundle.go: FetchBundle",
        r#"true"#,
    ),
    Unread(
        "enable_jsvm",
        "gateway/mw_js_plugin.go: LoadJSPaths",
        r#"true"#,
    ),
    Unread(
        "jsvm_timeout",
        "gateway/mw_js_plugin.go: LoadJSPaths",
        r#"5"#,
    ),
    Unread(
        "disable_virtual_path_blobs",
        "gateway/mw_js_plugin.go: LoadJSPaths",
        r#"true"#,
    ),
    Unread(
        "analytics_storage",
        "storage/connection_handler.go: NewConnector",
        r#"{"optimisation_max_idle":9,"timeout":5}"#,
    ),
    Unread(
        "enable_separate_cache_store",
        "storage/connection_handler.go: NewConnector, of CacheConn",
        r#"true"#,
    ),
    Unread(
        "cache_storage",
        "storage/connection_handler.go: NewConnector, of CacheConn",
        r#"{"type":"redis","host":"x","port":1}"#,
    ),
    Unread(
        "ports_whitelist",
        "gateway/server.go: setupPortsWhitelist",
        r#"{"http":{"ports":[8081]}}"#,
    ),
    Unread(
        "disable_ports_whitelist",
        "gateway/server.go: setupPortsWhitelist",
        r#"true"#,
    ),
    Unread(
        "enable_context_vars",
        "config/config.go: no such field",
        r#"true"#,
    ),
    Unread(
        "enable_batch_request_support",
        "config/config.go: no such field",
        r#"true"#,
    ),
    Unread("log_level", "gateway/server.go: setupLogger", r#""debug""#),
    Unread("log_format", "gateway/server.go: setupLogger", r#""json""#),
    Unread(
        "access_logs",
        "gateway/middleware.go: RecordAccessLog",
        r#"{"enabled":true,"template":["status"]}"#,
    ),
    Unread(
        "track_404_logs",
        "gateway/api_loader.go: loadApps",
        r#"true"#,
    ),
    Unread(
        "enable_key_logging",
        "gateway/log_helpers.go: obfuscateKey",
        r#"true"#,
    ),
    Unread(
        "opentelemetry",
        "gateway/server.go: InitOpenTelemetryInstruments",
        r#"{"enabled":true,"endpoint":"x"}"#,
    ),
    Unread(
        "tracing",
        "gateway/middleware.go: createMiddleware",
        r#"{"enabled":true,"name":"jaeger"}"#,
    ),
    Unread(
        "newrelic",
        "gateway/server.go: SetupNewRelic",
        r#"{"app_name":"x","license_key":"k"}"#,
    ),
    Unread(
        "statsd_connection_string",
        "gateway/instrumentation_statsd_sink.go: NewStatsDSink",
        r#""x""#,
    ),
    Unread(
        "statsd_prefix",
        "gateway/instrumentation_statsd_sink.go: NewStatsDSink",
        r#""x""#,
    ),
    Unread("use_sentry", "gateway/server.go: setupLogger", r#"true"#),
    Unread("sentry_code", "gateway/server.go: setupLogger", r#""x""#),
    Unread(
        "sentry_log_level",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread("use_syslog", "gateway/server.go: setupLogger", r#"true"#),
    Unread(
        "syslog_transport",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread(
        "syslog_network_addr",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread("use_graylog", "gateway/server.go: setupLogger", r#"true"#),
    Unread(
        "graylog_network_addr",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread("use_logstash", "gateway/server.go: setupLogger", r#"true"#),
    Unread(
        "logstash_transport",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread(
        "logstash_network_addr",
        "gateway/server.go: setupLogger",
        r#""x""#,
    ),
    Unread("use_redis_log", "gateway/server.go: setupLogger", r#"true"#),
    Unread(
        "enable_http_profiler",
        "gateway/server.go: loadControlAPIEndpoints",
        r#"true"#,
    ),
    Unread(
        "monitor",
        "gateway/monitor.go: Check, Fire",
        r#"{"enable_trigger_monitors":true,"global_trigger_limit":80,"monitor_user_keys":true,"monitor_org_keys":true,"configuration":{"method":"POST","target_path":"http://x"}}"#,
    ),
    Unread(
        "event_handlers",
        "gateway/event_system.go: initGenericEventHandlers",
        r#"{"events":{"QuotaExceeded":[{"handler_name":"eh_log_handler"}]}}"#,
    ),
    Unread(
        "event_trigers_defunct",
        "config/config.go: GetEventTriggers",
        r#"{"QuotaExceeded":[{"handler":"eh_log_handler"}]}"#,
    ),
    Unread(
        "event_triggers_defunct",
        "config/config.go: GetEventTriggers",
        r#"{"QuotaExceeded":[{"handler":"eh_log_handler"}]}"#,
    ),
    Unread(
        "uptime_tests",
        "gateway/host_checker_manager.go: SetCheckerHostList",
        r#"{"disable":true,"config":{"failure_trigger_sample_size":1}}"#,
    ),
    Unread(
        "service_discovery",
        "gateway/service_discovery.go: Init",
        r#"{"default_cache_timeout":20}"#,
    ),
    Unread(
        "dns_cache",
        "dnscache/manager.go: doCachedDial",
        r#"{"enabled":true,"ttl":3600,"multiple_ips_handle_strategy":"random"}"#,
    ),
    Unread(
        "oauth_redirect_uri_separator",
        "gateway/server.go: addOAuthHandlers",
        r#""x""#,
    ),
    Unread(
        "oauth_refresh_token_expire",
        "gateway/server.go: addOAuthHandlers",
        r#"5"#,
    ),
    Unread(
        "oauth_token_expire",
        "gateway/server.go: addOAuthHandlers",
        r#"5"#,
    ),
    Unread(
        "oauth_token_expired_retain_period",
        "gateway/server.go: addOAuthHandlers",
        r#"5"#,
    ),
    Unread(
        "oauth_error_status_code",
        "gateway/server.go: addOAuthHandlers",
        r#"5"#,
    ),
    Unread(
        "public_key_path",
        "gateway/server.go: SignatureVerifier",
        r#""k.pem""#,
    ),
    Unread(
        "allow_insecure_configs",
        "gateway/server.go: setupGlobals",
        r#"true"#,
    ),
    Unread(
        "allow_remote_config",
        "gateway/server.go: setupGlobals",
        r#"true"#,
    ),
    Unread("node_secret", "gateway/server.go: setupGlobals", r#""s""#),
    Unread(
        "pid_file_location",
        "gateway/server.go: writePIDFile",
        r#""f.pid""#,
    ),
    Unread(
        "version_header",
        "gateway/handler_success.go: addVersionHeader",
        r#""x-v""#,
    ),
    Unread(
        "optimisations_use_async_session_write",
        "config/config.go: read by nobody",
        r#"true"#,
    ),
    Unread(
        "session_update_pool_size",
        "config/config.go: read by nobody",
        r#"9"#,
    ),
    Unread(
        "session_update_buffer_size",
        "config/config.go: read by nobody",
        r#"9"#,
    ),
    Unread(
        "legacy_enable_allowance_countdown",
        "gateway/session_manager.go: ForwardMessage",
        r#"true"#,
    ),
    Unread(
        "suppress_default_org_store",
        "gateway/api_loader.go: configureAuthAndOrgStores",
        r#"true"#,
    ),
    Unread(
        "disable_regexp_cache",
        "regexp/regexp.go: ResetCache",
        r#"true"#,
    ),
    Unread(
        "regexp_cache_expire",
        "regexp/regexp.go: ResetCache",
        r#"60"#,
    ),
];
