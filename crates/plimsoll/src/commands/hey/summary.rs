//! hey's summary, byte for byte in form: what its v0.1.5 prints. Figures come from all exchanges, where hey's stop at a million.

use super::results::{Phase, Results, Times};
use std::fmt::Write as _;
use std::time::Duration;

const BAR: &str = "■";
/// The longest bar.
const BAR_LENGTH: u64 = 40;
/// Rows of the histogram beside its first, which is the fastest answer's.
const BUCKETS: u32 = 10;
const PERCENTILES: [u32; 7] = [10, 25, 50, 75, 90, 95, 99];

/// The whole text.
pub fn render(results: &Results, total: Duration) -> String {
    let mut text = String::new();
    write_all(&mut text, results, total).expect("invariant: a string takes every text");
    text
}

fn write_all(text: &mut String, results: &Results, total: Duration) -> std::fmt::Result {
    let times = &results.response;
    let total = total.as_secs_f64();
    writeln!(text, "\nSummary:")?;
    writeln!(text, "  Total:\t{} secs", number(total))?;
    writeln!(text, "  Slowest:\t{} secs", number(times.slowest()))?;
    writeln!(text, "  Fastest:\t{} secs", number(times.fastest()))?;
    writeln!(text, "  Average:\t{} secs", number(times.average()))?;
    writeln!(text, "  Requests/sec:\t{}", number(per(results.all, total)))?;
    text.push_str("  ");
    if let Some(size) = results
        .bytes
        .checked_div(results.answers())
        .filter(|_| results.bytes > 0)
    {
        write!(text, "\n  Total data:\t{} bytes", results.bytes)?;
        write!(text, "\n  Size/request:\t{size} bytes")?;
    }
    writeln!(text, "\n\nResponse time histogram:")?;
    if results.answers() > 0 {
        write_histogram(text, results)?;
    }
    write!(text, "\n\nLatency distribution:")?;
    if results.answers() > 0 {
        for percentile in PERCENTILES {
            let latency = results.histogram.quantile(f64::from(percentile) / 100.0);
            // hey's template doubles the sign for a formatter that it does not pass through: scripts have seen nothing else.
            write!(
                text,
                "\n  {percentile}%% in {} secs",
                number(latency.unwrap_or(0.0))
            )?;
        }
    }
    write_details(text, results)?;
    write!(text, "\n\nStatus code distribution:")?;
    for (status, count) in &results.statuses {
        write!(text, "\n  [{status}]\t{count} responses")?;
    }
    text.push_str("\n\n");
    if !results.errors.is_empty() {
        text.push_str("Error distribution:");
        for (error, count) in &results.errors {
            write!(text, "\n  [{count}]\t{error}")?;
        }
    }
    text.push_str("\n\n");
    Ok(())
}

fn write_histogram(text: &mut String, results: &Results) -> std::fmt::Result {
    let (fastest, slowest) = (results.response.fastest(), results.response.slowest());
    let step = (slowest - fastest) / f64::from(BUCKETS);
    let marks: Vec<f64> = (0..=BUCKETS)
        .map(|bucket| {
            if bucket == BUCKETS {
                slowest
            } else {
                fastest + step * f64::from(bucket)
            }
        })
        .collect();
    let mut before = 0;
    let counts: Vec<u64> = marks
        .iter()
        .enumerate()
        .map(|(row, mark)| {
            // To the resolution of the recorded times, of which there is at least one at the first mark and none beyond the last.
            let up_to = match row {
                0 => results.histogram.count_at_most(*mark).max(1),
                last if last + 1 == marks.len() => results.answers(),
                _ => results.histogram.count_at_most(*mark),
            };
            let count = up_to.saturating_sub(before);
            before = before.max(up_to);
            count
        })
        .collect();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (mark, count) in marks.iter().zip(&counts) {
        let length = (count * BAR_LENGTH + most / 2) / most;
        let bar = BAR.repeat(usize::try_from(length).unwrap_or(0));
        writeln!(text, "  {mark:.3} [{count}]\t|{bar}")?;
    }
    Ok(())
}

fn write_details(text: &mut String, results: &Results) -> std::fmt::Result {
    write!(text, "\n\nDetails (average, fastest, slowest):")?;
    for (phase, times) in Phase::ALL.into_iter().zip(&results.phases) {
        let name = match phase {
            Phase::Dialup => "DNS+dialup",
            Phase::Lookup => "DNS-lookup",
            Phase::Write => "req write",
            Phase::Wait => "resp wait",
            Phase::Read => "resp read",
        };
        let Times { .. } = times;
        let (average, fastest, slowest) = (times.average(), times.fastest(), times.slowest());
        write!(
            text,
            "\n  {name}:\t{} secs, {} secs, {} secs",
            number(average),
            number(fastest),
            number(slowest)
        )?;
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate of which four decimals are shown"
)]
fn per(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// Go's `%4.4f`, which pads what is not a number.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        " NaN".to_owned()
    } else {
        format!("{value:.4}")
    }
}
