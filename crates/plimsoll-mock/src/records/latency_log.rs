//! `--record-latency FILE`: how long other servers took to answer, as an HdrHistogram interval log that `metadata.plimsoll.replay` reads.
//!
//! A time runs from the first byte of a request sent to the last byte of its answer received: the service time, without lookup and
//! connecting. Exchanges without an answer have none.

use crate::error::MockError;
use plimsoll_base::histogram::{LogEncoder, TimeHistogram};
use plimsoll_base::interval_log;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Remark in the log's header.
const REMARK: &str = "Service times of other servers in microseconds; starts in seconds since the mock began; Interval_Max in milliseconds";

/// The log of a running mock.
#[derive(Debug)]
pub(crate) struct LatencyLog {
    began: Instant,
    /// The times since then. A blocking lock: it is held for one time, or while they are taken out.
    times: Mutex<(Instant, TimeHistogram)>,
    /// Whoever writes waits for whoever writes already.
    file: Mutex<(File, LogEncoder)>,
}

impl LatencyLog {
    /// A log in a new file; an older one of this name is overwritten.
    pub(crate) fn create(path: PathBuf) -> Result<Arc<Self>, MockError> {
        let begin = || -> io::Result<File> {
            let mut file = File::create(&path)?;
            file.write_all(interval_log::header(REMARK).as_bytes())?;
            Ok(file)
        };
        let file = begin().map_err(|error| MockError::File { path, error })?;
        let began = Instant::now();
        Ok(Arc::new(Self {
            began,
            times: Mutex::new((began, TimeHistogram::new())),
            file: Mutex::new((file, LogEncoder::default())),
        }))
    }

    /// Takes down one time.
    pub(crate) fn record(&self, time: Duration) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.1.record(time);
    }

    /// Writes the times since the last line, if there are any. Blocks.
    pub(crate) fn write(&self, now: Instant) -> io::Result<()> {
        let mut writing = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, times) = {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *times, (now, TimeHistogram::new()))
        };
        if times.is_empty() {
            return Ok(());
        }
        let start = since.duration_since(self.began).as_secs_f64();
        let length = now.duration_since(since).as_secs_f64();
        let (file, encoder) = &mut *writing;
        let line = interval_log::line(encoder, None, (start, length), &times);
        file.write_all(line.as_bytes())
    }
}
