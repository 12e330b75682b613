//! What of a message is not recorded, because it proves who somebody is or stands for it: by the names of fields and of parameters.
//!
//! Names of parameters are compared as servers read them: decoded, whatever their case and separators, and also as a part of a nested
//! name (`user[password]`). Where servers differ, more is left out rather than less.

use std::borrow::Cow;

/// Fields whose values are not recorded.
const FIELDS: [&str; 22] = [
    "authorization",
    "proxy-authorization",
    "authentication-info",
    "proxy-authentication-info",
    "www-authenticate",
    "cookie",
    "set-cookie",
    "api-key",
    "apikey",
    "x-api-key",
    "x-apikey",
    "x-goog-api-key",
    "ocp-apim-subscription-key",
    "x-auth-key",
    "x-auth-token",
    "x-access-token",
    "x-vault-token",
    "private-token",
    "x-amz-security-token",
    "x-csrf-token",
    "x-xsrf-token",
    "x-tyk-authorization",
];
/// Fields whose values are URLs: parameters of theirs are a query's.
const URLS: [&str; 4] = ["location", "content-location", "referer", "refresh"];
/// Parameters whose values are not recorded, in small letters and without separators.
const PARAMETERS: [&str; 38] = [
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authtoken",
    "sessiontoken",
    "csrftoken",
    "xsrftoken",
    "token",
    "jwt",
    "bearer",
    "authorization",
    "apikey",
    "xapikey",
    "subscriptionkey",
    "accesskey",
    "secretkey",
    "privatekey",
    "key",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "newpassword",
    "oldpassword",
    "currentpassword",
    "passwordconfirmation",
    "secret",
    "clientsecret",
    "assertion",
    "clientassertion",
    "samlresponse",
    "code",
    "codeverifier",
    "otp",
    "signature",
    "sig",
    "xamzsignature",
    "xamzsecuritytoken",
];
/// What stands in their place.
const REDACTED: &[u8] = b"[redacted]";

/// The value of the field of this name, as it is recorded; `key_field` is the one in which keys travel.
pub(super) fn field<'a>(name: &str, value: &'a [u8], key_field: Option<&str>) -> Cow<'a, [u8]> {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    if FIELDS.into_iter().any(is) || key_field.is_some_and(is) {
        return Cow::Borrowed(REDACTED);
    }
    match URLS.into_iter().any(is) {
        true => Cow::Owned(url(value)),
        false => Cow::Borrowed(value),
    }
}

/// A URL whose query and fragment, which may be written as one, have no secrets.
fn url(value: &[u8]) -> Vec<u8> {
    let ends = |byte: &u8| matches!(byte, b'?' | b'#');
    let mut out = Vec::with_capacity(value.len());
    for (number, part) in value.split_inclusive(ends).enumerate() {
        let (rest, end) = match part.split_last() {
            Some((last, rest)) if ends(last) => (rest, Some(*last)),
            _ => (part, None),
        };
        match number {
            0 => out.extend_from_slice(rest),
            _ => out.extend(parameters(rest)),
        }
        out.extend(end);
    }
    out
}

/// A query or a form whose secret parameters have no values.
pub(super) fn parameters(text: &[u8]) -> Vec<u8> {
    let parameters = text.split(|byte| *byte == b'&').map(parameter);
    parameters.collect::<Vec<_>>().join(&b'&')
}

/// What stands between two `&`. Some servers see several parameters where it holds a `;`, others see one.
fn parameter(text: &[u8]) -> Cow<'_, [u8]> {
    let mut start = 0;
    for part in text.split(|byte| *byte == b';') {
        let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
        if is_secret(name) {
            let kept = &text[..start + name.len()];
            return Cow::Owned([kept, b"=", REDACTED].concat());
        }
        start += part.len() + 1;
    }
    Cow::Borrowed(text)
}

