//! Draws the board: a pure function of what is known, so that a test can look at it.

use super::Offered;
use super::board::{Board, BoardPlace};
use plimsoll_base::units::{format_bytes, format_number, format_seconds};
use plimsoll_lab::{ComponentProgress, SecondProgress};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};

/// Components that are shown; with more, the rest is counted.
const SHOWN_COMPONENTS: usize = 8;
/// Lines that do not depend on the components.
const FIXED_LINES: u16 = 10;
/// The words in front of every line of figures.
const LABEL_WIDTH: u16 = 14;
/// The bar takes a third of the line, and no more than this.
const MOST_BAR_WIDTH: u16 = 30;
/// The words in front of a sparkline.
const SPARK_LABEL_WIDTH: u16 = 28;

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
    let ahead = board.place.as_ref().and_then(|place| ahead(board, place));
    let failed = board.second.as_ref().and_then(failed_line);
    let [
        title,
        progress,
        ahead_at,
        load,
        failed_at,
        times,
        sparks,
        head,
        rows,
        note,
    ] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::from(ahead.is_some())),
        Constraint::Length(1),
        Constraint::Length(u16::from(failed.is_some())),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::try_from(shown.len()).unwrap_or(0)),
        Constraint::Min(1),
    ])
    .areas(frame.area());
    frame.render_widget(Line::from(heading(board)), title);
    progress_line(frame, progress, board);
    frame.render_widget(ahead.unwrap_or_default(), ahead_at);
    frame.render_widget(failed.unwrap_or_default(), failed_at);
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

/// The activity, a bar, and beside it, where it can be read, how far that is.
fn progress_line(frame: &mut Frame, area: Rect, board: &Board) {
    let Some(second) = &board.second else {
        return frame.render_widget(Line::from(board.phase.as_str()), area);
    };
    let bar_width = (area.width / 3).min(MOST_BAR_WIDTH);
    let [phase, bar, _, text] = Layout::horizontal([
        Constraint::Length(LABEL_WIDTH + 1),
        Constraint::Length(bar_width),
        Constraint::Length(2),
        Constraint::Fill(1),
    ])
    .areas(area);
    let doing = match second.warmup {
        true => "warming up".yellow(),
        false => "measuring".green(),
    };
    frame.render_widget(Line::from(doing), phase);
    frame.render_widget(bar_line(board.done(), bar.width), bar);
    let left = super::left(second)
        .map_or_else(String::new, |left| format!(", {} left", super::span(left)));
    let place = format!("{}{left}", super::place(second));
    frame.render_widget(Line::from(place).bold(), text);
}

/// A bar of so many columns, of which a share is done; in two kinds of line, so that it needs no colour.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length within the line"
)]
fn bar_line(done: f64, width: u16) -> Line<'static> {
    let filled = usize::from((f64::from(width) * done).round() as u16);
    let rest = usize::from(width).saturating_sub(filled);
    Line::from(vec!["━".repeat(filled).cyan(), "─".repeat(rest).dim()])
}

/// The rest beyond the load; of a search also its bounds so far.
fn ahead(board: &Board, place: &BoardPlace) -> Option<Line<'static>> {
    let t = board.second.as_ref().map_or(0.0, |second| second.t);
    let (what, left) = super::beyond(&place.ahead, t)?;
    let found = super::found(&place.ahead);
    let found = found.map_or_else(String::new, |found| format!("   so far: {found}"));
    Some(Line::from(vec![label(&what), left.into(), found.into()]))
}

/// The name of a line of figures, as wide as all of them.
fn label(name: &str) -> Span<'static> {
    let width = usize::from(LABEL_WIDTH);
    Span::from(format!("{name:<width$} ")).dim()
}

fn load_line(second: &SecondProgress) -> Line<'static> {
    let offered = Offered::of(second).map_or_else(String::new, |offered| {
        let rate = format_number(offered.exchanges_per_s);
        format!("offered {rate}/s{}   ", offered.stated())
    });
    let failed = format!("failed {}/s", super::count(second.failed));
    let failed = match second.failed {
        0 => failed.into(),
        _ => failed.red().bold(),
    };
    Line::from(vec![
        label("exchanges"),
        offered.into(),
        format!("good {}/s   ", format_number(second.good_per_s)).bold(),
        failed,
        format!(
            "   users {}   in flight {}",
            super::count(second.active_users),
            super::count(second.in_flight)
        )
        .into(),
    ])
}

/// Failures since the load began, and how; `None` where there are none.
fn failed_line(second: &SecondProgress) -> Option<Line<'static>> {
    if second.failed_so_far == 0 {
        return None;
    }
    let how = second.failure.as_deref();
    let how = how.map_or_else(String::new, |how| format!("most often: {how}"));
    Some(Line::from(vec![
        label("failed so far"),
        format!("{}   ", super::count(second.failed_so_far))
            .red()
            .bold(),
        how.into(),
    ]))
}

