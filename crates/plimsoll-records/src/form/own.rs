//! A record as a line of our own: JSON with every time in microseconds.

use crate::entry::Entry;
use crate::phases::Phases;
use std::io::Write as _;

/// Appends `entry` to `out` as one line of JSON. `time` is RFC 3339 in UTC with microseconds.
pub(crate) fn write_line(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let micros = i64::try_from(entry.arrived).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quoted);
    let written = write!(
        out,
        "{{\"time\":\"{time:.6}\",\"route\":{},\"key_sha256\":{},\"method\":{},\"path\":{},\"status\":{},\"aborted\":{},\"ended\":\"{}\",\
         \"bytes_in\":{},\"bytes_out\":{},\"gateway_us\":{},\"upstream_us\":{},\"client_us\":{},\"total_us\":{}",
        or_null(entry.route),
        or_null(entry.key),
        quoted(entry.method),
        quoted(entry.path),
        entry.status,
        entry.aborted,
        entry.ending,
        entry.bytes_in,
        entry.bytes_out,
        entry.gateway,
        entry.upstream,
        entry.client,
        entry.total,
    );
    written.expect("invariant: writing to memory does not fail");
    if let Some(phases) = &entry.phases {
        write_phases(out, phases);
    }
    out.extend_from_slice(b"}\n");
}

/// The phases and their sum, which is the time from the client's first byte on, or from its being accepted.
fn write_phases(out: &mut Vec<u8>, phases: &Phases) {
    let total = phases.total_micros();
    let shown = phases
        .micros()
        .map(|(phase, micros)| format!(",\"{}\":{micros}", phase.name()));
    let shown: String = shown.collect();
    let text = format!(",\"phases_us\":{{\"total\":{total}{shown}}}");
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::Ending;
    use crate::record::{ApiNames, Batch, Names, Record, RecordWord, Words};
    use std::sync::Arc;

    #[test]
    fn a_record_is_one_line_of_json() {
        let names = Names {
            origin: "plimsoll-1".to_owned(),
            start_micros: 1_700_000_000_000_000,
            routes: vec!["/".to_owned(), "/api".to_owned()],
            keys: vec![vec![], vec!["aa".to_owned(), "bb".to_owned()]],
            apis: vec![ApiNames::default(), ApiNames::default()],
        };
        let words = |method: &str, path: &str| {
            let mut words = Words::default();
            words.put(RecordWord::Method, method);
            words.put(RecordWord::Path, path);
            words
        };
        let mut batch = Batch::new(0, Arc::new(names));
        let cut = Record {
            aborted: true,
            ending: Ending::Drained,
            ..Record::default()
        };
        batch.push(cut, None, &words("GET", "/\"x"));
        let whole = Record {
            start_micros: 1_500_000,
            route: Some(1),
            key: Some(1),
            status: 200,
            bytes_in: 5,
            bytes_out: 7,
            total_micros: 60,
            gateway_micros: 10,
            upstream_micros: 40,
            client_micros: 10,
            ..Record::default()
        };
        batch.push(whole, None, &words("POST", "/api/é"));
        let mut out = Vec::new();
        for entry in batch.entries() {
            write_line(&mut out, &entry);
        }
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"time":"2023-11-14T22:13:20.000000Z","route":null,"key_sha256":null,"method":"GET","path":"/\"x","status":0,"aborted":true,"ended":"drained","bytes_in":0,"bytes_out":0,"gateway_us":0,"upstream_us":0,"client_us":0,"total_us":0}
        {"time":"2023-11-14T22:13:21.500000Z","route":"/api","key_sha256":"bb","method":"POST","path":"/api/é","status":200,"aborted":false,"ended":"answered","bytes_in":5,"bytes_out":7,"gateway_us":10,"upstream_us":40,"client_us":10,"total_us":60}
        "#);
    }
}
