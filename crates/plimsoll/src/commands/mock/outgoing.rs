//! The mock's flags about requests that it sends itself: to whom, and how. Named as WireMock's where it has them.

use crate::exit::Failure;
use plimsoll_base::units;
use plimsoll_files::{Limit, read_text};
use plimsoll_mock::{
    HostField, OutgoingConfig, TargetTrust, Targets, UserAgentField, Verification,
};
use std::path::PathBuf;
use std::time::Duration;

/// See the file.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Hosts that the mock may send requests to (`proxyBaseUrl`, `--proxy-all`): names, `*.example.com`, addresses, ranges, each with `:PORT` if one counts [default: none]
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    allow_proxy_targets: Vec<String>,
    /// Which of them it may not.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    deny_proxy_targets: Vec<String>,
    /// Send every request on to this URL that no other stub answers.
    #[arg(long, value_name = "URL")]
    pub proxy_all: Option<String>,
    /// How long a request that is sent on may take, in milliseconds or with a unit.
    #[arg(long, default_value = "300000", value_parser = milliseconds)]
    proxy_timeout: Duration,
    /// Connections to other servers at a time; a further request waits for one.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_http_client_connections: usize,
    /// Send on the client's own `Host`.
    #[arg(long)]
    preserve_host_header: bool,
    /// Send on the client's own `User-Agent`.
    #[arg(long)]
    preserve_user_agent_proxy_header: bool,
    /// The only codings that an `Accept-Encoding` which is sent on may name.
    #[arg(long, value_name = "CODING,…", value_delimiter = ',')]
    supported_proxy_encodings: Vec<String>,
    /// Do not verify the certificates of other servers.
    #[arg(long)]
    trust_all_proxy_targets: bool,
    /// Do not verify the certificate of this server.
    #[arg(long, value_name = "HOST")]
    trust_proxy_target: Vec<String>,
    /// PEM file with the only authorities whose certificates count [default: those that this host trusts]
    #[arg(long, value_name = "FILE")]
    proxy_ca: Option<PathBuf>,
}

impl Args {
    /// The configuration that the flags ask for.
    pub fn config(self) -> Result<OutgoingConfig, Failure> {
        let targets = Targets::new(&self.allow_proxy_targets, &self.deny_proxy_targets);
        let authorities = self.proxy_ca.map(|path| {
            read_text(&path, Limit::CONTENT)
                .map_err(|error| Failure::Input(format!("--proxy-ca {}: {error}", path.display())))
        });
        let encodings = self.supported_proxy_encodings;
        Ok(OutgoingConfig {
            targets: targets
                .map_err(|error| Failure::Input(format!("--allow-proxy-targets: {error}")))?,
            timeout: self.proxy_timeout,
            connections: self.max_http_client_connections,
            trust: TargetTrust {
                authorities: authorities.transpose()?,
                everybody: if self.trust_all_proxy_targets {
                    Verification::Off
                } else {
                    Verification::On
                },
                hosts: self.trust_proxy_target,
            },
            host: if self.preserve_host_header {
                HostField::Client
            } else {
                HostField::Target
            },
            user_agent: if self.preserve_user_agent_proxy_header {
                UserAgentField::Client
            } else {
                UserAgentField::Own
            },
            encodings: (!encodings.is_empty()).then_some(encodings),
        })
    }
}

/// A number of milliseconds, as WireMock takes it, or a time with a unit.
fn milliseconds(text: &str) -> Result<Duration, String> {
    let plain = text.parse().ok().map(Duration::from_millis);
    let time = plain.map_or_else(|| units::parse_duration(text), Ok);
    match time {
        Ok(time) if time.is_zero() => Err("more than nothing is needed".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_unless_they_say_otherwise() {
        assert_eq!(milliseconds("250"), Ok(Duration::from_millis(250)));
        assert_eq!(milliseconds("2s"), Ok(Duration::from_secs(2)));
        assert!(milliseconds("0").is_err() && milliseconds("soon").is_err());
    }
}
