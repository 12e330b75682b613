//! Starts a mock and runs it to its end.

use crate::admin::Admin;
use crate::admin::guard::Guard;
use crate::admin::recordings;
use crate::builtins::Endpoints;
use crate::config::MockConfig;
use crate::error::MockError;
use crate::mappings::recording::Recordings;
use crate::mappings::recording::at_once::AtOnce;
use crate::mappings::source;
use crate::mappings::stubs::Stubs;
use crate::outgoing::Outgoing;
use crate::records::journal::Journal;
use crate::records::latency_log::LatencyLog;
use crate::records::metrics::Metrics;
use crate::serve::shard::{FILES_READ, Shared};
use crate::serve::webhooks::Webhooks;
use crate::serve::{self, MockListener};
use plimsoll_base::counters::Counter;
use plimsoll_http::{CountersFile, Listener, connections_possible, run_shards};
use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::reader::surroundings::Surroundings;
use plimsoll_wiremock::stub::differences::Differences;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// Counts of a mock that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Requests whose head was received complete.
    pub received: u64,
    /// Answers written.
    pub served: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Requests refused as malformed.
    pub malformed: u64,
    /// Connections turned away because there were too many.
    pub turned_away: u64,
    /// Connections ended because their client took too long over a request or over taking its answer.
    pub timed_out: u64,
    /// Requests that matched neither a stub nor a built-in endpoint.
    pub unmatched: u64,
    /// Outcomes of webhooks.
    pub webhooks: Webhooks,
    /// Results of a recording that was under way at the end.
    pub recordings: Option<Recordings>,
}

/// The names of listeners and where they are.
type Listening = Vec<(String, SocketAddr)>;

/// Runs a mock until `stop` becomes true or its sender is dropped; blocks. `on_ready` is told the name and address of each
/// listener once requests are answered.
///
/// # Errors
/// [`MockError`]: [`MockError::Stubs`] lists every problem of every stub file; nothing is served then.
pub fn run(
    config: MockConfig,
    on_ready: impl FnOnce(Listening),
    stop: watch::Receiver<bool>,
) -> Result<Summary, MockError> {
    if config.shards == 0 {
        return Err(MockError::Config(
            "a mock needs at least one shard".to_owned(),
        ));
    }
    let shards = config.shards;
    let around = surroundings(&config);
    let stubs = load_stubs(&config, &around)?;
    let counters = count(&config)?;
    let (specs, listening) = open(&config)?;
    let guard = Guard::new(&config, bound(&listening)?)?;
    let shared = Arc::new(share(config, stubs, around, &counters, guard)?);
    // From here on the system queues connections, so whoever is told now will be answered.
    on_ready(listening);
    let results = run_shards(shards, "mock", |index| {
        serve::run(
            Arc::clone(&shared),
            index,
            counters.row(index),
            &specs,
            stop.clone(),
        )
    })?;
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(Summary {
        recordings: keep_records(&shared)?,
        webhooks: shared.webhooks.total(),
        ..summary(&counters)
    })
}

/// State that the shards share.
fn share(
    config: MockConfig,
    stubs: Stubs,
    around: Surroundings,
    counters: &CountersFile,
    guard: Guard,
) -> Result<Shared, MockError> {
    let recorder = recorder(&config)?;
    let stubs = Arc::new(stubs);
    let journal = Arc::new(Journal::new(config.journal, config.shards, config.seed));
    let metrics = Arc::new(Metrics::new(config.shards));
    let behind = config.outgoing.descriptors(config.shards);
    let ending = watch::Sender::new(false);
    let endpoints = Endpoints::new(config.builtins, config.root_dir.is_some());
    let endpoints = Arc::new(endpoints);
    let root = config.root_dir.as_deref();
    let files = root.map_or_else(BodyFiles::default, BodyFiles::below);
    let admin = Admin {
        endpoints: Arc::clone(&endpoints),
        stubs: Arc::clone(&stubs),
        journal: Arc::clone(&journal),
        metrics: Arc::clone(&metrics),
        counters: counters.clone(),
        root: config.root_dir,
        around,
        proxy_all: config.proxy_all,
        settings: Mutex::default(),
        recorder: Mutex::default(),
        seed: config.seed,
        ending: ending.clone(),
        started: Instant::now(),
    };
    Ok(Shared {
        guard,
        endpoints,
        files,
        admin: Arc::new(admin),
        journal,
        metrics,
        recorder,
        differences: Differences::per_second(config.differences_per_second),
        stubs,
        webhooks: Arc::default(),
        latency: config.record_latency.map(LatencyLog::create).transpose()?,
        outgoing: Outgoing::new(config.outgoing, config.limits),
        limits: config.limits,
        gzip: config.gzip,
        stub_cors: config.stub_cors,
        http2_in_clear: config.http2_in_clear,
        room: config
            .connections
            .min(connections_possible(config.shards, behind)),
        connections: Arc::default(),
        timeouts: config.timeouts,
        bodies: Arc::default(),
        reading: Semaphore::new(FILES_READ),
        precision: config.delay_precision,
        grace: config.grace,
        seed: config.seed,
        next_draw: AtomicU64::new(0),
        ending,
    })
}

