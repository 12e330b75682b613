//! HAR: what a browser recorded of a page or a session (HTTP Archive 1.2).

mod body;
mod secret;
mod time;
mod wire;

use super::draft::{Body, Draft, METHODS, Step, literal, sendable, slug};
use super::pattern;
use crate::commands::fields::combined;
use crate::exit::Failure;
use plimsoll_files::Limit;
use plimsoll_http::Url;
use secret::Secrets;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wire::{Archive, Entry};

/// File to take over.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recording.
    file: PathBuf,
    /// Only requests to this host (`example.com`, `example.com:8080` or `https://example.com`); needed when the recording has several.
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

/// Recordings hold what was answered, too, of which nothing is kept.
const LONGEST: Limit = Limit::mebibytes(256);

/// Reads the recording.
pub fn import(args: &Args) -> Result<Draft, Failure> {
    let name = args.file.display().to_string();
    let text = super::read(&args.file, LONGEST)?;
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
            leave_out(&format!("as no HTTP requests: `{scheme}:`"));
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
            && only.trim_end_matches('/') != url.origin()
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
        } else if entry.status().is_some_and(|status| status <= 0) {
            leave_out("without an answer: aborted, blocked, or still under way");
        } else if entry.status() == Some(101) {
            leave_out("that became a WebSocket or another protocol");
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
    let Some(method) = METHODS.into_iter().find(|known| *known == method) else {
        notes.push(format!(
            "entry {number} is left out: {method} is not available in this version"
        ));
        return None;
    };
    let (body, media_type) = match body::of(request) {
        Ok(body) => body,
        Err(why) => {
            notes.push(format!("entry {number} is left out: {why}"));
            return None;
        }
    };
    let status = entry.status().and_then(|status| u16::try_from(status).ok());
    let failed = status.filter(|status| (400..=599).contains(status));
    if let Some(status) = failed {
        notes.push(format!(
            "entry {number} was answered with {status}, and only that passes"
        ));
    }
    if entry.is_from_cache() {
        notes.push(format!(
            "entry {number} was answered by the browser's cache; here it goes to the server"
        ));
    }
    let mut headers = headers(number, entry, secrets, notes);
    let is_type = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    match &body {
        // Its boundary is another.
        Body::Multipart(_) => headers.retain(|field| !is_type(field)),
        Body::Text(_) if !media_type.is_empty() && !headers.iter().any(is_type) => {
            headers.push(("Content-Type".to_owned(), literal(media_type)));
        }
        _ => {}
    }
    secrets.look_at_query(number, url);
    secrets.look_at_body(number, &body);
    Some(Step {
        target: literal(&sendable(&url.target)),
        name: format!("{method} {}", url.path()),
        headers,
        body,
        pause_ms: 0,
        statuses: failed.into_iter().collect(),
        method,
    })
}

/// The fields of a request, secrets replaced; several of one name are one.
fn headers(
    number: usize,
    entry: &Entry,
    secrets: &mut Secrets,
    notes: &mut Vec<String>,
) -> Vec<(String, String)> {
    let is_sent = |name: &str| {
        let mut own = OF_THE_CONNECTION.iter();
        !name.starts_with(':') && !own.any(|own| name.eq_ignore_ascii_case(own))
    };
    let mut fields: Vec<(String, String)> = entry
        .request
        .headers
        .iter()
        .filter(|field| is_sent(&field.name))
        .map(|field| (field.name.clone(), field.value.trim().to_owned()))
        .collect();
    let together = loop {
        match combined(fields.clone()) {
            Ok(together) => break together,
            Err(twice) => {
                notes.push(format!(
                    "entry {number} has two of `{twice}`: the first is taken"
                ));
                let mut is_first = true;
                fields.retain(|(name, _)| {
                    !name.eq_ignore_ascii_case(&twice) || std::mem::take(&mut is_first)
                });
            }
        }
    };
    let replaced = together.into_iter().map(|(name, value)| {
        let value = secrets
            .replace(&name, &value)
            .unwrap_or_else(|| literal(&value));
        (name, value)
    });
    replaced.collect()
}
