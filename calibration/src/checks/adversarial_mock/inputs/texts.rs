//! Bodies of text, forms and parts, and one that is compressed.

use super::{Asked, Input, body_stub, bomb::bomb};
use serde_json::{Value, json};

pub(super) fn texts(size: usize) -> Vec<Input> {
    let long = "x".repeat(size);
    let lines = "x\n".repeat(size / 2);
    let of = |what: &str, stub: Value, text: &str| Input::of(what, stub, Asked::post(text));
    let pattern = |name: &str, operand: &str| body_stub(json!({ name: operand }));
    let packed = Asked::post(bomb()).field("Content-Encoding", "gzip");
    vec![
        of("equalTo, a long line", pattern("equalTo", "y"), &long),
        of(
            "equalTo, as long",
            pattern("equalTo", &"y".repeat(size)),
            &long,
        ),
        of("equalTo, lines", pattern("equalTo", "y"), &lines),
        of(
            "equalTo, spaces",
            pattern("equalTo", "y"),
            &" ".repeat(size),
        ),
        of(
            "contains, nearly",
            pattern("contains", &format!("{}y", "x".repeat(1_000))),
            &long,
        ),
        of(
            "matches, nested quantifiers",
            pattern("matches", "(x+x+)+y"),
            &long,
        ),
        of(
            "matches, a look-behind",
            pattern("matches", "(?<=a)(x+x+)+y"),
            &long,
        ),
        of(
            "matches, a back reference",
            pattern("matches", "(x*)(x*)(x*)\\1\\2\\3y"),
            &long,
        ),
        of(
            "doesNotMatch, alternatives",
            pattern("doesNotMatch", "(x|xx)+y(?!z)"),
            &long,
        ),
        of("binaryEqualTo", pattern("binaryEqualTo", "AAAA"), &long),
        of(
            "before",
            pattern("before", "2026-01-01T00:00:00Z"),
            &"1".repeat(size),
        ),
        Input::of(
            "equalTo, ten million bytes packed",
            pattern("equalTo", "y"),
            packed,
        ),
        Input::of(
            "equalToJson, ten million bytes packed",
            pattern("equalToJson", "[1]"),
            Asked::post(bomb()).field("Content-Encoding", "gzip"),
        ),
    ]
}
