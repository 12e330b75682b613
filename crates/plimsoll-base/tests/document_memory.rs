//! Memory that reading a document may cost: 16 bytes for each byte of its text, and 8 MiB. Bytes are counted by the allocator, so this is one
//! test of its own.

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};
use plimsoll_base::document::{Document, Entries, MAX_WAY_BYTES, Problems, Text};
use std::alloc::System;

#[global_allocator]
static COUNTED: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes for each byte of a text, and for any.
const EACH: usize = 16;
const ANY: usize = 8 << 20;

/// Bytes of each text, about.
const SIZE: usize = 500_000;

fn many(one: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text.push_str(&one(number));
    }
    text
}

/// As YAML and as JSON, and decoded as something that it is not.
fn check(beyond: &mut Vec<String>, what: &str, text: &str) {
    type Parse = fn(&str, &str) -> Result<Document, Problems>;
    let parsers: [(&str, Parse); 2] = [
        ("YAML", Document::parse_yaml),
        ("JSON", Document::parse_json),
    ];
    for (format, parse) in parsers {
        COUNTED.reset_peak_memory();
        let decoded = parse("f", text).and_then(|it| it.decode::<Entries<Text>>());
        let most = COUNTED.get_peak_memory();
        drop(decoded);
        let allowed = EACH * text.len() + ANY;
        if most > allowed {
            let length = text.len();
            beyond.push(format!(
                "{what}, {format}: {most} bytes for {length}, {allowed} are allowed"
            ));
        }
    }
}

#[test]
fn a_document_takes_memory_in_proportion_to_its_text() {
    let mut beyond = Vec::new();
    let mut check = |what: &str, text: &str| check(&mut beyond, what, text);
    let list = |one: &str| format!("[{}0]", one.repeat(SIZE / one.len()));
    check("numbers", &list("0,"));
    check("texts", &list("\"\","));
    check("nulls", &list("null,"));
    check("empty lists", &list("[],"));
    check("empty mappings", &list("{},"));
    check("short lists", &list("[0],"));
    check("short mappings", &list("{\"\":0},"));
    check("texts of some length", &list("\"0123456789abcdef\","));
    let deep = format!("{}{}", "[".repeat(60), "]".repeat(60));
    check("deep", &list(&format!("{deep},")));
    check(
        "keys",
        &format!("{{{}\"\":\"\"}}", many(|n| format!("\"{n}\":\"\","))),
    );
    check(
        "equal keys",
        &format!("{{{}\"\":0}}", "\"\":0,".repeat(SIZE / 5)),
    );
    check("a long key", &format!("{{\"{}\":0}}", "x".repeat(SIZE)));
    check("a list in lines", &"- 0\n".repeat(SIZE / 4));
    check("nothing in lines", &"-\n".repeat(SIZE / 2));
    check("mappings in lines", &"- a: 0\n".repeat(SIZE / 7));
    check("keys in lines", &many(|n| format!("k{n}: a\n")));
    // With room for the keys below it.
    let long = "x".repeat(MAX_WAY_BYTES - 16);
    check(
        "below a long key",
        &format!("{{\"{long}\":{}}}", list("[],")),
    );
    let nulls = many(|n| format!("\"{n}\":null,"));
    let nulls = format!("{{\"{long}\":{{{nulls}\"\":0}}}}");
    check("nulls below a long key", &nulls);
    assert_eq!(beyond, Vec::<String>::new());
}
