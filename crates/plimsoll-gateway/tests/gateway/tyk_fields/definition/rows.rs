//! Rows of the fields of API definitions.

use super::*;

const CODE: &str = "tyk_fields::definition::code_is_refused_wherever_tyk_would_run_it";
const HOOKS: &str = "gateway/server.go: loadCustomMiddleware";
const LISTS: &str = "gateway/api_definition.go: compileExtendedPathSpec";
const STATUS: &str = "gateway/api_definition.go: URLAllowedAndIgnored";
const MOCKS: &str = "gateway/api_definition.go: compileMockResponsePathSpec";
const BREAKERS: &str = "gateway/api_definition.go: compileCircuitBreakerPathSpec";
const TIMEOUTS: &str = "gateway/reverse_proxy.go: GetEnforcedTimeoutSettings";
const REQUEST_FIELDS: &str = "gateway/mw_modify_headers.go: ProcessRequest";
const RESPONSE_FIELDS: &str = "gateway/res_handler_header_transform.go: HandleResponse";
const SIZES: &str = "gateway/mw_request_size_limit.go: ProcessRequest";
const RATE: &str = "gateway/mw_api_rate_limit.go: shouldEnable";
const DETAIL: &str = "sinks::tyks_files_have_records_made_as_tyk_pump_reads_them";
const ROUTE: &str = "tyk::a_keyless_definition_is_a_route";
const TIMED: &str = "tyk_fields::definition::hard_timeouts_hold_for_their_path_and_method";
const RESTS: &str = "tyk_fields::definition::breakers_rest_and_are_tried_or_closed";

