//! hey's command line, read as Go's `flag` package reads it: `-name value`, `-name=value`, one dash or two, flags before the URL.

use std::time::Duration;

/// hey's flags, with its defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Flags {
    pub url: String,
    /// `-n`: requests; at least 1 unless there is a duration.
    pub number: i64,
    /// `-c`: workers, from 1 to a million.
    pub workers: i64,
    /// `-q`: exchanges per second of each worker.
    pub rate_per_worker: Option<f64>,
    /// `-z`: instead of a number.
    pub duration: Option<Duration>,
    /// `-t`; `None`: as long as it takes.
    pub timeout: Option<Duration>,
    /// `-o csv`.
    pub csv: bool,
    /// `-m`, in capitals.
    pub method: String,
    /// `-T`, `-H`, `-A`, `-U` and `-a` as fields, each name once.
    pub headers: Vec<(String, String)>,
    /// `-d`.
    pub body: Option<String>,
    /// `-D`.
    pub body_file: Option<String>,
    /// `-host`.
    pub host: Option<String>,
    /// `-x`.
    pub proxy: Option<String>,
    pub http2: bool,
    pub compression: bool,
    pub keep_alive: bool,
    pub redirects: bool,
    /// `-cpus`.
    pub cpus: Option<usize>,
}

/// Why a command line is refused. hey's exit codes tell the two apart.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// It cannot be read: Go's `flag` package ends with 2.
    Unreadable(String),
    /// It can be read, and asks for what cannot be: hey itself ends with 1.
    Wrong(String),
}

/// Request of a command line.
#[derive(Debug, PartialEq)]
pub enum Asked {
    Run(Box<Flags>),
    Usage,
}

/// hey's flags that take no value.
const SWITCHES: [&str; 4] = [
    "h2",
    "disable-compression",
    "disable-keepalive",
    "disable-redirects",
];
/// Those that take one.
const WITH_VALUE: [&str; 18] = [
    "n", "c", "q", "z", "o", "m", "h", "H", "t", "A", "d", "D", "T", "U", "a", "x", "host", "cpus",
];
/// hey sends this with every request, whatever its method.
const CONTENT_TYPE: &str = "text/html";

impl Default for Flags {
    fn default() -> Self {
        Self {
            url: String::new(),
            number: 200,
            workers: 50,
            rate_per_worker: None,
            duration: None,
            timeout: Some(Duration::from_secs(20)),
            csv: false,
            method: "GET".to_owned(),
            headers: vec![("Content-Type".to_owned(), CONTENT_TYPE.to_owned())],
            body: None,
            body_file: None,
            host: None,
            proxy: None,
            http2: false,
            compression: true,
            keep_alive: true,
            redirects: true,
            cpus: None,
        }
    }
}

/// More workers than that are more virtual users than a plan may have.
const MOST_WORKERS: i64 = 1_000_000;

/// Reads a command line.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(words: &[String]) -> Result<Asked, Refused> {
    let mut flags = Flags::default();
    let mut agent = None;
    let mut rest = words.iter();
    let url = loop {
        let Some(word) = rest.next() else {
            return Err(without_url());
        };
        let name = match word.strip_prefix("--").or_else(|| word.strip_prefix('-')) {
            Some("") if word == "--" => break rest.next(),
            Some(name) if !name.is_empty() => name,
            _ => break Some(word),
        };
        let (name, attached) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        if name == "help" || name == "h" && attached.is_none() && rest.len() == 0 {
            return Ok(Asked::Usage);
        }
        if SWITCHES.contains(&name) {
            switch(&mut flags, name, attached.as_deref())?;
            continue;
        }
        if !WITH_VALUE.contains(&name) {
            return Err(unknown(name));
        }
        let value = attached.or_else(|| rest.next().cloned());
        let value =
            value.ok_or_else(|| Refused::Unreadable(format!("flag needs an argument: -{name}")))?;
        if name == "U" {
            agent = Some(value);
        } else {
            take(&mut flags, name, value)?;
        }
    };
    flags.url = url.cloned().ok_or_else(without_url)?;
    if let Some(extra) = rest.next() {
        return Err(Refused::Unreadable(format!(
            "`{extra}` comes after the URL, where hey takes no notice of it: put it before"
        )));
    }
    name_ourselves(&mut flags, agent);
    check(&flags)?;
    Ok(Asked::Run(Box::new(flags)))
}

fn without_url() -> Refused {
    Refused::Wrong("the URL is missing: it comes last".to_owned())
}

