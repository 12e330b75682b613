//! HAR: what a browser recorded of a page or a session (HTTP Archive 1.2).

mod secret;
mod time;
mod wire;

use super::draft::{Draft, METHODS, Step, literal, slug};
use super::pattern;
use crate::commands::url::Url;
use crate::exit::Failure;
use secret::Secrets;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wire::{Archive, Entry};

/// What to take over.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recording.
    file: PathBuf,
    /// Only requests to this host (`example.com` or `example.com:8080`); needed when the recording has several.
    #[arg(long, value_name = "HOST")]
    only_host: Option<String>,
    /// Leave out requests whose URL is described by this pattern, such as `*.css` or `*/metrics*`; repeatable.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Leave out images, fonts, style sheets, scripts and media, by what the answers were.
    #[arg(long)]
    no_static: bool,
    /// Keep the pauses between an answer and the next request.
    #[arg(long)]
    pauses: bool,
    /// The file to write [default: standard output]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

/// Fields that belong to the recorded connection, or that the generator writes itself.
const OF_THE_CONNECTION: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "keep-alive",
    "proxy-connection",
    "te",
    "upgrade",
    "upgrade-insecure-requests",
];

/// Reads the recording.
pub fn import(args: &Args) -> Result<Draft, Failure> {
    let name = args.file.display().to_string();
    let text = super::read(&args.file)?;
    draft(&name, &text, args).map_err(|why| Failure::Input(format!("{name}: {why}")))
}

fn draft(name: &str, text: &str, args: &Args) -> Result<Draft, String> {
    let archive: Archive = serde_json::from_str(text).map_err(|e| format!("is not a HAR: {e}"))?;
    if archive.log.entries.is_empty() {
        return Err("has no entries: nothing was recorded".to_owned());
    }
    let mut notes = Vec::new();
    let chosen = choose(&archive.log.entries, args, &mut notes);
    let origin = only_origin(&chosen, args).map_err(|why| {
        notes.insert(0, why);
        notes.join("\n  ")
    })?;
    let mut secrets = Secrets::default();
    let mut steps = Vec::new();
    let mut ended = None;
    for (number, entry, url) in chosen {
        let Some(mut step) = step(number, entry, &url, &mut secrets, &mut notes) else {
            continue;
        };
        let (start, end) = entry.span();
        if args.pauses
            && let (Some(ended), Some(start)) = (ended, start)
        {
            step.pause_ms = time::between(ended, start);
        }
        ended = end.or(ended);
        steps.push(step);
    }
    if steps.is_empty() {
        notes.insert(0, "has no entry that can be carried over".to_owned());
        return Err(notes.join("\n  "));
    }
    notes.extend(secrets.notes());
    let stem = args
        .file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let title = slug(stem, '-');
    Ok(Draft {
        name: if title.is_empty() {
            "recording".to_owned()
        } else {
            title
        },
        source: name.to_owned(),
        origin,
        steps,
        notes,
    })
}

/// The entries that are wanted and that a generator can send, with their numbers from 1.
fn choose<'a>(
    entries: &'a [Entry],
    args: &Args,
    notes: &mut Vec<String>,
) -> Vec<(usize, &'a Entry, Url)> {
    let mut chosen = Vec::new();
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let (number, request) = (index + 1, &entry.request);
        let mut leave_out = |why: &str| *left_out.entry(why.to_owned()).or_default() += 1;
        if !request.url.starts_with("http://") && !request.url.starts_with("https://") {
            let scheme = request.url.split(':').next().unwrap_or_default();
            notes.push(format!(
                "entry {number} is left out: `{scheme}:` is no HTTP request"
            ));
            continue;
        }
        let url = match Url::parse(&request.url) {
            Ok(url) => url,
            Err(why) => {
                notes.push(format!("entry {number} is left out: {why}"));
                continue;
            }
        };
        if let Some(only) = &args.only_host
            && *only != url.authority
            && *only != url.host
        {
            leave_out("to other hosts than --only-host");
        } else if let Some(excluded) = args
            .exclude
            .iter()
            .find(|pattern| pattern::matches(pattern, &request.url))
        {
            leave_out(&format!("by --exclude '{excluded}'"));
        } else if args.no_static && entry.is_static() {
            leave_out("by --no-static");
        } else {
            chosen.push((number, entry, url));
        }
    }
    notes.extend(
        left_out
            .iter()
            .map(|(why, count)| format!("{count} of {} entries are left out {why}", entries.len())),
    );
    chosen
}

/// The one server that all of them go to.
fn only_origin(chosen: &[(usize, &Entry, Url)], args: &Args) -> Result<String, String> {
    let mut origins: BTreeMap<String, u64> = BTreeMap::new();
    for (_, _, url) in chosen {
        *origins.entry(url.origin()).or_default() += 1;
    }
    let mut names = origins.keys();
    match (names.next(), names.next()) {
        (Some(one), None) => Ok(one.clone()),
        (None, _) => Err(match &args.only_host {
            Some(host) => format!("has no entry for {host} that is wanted"),
            None => "has no entry that can be carried over".to_owned(),
        }),
        (Some(_), Some(_)) => {
            let listed: Vec<String> = origins
                .iter()
                .map(|(origin, count)| format!("{origin} ({count})"))
                .collect();
            Err(format!(
                "has requests to several servers, and a scenario has one: choose with --only-host: {}",
                listed.join(", ")
            ))
        }
    }
}

/// One entry as a step; `None`, with a note, when a generator cannot send it.
fn step(
    number: usize,
    entry: &Entry,
    url: &Url,
    secrets: &mut Secrets,
    notes: &mut Vec<String>,
) -> Option<Step> {
    let request = &entry.request;
    let method = request.method.to_uppercase();
    if !METHODS.contains(&method.as_str()) {
        notes.push(format!(
            "entry {number} is left out: {method} is not available in this version"
        ));
        return None;
    }
    if entry.response.status == 101 {
        notes.push(format!(
            "entry {number} is left out: it became a WebSocket or another protocol"
        ));
        return None;
    }
    let body = match request.body() {
        Ok(body) => body,
        Err(why) => {
            notes.push(format!("entry {number} is left out: {why}"));
            return None;
        }
    };
    let status = entry.response.status;
    let statuses = if (400..=599).contains(&status) {
        notes.push(format!(
            "entry {number} was answered with {status}, and only that passes"
        ));
        vec![status]
    } else {
        Vec::new()
    };
    secrets.look_at_query(number, url);
    Some(Step {
        target: literal(&url.target.replace(' ', "%20")),
        name: format!("{method} {}", url.path()),
        headers: headers(entry, secrets),
        body: body.map(|body| literal(&body)),
        pause_ms: 0,
        statuses,
        method,
    })
}

/// The fields of a request, secrets replaced; several of one name are one.
fn headers(entry: &Entry, secrets: &mut Secrets) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for field in &entry.request.headers {
        let name = field.name.as_str();
        if name.starts_with(':')
            || OF_THE_CONNECTION
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own))
        {
            continue;
        }
        match fields
            .iter_mut()
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
        {
            Some((_, earlier)) => {
                earlier.push_str(if name.eq_ignore_ascii_case("cookie") {
                    "; "
                } else {
                    ", "
                });
                earlier.push_str(&field.value);
            }
            None => fields.push((name.to_owned(), field.value.clone())),
        }
    }
    fields
        .into_iter()
        .map(|(name, value)| {
            let value = secrets
                .replace(&name, &value)
                .unwrap_or_else(|| literal(&value));
            (name, value)
        })
        .collect()
}
