//! Progress of a run for its spectators. Watching changes nothing: the record is written either way.

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// A component is being started.
    ComponentStarting {
        /// Its name.
        name: String,
    },
    /// A component is ready.
    ComponentReady {
        /// Its name.
        name: String,
    },
    /// An arm's load begins: in a block, at a level, or as a trial.
    BlockStarted {
        /// Which one: `block 2 of 6`, `level 50/s (2 of 5)`, `trial 7: 412/s for 10 s`; empty where there is only one.
        label: String,
        /// The arm.
        arm: String,
        /// Time that is left, as far as it is known.
        ahead: Ahead,
    },
    /// A second of load is over.
    Second(SecondProgress),
    /// Something the person should know.
    Note(String),
    /// The run is over, its record complete.
    Finished,
}

/// How much time is left when a load begins, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ahead {
    /// That of the load, or nobody knows more.
    #[default]
    Load,
    /// The loads that are left, this one included, take about so many seconds, with what goes on between them.
    Run(f64),
    /// A search, which ends with its budget at the latest. Both are in seconds.
    Budget {
        /// The whole of it.
        of: f64,
        /// Budget that is not spent.
        left: f64,
        /// Its bounds so far: `400/s is carried, 450/s is too much`; empty before the first trial.
        found: String,
    },
}

/// One second of an arm's load. Times are in seconds; `None` without a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SecondProgress {
    /// The arm.
    pub arm: String,
    /// The block, from 1.
    pub block: u32,
    /// Seconds since this load began, warm-up included.
    pub t: f64,
    /// Its whole length in seconds, warm-up included; the longest that it may take, if it ends with its iterations.
    pub total: f64,
    /// Iterations, where the load ends with the last of so many.
    pub iterations: Option<Numbered>,
    /// Whether the second lies in the warm-up.
    pub warmup: bool,
    /// Arrivals due per second, which are iterations; `None` in the closed model.
    pub offered_per_s: Option<f64>,
    /// Exchanges that an iteration has had so far, on the mean over the load; `None` before the first.
    pub exchanges_per_iteration: Option<f64>,
    /// Answered exchanges per second.
    pub achieved_per_s: f64,
    /// Of these, the answers that passed their checks.
    pub good_per_s: f64,
    /// Failed exchanges.
    pub failed: u64,
    /// Failed exchanges since the load began.
    pub failed_so_far: u64,
    /// The most frequent of these failures, in words.
    pub failure: Option<String>,
    /// Virtual users within an iteration at its end.
    pub active_users: u64,
    /// Exchanges under way at its end.
    pub in_flight: u64,
    /// Median response time.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// The last sample of each component and of the generator.
    pub components: Vec<ComponentProgress>,
}

/// How many iterations have started, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    /// So far.
    pub started: u64,
    /// All of them.
    pub of: u64,
}

/// The last sample of one component.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentProgress {
    /// Its name.
    pub name: String,
    /// CPU seconds used per second, where it is known.
    pub cpu_cores: Option<f64>,
    /// Resident memory in bytes, where it is known.
    pub rss_bytes: Option<u64>,
}
