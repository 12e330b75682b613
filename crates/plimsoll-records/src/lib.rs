//! Records of requests and spans of traces: what a gateway leaves of each exchange, and how it gets to sinks without holding anything up.
//!
//! Which facts are recorded, and by which configuration, is the gateway's to say; here it is numbers and words.
//!
//! # Floors
//!
//! A module needs those on the floors below, and on its own floor those to its right.
//!
//! ```text
//! analytics                      the shards' ends, and the workers that take records from there
//! sink_worker                    carries records to one sink
//! backlog sink_writer            records that wait; the way from a shard to a worker
//! spool thread sink              on disk; a thread that is not waited for without end; where records go
//! form counts                    how records are written; their outcomes
//! record                         one record, and batches of them
//! entry                          a record with everything that it refers to
//! settings tracing phases        where records go and what is in them; which requests get spans; where time went
//! ending output                  how exchanges end; where lines go
//! ```

mod analytics;
mod backlog;
mod counts;
mod ending;
mod entry;
mod form;
mod output;
mod phases;
mod record;
mod settings;
mod sink;
mod sink_worker;
mod sink_writer;
mod spool;
mod thread;
pub mod tracing;

pub use analytics::{Analytics, RecordSender};
pub use counts::Counts;
pub use ending::Ending;
pub use output::Output;
pub use phases::{Phase, Phases, Stopwatch};
pub use record::{ApiNames, Names, Record, RecordWord, Words};
pub use settings::{
    AnalyticsConfig, LineForm, PostgresqlSink, RECORDED_BODY, RedisForm, RedisSink, SPOOLED,
    SinkConfig, SpoolConfig, TYKS_LIST, TracingConfig,
};
