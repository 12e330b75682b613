//! Puts cases to a server and takes down what matters of its answers.

use super::admin_answers;
use super::cases::{Case, File, Meant, directory};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Fields of an answer that are not the stub's doing, in lower case.
const OTHERS: &[&str] = &[
    "connection",
    "content-length",
    "date",
    "server",
    "transfer-encoding",
];

/// Names the stub that has answered.
const STUB: &str = "matched-stub-id";

/// Stands for the server itself in cases whose stubs send requests on.
const ITSELF: &str = "ITSELF";

/// Answers of one server to every case of a file: `{"stubs": [status…], "answers": […]}` for each.
pub fn of(file: &File, server: SocketAddr) -> Vec<Value> {
    file.cases()
        .iter()
        .map(|case| of_case(case, server))
        .collect()
}

/// Requests that make a server forget the case before.
const CLEARING: &[(&str, &[u8])] = &[
    ("DELETE /__admin/mappings", b""),
    ("DELETE /__admin/requests", b""),
    ("POST /__admin/settings", b"{}"),
];

fn of_case(case: &Case, server: SocketAddr) -> Value {
    for (line, body) in CLEARING {
        let cleared = exchange(server, &request(line, &[], body));
        assert_eq!(cleared["status"], 200, "{cleared}");
    }
    let stubs: Vec<Value> = case
        .stubs
        .iter()
        .map(|stub| {
            let text = stub.what.to_string().replace(ITSELF, &server.to_string());
            exchange(
                server,
                &request("POST /__admin/mappings", &[], text.as_bytes()),
            )["status"]
                .take()
        })
        .collect();
    let mut raw: Vec<Value> = Vec::new();
    for request in &case.requests {
        raw.push(exchange(server, &written(request, &raw)));
    }
    let known = case.text();
    let answers = case.requests.iter().zip(raw);
    let answers: Vec<Value> = answers
        .map(|(request, answer)| {
            let answer = simplified(request, answer, &known);
            let text = answer.to_string().replace(&server.to_string(), ITSELF);
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    json!({"name": case.name, "stubs": stubs, "answers": answers})
}

/// Every place where this mock differs and does not mean to, or means to and does not.
pub fn compare(file: &File, expected: &[Value], actual: &[Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    assert_eq!(
        file.cases().len(),
        expected.len(),
        "{}: record the answers anew",
        file.name()
    );
    for (case, (expected, actual)) in file.cases().iter().zip(expected.iter().zip(actual)) {
        assert_eq!(
            expected["name"],
            case.name,
            "{}: record the answers anew",
            file.name()
        );
        for (part, meant) in [("stubs", &case.stubs), ("answers", &case.requests)] {
            for (index, meant) in meant.iter().enumerate() {
                let (theirs, ours) = (&expected[part][index], &actual[part][index]);
                let wanted = if meant.differs.is_some() {
                    &meant.ours
                } else {
                    theirs
                };
                let place = format!("{} \"{}\" {part}[{index}]", file.name(), case.name);
                if ours != wanted {
                    wrong.push(format!(
                        "{place}: {ours}, not {wanted}\n    of {}",
                        meant.what
                    ));
                }
                if meant.differs.is_some() && wanted == theirs {
                    wrong.push(format!("{place}: does not differ any more"));
                }
            }
        }
    }
    wrong
}

/// An unmatched request is one thing, whatever is said about it. That an answer names its stub goes without saying, unless the case knows the id; that
/// it names none is said. Of an error page that WireMock's server makes only the title is kept: the rest are names of its inner parts, some of
/// them drawn anew at each start.
fn simplified(request: &Meant, mut answer: Value, known: &str) -> Value {
    if request.is_admin() {
        return admin_answers::simplified(&answer, known);
    }
    let named = answer["fields"]
        .as_array()
        .and_then(|fields| fields.iter().find(|field| field[0] == STUB))
        .map(|field| field[1].as_str().unwrap().to_owned());
    let text = answer["body"].as_str().unwrap_or_default();
    if request.what["table"] == true {
        return answer["body"].take();
    }
    if answer["status"] == 404
        && named.is_none()
        && (text.contains("not matched") || text.contains("no stub mappings"))
    {
        return json!("unmatched");
    }
    if let Some(title) = title_of_error_page(text).map(str::to_owned) {
        answer["body"] = json!({"error page": title});
    }
    if let Value::Array(fields) = &mut answer["fields"] {
        match named {
            Some(id) if known.contains(&id) => {}
            Some(_) => fields.retain(|field| field[0] != STUB),
            None => fields.push(json!([STUB, null])),
        }
    }
    if answer["fields"].as_array().is_none_or(Vec::is_empty) {
        answer.as_object_mut().unwrap().remove("fields");
    }
    answer
}

fn title_of_error_page(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<title>Error ")?;
    let (title, rest) = rest.split_once("</title>")?;
    rest.contains("<h3>Caused by:</h3>").then_some(title)
}

/// The bytes of a request. `{taken}` in its line is a text out of an answer before it.
fn written(meant: &Meant, before: &[Value]) -> Vec<u8> {
    let what = &meant.what;
    let mut line = what["line"].as_str().unwrap().to_owned();
    if let Some([of, pointer]) = what["take"].as_array().map(Vec::as_slice) {
        let text = before[usize::try_from(of.as_u64().unwrap()).unwrap()]["body"].clone();
        let body: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        let taken = body.pointer(pointer.as_str().unwrap()).cloned();
        line = line.replace("{taken}", taken.unwrap_or_default().as_str().unwrap());
    }
    let headers: Vec<(&str, &str)> = what["headers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()))
        .collect();
    let body = match (&what["body"], what["base64"].as_str()) {
        (Value::String(text), _) => text.clone().into_bytes(),
        (Value::Null, Some(text)) => BASE64.decode(text).unwrap(),
        (Value::Null, None) => Vec::new(),
        (json, _) => json.to_string().into_bytes(),
    };
    request(&line, &headers, &body)
}

pub fn request(line: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut out = format!("{line} HTTP/1.1\r\n");
    let has = |wanted: &str| {
        headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    if !has("Host") {
        out.push_str("Host: localhost\r\n");
    }
    if !body.is_empty() && !has("Transfer-Encoding") {
        out.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    if !has("Connection") {
        out.push_str("Connection: close\r\n");
    }
    out.push_str("\r\n");
    [out.as_bytes(), body].concat()
}

/// Sends a request on a connection of its own and reads all that comes.
pub fn exchange(server: SocketAddr, request: &[u8]) -> Value {
    let mut stream = TcpStream::connect(server).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(request).unwrap();
    let mut received = Vec::new();
    let ended = match stream.read_to_end(&mut received) {
        Ok(_) => "closed",
        Err(error) if error.kind() == ErrorKind::ConnectionReset => "reset",
        Err(error) => panic!("{error} after {}", String::from_utf8_lossy(&received)),
    };
    answer_of(&received, ended)
}

fn answer_of(received: &[u8], ended: &str) -> Value {
    let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
        return json!({"ended": ended, "raw": latin_1(received)});
    };
    let head = latin_1(&received[..end]);
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap();
    if !first.starts_with("HTTP/1.1 ") {
        return json!({"ended": ended, "raw": latin_1(received)});
    }
    let fields: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let chunked = fields
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let raw = &received[end + 4..];
    let (body, whole) = if chunked {
        unchunked(raw)
    } else {
        (raw.to_vec(), true)
    };
    let status: u16 = first[9..12].parse().unwrap();
    let mut shown: Vec<_> = fields
        .iter()
        .filter(|(name, _)| !OTHERS.contains(&name.as_str()))
        .collect();
    shown.sort();
    let mut answer = json!({"status": status, "fields": shown});
    let reason = first.get(13..).unwrap_or("");
    answer["reason"] = reason.into();
    match String::from_utf8(body) {
        Ok(text) => answer["body"] = text.into(),
        Err(error) => answer["base64"] = BASE64.encode(error.as_bytes()).into(),
    }
    if !whole {
        answer["broken"] = latin_1(raw).into();
        answer["ended"] = ended.into();
    }
    answer
}

/// A chunked body put together, and whether it ends as it should.
fn unchunked(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|two| two == b"\r\n") {
        let Ok(size) = usize::from_str_radix(&latin_1(&raw[..end]), 16) else {
            return (body, false);
        };
        raw = &raw[end + 2..];
        if size == 0 {
            return (body, true);
        }
        if raw.len() < size + 2 {
            break;
        }
        body.extend_from_slice(&raw[..size]);
        raw = &raw[size + 2..];
    }
    (body, false)
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// A root directory for a server, with body files; it is deleted when this is dropped.
pub fn root_directory() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let files = root.path().join("__files");
    std::fs::create_dir(&files).unwrap();
    for entry in std::fs::read_dir(directory().join("root/__files")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, files.join(path.file_name().unwrap())).unwrap();
    }
    root
}
