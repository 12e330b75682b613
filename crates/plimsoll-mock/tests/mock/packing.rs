//! Answers packed with gzip: whole, delayed, dribbled and templated.

use crate::world::{Client, Mock, Received, config};
use flate2::read::GzDecoder;
use plimsoll_mock::MockConfig;
use std::io::Read as _;

const BODY: &str = "0123456789 0123456789 0123456789 0123456789";

fn mappings() -> [String; 5] {
    let stub = |name: &str, more: &str| {
        format!(r#"{{"request": {{"url": "/{name}"}}, "response": {{"body": "{BODY}"{more}}}}}"#)
    };
    [
        stub("plain", ""),
        stub("late", r#", "fixedDelayMilliseconds": 5"#),
        stub(
            "paced",
            r#", "chunkedDribbleDelay": {"numberOfChunks": 3, "totalDuration": 6}"#,
        ),
        stub("rendered", r#", "transformers": ["response-template"]"#),
        stub("image", r#", "headers": {"Content-Type": "image/png"}"#),
    ]
}

fn ask(client: &mut Client, target: &str) -> Received {
    client.write(&format!(
        "GET {target} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: deflate, gzip\r\n\r\n"
    ));
    client.read("GET")
}

#[test]
fn who_accepts_gzip_gets_it() {
    let mock = Mock::with_stubs(&mappings().each_ref().map(String::as_str));
    let mut client = mock.client();
    for target in ["/plain", "/plain", "/late", "/paced", "/rendered"] {
        let received = ask(&mut client, target);
        assert_eq!(received.field("Content-Encoding"), Some("gzip"), "{target}");
        let mut unpacked = String::new();
        let mut packed = GzDecoder::new(&*received.body);
        packed.read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, BODY, "{target}");
        assert_eq!(client.get(target).text(), BODY, "{target}");
    }
    let image = ask(&mut client, "/image");
    assert_eq!(
        (image.field("Content-Encoding"), image.text().as_str()),
        (None, BODY)
    );
    let journal = client.get("/__admin/requests?limit=1").json();
    assert_eq!(journal["requests"][0]["response"]["body"], BODY);
    mock.stop();
}

#[test]
fn packing_can_be_turned_off() {
    let mock = Mock::start(MockConfig {
        gzip: false,
        ..config()
    });
    let mut client = mock.client();
    let [plain, ..] = mappings();
    assert_eq!(client.send("POST", "/__admin/mappings", &plain).status, 201);
    assert_eq!(ask(&mut client, "/plain").text(), BODY);
    mock.stop();
}
