//! `faults` as written.

use deserr::Deserr;
use plimsoll_base::document::{BytesText, DurationText, ShareText, Text};
use schemars::JsonSchema;

/// A fault: exactly one of its kinds, with what belongs to it.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Fault",
    deny_unknown_fields,
    extend("oneOf" = [
        { "required": ["kill"] },
        { "required": ["freeze"] },
        { "required": ["cpu"] },
        { "required": ["memory"] },
        { "required": ["link"] },
        { "required": ["certificate"] },
        { "required": ["clock"] },
        { "required": ["run"] },
        { "required": ["toxiproxy"] },
        { "required": ["partition"] },
        { "required": ["blackhole"] },
        { "required": ["rst"] },
        { "required": ["loss"] },
        { "required": ["dns"] },
        { "required": ["power_off"] },
        { "required": ["disk_full"] },
        { "required": ["nothing"] }
    ])
)]
pub struct FaultWire {
    /// This component is killed, and started anew when the fault is over.
    #[deserr(default)]
    pub kill: Option<String>,
    /// This component stands still: it gets no processor time, while the system still accepts connections for it.
    #[deserr(default)]
    pub freeze: Option<String>,
    /// This component gets less processor time: `cores`.
    #[deserr(default)]
    pub cpu: Option<String>,
    /// Of `cpu`: most processor time that it may use, in processors.
    #[deserr(default)]
    pub cores: Option<f64>,
    /// This component may use less memory: `limit`. What it needs beyond that ends it.
    #[deserr(default)]
    pub memory: Option<String>,
    /// Of `memory`: most memory that it may use.
    #[deserr(default)]
    pub limit: Option<BytesText>,
    /// This link is slow, broken or silent: `a -> b`, where `a` refers to `b`.
    #[deserr(default)]
    pub link: Option<String>,
    /// Of `link` and `toxiproxy`: answers come so much later.
    #[deserr(default)]
    pub delay: Option<DurationText>,
    /// Of `link` and `toxiproxy`: `delay` is longer or shorter by at most this, differently for each piece.
    #[deserr(default)]
    pub jitter: Option<DurationText>,
    /// Of `link` and `toxiproxy`: most bytes a second, each way.
    #[deserr(default)]
    pub bandwidth: Option<BytesText>,
    /// Of `link` and `toxiproxy`: `true`: new connections are refused, and those that are there are reset.
    #[deserr(default)]
    pub refuse: Option<bool>,
    /// Of `link` and `toxiproxy`: `true`: connections are reset.
    #[deserr(default)]
    pub reset: Option<bool>,
    /// Of `link` and `toxiproxy`: `true`: nothing arrives any more, and nobody is told, as behind a broken network.
    #[deserr(default)]
    pub silence: Option<bool>,
    /// The certificate of this component is replaced by one that clients must not accept.
    #[deserr(default)]
    pub certificate: Option<String>,
    /// Of `certificate`: the file that it reads (PEM): one that it renders, by its name, or a path relative to this file.
    #[deserr(default)]
    pub file: Option<String>,
    /// Of `certificate`: its fault.
    #[deserr(rename = "as", default)]
    #[schemars(rename = "as")]
    pub flaw: Option<FlawWire>,
    /// Of `certificate`: the certificate of the authority that signs it (PEM).
    #[deserr(default)]
    pub authority: Option<String>,
    /// Of `certificate`: the authority's private key (PEM).
    #[deserr(default)]
    pub authority_key: Option<String>,
    /// Of `certificate`: the signal by which the component reads its certificate anew. Default: none is sent.
    #[deserr(default)]
    pub reload: Option<SignalWire>,
    /// The clock of this component is wrong: `by`.
    #[deserr(default)]
    pub clock: Option<String>,
    /// Of `clock`: how far it goes ahead, as `1h`, or behind, as `-1h`.
    #[deserr(default)]
    pub by: Option<String>,
    /// Commands of yours inject the fault and heal it.
    #[deserr(default)]
    pub run: Option<RunWire>,
    /// A proxy of the Toxiproxy with this URL, which runs already, does to what passes it as a `link` does: `proxy`.
    #[deserr(default)]
    pub toxiproxy: Option<Text>,
    /// Of `toxiproxy`: the name of the proxy.
    #[deserr(default)]
    pub proxy: Option<String>,
    /// Of `toxiproxy`: bytes that its server answers, by which the effect is proved, such as `"PING\\r\\n"`.
    #[deserr(default)]
    pub request: Option<String>,
    /// Nothing passes between two sets of hosts of the `network`: of each side a host, `zone/NAME`, `client`, or `rest`, which is all others.
    #[deserr(default)]
    pub partition: Option<Vec<String>>,
    /// Between two sets of hosts no connection can be opened, and nobody is told; those that are open go on.
    #[deserr(default)]
    pub blackhole: Option<Vec<String>>,
    /// Between two sets of hosts every packet of TCP is answered with a reset.
    #[deserr(default)]
    pub rst: Option<Vec<String>>,
    /// Between two sets of hosts packets are lost: `share` of them.
    #[deserr(default)]
    pub loss: Option<Vec<String>>,
    /// Of `loss`: the share.
    #[deserr(default)]
    pub share: Option<ShareText>,
    /// Of `partition`, `blackhole`, `rst` and `loss`: which way. Default: `both`.
    #[deserr(default)]
    pub direction: Option<DirectionWire>,
    /// The name server of this host answers wrongly: `answer` for `name`.
    #[deserr(default)]
    pub dns: Option<String>,
    /// Of `dns`: the name that is asked for.
    #[deserr(default)]
    pub name: Option<String>,
    /// Of `dns`: `nxdomain`, `servfail`, `nothing`, or another IPv4 address.
    #[deserr(default)]
    pub answer: Option<String>,
    /// This host of the `network` loses its power: its plug first, so that nobody is told, then all that runs on it. It starts anew.
    #[deserr(default)]
    pub power_off: Option<String>,
    /// The `disk` of this component is full.
    #[deserr(default)]
    pub disk_full: Option<String>,
    /// `true`: nothing is done, at the same moments. What it seems to change is the measurement's own doing.
    #[deserr(default)]
    pub nothing: Option<bool>,
    /// When it begins, in the measured time; under the method `availability`, which chooses the moments, never.
    #[deserr(default)]
    pub at: Option<DurationText>,
    /// How long it lasts, until it is healed.
    #[deserr(rename = "for")]
    #[schemars(rename = "for")]
    pub lasts: DurationText,
    /// Arms in whose loads it happens. Default: all.
    #[deserr(default)]
    pub arms: Option<Vec<String>>,
}

