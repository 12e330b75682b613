//! Plain lines for logs and pipes: what begins, what is noted, and a figure now and then.

use super::Offered;
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
            Progress::BlockStarted { label, arm, ahead } => {
                self.last_t = 0.0;
                let comma = if label.is_empty() { "" } else { ", " };
                let found = super::found(ahead);
                let found = found.map_or_else(String::new, |found| format!("; so far: {found}"));
                let left = super::beyond(ahead, 0.0);
                let left = left.map_or_else(String::new, |(what, left)| {
                    format!(" ({what}: {left}{found})")
                });
                Some(format!("{label}{comma}arm {arm}{left}"))
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
    let warmup = if second.warmup { ", warming up" } else { "" };
    let offered = Offered::of(second);
    let several_steps = offered.is_some_and(|offered| offered.iterations_per_s.is_some());
    let unit = if several_steps { " exchanges/s" } else { "/s" };
    let offered = offered.map_or_else(String::new, |offered| {
        let rate = format_number(offered.exchanges_per_s);
        format!("{rate}{unit} offered{}, ", offered.stated())
    });
    let good = format_number(second.good_per_s);
    format!(
        "  {}{warmup}: {offered}{good}{unit} good, response time p50 {}, p99 {}, {}",
        super::place(second),
        time(second.p50),
        time(second.p99),
        failed(second),
    )
}

/// How many failed so far, and of what most of them did.
fn failed(second: &SecondProgress) -> String {
    match (&second.failure, second.failed_so_far) {
        (_, 0) => "0 failed".to_owned(),
        (None, failed) => format!("{} failed so far", super::count(failed)),
        (Some(failure), failed) => {
            format!("{} failed so far ({failure})", super::count(failed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_lab::{Ahead, Numbered};

    #[test]
    fn a_load_gets_a_line_every_few_seconds() {
        let mut lines = Lines::default();
        let started = Progress::BlockStarted {
            label: "block 1 of 6".to_owned(),
            arm: "direct".to_owned(),
            ahead: Ahead::Run(200.0),
        };
        let second = |t| {
            Progress::Second(SecondProgress {
                t,
                total: 8.0,
                offered_per_s: Some(2000.0),
                achieved_per_s: 1999.6,
                good_per_s: 1999.6,
                p50: Some(0.000_2),
                ..SecondProgress::default()
            })
        };
        assert_eq!(
            lines.line(&started).as_deref(),
            Some("block 1 of 6, arm direct (whole run: about 3 min 20 s left)")
        );
        assert_eq!(lines.line(&second(4.0)), None);
        assert_eq!(
            lines.line(&second(5.0)).as_deref(),
            Some(
                "  5 of 8 s: 2,000/s offered, 2,000/s good, response time p50 200 µs, p99 –, 0 failed"
            )
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
            Some(
                "  10 s, 12,345 of 50,000 iterations: 0/s good, response time p50 –, p99 –, 0 failed"
            )
        );
    }

    #[test]
    fn a_trial_says_what_is_left_of_the_budget() {
        let trial = Progress::BlockStarted {
            label: "trial 7: 412/s for 10.0 s".to_owned(),
            arm: "main".to_owned(),
            ahead: Ahead::Budget {
                of: 130.0,
                left: 74.2,
                found: "400/s is carried".to_owned(),
            },
        };
        assert_eq!(
            Lines::default().line(&trial).as_deref(),
            Some(
                "trial 7: 412/s for 10.0 s, arm main (budget 130 s: 74 s left; so far: 400/s is carried)"
            )
        );
    }

    #[test]
    fn what_fails_is_told_with_its_reason() {
        let second = SecondProgress {
            t: 5.0,
            total: 11.0,
            warmup: true,
            offered_per_s: Some(100.0),
            exchanges_per_iteration: Some(3.0),
            failed: 300,
            failed_so_far: 1_500,
            failure: Some("TLS failed: the server's certificate is for another name".to_owned()),
            ..SecondProgress::default()
        };
        assert_eq!(
            figures(&second),
            "  5 of 11 s, warming up: 300 exchanges/s offered (100 iterations/s), 0 exchanges/s good, response time p50 –, p99 –, 1,500 failed so far (TLS failed: the server's certificate is for another name)"
        );
    }
}
