//! The access log, read line by line as Fluent Bit reads it with the parser that `docs/gateway.md` shows.
//!
//! Fluent Bit itself is not run. What it does with such a parser: a line is JSON, one record a line, and an object; the value at `Time_Key` is at
//! most 63 bytes long; what stands before `%L` in `Time_Format` is read as strptime(3) does, `%L` takes up to nine digits of a fraction, and what stands
//! after it is read as before; a time that does not fit leaves the record with the time at which it was read.

use crate::support::{Gateway, Upstream};
use serde_json::Value;
use std::io::Write as _;

const DOCUMENT: &str = include_str!("../../../../docs/gateway.md");

/// A path that is long.
const LONG: &str = "/%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D%22%7D";

/// The `[PARSER]` section of the document.
#[derive(Clone, Copy)]
struct Parser {
    time_key: &'static str,
    time_format: &'static str,
}

impl Parser {
    fn documented() -> Self {
        let section = DOCUMENT.split("[PARSER]\n").nth(1).unwrap();
        let setting = |name: &str| {
            let lines = section.lines().take_while(|line| !line.is_empty());
            let mut settings = lines.filter_map(|line| line.trim().split_once(' '));
            let (_, value) = settings.find(|(key, _)| *key == name).unwrap();
            value.trim()
        };
        assert_eq!(setting("Format"), "json");
        Self {
            time_key: setting("Time_Key"),
            time_format: setting("Time_Format"),
        }
    }

    /// The record of a line, and its time.
    fn read(&self, line: &[u8]) -> (Value, jiff::Timestamp) {
        let text = std::str::from_utf8(line).unwrap();
        assert!(
            !text.contains(|letter: char| letter.is_ascii_control()),
            "{text:?}"
        );
        let record: Value = serde_json::from_str(text).unwrap();
        let members = record.as_object().unwrap();
        let key = format!("\"{}\":", self.time_key);
        assert_eq!(text.matches(&key).count(), 1, "{text}");
        let time = members[self.time_key].as_str().unwrap();
        let read = moment(self.time_format, time);
        let read = read.unwrap_or_else(|| panic!("{time}"));
        (record, read)
    }
}

/// The moment that `text` is by `format`, in UTC; `None` if it does not fit.
fn moment(format: &str, text: &str) -> Option<jiff::Timestamp> {
    if text.len() > 63 {
        return None;
    }
    let (mut rest, mut nanos) = (text, 0);
    let mut fields = std::collections::BTreeMap::new();
    let mut format = format.chars();
    while let Some(letter) = format.next() {
        let at_most = match letter {
            '%' => match format.next()? {
                'L' => {
                    let digits = digits(rest, 9);
                    nanos = format!("{:0<9}", &rest[..digits]).parse().ok()?;
                    rest = &rest[digits..];
                    (digits > 0).then_some(())?;
                    continue;
                }
                'Y' => ('Y', 4),
                field @ ('m' | 'd' | 'H' | 'M' | 'S') => (field, 2),
                other => panic!("%{other} is not read by this test"),
            },
            literal => {
                rest = rest.strip_prefix(literal)?;
                continue;
            }
        };
        let (field, most) = at_most;
        let digits = digits(rest, most);
        let value: i16 = rest[..digits].parse().ok()?;
        fields.insert(field, value);
        rest = &rest[digits..];
    }
    let small = |field: char| i8::try_from(fields[&field]).ok();
    let date = jiff::civil::Date::new(fields[&'Y'], small('m')?, small('d')?).ok()?;
    let time = jiff::civil::Time::new(small('H')?, small('M')?, small('S')?, nanos).ok()?;
    // Fluent Bit takes what follows; a line that has something there is not what it seems to be.
    let moment = date.to_datetime(time).to_zoned(jiff::tz::TimeZone::UTC);
    rest.is_empty().then_some(moment.ok()?.timestamp())
}

/// How many digits there are, at most so many.
fn digits(text: &str, most: usize) -> usize {
    let digits = text.bytes().take(most);
    digits.take_while(u8::is_ascii_digit).count()
}