/// A version that says this.
macro_rules! version {
    ($text:literal) => {
        concat!(r#"{"version_data":{"versions":{"Default":"#, $text, "}}}")
    };
}

/// Lists of paths.
macro_rules! lists {
    ($text:literal) => {
        concat!(
            r#"{"version_data":{"versions":{"Default":{"extended_paths":"#,
            $text,
            "}}}}"
        )
    };
}

/// Lists of paths of an API that asks for keys.
macro_rules! keyed {
    ($text:literal) => {
        concat!(
            r#"{"use_keyless":false,"version_data":{"versions":{"Default":{"extended_paths":"#,
            $text,
            "}}}}"
        )
    };
}

const MISSING: &str = "401 Authorization field missing";
const FORBIDDEN: &str = "403 Requested endpoint is forbidden";

pub const ROWS: &[Row] = &[
    held("name", "gateway/handler_success.go: RecordHit", DETAIL),
    held(
        "api_id",
        "gateway/api_loader.go: loadApps",
        "tyk_meaning::an_api_goes_by_its_id_and_not_by_its_files_name",
    ),
    held(
        "org_id",
        "internal/policy/apply.go: Apply",
        "tyk_meaning::a_policys_limit_is_each_apis_alone_or_nobodys",
    ),
    row(
        "active",
        "gateway/api_loader.go: loadApps",
        "{}",
        r#"{"active":false}"#,
        &[Ask("GET ~/x", Answer, "200 /x", "404")],
    ),
    row(
        "internal",
        "gateway/api_loader.go: loadHTTPService",
        "{}",
        r#"{"internal":true}"#,
        &[Ask("GET ~/x", Answer, "200 /x", "404")],
    ),
    row(
        "use_keyless",
        "gateway/api_loader.go: processSpec",
        r#"{"use_keyless":false}"#,
        "{}",
        &[Ask("GET ~/x", Answer, MISSING, "200 /x")],
    ),
    row(
        "use_standard_auth",
        "gateway/api_loader.go: processSpec",
        r#"{"use_keyless":false}"#,
        r#"{"use_keyless":false,"use_standard_auth":true}"#,
        &[
            Ask("GET ~/x", Answer, MISSING, MISSING),
            Ask("GET ~/x\nAuthorization: KEY", Answer, "200 /x", "200 /x"),
        ],
    ),
    row(
        "auth.auth_header_name",
        "gateway/middleware.go: getAuthToken",
        r#"{"use_keyless":false,"auth":{"auth_header_name":""}}"#,
        r#"{"use_keyless":false,"auth":{"auth_header_name":"X-Key"}}"#,
        &[
            Ask("GET ~/x\nX-Key: KEY", Answer, MISSING, "200 /x"),
            Ask("GET ~/x\nAuthorization: KEY", Answer, "200 /x", MISSING),
        ],
    ),
    row(
        "auth_configs.authToken.auth_header_name",
        "gateway/middleware.go: getAuthToken",
        r#"{"use_keyless":false,"auth":{"auth_header_name":"X-Old"}}"#,
        r#"{"use_keyless":false,"auth":{"auth_header_name":"X-Old"},"auth_configs":{"authToken":{"auth_header_name":"X-Key"}}}"#,
        &[
            Ask("GET ~/x\nX-Key: KEY", Answer, MISSING, "200 /x"),
            Ask("GET ~/x\nX-Old: KEY", Answer, "200 /x", MISSING),
        ],
    ),
    row(
        "strip_auth_data",
        "gateway/mw_strip_auth.go: stripFromHeaders",
        r#"{"use_keyless":false}"#,
        r#"{"use_keyless":false,"strip_auth_data":true}"#,
        &[Ask(
            "GET ~/x\nAuthorization: Bearer KEY",
            Sent("authorization"),
            "Bearer KEY",
            "-",
        )],
    ),
    held(
        "enable_coprocess_auth",
        "gateway/coprocess.go: EnabledForSpec",
        CODE,
    ),
    held(
        "custom_plugin_auth_enabled",
        "gateway/coprocess.go: coprocessAuthEnabled",
        CODE,
    ),
    held(
        "proxy.listen_path",
        "gateway/api_loader.go: loadHTTPService",
        ROUTE,
    ),
    held(
        "proxy.target_url",
        "gateway/reverse_proxy.go: TykNewSingleHostReverseProxy",
        ROUTE,
    ),
    held(
        "proxy.strip_listen_path",
        "gateway/api_definition.go: StripListenPath",
        ROUTE,
    ),
    held(
        "proxy.preserve_host_header",
        "gateway/reverse_proxy.go: WrappedServeHTTP",
        ROUTE,
    ),
    held(
        "proxy.enable_load_balancing",
        "gateway/reverse_proxy.go: nextTarget",
        "tyk::targets_of_a_list_take_turns",
    ),
    held(
        "proxy.target_list",
        "gateway/reverse_proxy.go: nextTarget",
        "tyk::targets_of_a_list_take_turns",
    ),
    row(
        "proxy.disable_strip_slash",
        "gateway/reverse_proxy.go: singleJoiningSlash",
        r#"{"proxy":{"target_url":"http://UP/v1/"}}"#,
        r#"{"proxy":{"target_url":"http://UP/v1/","disable_strip_slash":true}}"#,
        &[
            Ask("GET ~", Answer, "200 /v1", "200 /v1/"),
            Ask("GET ~/x", Answer, "200 /v1/x", "200 /v1/x"),
        ],
    ),
    held(
        "domain",
        "gateway/api_loader.go: generateDomainPath",
        "tyk_meaning::a_domain_counts_where_domains_are_on",
    ),
    held(
        "domain_disabled",
        "apidef/api_definitions.go: GetAPIDomain",
        "tyk_meaning::a_domain_counts_where_domains_are_on",
    ),
    held(
        "version_data.not_versioned",
        "gateway/api_definition.go: Version",
        "tyk_meaning::what_tyk_would_do_and_is_not_done_here_is_refused_by_name",
    ),
    row(
        "version_data.versions.*.use_extended_paths",
        "gateway/api_definition.go: getPathSpecs",
        version!(
            r#"{"use_extended_paths":false,"paths":{"black_list":["/old"]},"extended_paths":{"black_list":[{"path":"/new"}]}}"#
        ),
        version!(
            r#"{"use_extended_paths":true,"paths":{"black_list":["/old"]},"extended_paths":{"black_list":[{"path":"/new"}]}}"#
        ),
        &[
            Ask("GET ~/old", Answer, FORBIDDEN, "200 /old"),
            Ask("GET ~/new", Answer, "200 /new", FORBIDDEN),
        ],
    ),
    row(
        "version_data.versions.*.paths.ignored",
        "gateway/api_definition.go: compilePathSpec",
        r#"{"use_keyless":false,"version_data":{"versions":{"Default":{"use_extended_paths":false}}}}"#,
        r#"{"use_keyless":false,"version_data":{"versions":{"Default":{"use_extended_paths":false,"paths":{"ignored":["/free"]}}}}}"#,
        &[
            Ask("GET ~/free", Answer, MISSING, "200 /free"),
            Ask("GET ~/other", Answer, MISSING, MISSING),
        ],
    ),
    row(
        "version_data.versions.*.paths.white_list",
        "gateway/api_definition.go: compilePathSpec",
        version!(r#"{"use_extended_paths":false}"#),
        version!(r#"{"use_extended_paths":false,"paths":{"white_list":["/free"]}}"#),
        &[
            Ask("GET ~/free", Answer, "200 /free", "200 /free"),
            Ask("GET ~/other", Answer, "200 /other", FORBIDDEN),
        ],
    ),
    row(
        "version_data.versions.*.paths.black_list",
        "gateway/api_definition.go: compilePathSpec",
        version!(r#"{"use_extended_paths":false}"#),
        version!(r#"{"use_extended_paths":false,"paths":{"black_list":["/shut"]}}"#),
        &[
            Ask("GET ~/shut", Answer, "200 /shut", FORBIDDEN),
            Ask("GET ~/other", Answer, "200 /other", "200 /other"),
        ],
    ),
    row(
        "version_data.versions.*.ignore_endpoint_case",
        LISTS,
        version!(r#"{"extended_paths":{"black_list":[{"path":"/Shut"}]}}"#),
        version!(
            r#"{"ignore_endpoint_case":true,"extended_paths":{"black_list":[{"path":"/Shut"}]}}"#
        ),
        &[Ask("GET ~/shut", Answer, "200 /shut", FORBIDDEN)],
    ),
    row(
        "version_data.versions.*.global_headers",
        REQUEST_FIELDS,
        "{}",
        version!(r#"{"global_headers":{"X-Own":"2"}}"#),
        &[Ask("GET ~/x\nX-Own: 1", Sent("x-own"), "1", "2")],
    ),
    row(
        "version_data.versions.*.global_headers_remove",
        REQUEST_FIELDS,
        "{}",
        version!(r#"{"global_headers_remove":["X-Own"]}"#),
        &[Ask("GET ~/x\nX-Own: 1", Sent("x-own"), "1", "-")],
    ),
    row(
        "version_data.versions.*.global_headers_disabled",
        REQUEST_FIELDS,
        version!(r#"{"global_headers":{"X-Own":"2"}}"#),
        version!(r#"{"global_headers":{"X-Own":"2"},"global_headers_disabled":true}"#),
        &[Ask("GET ~/x", Sent("x-own"), "2", "-")],
    ),
    row(
        "version_data.versions.*.global_response_headers",
        RESPONSE_FIELDS,
        "{}",
        version!(r#"{"global_response_headers":{"X-Old":"2"}}"#),
        &[Ask("GET ~/x", Got("x-old"), "1", "2")],
    ),
    row(
        "version_data.versions.*.global_response_headers_remove",
        RESPONSE_FIELDS,
        "{}",
        version!(r#"{"global_response_headers_remove":["X-Old"]}"#),
        &[Ask("GET ~/x", Got("x-old"), "1", "-")],
    ),
    row(
        "version_data.versions.*.global_response_headers_disabled",
        RESPONSE_FIELDS,
        version!(r#"{"global_response_headers":{"X-Old":"2"}}"#),
        version!(
            r#"{"global_response_headers":{"X-Old":"2"},"global_response_headers_disabled":true}"#
        ),
        &[Ask("GET ~/x", Got("x-old"), "2", "1")],
    ),
    row(
        "version_data.versions.*.expires",
        "gateway/mw_version_check.go: ProcessRequest; apidef/api_definitions.go: ExpiryTime",
        "{}",
        version!(r#"{"expires":"2090-01-02 15:04"}"#),
        &[Ask(
            "GET ~/x",
            Got("x-tyk-api-expires"),
            "-",
            "Mon, 02 Jan 2090 15:04:00 UTC",
        )],
    ),
    row(
        "version_data.versions.*.global_size_limit",
        SIZES,
        "{}",
        version!(r#"{"global_size_limit":4}"#),
        &[
            Ask(
                "POST ~/x\n\n12345",
                Answer,
                "200 /x",
                "400 Request is too large",
            ),
            Ask("POST ~/x\n\n1234", Answer, "200 /x", "200 /x"),
        ],
    ),
    row(
        "version_data.versions.*.global_size_limit_disabled",
        SIZES,
        version!(r#"{"global_size_limit":4}"#),
        version!(r#"{"global_size_limit":4,"global_size_limit_disabled":true}"#),
        &[Ask(
            "POST ~/x\n\n12345",
            Answer,
            "400 Request is too large",
            "200 /x",
        )],
    ),
    row(
        "version_data.versions.*.extended_paths.ignored.*.path",
        STATUS,
        keyed!("{}"),
        keyed!(r#"{"ignored":[{"path":"/free"}]}"#),
        &[
            Ask("GET ~/free", Answer, MISSING, "200 /free"),
            Ask("GET ~/other", Answer, MISSING, MISSING),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.ignored.*.method",
        LISTS,
        keyed!(r#"{"ignored":[{"path":"/free"}]}"#),
        keyed!(r#"{"ignored":[{"path":"/free","method":"POST"}]}"#),
        &[
            Ask("GET ~/free", Answer, "200 /free", MISSING),
            Ask("POST ~/free\n\n1", Answer, "200 /free", "200 /free"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.ignored.*.method_actions",
        STATUS,
        keyed!(r#"{"ignored":[{"path":"/free"}]}"#),
        keyed!(
            r#"{"ignored":[{"path":"/free","method_actions":{"GET":{"action":"reply","code":201,"data":"made"}}}]}"#
        ),
        &[
            Ask("GET ~/free", Statuses(1), "200", "201"),
            Ask("POST ~/free\n\n1", Statuses(1), "200", "401"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.ignored.*.ignore_case",
        LISTS,
        keyed!(r#"{"ignored":[{"path":"/Free"}]}"#),
        keyed!(r#"{"ignored":[{"path":"/Free","ignore_case":true}]}"#),
        &[Ask("GET ~/free", Answer, MISSING, "200 /free")],
    ),
    row(
        "version_data.versions.*.extended_paths.ignored.*.disabled",
        LISTS,
        keyed!(r#"{"ignored":[{"path":"/free"}]}"#),
        keyed!(r#"{"ignored":[{"path":"/free","disabled":true}]}"#),
        &[Ask("GET ~/free", Answer, "200 /free", MISSING)],
    ),
    row(
        "version_data.versions.*.extended_paths.white_list.*.path",
        STATUS,
        "{}",
        lists!(r#"{"white_list":[{"path":"/free"}]}"#),
        &[
            Ask("GET ~/free", Answer, "200 /free", "200 /free"),
            Ask("GET ~/other", Answer, "200 /other", FORBIDDEN),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.white_list.*.method",
        LISTS,
        lists!(r#"{"white_list":[{"path":"/free"}]}"#),
        lists!(r#"{"white_list":[{"path":"/free","method":"POST"}]}"#),
        &[
            Ask("GET ~/free", Answer, "200 /free", FORBIDDEN),
            Ask("POST ~/free\n\n1", Answer, "200 /free", "200 /free"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.white_list.*.method_actions",
        STATUS,
        lists!(r#"{"white_list":[{"path":"/free"}]}"#),
        lists!(
            r#"{"white_list":[{"path":"/free","method_actions":{"GET":{"action":"reply","code":201,"data":"made"}}}]}"#
        ),
        &[
            Ask("GET ~/free", Body, "GET /free HTTP/1.1", "made"),
            Ask("POST ~/free\n\n1", Statuses(1), "200", "403"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.white_list.*.ignore_case",
        LISTS,
        lists!(r#"{"white_list":[{"path":"/Free"}]}"#),
        lists!(r#"{"white_list":[{"path":"/Free","ignore_case":true}]}"#),
        &[Ask("GET ~/free", Answer, FORBIDDEN, "200 /free")],
    ),
    row(
        "version_data.versions.*.extended_paths.white_list.*.disabled",
        LISTS,
        lists!(r#"{"white_list":[{"path":"/free"}]}"#),
        lists!(r#"{"white_list":[{"path":"/free","disabled":true}]}"#),
        &[Ask("GET ~/other", Answer, FORBIDDEN, "200 /other")],
    ),
    row(
        "version_data.versions.*.extended_paths.black_list.*.path",
        STATUS,
        "{}",
        lists!(r#"{"black_list":[{"path":"/shut"}]}"#),
        &[
            Ask("GET ~/shut", Answer, "200 /shut", FORBIDDEN),
            Ask("GET ~/other", Answer, "200 /other", "200 /other"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.black_list.*.method",
        LISTS,
        lists!(r#"{"black_list":[{"path":"/shut"}]}"#),
        lists!(r#"{"black_list":[{"path":"/shut","method":"POST"}]}"#),
        &[
            Ask("GET ~/shut", Answer, FORBIDDEN, "200 /shut"),
            Ask("POST ~/shut\n\n1", Answer, FORBIDDEN, FORBIDDEN),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.black_list.*.method_actions",
        STATUS,
        lists!(r#"{"black_list":[{"path":"/shut"}]}"#),
        lists!(
            r#"{"black_list":[{"path":"/shut","method_actions":{"POST":{"action":"no_action","code":200}}}]}"#
        ),
        &[
            Ask("GET ~/shut", Answer, FORBIDDEN, "200 /shut"),
            Ask("POST ~/shut\n\n1", Answer, FORBIDDEN, FORBIDDEN),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.black_list.*.ignore_case",
        LISTS,
        lists!(r#"{"black_list":[{"path":"/Shut"}]}"#),
        lists!(r#"{"black_list":[{"path":"/Shut","ignore_case":true}]}"#),
        &[Ask("GET ~/shut", Answer, "200 /shut", FORBIDDEN)],
    ),
    row(
        "version_data.versions.*.extended_paths.black_list.*.disabled",
        LISTS,
        lists!(r#"{"black_list":[{"path":"/shut"}]}"#),
        lists!(r#"{"black_list":[{"path":"/shut","disabled":true}]}"#),
        &[Ask("GET ~/shut", Answer, FORBIDDEN, "200 /shut")],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.path",
        MOCKS,
        "{}",
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":202,"body":"b"}]}"#),
        &[
            Ask("GET ~/mock", Statuses(1), "200", "202"),
            Ask("GET ~/other", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.method",
        MOCKS,
        lists!(r#"{"mock_response":[{"path":"/mock","method":"","code":202,"body":"b"}]}"#),
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":202,"body":"b"}]}"#),
        &[
            Ask("GET ~/mock", Statuses(1), "200", "202"),
            Ask("POST ~/mock\n\n1", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.code",
        "gateway/mw_mock_response.go: mockFromConfig",
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":200,"body":"b"}]}"#),
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":418,"body":"b"}]}"#),
        &[Ask("GET ~/mock", Statuses(1), "200", "418")],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.body",
        "gateway/mw_mock_response.go: mockFromConfig",
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":200}]}"#),
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":200,"body":"mocked"}]}"#),
        &[Ask("GET ~/mock", Body, "", "mocked")],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.headers",
        "gateway/mw_mock_response.go: mockFromConfig",
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":200,"body":"b"}]}"#),
        lists!(
            r#"{"mock_response":[{"path":"/mock","method":"GET","code":200,"body":"b","headers":{"X-Mock":"1"}}]}"#
        ),
        &[Ask("GET ~/mock", Got("x-mock"), "-", "1")],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.ignore_case",
        MOCKS,
        lists!(r#"{"mock_response":[{"path":"/Mock","method":"GET","code":202,"body":"b"}]}"#),
        lists!(
            r#"{"mock_response":[{"path":"/Mock","method":"GET","code":202,"body":"b","ignore_case":true}]}"#
        ),
        &[Ask("GET ~/mock", Statuses(1), "200", "202")],
    ),
    row(
        "version_data.versions.*.extended_paths.mock_response.*.disabled",
        MOCKS,
        lists!(r#"{"mock_response":[{"path":"/mock","method":"GET","code":202,"body":"b"}]}"#),
        lists!(
            r#"{"mock_response":[{"path":"/mock","method":"GET","code":202,"body":"b","disabled":true}]}"#
        ),
        &[Ask("GET ~/mock", Statuses(1), "202", "200")],
    ),
    held(
        "version_data.versions.*.extended_paths.hard_timeouts.*.path",
        TIMEOUTS,
        TIMED,
    ),
    held(
        "version_data.versions.*.extended_paths.hard_timeouts.*.method",
        TIMEOUTS,
        TIMED,
    ),
    held(
        "version_data.versions.*.extended_paths.hard_timeouts.*.timeout",
        TIMEOUTS,
        TIMED,
    ),
    held(
        "version_data.versions.*.extended_paths.hard_timeouts.*.disabled",
        "gateway/api_definition.go: compileTimeoutPathSpec",
        TIMED,
    ),
    row(
        "version_data.versions.*.extended_paths.circuit_breakers.*.path",
        "gateway/reverse_proxy.go: CheckCircuitBreakerEnforced",
        "{}",
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":2,"return_to_service_after":3600}]}"#
        ),
        &[
            Ask("GET ~/fails", Statuses(3), "500 500 500", "500 500 503"),
            Ask("GET ~/other", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.circuit_breakers.*.method",
        BREAKERS,
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"","threshold_percent":0.5,"samples":2,"return_to_service_after":3600}]}"#
        ),
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":2,"return_to_service_after":3600}]}"#
        ),
        &[
            Ask("GET ~/fails", Statuses(3), "500 500 500", "500 500 503"),
            Ask("POST ~/fails\n\n1", Statuses(1), "500", "500"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.circuit_breakers.*.threshold_percent",
        BREAKERS,
        lists!(
            r#"{"circuit_breakers":[{"path":"/f","method":"GET","threshold_percent":0.9,"samples":3,"return_to_service_after":3600}]}"#
        ),
        lists!(
            r#"{"circuit_breakers":[{"path":"/f","method":"GET","threshold_percent":0.5,"samples":3,"return_to_service_after":3600}]}"#
        ),
        &[
            Ask("GET ~/fine", Statuses(1), "200", "200"),
            Ask("GET ~/fails", Statuses(2), "500 500", "500 500"),
            Ask("GET ~/fine", Statuses(1), "200", "503"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.circuit_breakers.*.samples",
        BREAKERS,
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":4,"return_to_service_after":3600}]}"#
        ),
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":2,"return_to_service_after":3600}]}"#
        ),
        &[Ask(
            "GET ~/fails",
            Statuses(5),
            "500 500 500 500 503",
            "500 500 503 503 503",
        )],
    ),
    held(
        "version_data.versions.*.extended_paths.circuit_breakers.*.return_to_service_after",
        BREAKERS,
        RESTS,
    ),
    held(
        "version_data.versions.*.extended_paths.circuit_breakers.*.disable_half_open_state",
        BREAKERS,
        RESTS,
    ),
    row(
        "version_data.versions.*.extended_paths.circuit_breakers.*.disabled",
        BREAKERS,
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":2,"return_to_service_after":3600}]}"#
        ),
        lists!(
            r#"{"circuit_breakers":[{"path":"/fails","method":"GET","threshold_percent":0.5,"samples":2,"return_to_service_after":3600,"disabled":true}]}"#
        ),
        &[Ask(
            "GET ~/fails",
            Statuses(3),
            "500 500 503",
            "500 500 500",
        )],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_headers.*.path",
        REQUEST_FIELDS,
        "{}",
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        &[
            Ask("GET ~/t", Sent("x-own"), "-", "2"),
            Ask("GET ~/other", Sent("x-own"), "-", "-"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_headers.*.method",
        REQUEST_FIELDS,
        lists!(r#"{"transform_headers":[{"path":"/t","method":"","add_headers":{"X-Own":"2"}}]}"#),
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        &[
            Ask("GET ~/t", Sent("x-own"), "-", "2"),
            Ask("POST ~/t\n\n1", Sent("x-own"), "-", "-"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_headers.*.delete_headers",
        REQUEST_FIELDS,
        lists!(r#"{"transform_headers":[{"path":"/t","method":"GET"}]}"#),
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","delete_headers":["X-Own"]}]}"#
        ),
        &[Ask("GET ~/t\nX-Own: 1", Sent("x-own"), "1", "-")],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_headers.*.add_headers",
        REQUEST_FIELDS,
        lists!(r#"{"transform_headers":[{"path":"/t","method":"GET"}]}"#),
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        &[Ask("GET ~/t\nX-Own: 1", Sent("x-own"), "1", "2")],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_headers.*.disabled",
        "gateway/api_definition.go: compileInjectedHeaderSpec",
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        lists!(
            r#"{"transform_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"},"disabled":true}]}"#
        ),
        &[Ask("GET ~/t", Sent("x-own"), "2", "-")],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_response_headers.*.path",
        RESPONSE_FIELDS,
        "{}",
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        &[
            Ask("GET ~/t", Got("x-own"), "-", "2"),
            Ask("GET ~/other", Got("x-own"), "-", "-"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_response_headers.*.method",
        RESPONSE_FIELDS,
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"","add_headers":{"X-Own":"2"}}]}"#
        ),
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        &[
            Ask("GET ~/t", Got("x-own"), "-", "2"),
            Ask("POST ~/t\n\n1", Got("x-own"), "-", "-"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_response_headers.*.delete_headers",
        RESPONSE_FIELDS,
        lists!(r#"{"transform_response_headers":[{"path":"/t","method":"GET"}]}"#),
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","delete_headers":["X-Old"]}]}"#
        ),
        &[Ask("GET ~/t", Got("x-old"), "1", "-")],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_response_headers.*.add_headers",
        RESPONSE_FIELDS,
        lists!(r#"{"transform_response_headers":[{"path":"/t","method":"GET"}]}"#),
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","add_headers":{"X-Old":"2"}}]}"#
        ),
        &[Ask("GET ~/t", Got("x-old"), "1", "2")],
    ),
    row(
        "version_data.versions.*.extended_paths.transform_response_headers.*.disabled",
        "gateway/api_definition.go: compileInjectedHeaderSpec",
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"}}]}"#
        ),
        lists!(
            r#"{"transform_response_headers":[{"path":"/t","method":"GET","add_headers":{"X-Own":"2"},"disabled":true}]}"#
        ),
        &[Ask("GET ~/t", Got("x-own"), "2", "-")],
    ),
    row(
        "version_data.versions.*.extended_paths.size_limits.*.path",
        SIZES,
        "{}",
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":4}]}"#),
        &[
            Ask("POST ~/s\n\n12345", Statuses(1), "200", "400"),
            Ask("POST ~/other\n\n12345", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.size_limits.*.method",
        SIZES,
        lists!(r#"{"size_limits":[{"path":"/s","method":"","size_limit":4}]}"#),
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":4}]}"#),
        &[
            Ask("POST ~/s\n\n12345", Statuses(1), "200", "400"),
            Ask("PUT ~/s\n\n12345", Statuses(1), "200", "200"),
        ],
    ),
    row(
        "version_data.versions.*.extended_paths.size_limits.*.size_limit",
        "gateway/mw_request_size_limit.go: checkRequestLimit",
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":5}]}"#),
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":4}]}"#),
        &[Ask(
            "POST ~/s\n\n12345",
            Answer,
            "200 /s",
            "400 Request is too large",
        )],
    ),
    row(
        "version_data.versions.*.extended_paths.size_limits.*.disabled",
        "gateway/api_definition.go: compileRequestSizePathSpec",
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":4}]}"#),
        lists!(r#"{"size_limits":[{"path":"/s","method":"POST","size_limit":4,"disabled":true}]}"#),
        &[Ask("POST ~/s\n\n12345", Statuses(1), "400", "200")],
    ),
    row(
        "disable_rate_limit",
        RATE,
        r#"{"global_rate_limit":{"rate":1,"per":3600}}"#,
        r#"{"global_rate_limit":{"rate":1,"per":3600},"disable_rate_limit":true}"#,
        &[Ask("GET ~/x", Statuses(3), "200 429 429", "200 200 200")],
    ),
    row(
        "disable_quota",
        "gateway/mw_rate_limiting.go: ProcessRequest",
        r#"{"use_keyless":false}"#,
        r#"{"use_keyless":false,"disable_quota":true}"#,
        &[Ask(
            "GET ~/x\nAuthorization: KEY",
            Statuses(6),
            "200 200 200 200 200 403",
            "200 200 200 200 200 200",
        )],
    ),
    row(
        "global_rate_limit.rate",
        RATE,
        r#"{"global_rate_limit":{"rate":0,"per":3600}}"#,
        r#"{"global_rate_limit":{"rate":2,"per":3600}}"#,
        &[Ask("GET ~/x", Statuses(3), "200 200 200", "200 200 429")],
    ),
    row(
        "global_rate_limit.per",
        "gateway/session_manager.go: newRateLimitChecker",
        r#"{"global_rate_limit":{"rate":1,"per":0.000001}}"#,
        r#"{"global_rate_limit":{"rate":1,"per":3600}}"#,
        &[Ask("GET ~/x", Statuses(3), "200 200 200", "200 429 429")],
    ),
    row(
        "global_rate_limit.disabled",
        RATE,
        r#"{"global_rate_limit":{"rate":1,"per":3600}}"#,
        r#"{"global_rate_limit":{"rate":1,"per":3600,"disabled":true}}"#,
        &[Ask("GET ~/x", Statuses(3), "200 429 429", "200 200 200")],
    ),
    held(
        "session_lifetime",
        "gateway/api.go: ApplyLifetime",
        "tyk_meaning::keys_leave_when_their_lifetime_is_over",
    ),
    held(
        "session_lifetime_respects_key_expiration",
        "user/session.go: calculateLifetime",
        "tyk_fields::lifetimes::expiry_has_a_say_where_an_api_or_the_configuration_says_so",
    ),
    held("custom_middleware.driver", HOOKS, CODE),
    held("custom_middleware.pre", HOOKS, CODE),
    held("custom_middleware.post", HOOKS, CODE),
    held("custom_middleware.post_key_auth", HOOKS, CODE),
    held("custom_middleware.response", HOOKS, CODE),
    held(
        "custom_middleware_bundle",
        "gateway/coprocess_bundle.go: loadBundle",
        CODE,
    ),
    held(
        "custom_middleware_bundle_disabled",
        "gateway/coprocess_bundle.go: loadBundle",
        CODE,
    ),
    held(
        "do_not_track",
        "gateway/handler_success.go: RecordHit",
        DETAIL,
    ),
    held(
        "enable_detailed_recording",
        "gateway/handler_success.go: recordDetailUnsafe",
        DETAIL,
    ),
    held(
        "expire_analytics_after",
        "gateway/handler_success.go: RecordHit",
        DETAIL,
    ),
    held(
        "auth_configs.jwt.auth_header_name",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::the_field_of_the_token_is_named_and_hidden",
    ),
    held(
        "auth_configs.jwt.disable_header",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "auth_configs.jwt.use_cookie",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "auth_configs.jwt.use_param",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "base_identity_provided_by",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "enable_batch_request_support",
        "gateway/batch_requests.go: HandleBatchRequest",
        "tyk_batch::each_request_is_judged_for_itself",
    ),
    held(
        "enable_jwt",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
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
        "error_overrides_disabled",
        "gateway/error_overrides.go: ApplyOverride",
        "tyk_overrides::a_refusal_is_told_otherwise_and_stays_one",
    ),
    held(
        "jwt_client_base_field",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_default_policies",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::tokens_that_name_no_policy_have_those_of_the_api",
    ),
    held(
        "jwt_disable_expires_at_validation",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_disable_issued_at_validation",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_disable_not_before_validation",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_expires_at_validation_skew",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
    held(
        "jwt_identity_base_field",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::the_session_of_a_token_is_seen_and_closed_by_its_name_and_opens_nothing_by_it",
    ),
    held(
        "jwt_issued_at_validation_skew",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
    held(
        "jwt_jwks_uris",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_not_before_validation_skew",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
    held(
        "jwt_policy_field_name",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::whoever_a_token_names_has_the_rate_of_the_policy_that_it_names",
    ),
    held(
        "jwt_scope_to_policy_mapping",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
    held(
        "jwt_signing_method",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
    held(
        "jwt_source",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::who_has_no_good_token_is_told_so_in_tyks_words",
    ),
    held(
        "proxy.transport.ssl_insecure_skip_verify",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "proxy.transport.ssl_max_version",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "proxy.transport.ssl_min_version",
        "gateway/reverse_proxy.go: tlsClientConfig",
        "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name",
    ),
    held(
        "scopes.jwt.scope_to_policy",
        "gateway/mw_jwt.go: ProcessRequest",
        "tyk_tokens::what_would_let_in_others_than_tyk_does_is_refused_by_name",
    ),
];