/// Faults of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[schemars(rename = "Flaw", rename_all = "snake_case")]
pub enum FlawWire {
    /// It ended yesterday.
    #[deserr(rename = "expired")]
    Expired,
    /// It begins tomorrow.
    #[deserr(rename = "not_yet_valid")]
    NotYetValid,
    /// It is for another host.
    #[deserr(rename = "wrong_name")]
    WrongName,
    /// Nobody knows who signed it.
    #[deserr(rename = "unknown_issuer")]
    UnknownIssuer,
}

/// Packets that a fault of the network hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[schemars(rename = "Direction", rename_all = "snake_case")]
pub enum DirectionWire {
    /// Those to and fro.
    #[deserr(rename = "both")]
    Both,
    /// Those from the first set of hosts to the second.
    #[deserr(rename = "one_way")]
    OneWay,
}

/// Signals by which servers read their files anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[schemars(rename = "Signal", rename_all = "UPPERCASE")]
pub enum SignalWire {
    /// SIGHUP
    #[deserr(rename = "HUP")]
    Hup,
    /// SIGUSR1
    #[deserr(rename = "USR1")]
    Usr1,
    /// SIGUSR2
    #[deserr(rename = "USR2")]
    Usr2,
}

/// Commands that are the fault: a program and its arguments each, no shell. They may hold substitutions, but no secrets.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Run", deny_unknown_fields)]
pub struct RunWire {
    /// Injects it.
    pub inject: Vec<Text>,
    /// Its status is 0 once the fault has its effect. It is asked again until then, for ten seconds.
    pub verify: Vec<Text>,
    /// Heals it, also when the fault was injected in part, or not at all.
    pub heal: Vec<Text>,
    /// Its status is 0 once nothing is left of the fault. It is asked again until then, for ten seconds.
    pub healed: Vec<Text>,
}
