//! How many blocks a wanted effect takes, by the spread of blocks that were measured already: to be asked before the comparison is made.

use super::{Entry, FIGURES, as_f64, is_paired};
use crate::record::Statistic;
use crate::statistics::{Sample, blocks_to_detect, minimum_detectable};
use serde::Serialize;

/// Blocks that a figure takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Needed {
    /// The figure.
    pub figure: Statistic,
    /// The standard deviation of its difference in one block, in seconds.
    pub deviation: f64,
    /// Blocks that it was taken from.
    pub from_blocks: usize,
    /// Effect that these blocks find, with 80 % power at 5 %.
    pub minimum_detectable: f64,
    /// Blocks that find the wanted effect; `null`: more than a thousand.
    pub blocks: Option<usize>,
}

/// Blocks that find a difference of `effect` seconds, by the spread of one entry or of two. Two arms of one run have the spread of their
/// differences; otherwise two arms that spread alike and share nothing are assumed, which takes more blocks than they will.
#[must_use]
pub fn needed(entries: &[Entry], effect: f64) -> Vec<Needed> {
    let of_figure = |figure: Statistic| {
        let (deviation, from_blocks) = deviation(entries, figure)?;
        Some(Needed {
            figure,
            deviation,
            from_blocks,
            minimum_detectable: minimum_detectable(from_blocks, deviation),
            blocks: blocks_to_detect(effect, deviation),
        })
    };
    FIGURES.into_iter().filter_map(of_figure).collect()
}

fn deviation(entries: &[Entry], figure: Statistic) -> Option<(f64, usize)> {
    let values = |entry: &Entry| entry.blocks(figure);
    let first = values(entries.first()?);
    if let Some(second) = entries
        .get(1)
        .filter(|second| is_paired(&entries[0], second))
    {
        let second = values(second);
        let of = |wanted: u32| second.iter().find(|(block, _)| *block == wanted);
        let differences: Vec<f64> = first
            .iter()
            .filter_map(|(block, value)| Some(of(*block)?.1 - value))
            .collect();
        let sample = Sample::of(&differences)?;
        return Some((sample.deviation, sample.size));
    }
    let samples = entries.iter().filter_map(|entry| {
        let values: Vec<f64> = values(entry).into_iter().map(|(_, value)| value).collect();
        Sample::of(&values)
    });
    let samples: Vec<Sample> = samples.collect();
    let fewest = samples.iter().map(|sample| sample.size).min()?;
    let variance: f64 = samples.iter().map(|sample| sample.deviation.powi(2)).sum();
    let variance = 2.0 * variance / as_f64(samples.len());
    Some((variance.sqrt(), fewest))
}
