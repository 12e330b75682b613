//! `plimsoll load URL`: the everyday one-liner. It is an experiment of one external component, run like any other.

mod curl;
mod flag;
mod request;
mod spelled;

use crate::commands::run;
use crate::exit::{Ending, Failure};
use plimsoll_base::units::Rate;
use plimsoll_experiment::Experiment;
use request::Request;
use serde_json::{Map, Value, json};
use spelled::{SOURCE, Spelled};
use std::path::Path;

/// The methods that a scenario has keys for.
const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

/// As long as a load may last: one of so many requests ends with the last of them.
const LONGEST: &str = "999h";

/// How many redirects in a row curl follows when it is told to.
const CURL_FOLLOWS: u32 = 50;

/// Send load to one URL and say how it answered.
///
/// With a rate the model is open: arrivals do not wait for answers. Without one it is closed, with as many users as connections.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// URL to request, such as `http://127.0.0.1:8080/path`.
    #[arg(required_unless_present = "curl")]
    url: Option<String>,
    /// Arrivals per second, `500` or `90/min`; without it every connection sends as fast as it is answered.
    #[arg(short, long)]
    rate: Option<String>,
    /// Number of requests, all of them measured; with --rate, of arrivals.
    #[arg(short, long, conflicts_with_all = ["duration", "warmup", "poisson"])]
    number: Option<u64>,
    /// Connections; with --rate also `auto`, which is as many as without this flag.
    #[arg(short, long, default_value = "50", value_parser = connections)]
    connections: Connections,
    /// Measured time, such as `30s`.
    #[arg(short = 'z', long, default_value = "10s")]
    duration: String,
    /// Time before the measurement.
    #[arg(long, default_value = "1s")]
    warmup: String,
    /// Request method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS [default: GET, or the command's of --curl]
    #[arg(short, long)]
    method: Option<String>,
    /// Header field, `Name: value`; repeatable. It replaces one of --curl.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Request body; `@FILE` sends the file as it is.
    #[arg(short, long)]
    body: Option<String>,
    /// A command copied from a browser (`copy as cURL`), in quotes: its URL, method, headers and body.
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    curl: Option<String>,
    /// Timeout of one exchange [default: 10s, or the command's of --curl]
    #[arg(long)]
    timeout: Option<String>,
    /// Threads of the generator [default: 1]
    #[arg(long)]
    threads: Option<u32>,
    /// Poisson instead of evenly spaced arrivals.
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// A new connection for every exchange.
    #[arg(long)]
    disable_keepalive: bool,
    #[command(flatten)]
    security: Security,
    #[command(flatten)]
    common: run::Common,
}

/// Protocol of connections, and their security.
#[derive(Debug, clap::Args)]
struct Security {
    /// HTTP/2: negotiated (ALPN) over TLS, prior knowledge in plaintext.
    #[arg(long)]
    http2: bool,
    /// With --http2: virtual users that share a connection, each with one stream at a time.
    #[arg(long, requires = "http2")]
    streams: Option<u32>,
    /// Accept any certificate of the server; the report says so.
    #[arg(short = 'k', long)]
    insecure: bool,
    /// File with the authorities (PEM) that the server's certificate must come from [default: the host's]
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    /// File with the client's certificate (PEM).
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// File with its key (PEM) [default: the certificate's file]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<String>,
}

/// How many connections there are.
#[derive(Debug, Clone, Copy)]
enum Connections {
    /// As many as without the flag.
    Auto,
    /// So many.
    Number(u32),
}

fn connections(text: &str) -> Result<Connections, String> {
    match text {
        "auto" => Ok(Connections::Auto),
        number => number
            .parse()
            .map(Connections::Number)
            .map_err(|error| format!("{error}: write a number, or `auto`")),
    }
}

/// Runs it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let request = request::of(&args)?;
    let spelled = Spelled(experiment(&args, &request)?.to_string());
    let experiment = Experiment::load(Path::new(SOURCE), &[], &spelled)
        .map_err(|problems| Failure::Input(flag::problems(&problems, args.number.is_some())))?;
    run::experiment(&experiment, &args.common)
}

