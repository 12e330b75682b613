//! What a person sees while a run goes on: a small live board on a terminal, plain lines anywhere else.
//!
//! Both only watch: they are told once a second what was recorded, and a run is the same without them.

mod board;
mod draw;
mod lines;

use board::Board;
use lines::Lines;
use plimsoll_base::units::format_number;
use plimsoll_lab::{Numbered, Progress, SecondProgress};
use ratatui::backend::CrosstermBackend;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, IsTerminal as _, Stderr};

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
            if cleared
                .and_then(|()| terminal.set_cursor_position(top))
                .is_err()
            {
                // The terminal is gone; there is nothing to clear.
            }
        }
    }
}

/// How far a load is: in time, and in iterations where these end it.
fn place(second: &SecondProgress) -> String {
    match second.iterations {
        None => format!("{:.0} of {:.0} s", second.t, second.total),
        Some(Numbered { started, of }) => {
            #[expect(
                clippy::cast_precision_loss,
                reason = "shown to the last digit up to 2⁵³"
            )]
            let [started, of] = [started, of].map(|number| format_number(number as f64));
            format!("{:.0} s, {started} of {of} iterations", second.t)
        }
    }
}

fn terminal(components: usize) -> io::Result<Terminal<CrosstermBackend<Stderr>>> {
    let options = TerminalOptions {
        viewport: Viewport::Inline(draw::height(components)),
    };
    Terminal::with_options(CrosstermBackend::new(io::stderr()), options)
}
