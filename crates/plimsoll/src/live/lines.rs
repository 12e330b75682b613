//! Plain lines for logs and pipes: what begins, what is noted, and a figure now and then.

use crate::out;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_lab::{Progress, SecondProgress};

/// Seconds between two lines about the same load.
const INTERVAL_S: f64 = 5.0;

/// Remembers when the last line was printed.
#[derive(Debug, Default)]
pub struct Lines {
    last_t: f64,
}

impl Lines {
    /// Prints what is worth a line.
    pub fn show(&mut self, progress: &Progress) {
        if let Some(line) = self.line(progress) {
            out::note(&line);
        }
    }

    fn line(&mut self, progress: &Progress) -> Option<String> {
        match progress {
            Progress::BlockStarted { label, arm } => {
                self.last_t = 0.0;
                let comma = if label.is_empty() { "" } else { ", " };
                Some(format!("{label}{comma}arm {arm}"))
            }
            Progress::Second(second) if second.t >= self.last_t + INTERVAL_S => {
                self.last_t = second.t;
                Some(figures(second))
            }
            Progress::Note(note) => Some(note.clone()),
            Progress::Second(_)
            | Progress::ComponentStarting { .. }
            | Progress::ComponentReady { .. }
            | Progress::Finished => None,
        }
    }
}

fn figures(second: &SecondProgress) -> String {
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), format_seconds);
    format!(
        "  {}: {}/s good, p50 {}, p99 {}, {} failed",
        super::place(second),
        format_number(second.good_per_s),
        time(second.p50),
        time(second.p99),
        second.failed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_lab::Numbered;

    #[test]
    fn a_load_gets_a_line_every_few_seconds() {
        let mut lines = Lines::default();
        let started = Progress::BlockStarted {
            label: "block 1 of 6".to_owned(),
            arm: "direct".to_owned(),
        };
        let second = |t| {
            Progress::Second(SecondProgress {
                t,
                total: 8.0,
                achieved_per_s: 1999.6,
                good_per_s: 1999.6,
                p50: Some(0.000_2),
                ..SecondProgress::default()
            })
        };
        assert_eq!(
            lines.line(&started).as_deref(),
            Some("block 1 of 6, arm direct")
        );
        assert_eq!(lines.line(&second(4.0)), None);
        assert_eq!(
            lines.line(&second(5.0)).as_deref(),
            Some("  5 of 8 s: 2,000/s good, p50 200 µs, p99 –, 0 failed")
        );
        assert_eq!(lines.line(&second(6.0)), None);
        let numbered = Progress::Second(SecondProgress {
            t: 10.0,
            total: 3_596_400.0,
            iterations: Some(Numbered {
                started: 12_345,
                of: 50_000,
            }),
            ..SecondProgress::default()
        });
        assert_eq!(
            lines.line(&numbered).as_deref(),
            Some("  10 s, 12,345 of 50,000 iterations: 0/s good, p50 –, p99 –, 0 failed")
        );
    }
}