/// The experiment that the arguments describe, as the file that one would write.
fn experiment(args: &Args, request: &Request) -> Result<Value, Failure> {
    let mut experiment = json!({
        "version": 1,
        "name": "load",
        "components": { "target": { "external": request.url.origin(), "probe": "none" } },
        "scenario": [step(request)?],
        "load": load(args, request)?,
        "method": "measure",
    });
    if let Some(threads) = args.threads {
        experiment["generator"] = json!({ "shards": threads });
    }
    Ok(experiment)
}

/// The one step of the scenario.
fn step(request: &Request) -> Result<Map<String, Value>, Failure> {
    let mut step = Map::new();
    step.insert(
        method(&request.method)?,
        literal(&request.url.target).into(),
    );
    // A query may hold a token, and names stand in every record.
    step.insert(
        "name".to_owned(),
        format!("{} {}", request.method.to_uppercase(), request.url.path()).into(),
    );
    if request.follow {
        step.insert("redirects".to_owned(), CURL_FOLLOWS.into());
    }
    if !request.headers.is_empty() {
        let fields = request.headers.iter();
        let fields: Map<String, Value> = fields
            .map(|(name, value)| (name.clone(), literal(value).into()))
            .collect();
        step.insert("headers".to_owned(), fields.into());
    }
    if !request.parts.is_empty() {
        let parts = curl::multipart(&request.parts, literal);
        step.insert("multipart".to_owned(), parts.into());
    }
    if let Some(body) = &request.body {
        match body
            .strip_prefix('@')
            .filter(|_| request.body_may_be_a_file)
        {
            Some(file) => step.insert("body_file".to_owned(), file.into()),
            None => step.insert("body".to_owned(), literal(body).into()),
        };
    }
    Ok(step)
}

/// How much load, and when.
fn load(args: &Args, request: &Request) -> Result<Value, Failure> {
    let rate = args.rate.as_deref().map(rate).transpose()?;
    let (warmup, duration) = match args.number {
        None => (args.warmup.clone(), args.duration.clone()),
        Some(number) => ("0".to_owned(), length_of(number, rate.as_deref())?),
    };
    let mut load = json!({
        "warmup": warmup,
        "duration": duration,
        "timeout": request.timeout,
        "keep_alive": !args.disable_keepalive,
    });
    match rate {
        Some(rate) => {
            load["rate"] = rate.into();
            load["connections"] = match args.connections {
                Connections::Auto => "auto".into(),
                Connections::Number(number) => number.into(),
            };
            load["profile"] = if args.poisson { "poisson" } else { "constant" }.into();
        }
        None => {
            let Connections::Number(users) = args.connections else {
                let message = "-c: `auto` is for arrivals: without --rate each connection is a user, so write how many";
                return Err(Failure::Input(message.to_owned()));
            };
            load["users"] = users.into();
            if let Some(number) = args.number {
                load["iterations"] = number.into();
            }
        }
    }
    if request.http2 {
        load["protocol"] = "http2".into();
    }
    if let Some(streams) = args.security.streams {
        load["streams"] = streams.into();
    }
    if !request.tls.is_empty() {
        load["tls"] = request.tls.clone().into();
    }
    Ok(load)
}

/// A rate as the experiment file writes it.
fn rate(text: &str) -> Result<String, Failure> {
    let written = if text.contains('/') {
        text.to_owned()
    } else {
        format!("{text}/s")
    };
    match Rate::parse(&written) {
        Ok(_) => Ok(written),
        Err(_) => Err(Failure::Input(format!(
            "-r {text}: write arrivals per second such as `500`, or `90/min` or `10/h`, more than 0; without -r the model is closed"
        ))),
    }
}

/// How long so many requests may take, and at a rate do take: the last of them is due half a gap before the end.
fn length_of(number: u64, rate: Option<&str>) -> Result<String, Failure> {
    if number == 0 {
        return Err(Failure::Input("-n 0: write 1 or more".to_owned()));
    }
    let Some(rate) = rate else {
        return Ok(LONGEST.to_owned());
    };
    let rate = Rate::parse(rate).map_err(|error| Failure::Input(format!("-r: {error}")))?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "the middle of the last gap is far from either arrival"
    )]
    let gaps = number as f64 - 0.5;
    Ok(format!("{:.9}s", gaps / rate.as_per_second()))
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
}
