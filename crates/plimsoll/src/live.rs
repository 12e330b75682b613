//! The view of a run in progress: a small live board on a terminal, plain lines anywhere else.
//!
//! Both only watch: they are told once a second what was recorded, and a run is the same without them.

mod board;
mod draw;
mod lines;

use board::Board;
use lines::Lines;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::units::format_number;
use plimsoll_lab::{Ahead, Numbered, Progress, SecondProgress};
use ratatui::backend::CrosstermBackend;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, IsTerminal as _, Stderr};

/// An iteration of no more exchanges than this is one exchange.
const ONE: f64 = 1.05;

/// Shows the progress of one run on standard error.
pub struct Live {
    board: Board,
    screen: Screen,
}

enum Screen {
    Terminal(Box<Terminal<CrosstermBackend<Stderr>>>),
    Lines(Lines),
}

impl Live {
    /// A view of the experiment of that name: a board if standard error is a terminal and `plain` is not asked for.
    #[must_use]
    pub fn new(experiment: &str, components: usize, plain: bool) -> Self {
        let terminal = (!plain && io::stderr().is_terminal()).then(|| terminal(components));
        let screen = match terminal {
            Some(Ok(terminal)) => Screen::Terminal(Box::new(terminal)),
            // A terminal that does not answer gets lines.
            Some(Err(_)) | None => Screen::Lines(Lines::default()),
        };
        Self {
            board: Board::new(experiment),
            screen,
        }
    }

    /// Shows what has happened. A terminal that fails is watched no longer; the run goes on.
    pub fn show(&mut self, progress: &Progress) {
        self.board.take(progress);
        let failed = match &mut self.screen {
            Screen::Terminal(terminal) => {
                let board = &self.board;
                terminal.draw(|frame| draw::board(frame, board)).is_err()
            }
            Screen::Lines(lines) => {
                lines.show(progress);
                false
            }
        };
        if failed {
            self.screen = Screen::Lines(Lines::default());
        }
    }

    /// Takes the board off the screen, so that the summary follows where it was.
    pub fn close(self) {
        if let Screen::Terminal(mut terminal) = self.screen {
            let top = terminal.get_frame().area().as_position();
            let cleared = terminal.clear();
            cleared
                .and_then(|()| terminal.set_cursor_position(top))
                .ignored("the terminal is gone; there is nothing to clear");
        }
    }
}

/// How far a load is: in time, and in iterations where these end it.
fn place(second: &SecondProgress) -> String {
    match second.iterations {
        None => format!("{:.0} of {:.0} s", second.t, second.total),
        Some(Numbered { started, of }) => {
            let [started, of] = [started, of].map(count);
            format!("{:.0} s, {started} of {of} iterations", second.t)
        }
    }
}

/// Seconds until a load ends; `None` where iterations end it.
fn left(second: &SecondProgress) -> Option<f64> {
    let is_timed = second.iterations.is_none();
    is_timed.then(|| (second.total - second.t).max(0.0))
}

/// The whole beyond the load, and how much of it is left `t` seconds after the load began; `None` where there is no more, or it is unknown.
fn beyond(ahead: &Ahead, t: f64) -> Option<(String, String)> {
    match ahead {
        Ahead::Load => None,
        Ahead::Run(seconds) => Some((
            "whole run".to_owned(),
            format!("about {} left", span(seconds - t)),
        )),
        Ahead::Budget { of, left, .. } => Some((
            format!("budget {}", span(*of)),
            format!("{} left", span(left - t)),
        )),
    }
}

/// The bounds that a search has found so far, between which it looks; `None` before there is one.
fn found(ahead: &Ahead) -> Option<&str> {
    match ahead {
        Ahead::Budget { found, .. } if !found.is_empty() => Some(found),
        Ahead::Budget { .. } | Ahead::Load | Ahead::Run(_) => None,
    }
}

/// Offered rate, in the unit of throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Offered {
    exchanges_per_s: f64,
    /// The rate that is stated, where an iteration is not one exchange.
    iterations_per_s: Option<f64>,
}

impl Offered {
    /// `None` in the closed model.
    fn of(second: &SecondProgress) -> Option<Self> {
        let rate = second.offered_per_s?;
        let several = second.exchanges_per_iteration.filter(|n| *n > ONE);
        Some(Self {
            exchanges_per_s: rate * several.unwrap_or(1.0),
            iterations_per_s: several.map(|_| rate),
        })
    }

    /// The stated rate in brackets, behind a blank, where it is another than that of exchanges.
    fn stated(&self) -> String {
        let stated = |rate| format!(" ({} iterations/s)", format_number(rate));
        self.iterations_per_s.map_or_else(String::new, stated)
    }
}

/// A length of time in whole seconds, or in minutes or hours and what is left of them: `74 s`, `3 min 20 s`.
fn span(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "for people: saturation is fine"
    )]
    let whole = seconds.max(0.0).round() as u64;
    let (value, per, unit, small) = match whole {
        0..180 => return format!("{whole} s"),
        180..7_200 => (whole, 60, "min", "s"),
        _ => (whole / 60, 60, "h", "min"),
    };
    match value % per {
        0 => format!("{} {unit}", value / per),
        rest => format!("{} {unit} {rest} {small}", value / per),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "shown to the last digit up to 2⁵³"
)]
fn count(number: u64) -> String {
    format_number(number as f64)
}

fn terminal(components: usize) -> io::Result<Terminal<CrosstermBackend<Stderr>>> {
    let options = TerminalOptions {
        viewport: Viewport::Inline(draw::height(components)),
    };
    Terminal::with_options(CrosstermBackend::new(io::stderr()), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_for_people() {
        let check = |seconds: f64, expected: &str| assert_eq!(span(seconds), expected);
        check(-3.0, "0 s");
        check(73.6, "74 s");
        check(130.0, "130 s");
        check(179.6, "3 min");
        check(200.0, "3 min 20 s");
        check(7_265.0, "2 h 1 min");
    }

    #[test]
    fn a_rate_of_iterations_is_offered_as_exchanges() {
        let check = |per_iteration, rate: f64, stated: &str| {
            let offered = Offered::of(&SecondProgress {
                offered_per_s: Some(100.0),
                exchanges_per_iteration: per_iteration,
                ..SecondProgress::default()
            });
            let offered = offered.unwrap();
            assert!((offered.exchanges_per_s - rate).abs() < 1e-9);
            assert_eq!(offered.stated(), stated);
        };
        check(None, 100.0, "");
        check(Some(1.01), 100.0, "");
        check(Some(3.0), 300.0, " (100 iterations/s)");
        assert_eq!(Offered::of(&SecondProgress::default()), None);
    }
}
