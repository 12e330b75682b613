//! `plimsoll hey`: hey's flags, hey's sections and hey's CSV, for scripts that know them. `docs/load.md` says what differs, and why.

mod agreed;
mod csv;
mod flags;
mod plan;
mod request;
mod results;
mod summary;

use crate::exit::{Ending, Failure};
use crate::{clock, out, signals};
use flags::{Asked, Flags, Refused};
use plimsoll_base::outcome::Outcome;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_load::LoadError;
use plimsoll_load::exchange::Exchanges;
use plimsoll_load::fragment::{Accounts, Message};
use plimsoll_load::plan::Plan;
use request::{Chains, End, is_redirect};
use results::Results;
use std::time::Duration;

/// Load one URL as hey does: its flags, its summary, its CSV. `plimsoll hey -h` lists the flags.
///
/// It ends as hey does: with 0 whatever the answers were, with 1 or 2 when its flags are wrong. Use `plimsoll load` for a verdict.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// hey's options, and the URL after them.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS... URL"
    )]
    words: Vec<String>,
}

/// A stall that makes a tail what it is, in seconds.
const WORTH_SAYING: f64 = 0.05;

/// Everything that a run said.
#[derive(Default)]
struct Said {
    results: Results,
    accounts: Accounts,
    /// The longest that the generator stalled.
    stalled: f64,
}

/// Runs it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let flags = match flags::parse(&args.words) {
        Ok(Asked::Run(flags)) => flags,
        Ok(Asked::Usage) => {
            out::print(USAGE)?;
            return Ok(Ending::Passed);
        }
        Err(Refused::Unreadable(message)) => {
            return Err(Failure::Input(format!("{message}\n\n{USAGE}")));
        }
        Err(Refused::Wrong(message)) => {
            return Err(Failure::AsHey(format!("{message}\n\n{USAGE}")));
        }
    };
    let plan = plan::of(&flags, clock::seed()).map_err(|refused| match refused {
        Refused::Unreadable(message) => Failure::Input(message),
        Refused::Wrong(message) => Failure::AsHey(message),
    })?;
    if flags.csv {
        out::document(csv::HEADER)?;
    }
    let said = carry_out(&flags, plan)?;
    if !flags.csv {
        out::print(&summary::render(&said.results, total(&flags, &said)))?;
    }
    explain(&flags, &said);
    Ok(Ending::Passed)
}

fn carry_out(flags: &Flags, plan: Plan) -> Result<Said, Failure> {
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let describe = |end| describe(flags, end);
    let mut results = Results::default();
    let mut chains = Chains::default();
    let (mut accounts, mut stalled) = (Accounts::default(), 0.0_f64);
    let mut printed = Ok(());
    let ended = plimsoll_load::run_singly(
        plan,
        stop,
        &mut |message| match message {
            Message::Fragment(fragment) => stalled = stalled.max(fragment.stalls.longest_s),
            Message::Finished(totals) => accounts = totals,
            Message::Started(_) | Message::Exchanges(_) | Message::Failed(_) => {}
        },
        &mut |exchanges: &Exchanges| {
            results.left_out += exchanges.left_out;
            let requests = chains.ended(exchanges);
            results.add(&requests, describe);
            if flags.csv && printed.is_ok() {
                printed = out::document(&csv::rows(&requests));
            }
        },
    );
    ended.map_err(|error| match error {
        LoadError::Plan(problems) => Failure::AsHey(plan::refusal(&problems)),
        LoadError::Shard(_) | LoadError::Security => Failure::Environment(error.to_string()),
        LoadError::NotTaken | LoadError::TooMany | LoadError::Accounts(_) => {
            Failure::Internal(error.to_string())
        }
    })?;
    printed?;
    let cut_off = accounts
        .measured
        .steps
        .iter()
        .filter_map(|step| step.classes.get(&OutcomeClass::Aborted));
    let cut_off: u64 = cut_off.sum();
    if cut_off > 0 {
        results.all += cut_off;
        let aborted = describe(End::Of(Outcome::Aborted));
        results.errors.insert(aborted, cut_off);
    }
    Ok(Said {
        results,
        accounts,
        stalled,
    })
}

