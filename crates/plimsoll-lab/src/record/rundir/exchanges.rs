//! The fate of every arrival of a trial: `trials/<number>.jsonl.gz`, a line of JSON for each.

use super::EXCHANGES;
use crate::error::LabError;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use plimsoll_files::Limit;
use plimsoll_report::record::SingleExchange;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Most lines: what a trial may have at most, and what was cut off.
const MOST: usize = 2_100_000;
/// The longest line: a few numbers, and what a step takes out of answers.
const LINE_BYTES: u64 = 64 * 1024;

/// The file of a trial of the run in `dir`.
pub(super) fn path(dir: &Path, trial: u32) -> PathBuf {
    dir.join(EXCHANGES).join(format!("{trial}.jsonl.gz"))
}

/// The bytes of such a file.
pub(super) fn pack(exchanges: &[SingleExchange]) -> Result<Vec<u8>, LabError> {
    let internal = |error: String| LabError::Internal(format!("the exchanges of a trial: {error}"));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for exchange in exchanges {
        serde_json::to_writer(&mut packed, exchange).map_err(|e| internal(e.to_string()))?;
        packed
            .write_all(b"\n")
            .map_err(|e| internal(e.to_string()))?;
    }
    packed.finish().map_err(|e| internal(e.to_string()))
}

/// Reads one back.
///
/// # Errors
/// [`LabError::Input`] when it is not there or damaged.
pub(super) fn read(path: &Path) -> Result<Vec<SingleExchange>, LabError> {
    let damaged =
        |why: String| LabError::Input(format!("{}: not of this version: {why}", path.display()));
    let bytes = plimsoll_files::read(path, Limit::RECORD)
        .map_err(|error| LabError::Input(format!("{}: {error}", path.display())))?;
    let mut lines = BufReader::new(GzDecoder::new(&bytes[..]));
    let mut exchanges = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut lines).take(LINE_BYTES);
        let length = limited
            .read_until(b'\n', &mut line)
            .map_err(|e| damaged(e.to_string()))?;
        if length == 0 {
            return Ok(exchanges);
        }
        let exchange = serde_json::from_slice(&line).map_err(|e| damaged(e.to_string()))?;
        if exchanges.len() == MOST {
            return Err(damaged(format!("more than {MOST} exchanges")));
        }
        exchanges.push(exchange);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::reason::Reason;

    #[test]
    fn exchanges_are_read_as_they_were_written() {
        let exchanges: Vec<SingleExchange> = (0..1_000)
            .map(|index| SingleExchange {
                intended_us: index * 6_667,
                response_us: 1_000 + index,
                late_us: index % 100,
                sent_us: (index % 3 > 0).then_some(index % 100 + 7),
                class: [OutcomeClass::Passed, OutcomeClass::Refused][usize::from(index % 3 == 0)],
                status: (index % 3 != 0).then_some(200),
                reason: (index % 3 == 0).then_some(Reason::ConnectionRefused),
                step: u32::from(index % 7 == 0),
                extracted: (index % 5 == 0)
                    .then(|| ("id".to_owned(), format!("\"{index}\"\n")))
                    .into_iter()
                    .collect(),
            })
            .collect();
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(EXCHANGES)).unwrap();
        let path = path(dir.path(), 7);
        std::fs::write(&path, pack(&exchanges).unwrap()).unwrap();
        assert_eq!(read(&path).unwrap(), exchanges);
        std::fs::write(&path, &pack(&exchanges).unwrap()[..100]).unwrap();
        assert!(read(&path).is_err());
    }
}