/// Whether a parameter of this name, which is encoded, is a secret, or a member of it (`a[b]`, `a.b`) is.
fn is_secret(name: &[u8]) -> bool {
    let name = decoded(name);
    let plain = |part: &[u8]| -> Vec<u8> {
        let letters = part.iter().filter(|byte| byte.is_ascii_alphanumeric());
        letters.map(u8::to_ascii_lowercase).collect()
    };
    let is = |part: &[u8]| {
        let part = plain(part);
        PARAMETERS.iter().any(|secret| secret.as_bytes() == part)
    };
    is(&name) || name.split(|byte| b"[].".contains(byte)).any(is)
}

/// A name without escapes; what is no escape stays.
fn decoded(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escaped = (first == b'%').then(|| octet(after)).flatten();
        if escaped.is_some() {
            rest = &after[2..];
        }
        out.push(escaped.unwrap_or(first));
    }
    out
}

/// The octet of an escape, after its `%`.
fn octet(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lose_their_secrets_and_nothing_else() {
        let check = |text: &str, expected: &str| {
            let redacted = parameters(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&redacted), expected, "{text}");
        };
        let same = |text: &str| check(text, text);
        same("");
        same("a=1&b");
        same("a=%zz&b=%&c=%6&%=1&%a=2&=3&&");
        same("monkey=1&keys=2&tokens=3&barcode=4&decode=5&secretary=6&passwords=7");
        same("a=token&b=password%3Dx&key%3Dx");
        check("a=1&Token=s3cret&b=2", "a=1&Token=[redacted]&b=2");
        check("api_key", "api_key=[redacted]");
        check("api_key=a=b&monkey=1", "api_key=[redacted]&monkey=1");
        // As servers decode names.
        check("acc%65ss_token=s3cret", "acc%65ss_token=[redacted]");
        check("%70%61%73%73word=s3cret", "%70%61%73%73word=[redacted]");
        check("%50ASSWORD=s3cret", "%50ASSWORD=[redacted]");
        check("access%5Ftoken=s3cret", "access%5Ftoken=[redacted]");
        check("access%5ftoken=s3cret", "access%5ftoken=[redacted]");
        check("+token=s3cret", "+token=[redacted]");
        check("token+=s3cret", "token+=[redacted]");
        check("%20token%00=s3cret", "%20token%00=[redacted]");
        check("api+key=s3cret", "api+key=[redacted]");
        check("x=%ff&tok%65n=%ff", "x=%ff&tok%65n=[redacted]");
        // As servers nest them, and as they spell them.
        check("user[password]=s3cret", "user[password]=[redacted]");
        check("user%5Bpassword%5D=s3cret", "user%5Bpassword%5D=[redacted]");
        check(
            "token[]=s3cret&token[1]=s",
            "token[]=[redacted]&token[1]=[redacted]",
        );
        check("user.password=s3cret", "user.password=[redacted]");
        check(
            "access-token=a&accessToken=b",
            "access-token=[redacted]&accessToken=[redacted]",
        );
        check("X-Amz-Signature=s3cret", "X-Amz-Signature=[redacted]");
        // As some separate them; a value goes to the next `&` then, for others see one.
        check("a=1;token=s3cret", "a=1;token=[redacted]");
        check("token=s3;cret&b=2", "token=[redacted]&b=2");
    }

    #[test]
    fn fields_lose_their_secrets_and_nothing_else() {
        let check = |name: &str, value: &str, expected: &str| {
            let redacted = field(name, value.as_bytes(), Some("X-Own"));
            assert_eq!(String::from_utf8_lossy(&redacted), expected, "{name}");
        };
        check("Accept", "token=1", "token=1");
        check("x-own", "s3cret", "[redacted]");
        for name in FIELDS {
            check(&name.to_uppercase(), "s3cret", "[redacted]");
        }
        check("Referer", "https://a/b;token=c", "https://a/b;token=c");
        check(
            "referer",
            "https://a/?x=1&tok%65n=s3cret#token",
            "https://a/?x=1&tok%65n=[redacted]#token=[redacted]",
        );
        check("Location", "/?code=s3cret", "/?code=[redacted]");
        check(
            "Location",
            "https://a/b#access_token=s3cret&state=1",
            "https://a/b#access_token=[redacted]&state=1",
        );
        check(
            "Refresh",
            "0; url=/?a=1&key=s3cret",
            "0; url=/?a=1&key=[redacted]",
        );
    }
}