/// From the start to the last answer, or to the end of the time that was asked for.
fn total(flags: &Flags, said: &Said) -> Duration {
    let ended = Duration::try_from_secs_f64(said.accounts.ended_s).unwrap_or_default();
    match flags.duration {
        Some(_) => said.results.until.max(ended),
        None => said.results.until,
    }
}

/// An end that hey calls an error, in its form.
fn describe(flags: &Flags, end: End) -> String {
    let what = match end {
        End::TooManyRedirects => "stopped after 10 redirects".to_owned(),
        End::Of(outcome) => without_answer(outcome),
    };
    let mut letters = flags.method.chars();
    let method = letters.next().map_or_else(String::new, |first| {
        format!("{first}{}", letters.as_str().to_lowercase())
    });
    format!("{method} \"{}\": {what}", flags.url)
}

fn without_answer(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(_) => "answered".to_owned(),
        Outcome::Unanswered(reason) => match words_of_go(reason) {
            Some(words) => format!("{words}: {}", reason.words()),
            None => reason.sentence(),
        },
        Outcome::Aborted => "stopped before an answer".to_owned(),
    }
}

/// The words of Go's library, for which scripts look.
fn words_of_go(reason: Reason) -> Option<&'static str> {
    Some(match reason.class() {
        OutcomeClass::TimedOut => {
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        }
        OutcomeClass::Unfinished => {
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
        }
        OutcomeClass::Refused if reason == Reason::ConnectionRefused => "connection refused",
        OutcomeClass::Reset => "connection reset by peer",
        OutcomeClass::Closed => "EOF",
        _ => return None,
    })
}

/// Explains ends for which hey has no words.
fn explain(flags: &Flags, said: &Said) {
    let redirects = said.results.statuses.iter();
    let redirects = redirects.filter(|(status, _)| is_redirect(Outcome::Answered(**status)));
    let redirects: u64 = redirects.map(|(_, count)| count).sum();
    if flags.redirects && redirects > 0 {
        out::note(&format!(
            "note: {redirects} redirects were not followed: they do not say where to, or lead to another server than the one under load"
        ));
    }
    let accounts = &said.accounts.measured;
    if accounts.dropped > 0 {
        out::note(&format!(
            "note: {} of {} requests that were due were never sent: every worker was busy",
            accounts.dropped, accounts.intended
        ));
    }
    if said.results.left_out > 0 {
        out::note(&format!(
            "note: {} exchanges are in no figure: too many in one second",
            said.results.left_out
        ));
    }
    if said.stalled > WORTH_SAYING {
        out::note(&format!(
            "note: the generator itself stalled for up to {:.0} ms; response times include it",
            said.stalled * 1e3
        ));
    }
}

const USAGE: &str = "\
Usage: plimsoll hey [options...] <url>

  -n  Number of requests, all of them [200]
  -c  Number of workers, each with one connection [50]
  -q  Rate limit in requests per second of each worker; what falls behind is caught up
  -z  Duration instead of a number, such as 10s or 3m
  -o  csv: one row per answer instead of a summary
  -m  Method [GET]
  -H  Header field, \"Name: value\"; repeatable
  -t  Timeout of a request in seconds, 0 for none [20]
  -A  Accept header
  -d  Request body
  -D  File with the request body
  -T  Content-Type [text/html]
  -U  User-Agent
  -a  Basic authentication, username:password
  -x  HTTP proxy: not available in this version
  -h2 HTTP/2, over TLS and if the server wants to
  -host  Host header
  -disable-compression  Ask for no compressed answers
  -disable-keepalive    A connection for every request
  -disable-redirects    Do not follow redirects
  -cpus  Threads [one per processor]
";
