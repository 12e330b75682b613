//! Parts of a message that are not recorded, because they prove who somebody is or stand for it: by the names of fields and of parameters.
//!
//! A name is secret as a whole, or by a word of it: words end at `-`, `_`, `.` and where capitals begin. Names of parameters are compared as
//! servers read them: decoded, whatever their case and separators, and also as a part of a nested name (`user[password]`). Where servers
//! differ, more is left out rather than less.

use crate::messages::fields::are_twins;
use std::borrow::Cow;
use std::sync::Arc;

/// Words that make a name secret, in small letters.
const WORDS: [&str; 14] = [
    "token",
    "secret",
    "session",
    "auth",
    "key",
    "pass",
    "sid",
    "cookie",
    "dpop",
    "jwt",
    "code",
    "assertion",
    "oauth",
    "otp",
];
/// Names and words that are written without a separator between their parts, in small letters; digits behind them make no difference.
const COMPOUNDS: [&str; 58] = [
    "authorization",
    "authentication",
    "authenticate",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authtoken",
    "apitoken",
    "usertoken",
    "sessiontoken",
    "csrftoken",
    "xsrftoken",
    "csrfmiddlewaretoken",
    "bearer",
    "apikey",
    "xapikey",
    "authkey",
    "subscriptionkey",
    "accesskey",
    "secretkey",
    "sessionkey",
    "privatekey",
    "passkey",
    "password",
    "passwd",
    "passcode",
    "passphrase",
    "pwd",
    "newpassword",
    "oldpassword",
    "currentpassword",
    "confirmpassword",
    "passwordconfirmation",
    "clientsecret",
    "appsecret",
    "sharedsecret",
    "clientassertion",
    "samlresponse",
    "samlart",
    "authcode",
    "codeverifier",
    "totp",
    "signature",
    "sig",
    "credential",
    "credentials",
    "xamzcredential",
    "xamzsignature",
    "xamzsecuritytoken",
    "sessionid",
    "jsessionid",
    "phpsessid",
    "aspsessionid",
    "sessid",
    "connectsid",
    "authcookie",
    "setcookie",
    "ticket",
];
/// Fields whose values are URLs: parameters of theirs are a query's.
const URLS: [&str; 8] = [
    "location",
    "content-location",
    "referer",
    "refresh",
    "x-original-url",
    "x-original-uri",
    "x-rewrite-url",
    "x-forwarded-uri",
];
/// Text in their place.
const REDACTED: &[u8] = b"[redacted]";

/// Secret names besides those that always are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrecy {
    /// The field in which keys travel.
    pub(crate) key_field: Option<String>,
    /// Names, or words of names, in small letters and without separators, see [`plain`].
    pub(crate) added: Arc<[String]>,
}

impl Secrecy {
    /// The value of the field of this name, as it is recorded.
    pub(crate) fn field<'a>(&self, name: &str, value: &'a [u8]) -> Cow<'a, [u8]> {
        let is_key = |field: &String| are_twins(field, name);
        if self.key_field.as_ref().is_some_and(is_key) || self.is_secret(name.as_bytes()) {
            return Cow::Borrowed(REDACTED);
        }
        match URLS.into_iter().any(|url| are_twins(url, name)) {
            true => Cow::Owned(self.url(value)),
            false => Cow::Borrowed(value),
        }
    }

    /// A path whose secret parameters (`/a;jsessionid=…`) have no values.
    pub(crate) fn path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        if !path.contains(';') {
            return Cow::Borrowed(path);
        }
        let segments = path.as_bytes().split(|byte| *byte == b'/');
        let segments: Vec<_> = segments.map(|segment| self.segment(segment)).collect();
        Cow::Owned(String::from_utf8_lossy(&segments.join(&b'/')).into_owned())
    }

    /// A piece between two slashes: a name, and parameters behind it.
    fn segment<'a>(&self, segment: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(at) = segment.iter().position(|byte| *byte == b';') else {
            return Cow::Borrowed(segment);
        };
        let (name, parameters) = segment.split_at(at + 1);
        Cow::Owned([name, &self.parameter(parameters)].concat())
    }

    /// A URL whose path, query and fragment, which may be written as one, have no secrets.
    fn url(&self, value: &[u8]) -> Vec<u8> {
        let ends = |byte: &u8| matches!(byte, b'?' | b'#');
        let mut out = Vec::with_capacity(value.len());
        for (number, part) in value.split_inclusive(ends).enumerate() {
            let (rest, end) = match part.split_last() {
                Some((last, rest)) if ends(last) => (rest, Some(*last)),
                _ => (part, None),
            };
            match number {
                0 => {
                    let segments = rest.split(|byte| *byte == b'/');
                    let segments: Vec<_> = segments.map(|segment| self.segment(segment)).collect();
                    out.extend(segments.join(&b'/'));
                }
                _ => out.extend(self.parameters(rest)),
            }
            out.extend(end);
        }
        out
    }

    /// A query or a form whose secret parameters have no values.
    pub(crate) fn parameters(&self, text: &[u8]) -> Vec<u8> {
        let parameters = text.split(|byte| *byte == b'&');
        let parameters = parameters.map(|parameter| self.parameter(parameter));
        parameters.collect::<Vec<_>>().join(&b'&')
    }

    /// A piece between two `&`. Some servers see several parameters where it holds a `;`, others see one.
    fn parameter<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut start = 0;
        for part in text.split(|byte| *byte == b';') {
            let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
            if self.is_secret(name) {
                let kept = &text[..start + name.len()];
                return Cow::Owned([kept, b"=", REDACTED].concat());
            }
            start += part.len() + 1;
        }
        Cow::Borrowed(text)
    }

    /// Whether something of this name, which is encoded, is a secret, or a member of it (`a[b]`, `a.b`) is.
    fn is_secret(&self, name: &[u8]) -> bool {
        let name = decoded(name);
        let is_listed = |plain: &str| {
            let stem = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let is = |known: &str| known == plain || known == stem;
            WORDS.into_iter().chain(COMPOUNDS).any(is) || self.added.iter().any(|own| is(own))
        };
        is_listed(&plain(&name))
            || name
                .split(|byte| b"[].".contains(byte))
                .any(|part| is_listed(&plain(part)))
            || words(&name).iter().any(|word| is_listed(word))
    }
}