fn switch(flags: &mut Flags, name: &str, value: Option<&str>) -> Result<(), Refused> {
    let on = match value {
        None | Some("true" | "1" | "t" | "T" | "TRUE" | "True") => true,
        Some("false" | "0" | "f" | "F" | "FALSE" | "False") => false,
        Some(other) => {
            return Err(Refused::Unreadable(format!(
                "invalid boolean value \"{other}\" for -{name}: write true or false"
            )));
        }
    };
    match name {
        "h2" => flags.http2 = on,
        "disable-compression" => flags.compression = !on,
        "disable-keepalive" => flags.keep_alive = !on,
        _ => flags.redirects = !on,
    }
    Ok(())
}

fn take(flags: &mut Flags, name: &str, value: String) -> Result<(), Refused> {
    match name {
        "n" => flags.number = number(name, &value)?,
        "c" => flags.workers = number(name, &value)?,
        "q" => {
            let rate: f64 = number(name, &value)?;
            flags.rate_per_worker = (rate > 0.0 && rate.is_finite()).then_some(rate);
        }
        "z" => flags.duration = go_duration(&value)?,
        "t" => {
            let seconds: i64 = number(name, &value)?;
            let seconds = u64::try_from(seconds).unwrap_or(0);
            flags.timeout = (seconds > 0).then_some(Duration::from_secs(seconds));
        }
        "o" if value == "csv" => flags.csv = true,
        "o" if value.is_empty() => {}
        "o" => {
            return Err(Refused::Unreadable(
                "-o: templates of Go are not available in this version: write csv".to_owned(),
            ));
        }
        "m" => flags.method = value.to_uppercase(),
        "h" => {
            return Err(Refused::Wrong(
                "Flag '-h' is deprecated, please use '-H' instead.".to_owned(),
            ));
        }
        "H" => {
            let (name, value) = field(&value)?;
            match name.to_ascii_lowercase().as_str() {
                // Go computes these itself.
                "content-length" | "transfer-encoding" => {}
                "connection" if value.eq_ignore_ascii_case("close") => flags.keep_alive = false,
                "connection" => {}
                _ => set(&mut flags.headers, name, value),
            }
        }
        "A" => set(&mut flags.headers, "Accept", &value),
        "T" => set(&mut flags.headers, "Content-Type", &value),
        "a" => set(&mut flags.headers, "Authorization", &basic(&value)?),
        "d" => flags.body = Some(value).filter(|body| !body.is_empty()),
        "D" => flags.body_file = Some(value).filter(|file| !file.is_empty()),
        "host" => flags.host = Some(value).filter(|host| !host.is_empty()),
        "x" => flags.proxy = Some(value).filter(|proxy| !proxy.is_empty()),
        "cpus" => {
            let cpus: i64 = number(name, &value)?;
            flags.cpus = usize::try_from(cpus).ok().filter(|cpus| *cpus > 0);
        }
        other => return Err(unknown(other)),
    }
    Ok(())
}

fn unknown(name: &str) -> Refused {
    Refused::Unreadable(format!("flag provided but not defined: -{name}"))
}

fn check(flags: &Flags) -> Result<(), Refused> {
    let wrong = |message: &str| Err(Refused::Wrong(message.to_owned()));
    if flags.duration.is_some() {
        if flags.workers < 1 {
            return wrong("-c cannot be smaller than 1.");
        }
    } else {
        if flags.number < 1 || flags.workers < 1 {
            return wrong("-n and -c cannot be smaller than 1.");
        }
        if flags.number < flags.workers {
            return wrong("-n cannot be less than -c.");
        }
    }
    if flags.workers > MOST_WORKERS {
        return wrong(&format!("-c cannot be larger than {MOST_WORKERS}."));
    }
    Ok(())
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Refused> {
    value
        .parse()
        .map_err(|_| invalid(name, value, "write a number"))
}

fn invalid(name: &str, value: &str, instead: &str) -> Refused {
    Refused::Unreadable(format!(
        "invalid value \"{value}\" for flag -{name}: {instead}"
    ))
}

fn not_parsed(text: &str) -> Refused {
    Refused::Wrong(format!(
        "could not parse the provided input; input = {text}"
    ))
}

/// A field as hey accepts it: a name of word characters and dashes, and something after the colon.
fn field(text: &str) -> Result<(&str, &str), Refused> {
    let refused = || not_parsed(text);
    let (name, value) = text.split_once(':').ok_or_else(refused)?;
    let value = value.trim_start();
    let is_name = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_name && !value.is_empty() {
        Ok((name, value))
    } else {
        Err(refused())
    }
}

/// As hey does: one value per name, the last one.
fn set(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
}

/// A name, and a password of two characters or more that does not begin with a space.
fn basic(user: &str) -> Result<String, Refused> {
    use base64::Engine as _;
    let is_password = |password: &str| {
        password.chars().nth(1).is_some() && !password.starts_with(char::is_whitespace)
    };
    let mut colons = user.match_indices(':').map(|(at, _)| at);
    if !colons.any(|at| at > 0 && is_password(&user[at + 1..])) {
        return Err(not_parsed(user));
    }
    let encoded = base64::engine::general_purpose::STANDARD.encode(user);
    Ok(format!("Basic {encoded}"))
}

/// hey puts its name behind the one that it is given; so do we with ours.
fn name_ourselves(flags: &mut Flags, agent: Option<String>) {
    const OWN: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));
    let given = flags
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    let given = agent
        .filter(|agent| !agent.is_empty())
        .or_else(|| given.map(|(_, value)| value.clone()));
    if let Some(given) = given {
        set(&mut flags.headers, "User-Agent", &format!("{given} {OWN}"));
    }
}