#[test]
fn the_reader_of_this_test_reads_strictly() {
    let format = "%Y-%m-%dT%H:%M:%S.%LZ";
    let check = |text: &str, expected: Option<&str>| {
        let read = moment(format, text).map(|moment| moment.to_string());
        assert_eq!(read.as_deref(), expected, "{text}");
    };
    let whole = "2026-02-03T04:05:06.078901Z";
    check(whole, Some(whole));
    check("2026-02-03T04:05:06.5Z", Some("2026-02-03T04:05:06.5Z"));
    check("2026-02-03T04:05:06Z", None);
    check("2026-02-03T04:05:06.Z", None);
    check("2026-02-03T04:05:06.078901+00:00", None);
    check("2026-02-03 04:05:06.078901Z", None);
    check("2026-02-30T04:05:06.078901Z", None);
    check("2026-02-03T04:05:06.0789012345Z", None);
    check("2026-02-03T04:05:06.078901Z ", None);
}

/// Targets that want to be another line, another member or no text at all. Those that no request may have leave no record.
const TARGETS: [&[u8]; 20] = [
    b"/plain",
    b"/%22,%22time%22:%221%22",
    b"/%22%7D%0A%7B%22time%22:1%7D",
    b"/%0d%0a",
    b"/%00%01%1f%7f",
    b"/%5c%22",
    b"/%e2%80%a8%ff%fe",
    b"/%zz",
    b"/\"time\":\"1970\"",
    b"/\"}{",
    b"/\\",
    b"/\\u0000",
    b"/\x01\x1b[31m",
    b"/\t",
    b"/\x7f",
    b"/\xff\xfe",
    b"/\xc3\xa9\xe2\x80\xa8",
    b"/\xc0\x80",
    b"/a\rb",
    b"/a\nb",
];

/// Lines that a gateway prints in this form when clients send all of that.
fn printed(form: &str) -> Vec<u8> {
    let upstream = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let analytics = format!("analytics: {{ stdout: true, form: {form} }}\n");
    let gateway = Gateway::before(
        upstream.address,
        &format!("timings: {{ records: true }}\n{analytics}"),
    );
    for target in TARGETS {
        for fields in [&b""[..], b"User-Agent: \"}\n{\xff\r\n", b"X: \x01\r\n"] {
            let mut client = gateway.connect();
            let start = [b"GET ", target, b" HTTP/1.1\r\nHost: a\r\n"].concat();
            let whole = [&start, fields, b"Connection: close\r\n\r\n"].concat();
            client.stream.write_all(&whole).unwrap();
            let answer = client.response(false);
            assert!([200, 400].contains(&answer.status()), "{target:?}");
        }
    }
    let mut client = gateway.connect();
    let agent = "User-Agent: \"time\":\"1\"}\\ \t\u{2028}";
    let request = format!("GET {LONG} HTTP/1.1\r\nHost: a\r\n{agent}\r\n\r\n");
    assert_eq!(client.ask(&request).status(), 200);
    let printed = gateway.printed();
    gateway.tell_to_stop();
    gateway.join();
    std::mem::take(&mut *printed.lock().unwrap())
}

#[test]
fn every_line_is_one_record_with_its_time_whatever_clients_send() {
    let documented = Parser::documented();
    for (form, time_key) in [("own", documented.time_key), ("tyk", "timestamp")] {
        let parser = Parser {
            time_key,
            ..documented
        };
        // What is written are whole microseconds.
        let begun = jiff::Timestamp::now() - jiff::SignedDuration::from_micros(1);
        let printed = printed(form);
        let ended = jiff::Timestamp::now();
        let mut paths = Vec::new();
        for line in printed.split_inclusive(|byte| *byte == b'\n') {
            let (record, time) = parser.read(line.strip_suffix(b"\n").unwrap());
            assert!((begun..=ended).contains(&time), "{time}");
            paths.push(record["path"].as_str().unwrap().to_owned());
        }
        for path in ["/plain", "/%22,%22time%22:%221%22", LONG] {
            assert!(paths.iter().any(|recorded| recorded == path), "{paths:?}");
        }
        paths.dedup();
        paths.retain(|path| path != LONG);
        insta::assert_debug_snapshot!(format!("access_log_paths_{form}"), paths);
    }
}
