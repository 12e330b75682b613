//! `/size/{n}`: that many letters; `n` may have a unit (`10K`, `0.25K`, `1MB`), each a power of 1024.
//!
//! Unlike go-bench-suite, a malformed size is answered with 400, and the letters are the same in every answer.

use super::{Call, Reply};
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::response::answer::AnswerBuilder;

/// The longest answer, in bytes.
const LONGEST: f64 = 64.0 * 1024.0 * 1024.0;

pub(super) fn reply(call: &Call<'_, '_>) -> Reply {
    let answer = match parse(call.rest) {
        Ok(size) => AnswerBuilder::new(200, None)
            .field("Content-Type", "text/plain; charset=utf-8")
            .letters(size),
        Err(message) => Answer::text(400, message),
    };
    answer.into()
}

fn parse(text: &str) -> Result<usize, &'static str> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" | "KIB" => 1024.0,
        "M" | "MB" | "MIB" => 1024.0 * 1024.0,
        _ => return Err("the unit is none of B, K, KB, M, MB"),
    };
    let bytes = number.parse::<f64>().map_err(|_| "not a size")? * scale;
    if bytes > LONGEST {
        return Err("more than the limit of 64 MiB");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "digits and points are not negative, and the limit is checked above"
    )]
    Ok(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("17", Ok(17)),
            ("10B", Ok(10)),
            ("0.25K", Ok(256)),
            ("1kb", Ok(1024)),
            ("1M", Ok(1 << 20)),
            ("1000M", Err("more than the limit of 64 MiB")),
            ("x", Err("the unit is none of B, K, KB, M, MB")),
            ("", Err("not a size")),
            ("1.2.3", Err("not a size")),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
