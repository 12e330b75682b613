//! The one request of `plimsoll load`: what a copied curl command says, and the options that replace parts of it.

use super::{Args, Security, curl};
use crate::commands::fields::combined;
use crate::exit::Failure;
use plimsoll_files::{Kinds, Limit, read_of};
use plimsoll_http::Url;
use serde_json::{Map, Value};
use std::path::Path;

/// The request that is sent again and again.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    pub url: Url,
    pub method: String,
    /// Each name once.
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    /// The parts of a multipart body, in place of another.
    pub parts: Vec<curl::CurlPart>,
    /// Whether a body that begins with `@` names a file.
    pub body_may_be_a_file: bool,
    /// The longest time for one exchange, as the experiment file writes it.
    pub timeout: String,
    pub http2: bool,
    /// Whether redirects are followed.
    pub follow: bool,
    /// The keys of the experiment file's `tls`; empty where there is nothing to say.
    pub tls: Map<String, Value>,
}

const TIMEOUT: &str = "10s";

/// The request that the arguments describe.
pub fn of(args: &Args) -> Result<Request, Failure> {
    let mut request = match &args.curl {
        Some(command) => copied(command)?,
        None => Request {
            url: Url::parse(args.url.as_deref().unwrap_or_default()).map_err(Failure::Input)?,
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: None,
            parts: Vec::new(),
            body_may_be_a_file: true,
            timeout: TIMEOUT.to_owned(),
            http2: false,
            follow: false,
            tls: Map::new(),
        },
    };
    let given = args.headers.iter().map(|field| header(field));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let is_given = |name: &str| {
        given
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    };
    request.headers.retain(|(name, _)| !is_given(name));
    request.headers = combined(request.headers.into_iter().chain(given)).map_err(|name| {
        Failure::Input(format!(
            "-H {name} is given twice with two values, and a request has one: keep one of them"
        ))
    })?;
    if let Some(method) = &args.method {
        request.method.clone_from(method);
    }
    if let Some(body) = &args.body {
        request.body = Some(body.clone());
        request.parts.clear();
        request.body_may_be_a_file = true;
    }
    if let Some(timeout) = &args.timeout {
        request.timeout.clone_from(timeout);
    }
    let Security {
        http2,
        insecure,
        cacert,
        cert,
        key,
        ..
    } = &args.security;
    request.http2 |= http2;
    let given = tls(*insecure, cacert.as_ref(), cert.as_ref(), key.as_ref());
    request.tls.extend(given);
    if !request.tls.is_empty() && request.url.scheme != "https" {
        return Err(Failure::Input(format!(
            "`{}` is not secured, so -k, --cacert, --cert and --key have no meaning: write `https://`",
            request.url.origin()
        )));
    }
    Ok(request)
}

/// The keys of `tls` that say the same; a key is where its certificate is, unless said otherwise.
fn tls(
    insecure: bool,
    cacert: Option<&String>,
    cert: Option<&String>,
    key: Option<&String>,
) -> Map<String, Value> {
    let files = [("ca", cacert), ("cert", cert), ("key", key.or(cert))];
    let files = files
        .into_iter()
        .filter_map(|(key, file)| Some((key, Value::from(file?.as_str()))));
    let insecure = insecure.then(|| ("insecure", Value::from(true)));
    insecure
        .into_iter()
        .chain(files)
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The request of a copied command.
fn copied(command: &str) -> Result<Request, Failure> {
    let refuse = |why: String| Failure::Input(format!("--curl: {why}"));
    let copied = curl::parse(command, &|file| {
        let content = read_of(Path::new(file), Limit::CONTENT, Kinds::FilesAndPipes);
        let text = content.and_then(plimsoll_files::text);
        text.map_err(|e| format!("{file}: {e}"))
    })
    .map_err(refuse)?;
    let url = Url::parse(&copied.url).map_err(refuse)?;
    let is_secured = url.scheme == "https";
    let tls = tls(
        copied.insecure && is_secured,
        copied.cacert.as_ref().filter(|_| is_secured),
        copied.cert.as_ref().filter(|_| is_secured),
        copied.key.as_ref().filter(|_| is_secured),
    );
    Ok(Request {
        url,
        http2: copied.http2,
        follow: copied.follow,
        tls,
        method: copied.method,
        headers: copied.headers,
        body: copied.body,
        parts: copied.parts,
        body_may_be_a_file: false,
        timeout: copied
            .max_time
            .map_or_else(|| TIMEOUT.to_owned(), |seconds| format!("{seconds}s")),
    })
}

fn header(field: &str) -> Result<(String, String), Failure> {
    let (name, value) = field
        .split_once(':')
        .ok_or_else(|| Failure::Input(format!("-H `{field}`: write `Name: value`")))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
