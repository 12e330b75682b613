//! hey's command line, read as Go's `flag` package reads it: `-name value`, `-name=value`, one dash or two, flags before the URL.

use std::time::Duration;

/// What hey's flags say, with its defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Flags {
    pub url: String,
    /// `-n`: exchanges.
    pub number: u64,
    /// `-c`: workers.
    pub workers: u32,
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

/// What a command line asks for.
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
const WITH_VALUE: [&str; 17] = [
    "n", "c", "q", "z", "o", "m", "H", "t", "A", "d", "D", "T", "U", "a", "x", "host", "cpus",
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

/// Reads a command line.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(words: &[String]) -> Result<Asked, String> {
    let mut flags = Flags::default();
    let mut agent = None;
    let mut rest = words.iter();
    let url = loop {
        let Some(word) = rest.next() else {
            return Err("the URL is missing: it comes last".to_owned());
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
        if ["h", "help"].contains(&name) {
            return Ok(Asked::Usage);
        }
        if SWITCHES.contains(&name) {
            switch(&mut flags, name, attached.as_deref())?;
            continue;
        }
        if !WITH_VALUE.contains(&name) {
            return Err(unknown(name));
        }
        let value = match attached {
            Some(value) => value,
            None => rest
                .next()
                .cloned()
                .ok_or_else(|| format!("`-{name}` has no value"))?,
        };
        if name == "U" {
            agent = Some(value);
        } else {
            take(&mut flags, name, value)?;
        }
    };
    flags.url = url.cloned().ok_or("the URL is missing: it comes last")?;
    if let Some(extra) = rest.next() {
        return Err(format!(
            "`{extra}` comes after the URL, where hey takes no notice of it: put it before"
        ));
    }
    name_ourselves(&mut flags, agent);
    check(&flags)?;
    Ok(Asked::Run(Box::new(flags)))
}

fn switch(flags: &mut Flags, name: &str, value: Option<&str>) -> Result<(), String> {
    let on = match value {
        None | Some("true" | "1" | "t" | "T" | "TRUE" | "True") => true,
        Some("false" | "0" | "f" | "F" | "FALSE" | "False") => false,
        Some(other) => return Err(format!("`-{name}={other}`: write true or false")),
    };
    match name {
        "h2" => flags.http2 = on,
        "disable-compression" => flags.compression = !on,
        "disable-keepalive" => flags.keep_alive = !on,
        _ => flags.redirects = !on,
    }
    Ok(())
}

fn take(flags: &mut Flags, name: &str, value: String) -> Result<(), String> {
    match name {
        "n" => flags.number = number(name, &value)?,
        "c" => flags.workers = number(name, &value)?,
        "q" => {
            let rate: f64 = number(name, &value)?;
            flags.rate_per_worker = (rate > 0.0 && rate.is_finite()).then_some(rate);
        }
        "z" => flags.duration = Some(go_duration(&value)?).filter(|time| !time.is_zero()),
        "t" => {
            let seconds: u64 = number(name, &value)?;
            flags.timeout = (seconds > 0).then_some(Duration::from_secs(seconds));
        }
        "o" if value == "csv" => flags.csv = true,
        "o" if value.is_empty() => {}
        "o" => {
            return Err(
                "`-o`: templates of Go are not available in this version: write csv".to_owned(),
            );
        }
        "m" => flags.method = value.to_uppercase(),
        "H" => {
            let (name, value) = field(&value)?;
            set(&mut flags.headers, name, value);
        }
        "A" => set(&mut flags.headers, "Accept", &value),
        "T" => set(&mut flags.headers, "Content-Type", &value),
        "a" => set(&mut flags.headers, "Authorization", &basic(&value)?),
        "d" => flags.body = Some(value).filter(|body| !body.is_empty()),
        "D" => flags.body_file = Some(value).filter(|file| !file.is_empty()),
        "host" => flags.host = Some(value).filter(|host| !host.is_empty()),
        "x" => flags.proxy = Some(value).filter(|proxy| !proxy.is_empty()),
        "cpus" => flags.cpus = Some(number(name, &value)?),
        other => return Err(unknown(other)),
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    format!("hey has no flag `-{name}`")
}

fn check(flags: &Flags) -> Result<(), String> {
    if flags.duration.is_none() {
        if flags.number < 1 || flags.workers < 1 {
            return Err("-n and -c cannot be smaller than 1.".to_owned());
        }
        if flags.number < u64::from(flags.workers) {
            return Err("-n cannot be less than -c.".to_owned());
        }
    } else if flags.workers < 1 {
        return Err("-c cannot be smaller than 1.".to_owned());
    }
    Ok(())
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("`-{name} {value}`: write a number"))
}

/// A field as hey accepts it: a name of word characters and dashes, and something after the colon.
fn field(text: &str) -> Result<(&str, &str), String> {
    let refused = || format!("could not parse the provided input; input = {text}");
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

fn basic(user: &str) -> Result<String, String> {
    use base64::Engine as _;
    match user.split_once(':') {
        Some((name, password)) if !name.is_empty() && !password.is_empty() => {
            let encoded = base64::engine::general_purpose::STANDARD.encode(user);
            Ok(format!("Basic {encoded}"))
        }
        _ => Err("`-a`: write `username:password`".to_owned()),
    }
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

/// A duration as Go writes it: `1h30m`, `1.5s`, `300ms`.
fn go_duration(text: &str) -> Result<Duration, String> {
    let refused = || format!("`-z {text}`: write a duration such as 10s or 1m30s");
    let mut rest = text;
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
    if text.is_empty() {
        return Err(refused());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the flags say, but for what is as by default.
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
