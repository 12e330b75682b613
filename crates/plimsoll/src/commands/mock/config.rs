//! From the mock's flags to its configuration: what stands in for a flag that is not given, and what two flags mean together.

use super::Args;
use crate::commands::server;
use crate::exit::Failure;
use crate::out;
use plimsoll_mock::{AdminAccess, Builtins, DelayPrecision, JournalLimits, MockConfig, Templating};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The configuration that these flags ask for; reads the files that they name.
pub fn of(args: Args, seed: u64) -> Result<MockConfig, Failure> {
    let here_has_stubs = || Path::new("mappings").is_dir() || Path::new("__files").is_dir();
    let default_root = || (!args.server.announce && here_has_stubs()).then(|| PathBuf::from("."));
    let mut config = MockConfig::new(SocketAddr::new(args.bind_address, args.port));
    config.listen = config.listen.filter(|_| args.https.clear());
    config.https = args.https.listener(args.bind_address)?;
    config.gzip = !args.disable_gzip;
    config.http2_in_clear = args.https.http2_in_clear();
    config.admin_requires_https = args.https.for_admin();
    config.root_dir = args.root_dir.clone().or_else(default_root);
    if let Some(root) = &config.root_dir {
        make(root)?;
    }
    config.builtins = match args.builtins {
        // An experiment is written for them, whatever stubs it has beside.
        super::Builtins::Auto if args.server.announce => Builtins::On,
        super::Builtins::Auto => Builtins::WithoutStubs,
        super::Builtins::On => Builtins::On,
        super::Builtins::Off => Builtins::Off,
    };
    config.counters = args.counters;
    config.shards = server::shards(args.shards)?;
    config.connections = args.connections;
    config.timeouts.head = args.head_timeout;
    config.timeouts.idle = args.idle_timeout;
    config.timeouts.body.silence = args.body_timeout;
    config.seed = seed;
    config.record = args.record_mappings.then_some(args.match_headers);
    config.record_latency = args.record_latency;
    config.proxy_all.clone_from(&args.outgoing.proxy_all);
    config.outgoing = args.outgoing.config()?;
    if args.exact_delays {
        config.delay_precision = DelayPrecision::Exact;
    }
    // In an experiment nobody asks for requests, and noting them would be a part of what is measured.
    let unasked = args.server.announce && args.max_request_journal_entries.is_none();
    config.journal = journal(
        args.no_request_journal || unasked,
        args.max_request_journal_entries,
        args.logged_response_body_size_limit,
    );
    let unasked = args.server.announce.then_some(0);
    if let Some(tables) = args.differences_per_second.or(unasked) {
        config.differences_per_second = tables;
    }
    config.templating = match (
        args.global_response_templating,
        args.disable_response_templating,
    ) {
        (true, _) => Templating::All,
        (_, true) => Templating::Off,
        _ => Templating::Listed,
    };
    config.admin_origins = args.admin_cors;
    config.stub_cors = args.enable_stub_cors;
    config.admin = match args.admin_api_basic_auth {
        Some(credentials) => AdminAccess::Credentials(credentials),
        None if args.admin_open => AdminAccess::Open,
        None => AdminAccess::Loopback,
    };
    Ok(config)
}

/// Makes a root directory that is not there, as WireMock does, and says so: it may be a name that was mistyped.
fn make(root: &Path) -> Result<(), Failure> {
    if root.exists() {
        return Ok(());
    }
    let shown = root.display();
    std::fs::create_dir_all(root)
        .map_err(|error| Failure::Environment(format!("{shown} cannot be made: {error}")))?;
    out::note(&format!(
        "mock: {shown} did not exist and was created: it has no stubs"
    ));
    Ok(())
}

/// Who asks for many entries gets the memory for them.
fn journal(off: bool, entries: Option<usize>, shown_body: Option<usize>) -> JournalLimits {
    /// Room for the head of a request and a small body.
    const ENTRY_BYTES: usize = 4096;
    let default = JournalLimits::default();
    let entries = if off { Some(0) } else { entries };
    JournalLimits {
        entries: entries.unwrap_or(default.entries),
        bytes: default
            .bytes
            .max(entries.unwrap_or(0).saturating_mul(ENTRY_BYTES)),
        shown_body: shown_body.unwrap_or(default.shown_body),
    }
}
