//! The fields of `tyk.conf`, as they are written.

use crate::config::SecretText;
use crate::tyk::overrides;
use deserr::Deserr;
use plimsoll_base::document::{Entries, Text};

/// The file.
#[derive(Debug, Deserr)]
pub(in crate::tyk) struct Wire {
    #[deserr(default)]
    pub(super) listen_address: Option<String>,
    #[deserr(default)]
    pub(super) listen_port: Option<u16>,
    #[deserr(default)]
    pub(super) secret: Option<SecretText>,
    #[deserr(default)]
    pub(super) app_path: Option<String>,
    #[deserr(default)]
    pub(super) middleware_path: Option<String>,
    #[deserr(default)]
    pub(super) policies: Option<PoliciesWire>,
    #[deserr(default)]
    pub(super) storage: Option<StorageWire>,
    #[deserr(default)]
    pub(super) enable_analytics: Option<bool>,
    #[deserr(default)]
    pub(super) analytics_config: Option<AnalyticsWire>,
    #[deserr(default)]
    pub(super) enable_separate_analytics_store: Option<bool>,
    #[deserr(default)]
    pub(super) analytics_storage: Option<StorageWire>,
    #[deserr(default)]
    pub(super) hash_keys: Option<bool>,
    #[deserr(default)]
    pub(super) hash_key_function: Option<String>,
    #[deserr(default)]
    pub(super) enable_hashed_keys_listing: Option<bool>,
    #[deserr(default)]
    pub(super) min_token_length: Option<u32>,
    #[deserr(default)]
    pub(super) allow_master_keys: Option<bool>,
    #[deserr(default)]
    pub(super) force_global_session_lifetime: Option<bool>,
    #[deserr(default)]
    pub(super) global_session_lifetime: Option<i64>,
    #[deserr(default)]
    pub(super) session_lifetime_respects_key_expiration: Option<bool>,
    #[deserr(default)]
    pub(super) health_check_endpoint_name: Option<String>,
    #[deserr(default)]
    pub(super) readiness_check_endpoint_name: Option<String>,
    #[deserr(default)]
    pub(super) graceful_shutdown_timeout_duration: Option<u32>,
    #[deserr(default)]
    pub(super) graceful_shutdown_delay_seconds: Option<u32>,
    #[deserr(default)]
    pub(super) proxy_default_timeout: Option<f64>,
    #[deserr(default)]
    pub(super) max_idle_connections_per_host: Option<u32>,
    #[deserr(default)]
    pub(super) proxy_enable_http2: Option<bool>,
    #[deserr(default)]
    pub(super) proxy_ssl_insecure_skip_verify: Option<bool>,
    #[deserr(default)]
    pub(super) proxy_ssl_min_version: Option<u16>,
    #[deserr(default)]
    pub(super) proxy_ssl_max_version: Option<u16>,
    #[deserr(default)]
    pub(super) hide_generator_header: Option<bool>,
    #[deserr(default)]
    pub(super) enable_custom_domains: Option<bool>,
    #[deserr(default)]
    pub(super) coprocess_options: Option<CoprocessWire>,
    #[deserr(default)]
    pub(super) ignore_endpoint_case: Option<bool>,
    #[deserr(default)]
    pub(super) http_server_options: Option<ServerWire>,
    #[deserr(default)]
    pub(super) error_overrides: Option<overrides::Wire>,
}

#[derive(Debug, Deserr)]
pub(super) struct PoliciesWire {
    #[deserr(default)]
    pub(super) policy_source: Option<String>,
    #[deserr(default)]
    pub(super) policy_record_name: Option<String>,
    #[deserr(default)]
    pub(super) policy_path: Option<String>,
}

#[derive(Debug, Deserr)]
pub(super) struct CoprocessWire {
    #[deserr(default)]
    pub(super) enable_coprocess: Option<bool>,
}

#[derive(Debug, Deserr)]
pub(super) struct StorageWire {
    #[deserr(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[deserr(default)]
    pub(super) host: Option<String>,
    #[deserr(default)]
    pub(super) port: Option<u16>,
    #[deserr(default)]
    pub(super) addrs: Option<Vec<String>>,
    /// Ports by hosts.
    #[deserr(default)]
    pub(super) hosts: Option<Entries<Text>>,
    #[deserr(default)]
    pub(super) username: Option<String>,
    #[deserr(default)]
    pub(super) password: Option<SecretText>,
    #[deserr(default)]
    pub(super) database: Option<u16>,
}

#[derive(Debug, Default, Deserr)]
pub(super) struct AnalyticsWire {
    #[deserr(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[deserr(default)]
    pub(super) ignored_ips: Option<Vec<String>>,
    #[deserr(default)]
    pub(super) enable_detailed_recording: Option<bool>,
    #[deserr(default)]
    pub(super) storage_expiration_time: Option<u32>,
    #[deserr(default)]
    pub(super) enable_multiple_analytics_keys: Option<bool>,
    #[deserr(default)]
    pub(super) serializer_type: Option<String>,
}

#[derive(Debug, Deserr)]
pub(super) struct ServerWire {
    #[deserr(default)]
    pub(super) max_request_body_size: Option<u64>,
    #[deserr(default)]
    pub(super) enable_websockets: Option<bool>,
    #[deserr(default)]
    pub(super) enable_path_prefix_matching: Option<bool>,
    #[deserr(default)]
    pub(super) enable_path_suffix_matching: Option<bool>,
}