fn times_line(second: &SecondProgress) -> Line<'static> {
    let figures = [
        ("p50", second.p50),
        ("p95", second.p95),
        ("p99", second.p99),
        ("max", second.max),
    ];
    let figure = |(name, value): (&str, Option<f64>)| {
        let value = value.map_or_else(|| "–".to_owned(), format_seconds);
        Span::from(format!("{name} {value}   "))
    };
    let figures = figures.into_iter().map(figure);
    Line::from_iter(std::iter::once(label("response time")).chain(figures))
}

/// The last minutes: each line is as high as its largest value, which stands beside it.
fn sparklines(frame: &mut Frame, area: Rect, board: &Board) {
    let [rate_name, rate, gap, p99_name, p99] = Layout::horizontal([
        Constraint::Length(SPARK_LABEL_WIDTH),
        Constraint::Fill(1),
        Constraint::Length(3),
        Constraint::Length(SPARK_LABEL_WIDTH - 12),
        Constraint::Fill(1),
    ])
    .areas(area);
    frame.render_widget(Line::from(""), gap);
    let newest = |history: &[u64], width: u16| {
        history[history.len().saturating_sub(usize::from(width))..].to_vec()
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let top = |data: &[u64]| {
        let top = data.iter().max().filter(|top| **top > 0);
        top.map(|top| *top as f64)
    };
    let data = newest(&board.throughput, rate.width);
    let most = top(&data).map_or_else(String::new, |top| format!("≤ {}/s", format_number(top)));
    let name = vec![label("good"), most.dim()];
    frame.render_widget(Line::from(name), rate_name);
    let line = Sparkline::default().style(Style::new().fg(Color::Green));
    frame.render_widget(line.data(&data), rate);
    let data = newest(&board.p99_us, p99.width);
    let most = top(&data).map_or_else(String::new, |top| {
        format!("≤ {}", format_seconds(top * 1e-6))
    });
    frame.render_widget(Line::from(format!("p99 {most}")).dim(), p99_name);
    let line = Sparkline::default().style(Style::new().fg(Color::Yellow));
    frame.render_widget(line.data(&data), p99);
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
    use plimsoll_lab::{Ahead, Numbered, Progress};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(happened: &[Progress]) -> String {
        let mut board = Board::new("gateway-overhead");
        happened.iter().for_each(|progress| board.take(progress));
        let mut terminal = Terminal::new(TestBackend::new(90, height(2))).unwrap();
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
            failed_so_far: 12,
            failure: Some("timed out: nothing came".to_owned()),
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
            ahead: Ahead::Run(203.0),
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
            ahead: Ahead::Load,
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
    fn a_board_of_a_search_says_what_is_left_and_what_is_found() {
        let began = Progress::BlockStarted {
            label: "trial 7: 412/s for 10.0 s".to_owned(),
            arm: "main".to_owned(),
            ahead: Ahead::Budget {
                of: 130.0,
                left: 77.0,
                found: "400/s is carried, 450/s is too much".to_owned(),
            },
        };
        let several_steps = SecondProgress {
            offered_per_s: Some(412.0),
            exchanges_per_iteration: Some(3.0),
            good_per_s: 1_231.0,
            failed: 0,
            failed_so_far: 0,
            failure: None,
            ..second()
        };
        insta::assert_snapshot!(drawn(&[began, Progress::Second(several_steps)]));
    }

    /// Text on the bar could not be read where it is filled.
    #[test]
    fn no_text_stands_on_the_bar() {
        let began = Progress::BlockStarted {
            label: String::new(),
            arm: "main".to_owned(),
            ahead: Ahead::Load,
        };
        let mut board = Board::new("x");
        [began, Progress::Second(second())]
            .iter()
            .for_each(|progress| board.take(progress));
        let mut terminal = Terminal::new(TestBackend::new(100, height(2))).unwrap();
        terminal.draw(|frame| super::board(frame, &board)).unwrap();
        let shown = terminal.backend().to_string();
        let line = shown.lines().nth(1).unwrap();
        let bar = format!("{}{}", "━".repeat(11), "─".repeat(19));
        assert!(
            line.contains(&format!("measuring      {bar}  3 of 8 s, 5 s left")),
            "{line}"
        );
    }

    #[test]
    fn names_and_notes_cannot_steer_the_terminal() {
        let began = Progress::BlockStarted {
            label: "block\u{202e}1".to_owned(),
            arm: "a\u{9b}2J".to_owned(),
            ahead: Ahead::Load,
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