/// A duration as Go writes it: `1h30m`, `1.5s`, `300ms`. One that is not above 0 is as good as none.
fn go_duration(text: &str) -> Result<Option<Duration>, Refused> {
    let refused = || invalid("z", text, "write a duration such as 10s or 1m30s");
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(None);
    }
    let mut rest = unsigned;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(refused)?;
        let value: f64 = rest[..digits].parse().map_err(|_| refused())?;
        rest = &rest[digits..];
        let unit_end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        seconds += value
            * match &rest[..unit_end] {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return Err(refused()),
            };
        rest = &rest[unit_end..];
    }
    if unsigned.is_empty() {
        return Err(refused());
    }
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| refused())?;
    Ok(Some(duration).filter(|duration| !duration.is_zero() && !text.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the flags of a line that differ from the defaults.
    fn check(line: &str, expected: impl FnOnce(&mut Flags)) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut flags = Flags {
            url: "http://a/".to_owned(),
            ..Flags::default()
        };
        expected(&mut flags);
        assert_eq!(parse(&words), Ok(Asked::Run(Box::new(flags))), "{line}");
    }

    fn fields(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn flags_are_read_as_go_reads_them() {
        check("http://a/", |_| {});
        check("-n 7 --c=3 -- http://a/", |flags| {
            (flags.number, flags.workers) = (7, 3)
        });
        check("-q 2.5 -z 1m30s http://a/", |flags| {
            flags.rate_per_worker = Some(2.5);
            flags.duration = Some(Duration::from_secs(90));
        });
        check("-z 300ms -q 0 http://a/", |flags| {
            flags.duration = Some(Duration::from_millis(300))
        });
        check("-z -3s -t -1 -cpus 0 http://a/", |flags| {
            flags.timeout = None
        });
        check("-t 0 -o csv -m put http://a/", |flags| {
            (flags.timeout, flags.csv, flags.method) = (None, true, "PUT".to_owned());
        });
        check(
            "-h2 -disable-keepalive=true -disable-redirects -disable-compression=false http://a/",
            |flags| {
                (flags.http2, flags.keep_alive, flags.redirects) = (true, false, false);
            },
        );
        check(
            "-T text/plain -A */* -H X-A:1 -H x-a:2 -a me:it http://a/",
            |flags| {
                flags.headers = fields(&[
                    ("Content-Type", "text/plain"),
                    ("Accept", "*/*"),
                    ("x-a", "2"),
                    ("Authorization", "Basic bWU6aXQ="),
                ]);
            },
        );
        check(
            "-H Connection:close -H Content-Length:5 http://a/",
            |flags| flags.keep_alive = false,
        );
        check(
            "-U robot -d body -D file -host b -x c:1 -cpus 2 http://a/",
            |flags| {
                let own = concat!("robot plimsoll/", env!("CARGO_PKG_VERSION"));
                flags.headers = fields(&[("Content-Type", "text/html"), ("User-Agent", own)]);
                (flags.body, flags.body_file) = (Some("body".to_owned()), Some("file".to_owned()));
                (flags.host, flags.proxy, flags.cpus) =
                    (Some("b".to_owned()), Some("c:1".to_owned()), Some(2));
            },
        );
        assert_eq!(parse(&["-h".to_owned()]), Ok(Asked::Usage));
    }
}
