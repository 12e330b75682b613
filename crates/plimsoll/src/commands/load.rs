//! `plimsoll load URL`: the everyday one-liner. It is an experiment of one external component, run like any other.

use crate::commands::run;
use crate::exit::{Ending, Failure};
use plimsoll_lab::experiment::{Experiment, Inline};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The methods that a scenario has keys for.
const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];
/// What problems of these arguments are located at.
const SOURCE: &str = "(command line)";

/// Send load to one URL and say how it answered.
///
/// With a rate the model is open: arrivals do not wait for answers. Without one it is closed, with as many users as connections.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to request, such as `http://127.0.0.1:8080/path`.
    url: String,
    /// Arrivals per second, `500` or `90/min`; without it every connection sends as fast as it is answered.
    #[arg(short, long)]
    rate: Option<String>,
    /// Connections.
    #[arg(short, long, default_value_t = 50)]
    connections: u32,
    /// Measured time, such as `30s`.
    #[arg(short = 'z', long, default_value = "10s")]
    duration: String,
    /// Time before the measurement.
    #[arg(long, default_value = "1s")]
    warmup: String,
    /// Request method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
    #[arg(short, long, default_value = "GET")]
    method: String,
    /// Header field, `Name: value`; repeatable.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Request body.
    #[arg(short, long)]
    body: Option<String>,
    /// Longest time for one exchange.
    #[arg(long, default_value = "10s")]
    timeout: String,
    /// Poisson instead of evenly spaced arrivals.
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// A new connection for every exchange.
    #[arg(long)]
    disable_keepalive: bool,
    #[command(flatten)]
    common: run::Common,
}

/// Runs it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let inline = Inline {
        name: SOURCE,
        text: experiment(&args)?.to_string(),
    };
    let experiment = Experiment::load(Path::new(SOURCE), &[], &inline)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    run::experiment(&experiment, &args.common)
}

/// The experiment that the arguments describe, as the file that one would write.
fn experiment(args: &Args) -> Result<Value, Failure> {
    let (origin, path) = split_url(&args.url)?;
    let mut step = Map::new();
    step.insert(method(&args.method)?, literal(path).into());
    // A query may hold a token, and names stand in every record.
    let shown = path.split('?').next().unwrap_or(path);
    step.insert(
        "name".to_owned(),
        format!("{} {shown}", args.method.to_uppercase()).into(),
    );
    if !args.headers.is_empty() {
        step.insert("headers".to_owned(), headers(&args.headers)?.into());
    }
    if let Some(body) = &args.body {
        step.insert("body".to_owned(), literal(body).into());
    }
    let mut load = json!({ "warmup": args.warmup, "duration": args.duration, "timeout": args.timeout, "keep_alive": !args.disable_keepalive });
    match &args.rate {
        Some(rate) => {
            let rate = if rate.contains('/') {
                rate.clone()
            } else {
                format!("{rate}/s")
            };
            load["rate"] = rate.into();
            load["connections"] = args.connections.into();
            load["profile"] = if args.poisson { "poisson" } else { "constant" }.into();
        }
        None => load["users"] = args.connections.into(),
    }
    Ok(json!({
        "version": 1,
        "name": "load",
        "components": { "target": { "external": origin, "probe": "none" } },
        "scenario": [step],
        "load": load,
        "method": "measure",
    }))
}

/// The key by which the experiment file knows a request method.
fn method(name: &str) -> Result<String, Failure> {
    let key = name.to_lowercase();
    if METHODS.contains(&key.as_str()) {
        Ok(key)
    } else {
        let known = METHODS.join(", ").to_uppercase();
        Err(Failure::Input(format!("-m {name}: write one of {known}")))
    }
}

/// Scheme and authority, and the rest from its slash on.
fn split_url(url: &str) -> Result<(&str, &str), Failure> {
    let scheme = url.find("://").map(|at| at + 3);
    let start = scheme
        .ok_or_else(|| Failure::Input(format!("`{url}` has no scheme: write `http://{url}`")))?;
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    let path = if end == url.len() { "/" } else { &url[end..] };
    Ok((&url[..end], path))
}

fn headers(fields: &[String]) -> Result<Map<String, Value>, Failure> {
    let split = |field: &String| {
        let (name, value) = field
            .split_once(':')
            .ok_or_else(|| Failure::Input(format!("-H `{field}`: write `Name: value`")))?;
        Ok((name.trim().to_owned(), literal(value.trim()).into()))
    };
    fields.iter().map(split).collect()
}

/// A text in which the experiment file sees no substitution.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_method_says_what_to_write() {
        let error = method("BREW").unwrap_err().to_string();
        assert_eq!(
            error,
            "-m BREW: write one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        );
        assert_eq!(method("Put").unwrap(), "put");
    }

    #[test]
    fn urls_are_split_at_the_path() {
        let check =
            |url: &str, expected: (&str, &str)| assert_eq!(split_url(url).unwrap(), expected);
        check("http://a", ("http://a", "/"));
        check("http://a:80/b/c?d=e", ("http://a:80", "/b/c?d=e"));
        assert_eq!(
            split_url("a:80/b").unwrap_err().to_string(),
            "`a:80/b` has no scheme: write `http://a:80/b`"
        );
    }
}
