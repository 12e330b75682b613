//! Draws the board: a pure function of what is known, so that a test can look at it.

use super::board::Board;
use plimsoll_base::units::{format_bytes, format_number, format_seconds};
use plimsoll_lab::{ComponentProgress, SecondProgress};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph, Sparkline};

/// Components that are shown; with more, the rest is counted.
const SHOWN_COMPONENTS: usize = 8;
/// Lines that do not depend on the components.
const FIXED_LINES: u16 = 8;

/// How many lines the board needs for so many components, the generator included.
#[must_use]
pub fn height(components: usize) -> u16 {
    FIXED_LINES + u16::try_from(components.min(SHOWN_COMPONENTS)).unwrap_or(u16::MAX)
}

/// Draws everything into the frame.
pub fn board(frame: &mut Frame, board: &Board) {
    let components = board
        .second
        .as_ref()
        .map_or(&[][..], |second| &second.components);
    let shown = &components[..components.len().min(SHOWN_COMPONENTS)];
    let [title, progress, load, times, sparks, head, rows, note] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::try_from(shown.len()).unwrap_or(0)),
        Constraint::Min(1),
    ])
    .areas(frame.area());
    frame.render_widget(Line::from(heading(board)), title);
    frame.render_widget(gauge(board), progress);
    if let Some(second) = &board.second {
        frame.render_widget(load_line(second), load);
        frame.render_widget(times_line(second), times);
    }
    sparklines(frame, sparks, board);
    frame.render_widget(component_line("component", "CPU", "memory").dim(), head);
    let lines: Vec<Line> = shown.iter().map(component).collect();
    frame.render_widget(Paragraph::new(lines), rows);
    frame.render_widget(Line::from(board.note.as_str()).dim(), note);
}

fn heading(board: &Board) -> Vec<Span<'_>> {
    let mut spans = vec![Span::from(board.experiment.as_str()).bold()];
    if let Some(place) = &board.place {
        if !place.label.is_empty() {
            spans.push(format!("  {}", place.label).into());
        }
        spans.push("  arm ".into());
        spans.push(Span::from(place.arm.as_str()).bold());
    }
    spans
}

fn gauge(board: &Board) -> Gauge<'_> {
    let label = board.second.as_ref().map_or_else(
        || board.phase.clone(),
        |second| {
            let phase = if second.warmup {
                "warming up"
            } else {
                "measuring"
            };
            format!("{phase}  {}", super::place(second))
        },
    );
    let style = Style::new().fg(Color::Cyan).bg(Color::DarkGray);
    Gauge::default()
        .ratio(board.done())
        .label(label)
        .gauge_style(style)
        .use_unicode(true)
}

fn load_line(second: &SecondProgress) -> Line<'static> {
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| "–".to_owned(), |r| format!("{}/s", format_number(r)))
    };
    let failed = format!("failed {}", second.failed);
    let failed = if second.failed > 0 {
        failed.red().bold()
    } else {
        failed.into()
    };
    Line::from(vec![
        format!("offered {}   ", rate(second.offered_per_s)).into(),
        format!("good {}   ", rate(Some(second.good_per_s))).bold(),
        format!("users {}   ", second.active_users).into(),
        format!("in flight {}   ", second.in_flight).into(),
        failed,
    ])
}

fn times_line(second: &SecondProgress) -> Line<'static> {
    let time = |name: &str, value: Option<f64>| {
        format!(
            "   {name} {}",
            value.map_or_else(|| "–".to_owned(), format_seconds)
        )
    };
    let text = [
        ("p50", second.p50),
        ("p95", second.p95),
        ("p99", second.p99),
        ("max", second.max),
    ];
    let text: String = text
        .into_iter()
        .map(|(name, value)| time(name, value))
        .collect();
    Line::from(format!("response time{text}"))
}

