//! A command that was copied from a browser (`copy as cURL`) or typed for curl, as the request that it sends.
//!
//! Of curl's many options those are understood that change the request and have an equivalent here; those that only change
//! what curl shows are passed over. Every other one is refused by name: a request that lacks something is another request.

mod data;
mod form;
mod options;
mod prompt;
mod words;

use data::Data;
pub use form::{CurlPart, multipart};
use options::{PASSED_OVER, WITH_VALUE, options, unknown};

/// The request of one curl command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// With scheme and query.
    pub url: String,
    pub method: String,
    /// In the order written; what options stand for comes after what was written as a header.
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    /// The parts of a multipart body, in place of another.
    pub parts: Vec<CurlPart>,
    /// Whether any certificate is good enough.
    pub insecure: bool,
    /// Whether redirects are followed.
    pub follow: bool,
    pub http2: bool,
    /// The longest time for the exchange, in seconds.
    pub max_time: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
    pub cacert: Option<String>,
}

/// A command as far as it has been read.
#[derive(Default)]
struct Reading {
    request: Request,
    method: Option<String>,
    cookies: Vec<String>,
    /// Fields of curl's own that are not wanted.
    without: Vec<String>,
    data: Data,
    is_get: bool,
    is_head: bool,
    /// Whether HTTP/2 is spoken without having been agreed on.
    knows_http2: bool,
    compressed: bool,
    /// Headers that options stand for; a header written as such wins.
    implied: Vec<(&'static str, String)>,
}

/// Understands a command. `read` gives the content of a file that it names (`-d @file`).
///
/// # Errors
/// An option that is not understood, with what to do about it.
pub fn parse(
    command: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Request, String> {
    let words = match prompt::is_meant(command) {
        true => prompt::split(command),
        false => words::split(command),
    };
    let mut words = words?.into_iter();
    match words.next() {
        Some(first) if is_curl(&first) => {}
        _ => return Err("must begin with `curl`".to_owned()),
    }
    let mut reading = Reading::default();
    while let Some(word) = words.next() {
        for (option, attached) in options(&word)? {
            let value = match attached {
                Some(value) => value,
                None if WITH_VALUE.contains(&option.as_str()) => words
                    .next()
                    .ok_or_else(|| format!("`{option}` has no value"))?,
                None => String::new(),
            };
            reading.option(&option, value, read)?;
        }
    }
    reading.finish()
}

/// Whether a program is curl, by its name.
fn is_curl(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == "curl" || name.eq_ignore_ascii_case("curl.exe")
}

impl Reading {
    fn option(
        &mut self,
        option: &str,
        value: String,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        let request = &mut self.request;
        match option {
            "--url" if request.url.is_empty() => request.url = value,
            "--url" => return Err(format!("`{value}` is a second URL: one request, one URL")),
            "--request" => self.method = Some(value),
            "--header" => match header(&value)? {
                Header::Field(name, value) => request.headers.push((name, value)),
                Header::Without(name) => self.without.push(name),
                Header::Own => {}
            },
            "--data" | "--data-ascii" => self.data.add_text(&value, read)?,
            "--data-raw" => self.data.add(value),
            "--data-binary" => self.data.add_binary(&value, read)?,
            "--data-urlencode" => self.data.add_encoded(&value, read)?,
            "--json" => {
                self.data.add_json(&value, read)?;
                self.implied
                    .push(("Content-Type", "application/json".to_owned()));
                self.implied.push(("Accept", "application/json".to_owned()));
            }
            "--form" => request.parts.push(CurlPart::parse(&value, read)?),
            "--form-string" => request.parts.push(CurlPart::plain(&value)?),
            "--user" => self.implied.push(("Authorization", basic(&value)?)),
            "--oauth2-bearer" => self
                .implied
                .push(("Authorization", format!("Bearer {value}"))),
            "--cookie" if value.contains('=') => self.cookies.push(value),
            "--cookie" => {
                return Err(format!(
                    "`--cookie {value}` names a file of cookies: write `name=value`"
                ));
            }
            "--user-agent" => self.implied.push(("User-Agent", value)),
            "--referer" => self.implied.push(("Referer", value)),
            "--compressed" => self.compressed = true,
            "--insecure" => request.insecure = true,
            "--location" => request.follow = true,
            "--http2" => request.http2 = true,
            "--http2-prior-knowledge" => (request.http2, self.knows_http2) = (true, true),
            "--get" => self.is_get = true,
            "--head" => self.is_head = true,
            "--max-time" => request.max_time = Some(value),
            "--cert" => request.cert = Some(value),
            "--key" => request.key = Some(value),
            "--cacert" => request.cacert = Some(value),
            known if PASSED_OVER.contains(&known) => {}
            other => return Err(unknown(other)),
        }
        Ok(())
    }

    fn finish(self) -> Result<Request, String> {
        let mut request = self.request;
        if request.url.is_empty() {
            return Err("has no URL".to_owned());
        }
        if !request.url.contains("://") {
            request.url.insert_str(0, "http://");
        }
        // In clear curl only asks for it, and goes on with HTTP/1.1 where it gets no answer to that.
        request.http2 &= self.knows_http2 || request.url.starts_with("https:");
        let mut body = self.data.into_text();
        if body.is_some() && !request.parts.is_empty() {
            return Err("has both `-d` and `-F`: a request has one body".to_owned());
        }
        if !request.parts.is_empty() {
            // Its boundary would be another.
            let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
            request.headers.retain(|(name, _)| !is_type(name));
        }
        let has_body = body.is_some() || !request.parts.is_empty();
        let default_method = match (has_body, self.is_head, self.is_get) {
            (_, true, _) => "HEAD",
            (true, _, false) => "POST",
            _ => "GET",
        };
        if self.is_get
            && let Some(data) = body.take()
        {
            let (url, fragment) = request
                .url
                .split_once('#')
                .map_or((&*request.url, ""), |(url, fragment)| (url, fragment));
            let separator = if url.contains('?') { '&' } else { '?' };
            let fragment = if fragment.is_empty() {
                String::new()
            } else {
                format!("#{fragment}")
            };
            request.url = format!("{url}{separator}{data}{fragment}");
        }
        let mut implied = self.implied;
        implied.push(("Cookie", self.cookies.join(";")));
        if body.is_some() {
            implied.push((
                "Content-Type",
                "application/x-www-form-urlencoded".to_owned(),
            ));
        }
        if self.compressed {
            implied.push(("Accept-Encoding", "gzip, deflate".to_owned()));
        }
        for (name, value) in implied {
            let mut written = request.headers.iter().map(|(other, _)| other);
            let is_written = written.any(|other| other.eq_ignore_ascii_case(name));
            let is_without = self
                .without
                .iter()
                .any(|other| other.eq_ignore_ascii_case(name));
            // `-A ''` and its like take a field away, too.
            if !is_written && !is_without && !value.is_empty() {
                request.headers.push((name.to_owned(), value));
            }
        }
        request.method = self.method.unwrap_or_else(|| default_method.to_owned());
        request.body = body;
        Ok(request)
    }
}

/// Content of one `-H`.
enum Header {
    /// A field; `Name;` is one without a value.
    Field(String, String),
    /// `Name:` takes one of curl's own away.
    Without(String),
    /// Nothing that is left to say: it is computed from the body or belongs to the connection, or HTTP/2 has it elsewhere.
    Own,
}

fn header(text: &str) -> Result<Header, String> {
    if text.starts_with('@') {
        return Err(format!(
            "`-H {text}` names a file of headers: write them one by one"
        ));
    }
    let (name, value) = match text.split_once(':') {
        // HTTP/2 knows the first line of a request as fields; browsers have copied them.
        Some(("", _)) => return Ok(Header::Own),
        Some((name, value)) => (name.trim(), value.trim()),
        None => {
            let name = text.trim().strip_suffix(';');
            let name = name.ok_or_else(|| format!("`-H {text}`: write `Name: value`"))?;
            return Ok(Header::Field(name.to_owned(), String::new()));
        }
    };
    let own = ["content-length", "connection", "transfer-encoding"];
    Ok(if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        Header::Own
    } else if value.is_empty() {
        Header::Without(name.to_owned())
    } else {
        Header::Field(name.to_owned(), value.to_owned())
    })
}

fn basic(user: &str) -> Result<String, String> {
    use base64::Engine as _;
    if !user.contains(':') {
        return Err("`-u` without a password would ask for it: write `user:password`".to_owned());
    }
    let encoded = base64::engine::general_purpose::STANDARD.encode(user);
    Ok(format!("Basic {encoded}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn no_file(name: &str) -> Result<String, String> {
        match name {
            "body.json" => Ok("{\n \"a\": 1\n}\n".to_owned()),
            _ => Err(format!("{name}: no such file")),
        }
    }

    /// The request as text, or what is wrong.
    fn shown(command: &str) -> String {
        let request = match parse(command, &no_file) {
            Ok(request) => request,
            Err(message) => return format!("refused: {message}"),
        };
        let mut text = format!("{} {}", request.method, request.url);
        for (name, value) in &request.headers {
            write!(text, "\n{name}: {value}").unwrap();
        }
        if let Some(body) = &request.body {
            write!(text, "\n\n{body}").unwrap();
        }
        for (flag, word) in [
            (request.insecure, "insecure"),
            (request.follow, "follow"),
            (request.http2, "http2"),
        ] {
            if flag {
                write!(text, "\n[{word}]").unwrap();
            }
        }
        text
    }

    #[test]
    fn a_command_copied_from_a_browser() {
        let copied = r#"curl 'https://shop.example/api/cart?id=7' \
  -X 'PUT' \
  -H 'accept: application/json' \
  -H 'accept-language: de-DE,de;q=0.9' \
  -b 'session=abc; theme=dark' \
  -H 'content-type: application/json' \
  -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)' \
  --data-raw $'{"note":"it\'s \u0021"}' \
  --compressed \
  --insecure"#;
        insta::assert_snapshot!(shown(copied), @r#"
        PUT https://shop.example/api/cart?id=7
        accept: application/json
        accept-language: de-DE,de;q=0.9
        content-type: application/json
        user-agent: Mozilla/5.0 (X11; Linux x86_64)
        Cookie: session=abc; theme=dark
        Accept-Encoding: gzip, deflate

        {"note":"it's !"}
        [insecure]
        "#);
    }

    fn all_shown(commands: &[&str]) -> String {
        let shown = (commands.iter()).map(|command| format!("> {command}\n{}", shown(command)));
        shown.collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn options_mean_what_they_mean_to_curl() {
        let commands = [
            "curl example.com",
            "curl -sSL -XDELETE http://a/b",
            "curl -I http://a/",
            "curl http://a/ -d x=1 -d y=2",
            "curl -G http://a/?q=0#top -d x=1 --data-urlencode 'y=a b&c'",
            "curl http://a/ --data @body.json",
            "curl http://a/ --data-binary @body.json -H 'Content-Type: application/json'",
            "curl http://a/ --json '{\"a\":' --json '1}'",
            "curl -u me:secret -A robot -e http://b/ -H 'User-Agent:' http://a/",
            "curl https://a/ -H ':authority: a' -H 'content-length: 3' -H 'X: 1' -H 'Y;' -k --http2 -m 2.5",
            "curl.exe http://a/ -so /dev/null -w '%{http_code}' -D - --basic -d x -H 'Content-Type:'",
            "curl http://a/ --http2",
            "curl http://a/ --http2-prior-knowledge",
            "/usr/bin/curl --url http://a/ --data-urlencode '@body.json'",
        ];
        insta::assert_snapshot!(all_shown(&commands), @r#"
        > curl example.com
        GET http://example.com

        > curl -sSL -XDELETE http://a/b
        DELETE http://a/b
        [follow]

        > curl -I http://a/
        HEAD http://a/

        > curl http://a/ -d x=1 -d y=2
        POST http://a/
        Content-Type: application/x-www-form-urlencoded

        x=1&y=2

        > curl -G http://a/?q=0#top -d x=1 --data-urlencode 'y=a b&c'
        GET http://a/?q=0&x=1&y=a+b%26c#top

        > curl http://a/ --data @body.json
        POST http://a/
        Content-Type: application/x-www-form-urlencoded

        { "a": 1}

        > curl http://a/ --data-binary @body.json -H 'Content-Type: application/json'
        POST http://a/
        Content-Type: application/json

        {
         "a": 1
        }


        > curl http://a/ --json '{"a":' --json '1}'
        POST http://a/
        Content-Type: application/json
        Accept: application/json

        {"a":1}

        > curl -u me:secret -A robot -e http://b/ -H 'User-Agent:' http://a/
        GET http://a/
        Authorization: Basic bWU6c2VjcmV0
        Referer: http://b/

        > curl https://a/ -H ':authority: a' -H 'content-length: 3' -H 'X: 1' -H 'Y;' -k --http2 -m 2.5
        GET https://a/
        X: 1
        Y: 
        [insecure]
        [http2]

        > curl.exe http://a/ -so /dev/null -w '%{http_code}' -D - --basic -d x -H 'Content-Type:'
        POST http://a/

        x

        > curl http://a/ --http2
        GET http://a/

        > curl http://a/ --http2-prior-knowledge
        GET http://a/
        [http2]

        > /usr/bin/curl --url http://a/ --data-urlencode '@body.json'
        POST http://a/
        Content-Type: application/x-www-form-urlencoded

        %7B%0A+%22a%22%3A+1%0A%7D%0A
        "#);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let commands = [
            "wget http://a/",
            "curl",
            "curl http://a/ http://b/",
            "curl -T x http://a/",
            "curl -x proxy:3128 http://a/",
            "curl --retry 3 http://a/",
            "curl -sZ http://a/",
            "curl -b cookies.txt http://a/",
            "curl -u me http://a/",
            "curl -H",
            "curl -H nonsense http://a/",
            "curl -H @headers http://a/",
            "curl -d @missing http://a/",
        ];
        let all: Vec<String> = commands
            .iter()
            .map(|command| format!("> {command}\n{}", shown(command)))
            .collect();
        insta::assert_snapshot!(all.join("\n"), @r"
        > wget http://a/
        refused: must begin with `curl`
        > curl
        refused: has no URL
        > curl http://a/ http://b/
        refused: `http://b/` is a second URL: one request, one URL
        > curl -T x http://a/
        refused: curl's `-T` has no equivalent here: leave it out, or say the same with options of `plimsoll load`
        > curl -x proxy:3128 http://a/
        refused: curl's `-x` has no equivalent here: leave it out, or say the same with options of `plimsoll load`
        > curl --retry 3 http://a/
        refused: curl's `--retry` has no equivalent here: leave it out, or say the same with options of `plimsoll load`
        > curl -sZ http://a/
        refused: curl's `-Z` has no equivalent here: leave it out, or say the same with options of `plimsoll load`
        > curl -b cookies.txt http://a/
        refused: `--cookie cookies.txt` names a file of cookies: write `name=value`
        > curl -u me http://a/
        refused: `-u` without a password would ask for it: write `user:password`
        > curl -H
        refused: `--header` has no value
        > curl -H nonsense http://a/
        refused: `-H nonsense`: write `Name: value`
        > curl -H @headers http://a/
        refused: `-H @headers` names a file of headers: write them one by one
        > curl -d @missing http://a/
        refused: missing: no such file
        ");
    }
}