fn count(config: &MockConfig) -> Result<CountersFile, MockError> {
    let file = config.counters.as_deref();
    CountersFile::create(file, config.shards).map_err(|error| MockError::File {
        path: config.counters.clone().unwrap_or_default(),
        error,
    })
}

/// Writes what is left of the latency log, and the recording that is under way, if one is.
fn keep_records(shared: &Shared) -> Result<Option<Recordings>, MockError> {
    if let Some(latency) = &shared.latency {
        latency.write(Instant::now())?;
    }
    let recorded = recordings::finish(&shared.admin);
    let recorded = recorded.map_err(|error| MockError::Record(error.to_string()))?;
    let Some(recorder) = &shared.recorder else {
        return Ok(recorded);
    };
    let (one, other) = (recorder.finish().map_err(MockError::Record)?, recorded);
    let other = other.unwrap_or_default();
    Ok(Some(Recordings {
        mappings: one.mappings + other.mappings,
        missing: one.missing + other.missing,
    }))
}

/// Inputs of reading mappings, but for the files of a root.
fn surroundings(config: &MockConfig) -> Surroundings {
    Surroundings {
        templating: config.templating,
        targets: Some(Arc::new(config.outgoing.targets.clone())),
        ..Surroundings::default()
    }
}

/// The recorder that writes at once, if the configuration asks for it.
fn recorder(config: &MockConfig) -> Result<Option<Arc<AtOnce>>, MockError> {
    let Some(fields) = &config.record else {
        return Ok(None);
    };
    let Some(root) = &config.root_dir else {
        let message =
            "--record-mappings: a recording is kept below a root directory: start with --root-dir";
        return Err(MockError::Config(message.to_owned()));
    };
    let begun = AtOnce::begin(root, fields, config.seed);
    let failed = |error| MockError::File {
        path: root.clone(),
        error,
    };
    begun
        .map(|recorder| Some(Arc::new(recorder)))
        .map_err(failed)
}

fn load_stubs(config: &MockConfig, around: &Surroundings) -> Result<Stubs, MockError> {
    let root = config.root_dir.as_deref();
    let loaded = source::load_initial(root, around, config.proxy_all.as_deref())?;
    if !loaded.problems.is_empty() {
        return Err(MockError::Stubs(loaded.problems));
    }
    Stubs::new(config.seed, loaded.mappings)
        .map_err(|duplicate| MockError::Config(duplicate.to_string()))
}

/// Listens wherever it is told to: in plaintext as `main`, over TLS as `https`.
fn open(config: &MockConfig) -> Result<(Vec<MockListener>, Listening), MockError> {
    let clear = config.listen.map(|at| ("main", at, None));
    let https = config.https.as_ref();
    let https = https.map(|https| ("https", https.listen, Some(https.tls.clone())));
    let (mut specs, mut listening) = (Vec::new(), Vec::new());
    for (name, at, tls) in clear.into_iter().chain(https) {
        let (listener, address) = listen(at)?;
        specs.push(MockListener { listener, tls });
        listening.push((name.to_owned(), address));
    }
    Ok((specs, listening))
}

/// The address of the listeners, which decides who may use the admin API: of several, one that is not loopback.
fn bound(listening: &[(String, SocketAddr)]) -> Result<IpAddr, MockError> {
    let addresses = listening.iter().map(|(_, address)| address.ip());
    addresses
        .min_by_key(IpAddr::is_loopback)
        .ok_or_else(|| MockError::Config("a mock needs somewhere to listen".to_owned()))
}

fn listen(listen: SocketAddr) -> Result<(Listener, SocketAddr), MockError> {
    let bind = || {
        let listener = Listener::bind(listen)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bind().map_err(|error| MockError::Listen { listen, error })
}

fn summary(counters: &CountersFile) -> Summary {
    Summary {
        received: counters.total(Counter::Received),
        served: counters.total(Counter::Served),
        accepted: counters.total(Counter::Accepted),
        turned_away: counters.total(Counter::TurnedAway),
        timed_out: counters.total(Counter::TimedOut),
        malformed: counters.total(Counter::Malformed),
        unmatched: counters.total(Counter::Unmatched),
        webhooks: Webhooks::default(),
        recordings: None,
    }
}