fn sparklines(frame: &mut Frame, area: Rect, board: &Board) {
    let [rate_name, rate, gap, p99_name, p99] = Layout::horizontal([
        Constraint::Length(11),
        Constraint::Fill(1),
        Constraint::Length(3),
        Constraint::Length(4),
        Constraint::Fill(1),
    ])
    .areas(area);
    frame.render_widget(Line::from("goodput").dim(), rate_name);
    frame.render_widget(Line::from(""), gap);
    frame.render_widget(Line::from("p99").dim(), p99_name);
    let newest = |history: &[u64], width: u16| {
        history[history.len().saturating_sub(usize::from(width))..].to_vec()
    };
    let data = newest(&board.throughput, rate.width);
    frame.render_widget(
        Sparkline::default()
            .data(&data)
            .style(Style::new().fg(Color::Green)),
        rate,
    );
    let data = newest(&board.p99_us, p99.width);
    frame.render_widget(
        Sparkline::default()
            .data(&data)
            .style(Style::new().fg(Color::Yellow)),
        p99,
    );
}

fn component(component: &ComponentProgress) -> Line<'static> {
    let cores = component.cpu_cores;
    let used = cores.map_or_else(String::new, |cores| format!("{cores:.2} cores"));
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    let bytes = |bytes: u64| format_bytes(bytes as f64);
    let memory = component.rss_bytes.map_or_else(String::new, bytes);
    let line = component_line(&component.name, &used, &memory);
    if cores.is_some_and(|cores| cores >= 0.9) {
        line.yellow()
    } else {
        line
    }
}

fn component_line(name: &str, cpu: &str, memory: &str) -> Line<'static> {
    let name: String = name.chars().take(24).collect();
    Line::from(format!("{name:<24} {cpu:>12} {memory:>12}"))
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;
    use plimsoll_lab::{Numbered, Progress};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(happened: &[Progress]) -> String {
        let mut board = Board::new("gateway-overhead");
        happened.iter().for_each(|progress| board.take(progress));
        let mut terminal = Terminal::new(TestBackend::new(72, height(2))).unwrap();
        terminal.draw(|frame| super::board(frame, &board)).unwrap();
        terminal.backend().to_string()
    }

    fn second() -> SecondProgress {
        let component = |name: &str, cpu_cores: f64| ComponentProgress {
            name: name.to_owned(),
            cpu_cores: Some(cpu_cores),
            rss_bytes: Some(13_107_200),
        };
        SecondProgress {
            t: 3.0,
            total: 8.0,
            offered_per_s: Some(2000.0),
            achieved_per_s: 1998.0,
            good_per_s: 1998.0,
            failed: 1,
            active_users: 4,
            in_flight: 3,
            p50: Some(0.000_212),
            p90: Some(0.000_5),
            p99: Some(0.0011),
            max: Some(0.0098),
            components: vec![component("upstream", 0.12), component("generator", 0.95)],
            ..SecondProgress::default()
        }
    }

    #[test]
    fn a_board_in_the_middle_of_a_comparison() {
        let began = Progress::BlockStarted {
            label: "block 2 of 6".to_owned(),
            arm: "everything".to_owned(),
        };
        let warming = SecondProgress {
            warmup: true,
            achieved_per_s: 900.0,
            good_per_s: 900.0,
            p99: Some(0.004),
            ..second()
        };
        insta::assert_snapshot!(drawn(&[
            began,
            Progress::Second(warming),
            Progress::Second(second())
        ]));
    }

    #[test]
    fn a_board_of_so_many_iterations() {
        let began = Progress::BlockStarted {
            label: String::new(),
            arm: "main".to_owned(),
        };
        let numbered = SecondProgress {
            iterations: Some(Numbered {
                started: 1_500,
                of: 2_000,
            }),
            total: 3_596_400.0,
            ..second()
        };
        insta::assert_snapshot!(drawn(&[began, Progress::Second(numbered)]));
    }

    #[test]
    fn names_and_notes_cannot_steer_the_terminal() {
        let began = Progress::BlockStarted {
            label: "block\u{202e}1".to_owned(),
            arm: "a\u{9b}2J".to_owned(),
        };
        let drawn = drawn(&[began, Progress::Note("\u{1b}]0;x\u{7}".to_owned())]);
        assert!(!drawn.contains(['\u{202e}', '\u{9b}', '\u{1b}', '\u{7}']));
        for written in [r"block\u{202e}1", r"a\u{9b}2J", r"\u{1b}]0;x\u{7}"] {
            assert!(drawn.contains(written), "{drawn}");
        }
    }

    #[test]
    fn a_board_before_any_load() {
        let starting = Progress::ComponentStarting {
            name: "upstream".to_owned(),
        };
        insta::assert_snapshot!(drawn(&[starting, Progress::Note("seed 42".to_owned())]));
    }
}
