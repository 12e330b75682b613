//! Answers by templates that repeat, nest or grow.

use super::{Asked, Input, repeated, template};

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
pub(super) fn templates(size: usize) -> Vec<Input> {
    let of =
        |what: &str, text: &str, body: String| Input::of(what, template(text), Asked::post(body));
    let keys = format!("{{{}\"z\":0}}", repeated(size, |n| format!("\"k{n}\":0,")));
    let numbers = || format!("[{}0]", "0,".repeat(size / 2));
    let square =
        "{{#each (parseJson request.body)}}{{#each (parseJson request.body)}}x{{/each}}{{/each}}";
    let cube = "{{#each (range 0 9999)}}{{#each (range 0 9999)}}{{#each (range 0 9999)}}{{/each}}{{/each}}{{/each}}";
    let double = format!(
        "{}{}",
        "{{assign 'x' (stringFormat '%s%s' x x)}}",
        "{{#assign 'x'}}{{x}}{{x}}{{x}}{{x}}{{/assign}}".repeat(12)
    );
    vec![
        of(
            "template, the body many times",
            &"{{request.body}}".repeat(100),
            "x".repeat(size),
        ),
        of("template, lists within each other", square, numbers()),
        of("template, ranges within each other", cube, String::new()),
        of(
            "template, a text that grows",
            &format!("{{{{#assign 'x'}}}}{{{{request.body}}}}{{{{/assign}}}}{double}"),
            "x".repeat(1_000),
        ),
        of(
            "template, replace",
            "{{replace request.body 'x' request.body}}",
            "x".repeat(size),
        ),
        of(
            "template, join",
            "{{arrayJoin request.body (parseJson '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]')}}",
            "x".repeat(size),
        ),
        of(
            "template, padding",
            "{{#each (range 0 9999)}}{{ljust 'x' size=1000000}}{{/each}}",
            String::new(),
        ),
        of(
            "template, random values",
            "{{#each (range 0 9999)}}{{randomValue length=1000000}}{{/each}}",
            String::new(),
        ),
        of(
            "template, parseJson of keys",
            "{{#parseJson 'x'}}{{request.body}}{{/parseJson}}{{x.z}}",
            keys.clone(),
        ),
        of(
            "template, jsonPath $..*",
            "{{jsonPath request.body '$..*'}}",
            keys.clone(),
        ),
        of(
            "template, toJson and formatJson",
            "{{formatJson request.body}}",
            keys,
        ),
        of(
            "template, formatJson, deep",
            "{{formatJson request.body}}",
            format!(
                "[{}0]",
                format!(
                    "{}{},",
                    "{\"a\":".repeat(100),
                    "0".to_owned() + &"}".repeat(100)
                )
                .repeat(size / 602)
            ),
        ),
        of(
            "template, wordWrap",
            "{{wordWrap request.body 5000}}",
            "x".repeat(size),
        ),
        of(
            "template, regexExtract",
            "{{regexExtract request.body '(x+x+)+y'}}",
            "x".repeat(size),
        ),
        of(
            "template, matches",
            "{{matches request.body '(x*)*y(?!z)'}}",
            "x".repeat(size),
        ),
        of(
            "template, stripTags",
            "{{stripTags request.body}}",
            "<".repeat(size),
        ),
        of(
            "template, arrayAdd",
            "{{#each (range 0 9999)}}{{assign 'x' 'y'}}{{size (arrayAdd (range 0 9999) 1)}}{{/each}}",
            String::new(),
        ),
        of(
            "template, numberFormat and math",
            "{{numberFormat request.body '#,##0.00'}}{{math request.body '*' request.body}}",
            "9".repeat(size),
        ),
        of(
            "template, formData",
            "{{formData request.body 'x'}}{{x.a1}}",
            repeated(size, |n| format!("a{n}=&")),
        ),
    ]
}
