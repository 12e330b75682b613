//! AWS' signature version 4 of a POST to `/` without a query, which is all that Secrets Manager asks for.
//!
//! Source: "Create a signed AWS API request", AWS Identity and Access Management User Guide (reference_sigv-create-signed-request); the
//! tests hold it against signatures of AWS' published test suite (`aws-sig-v4-test-suite`).

use jiff::Timestamp;
use plimsoll_base::digest::Digest;
use ring::hmac;
use std::fmt::Write as _;
use std::time::Duration;

/// Who signs.
#[derive(Clone, Copy)]
pub(super) struct Signer<'a> {
    pub(super) access_key: &'a str,
    pub(super) secret_key: &'a str,
    /// Of temporary credentials.
    pub(super) session_token: Option<&'a str>,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

/// A header field of the request.
pub(super) type Field = (&'static str, String);

/// The fields that a POST of `body` gets beside `fields`, which it is sent with and which are signed (`Host` is among them): the time,
/// the session's token, and the signature. `now` is the time of day since 1970.
pub(super) fn sign(signer: Signer<'_>, fields: &[Field], body: &[u8], now: Duration) -> Vec<Field> {
    let time = time(now);
    let mut added = vec![("X-Amz-Date", time.clone())];
    added.extend((signer.session_token).map(|token| ("X-Amz-Security-Token", token.to_owned())));
    let mut all: Vec<(String, String)> = (fields.iter().chain(&added))
        .map(|(name, value)| (name.to_ascii_lowercase(), squeezed(value)))
        .collect();
    all.sort_unstable();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let mut canonical = "POST\n/\n\n".to_owned();
    for (name, value) in &all {
        canonical += &format!("{name}:{value}\n");
    }
    canonical += &format!("\n{names}\n{}", Digest::of(body).to_hex());
    let day = &time[..8];
    let scope = format!("{day}/{}/{}/aws4_request", signer.region, signer.service);
    let digest = Digest::of(canonical.as_bytes()).to_hex();
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let signature = hex(&mac(&key(signer, day), &to_sign));
    let access_key = signer.access_key;
    added.push((
        "Authorization",
        format!("AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"),
    ));
    added
}

/// The key that signs everything of a day, a region and a service.
fn key(signer: Signer<'_>, day: &str) -> Vec<u8> {
    let first = format!("AWS4{}", signer.secret_key).into_bytes();
    let steps = [day, signer.region, signer.service, "aws4_request"];
    steps.iter().fold(first, |key, step| mac(&key, step))
}

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
}

/// `20150830T123600Z`.
fn time(now: Duration) -> String {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A value without space at its ends, and with single spaces within.
fn squeezed(value: &str) -> String {
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    words.join(" ")
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("invariant: writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The session token of `post-sts-header-before`.
    const TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

    /// Credentials, scope and time of AWS' test suite (`aws-sig-v4-test-suite`, 2015-08-30): the case of this name is a POST to
    /// `example.amazonaws.com` with this field more.
    #[test]
    fn the_published_test_suite_is_met() {
        let check = |case: &str, more: Option<Field>, body: &str, token, expected: &str| {
            let signer = Signer {
                access_key: "AKIDEXAMPLE",
                secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                session_token: token,
                region: "us-east-1",
                service: "service",
            };
            let mut fields = vec![("Host", "example.amazonaws.com".to_owned())];
            fields.extend(more);
            let now = Duration::from_secs(1_440_938_160);
            let signed = sign(signer, &fields, body.as_bytes(), now);
            assert_eq!(signed[0], ("X-Amz-Date", "20150830T123600Z".to_owned()));
            let (_, signature) = signed.last().unwrap();
            let scope =
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ";
            assert_eq!(*signature, format!("{scope}{expected}"), "{case}");
        };
        check(
            "post-vanilla",
            None,
            "",
            None,
            "SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        );
        check(
            "post-x-www-form-urlencoded",
            Some((
                "Content-Type",
                "application/x-www-form-urlencoded".to_owned(),
            )),
            "Param1=value1",
            None,
            "SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        );
        check(
            "post-header-key-sort",
            Some(("My-Header1", "value1".to_owned())),
            "",
            None,
            "SignedHeaders=host;my-header1;x-amz-date, Signature=c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        );
        check(
            "post-header-value-case",
            Some(("My-Header1", "VALUE1".to_owned())),
            "",
            None,
            "SignedHeaders=host;my-header1;x-amz-date, Signature=cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        );
        check(
            "post-sts-header-before",
            None,
            "",
            Some(TOKEN),
            "SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
        );
    }

    #[test]
    fn space_within_a_value_is_single_space() {
        assert_eq!(squeezed("  a   b  c "), "a b c");
    }
}