/// A name in small letters and without separators.
pub(crate) fn plain(name: &[u8]) -> String {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

/// The words of a name, in small letters: they end at what is neither letter nor digit, before a capital behind a small letter or a digit
/// (`sessionId`), and before one that a small letter follows (`APIKey`).
fn words(name: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, byte) in name.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b'-', |before| name[before]);
        let after = name.get(at + 1).copied().unwrap_or(b'-');
        let begins = byte.is_ascii_uppercase()
            && (!before.is_ascii_uppercase() || after.is_ascii_lowercase());
        if begins || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric() {
            let last = words.last_mut().expect("invariant: there is a word");
            last.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words
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

    /// Fields by which clients and servers prove who they are.
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

    #[test]
    fn names_are_secret_by_their_words() {
        let secrecy = Secrecy {
            key_field: None,
            added: [plain(b"IBAN"), plain(b"patient-id")].into(),
        };
        let check = |names: &str, expected: bool| {
            for name in names.split_whitespace() {
                assert_eq!(secrecy.is_secret(name.as_bytes()), expected, "{name}");
            }
        };
        PARAMETERS
            .into_iter()
            .chain(FIELDS)
            .for_each(|name| check(name, true));
        check(
            "token x-token myToken TOKEN_2 token1 user.token[] a[b_token]",
            true,
        );
        check(
            "secret app_secret SecretHash X-Session X-Session-Id sessionId JSESSIONID PHPSESSID sid connect.sid",
            true,
        );
        check(
            "auth X-Auth-User authCode OAuth2 oauth_verifier key api.key apiKey APIKey apikey2 Idempotency-Key",
            true,
        );
        check(
            "pass user_pass db-pass password passwd passphrase passkey userPassword",
            true,
        );
        check(
            "cookie Cookie2 x-cookie DPoP dpop-nonce jwt JWTToken x_jwt code auth-code assertion SAMLart ticket",
            true,
        );
        check(
            "iban X-Iban senderIBAN patientId patient_id Patient-ID",
            true,
        );
        check(
            "monkey passenger encode decode barcode keyboard author authority authored passage compass",
            false,
        );
        check(
            "assertive codec codex secretary tokenizer cookies sessions keys inside sidebar residue",
            false,
        );
        check(
            "Accept Content-Type User-Agent X-Forwarded-For Host ETag patient id a b[c]",
            false,
        );
    }

    #[test]
    fn paths_lose_the_values_of_secret_parameters() {
        let check = |path: &str, expected: &str| {
            assert_eq!(Secrecy::default().path(path), expected);
        };
        check("/token/a", "/token/a");
        check("/a;v=1/b", "/a;v=1/b");
        check("/token;v=1", "/token;v=1");
        check("/a;jsessionid=s3cret", "/a;jsessionid=[redacted]");
        check("/a;v=1;sid=s3;cret/b;x", "/a;v=1;sid=[redacted]/b;x");
    }

    #[test]
    fn parameters_lose_their_secrets_and_nothing_else() {
        let check = |text: &str, expected: &str| {
            let redacted = Secrecy::default().parameters(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&redacted), expected, "{text}");
        };
        let same = |text: &str| check(text, text);
        same("");
        same("a=1&b");
        same("a=%zz&b=%&c=%6&%=1&%a=2&=3&&");
        same("monkey=1&keys=2&tokens=3&barcode=4&decode=5&secretary=6&passwords=7");
        same("a=token&b=password%3Dx");
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
        check("key%3Dx", "key%3Dx=[redacted]");
        // As some separate them; a value goes to the next `&` then, for others see one.
        check("a=1;token=s3cret", "a=1;token=[redacted]");
        check("token=s3;cret&b=2", "token=[redacted]&b=2");
    }

    #[test]
    fn fields_lose_their_secrets_and_nothing_else() {
        let secrecy = Secrecy {
            key_field: Some("X-Own".to_owned()),
            ..Secrecy::default()
        };
        let check = |name: &str, value: &str, expected: &str| {
            let redacted = secrecy.field(name, value.as_bytes());
            assert_eq!(String::from_utf8_lossy(&redacted), expected, "{name}");
        };
        check("Accept", "token=1", "token=1");
        check("x-own", "s3cret", "[redacted]");
        check("X_Own", "s3cret", "[redacted]");
        for name in FIELDS {
            check(&name.to_uppercase(), "s3cret", "[redacted]");
        }
        check(
            "Referer",
            "https://a/b;v=1;token=c/d;x",
            "https://a/b;v=1;token=[redacted]/d;x",
        );
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
