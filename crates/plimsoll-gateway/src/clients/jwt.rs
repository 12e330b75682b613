//! JSON Web Tokens (RFC 7519) in compact form (RFC 7515), signed with a key that the operator wrote: from bytes to claims that can be relied on.
//!
//! ```text
//! header.claims.signature --verify (key)--> Claims --check (times)--> who it is, what it says
//! ```
//!
//! Which algorithm may have signed follows from the key: a token chooses among those of its kind alone, so that `none` and a public key taken
//! for a secret open nothing. Keys that are fetched are not known here. What a token grants is [`crate::policy::token`]'s.

pub(crate) mod claims;
pub(crate) mod key;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use claims::Claims;
use key::VerifyingKey;
use serde_json::{Map, Value};

/// Bytes that a token may have.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

/// Why a token is not to be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// It is no token, or it was not signed with this key.
    #[error("it is no token that this key has signed")]
    Invalid,
    /// Signed in a way that keys of this kind do not sign.
    #[error("it is signed in another way")]
    Algorithm,
}

/// The claims of a token that this key has signed. Whether it counts now is [`Claims::check`]'s.
///
/// # Errors
/// Whatever is wrong with it. Nothing of the claims is looked at before the signature.
pub(crate) fn verify(token: &[u8], key: &VerifyingKey) -> Result<Claims, Fault> {
    if token.len() > MOST_BYTES {
        return Err(Fault::Invalid);
    }
    let token = std::str::from_utf8(token).map_err(|_| Fault::Invalid)?;
    let (signed, signature) = token.rsplit_once('.').ok_or(Fault::Invalid)?;
    let (header, claims) = signed.split_once('.').ok_or(Fault::Invalid)?;
    let header = object(header)?;
    // Extensions that must be understood, of which none is.
    if header.contains_key("crit") {
        return Err(Fault::Invalid);
    }
    let algorithm = header.get("alg").and_then(Value::as_str);
    let signature = decoded(signature)?;
    key.check(
        algorithm.ok_or(Fault::Invalid)?,
        signed.as_bytes(),
        &signature,
    )?;
    object(claims).map(Claims::new)
}

/// An object in one part of a token; more than that, or one that is too deep, is none.
fn object(part: &str) -> Result<Map<String, Value>, Fault> {
    serde_json::from_slice(&decoded(part)?).map_err(|_| Fault::Invalid)
}

/// A part with another dot in it is none.
fn decoded(part: &str) -> Result<Vec<u8>, Fault> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Fault::Invalid)
}

#[cfg(test)]
mod tests {
    use super::key::{Method, Unfit, Written};
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use ring::hmac;

    /// The claims of RFC 7515, appendix A.
    const PAYLOAD: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    /// RFC 7515, A.1: the secret, in Base64 for URLs.
    const HS256_KEY: &str =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    /// RFC 7515, A.1.1.
    const HS256_HEADER: &str = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9";
    /// RFC 7515, A.1.1.
    const HS256_SIGNATURE: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    /// RFC 7515, A.2.1.
    const RS256_SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    /// RFC 7515, A.2: the public key as PKIX, DER in Base64.
    const RS256_KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQAB";
    /// RFC 7515, A.3.1.
    const ES256_SIGNATURE: &str =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    /// RFC 7515, A.3: the public key as PKIX, DER in Base64.
    const ES256_KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==";
    /// Another RSA key, and tokens that OpenSSL has signed with it.
    const RSA_KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmylKSIuqPQXby3u95nqaSBDs811wxHfG9v6MsWXuCNbvrOpGMpvaEwql7Gttkpr7NX30DctU971iVAlwn5iSHEY/qwF6mUQyqDqKI6zAUXAfRApGuVpoLCbIhMMtaAIuUabn8U936F/HvkPtlmLHAzSLaqXvV2/zHY/KcpZ3nRZ7OGP3QUiHTB+TUeV/xOxvwcNEllFlJZSt6YdaMVpmgLrvIwi19eBiDU8yLPHegGwwEg6veV0rluTMCJJ0Whu/w62GnFGlNWDCtU4fyhs2t57araWcayd2o5s2jqcCYXJrMPd5rIhAh0CjLq5uc3DOnmdVUcJS/ejlunHlavZ/pwIDAQAB";
    const RSA_TOKENS: [&str; 5] = [
        "eyJhbGciOiJSUzM4NCJ9.eyJzdWIiOiJhZGEifQ.A7IdiodjY4hxTbbgBPe239YUgQ8sU9UU5fhiHrrg9XH3g2VqndkAJl8-z9De8SnN2UMTtBgI-M6Udx0tvvrJiMhSkZ8GlZhZiloH_xOGJ2PNb10_iE-JGwAUIyCDNZsZ95IjkH2m_7vpMLwPezkeU2LKdJYcCA45petTV-0GV-iZMrdkc1Sqq0DBehlVipsdmpxcoGWjwpVKD_cSWM8Nha3cFoS7vLHaU6FzFymsKMwao0BeqMPWdag8TJYE_nbP9t4V7qo5A_EdmwW_7E4XJs6hbfXyA7Fv0v_hJLaH5R3BCaC_9kprw2XMzpNG4xlFvFJyCwxD97dULYcdQKKoxA",
        "eyJhbGciOiJSUzUxMiJ9.eyJzdWIiOiJhZGEifQ.Mu4cIvLMj9kVfXT_25DfAVwPly4quGnNVs9IJXGwWTXzGmOSk-CcLERiK0AszHt9FpFG_vGepkB4of0_SIqPnYfeQihqjlPRRJuUSdYrhYpPiSSRd6Sq9Dpq9R4igAJkzsxImBq7iqajx-tYvE6zMck0UFmUQqUYkY5YUq0DN97yscBM7EZSenxx2YZZV6fzeRjNpCG5ndq47yQBFqHLC3YEKWWnxHDdFbpz7CYU_kIo2dswbgyKa6H5GIWknT9wHCA3O-T6LKOT3jCiQMG60NM5tHva0nTwILH6yHnpsMyFsIbhecyAzhjRAXWy-J1SeeIpv_hRAT68Pby7matLGg",
        "eyJhbGciOiJQUzI1NiJ9.eyJzdWIiOiJhZGEifQ.esLI1b7JXS67zaKX-joBcPAoSr-HEbKdF2hrDP1dkkyIbQ_PkqfJd1vdVW8cBIMG5VDDFgcT9ohxD3n-vDs1h1iTHHjim-RTNj7c4ygre95g30ggnHl6pmkW0fKKbA6jtDgOTpKy7GWLf1s6nTCw0EmOnFF-Q9qPzjY0aYzEpFYLKfFWZ520Soktt5vD8Vi34W8E-0Cohvh-AsOsc-d2U4dH_-fCCs5T7g4Pb7bORKYAWYc1gBexxumNS-872e_xrC2Dn-SsAGV1D_DVKZnAIPPKfUHzJ_0n5q4uVQusZ_TIEo4lgTksKu-AHEJAhcrVQoLoLqgYCVLxGw1K7kYDgw",
        "eyJhbGciOiJQUzM4NCJ9.eyJzdWIiOiJhZGEifQ.K8NFBuqGnfgmCm9wthM-cyxWauc1AAUe3_Loh66eaBwys1-cu6AZyAXq9ybsL4k2dRsYAMkFV7fROYl3uyqOkqXs2NNDhMjZILNlDzhmEXr2nULtEl2WQQwPzuKUmKWzksT2RsjBR1csukh0PZF_ZDyU2Ok3iw_6UOgfMJ6OPjWVylV6Mmnj9hXw02TmI-u1Ri6z6Pa11OAxWIjTmJzUq4N78JEG6n9wpGB24kQteZwEVk1SO2lhwnp5AOsNqRLRRVoWvYhV6dnVu1-L3gL3812ErarOYbGR37cMlYKEFz-Tj5Tbj0-94IyrnyJWySKcjEjr2BE8inpHuDWQAGjJuw",
        "eyJhbGciOiJQUzUxMiJ9.eyJzdWIiOiJhZGEifQ.L36ybwT5hrhjVXuPcyX6kGB5hWQh3C7Gk6phJTxhV6roipsmTMZaP4bUZavqauP4-wUo3qXH1qCkieglXGk4rWCUIfjY96QKZHQN7OhwSJcMX97WqDvd68M-_jtnw04srijwshW-pi4YPuimrxPkCk_v1UjT8ddkod5Ysrdl-9q_BxOtzh04vdaTqOr8ER8qrH741ocCiUwzLkD_Emd38YasOgt2hhShwN5XyqSIwJaWISAYy_v_qEh52agnle3ql3dgRyxeoBAwr1im0PS9pDS20jDlQKrL9zV_2lHWvqf3bjWX5HYrnrl8XGby_I6K9nR7ST8ddh4gZ4lRC4Fs3Q",
    ];
    /// An RSA key of 1024 bits.
    const RSA_1024: &str = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC4GCOSobfbrweC3SQLMAm8GRuVSxOExF/8vsN6oARsSyFxz/Du7mvF+UWggSCy4FzCsUeHZcvDjZYRlBxoI7x3BXW1+ddkRK7GDcuQCw8d0k4PsYrteV0enUdD7F+6NB6XMttXMGoOqSVvVxOEcXhYq7Nwj2ILKTE4AuE17uju7wIDAQAB";
    /// A key on P-384, its certificate, and a token that OpenSSL has signed with it.
    const P384_KEY: &str = "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEyVAjZ2H2dVg/TXt4iRTOGB0na4u7n1beLNDgKP0WMGVispyTc2driUZimxKkXFdFmpkZc6JQbzapJartcmSxczQHeRHmZ+GT//WipNstjUNI+uYNGqVgaH+Iv8SNwFIQ";
    /// See [`P384_KEY`].
    const P384_CERTIFICATE: &str = "MIIBqjCCATCgAwIBAgIUGzKL70P6kQnCcbCqG3u+qiqf9YwwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAeFw0yNjExMjMxNjMwMDRaFw0zNjExMjAxNjMwMDRaMAwxCjAIBgNVBAMMAWEwdjAQBgcqhkjOPQIBBgUrgQQAIgNiAATJUCNnYfZ1WD9Ne3iJFM4YHSdri7ufVt4s0OAo/RYwZWKynJNzZ2uJRmKbEqRcV0WamRlzolBvNqklqu1yZLFzNAd5EeZn4ZP/9aKk2y2NQ0j65g0apWBof4i/xI3AUhCjUzBRMB0GA1UdDgQWBBT2l+tJ4bg6QXnX3hdyYkwqYJ7u1jAfBgNVHSMEGDAWgBT2l+tJ4bg6QXnX3hdyYkwqYJ7u1jAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA2gAMGUCMQDqTYwhcBwUdzvSWjL6La/UsMp7wxLcXDRgXmn5ltFFezsn8o4VOYXVChmZI0z30p4CMB3hK+78Jnnsj8z8C0OcsSa1HGK+ZOvYwaU+cmHHF4BbWHfcjDbk7Z7usyhWk9NIZw==";
    /// See [`P384_KEY`].
    const ES384_TOKEN: &str = "eyJhbGciOiJFUzM4NCJ9.eyJzdWIiOiJhZGEifQ.3IOL9eApzssII11d7ddMGQ_2_1POqd9JCpcddvpIGquHlDIVLilhGjflwiM4AWMUCMOJLBmAY5MU-tPWMGSTFJj_MtJ2wPmkkd3FMZGk3vdQxXdTZIbEH_2fYA9mr7l7";
    /// A key on P-521.
    const P521_KEY: &str = "MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQAM1zf0edV0bxjpOHzTQPKSa+zGWWyrZKeZ8sF50tuQ2dy0t8D+fcC35Q83ZeT9NGgCS0dqukeGbe2aLsY2QABOfAA2VI7bcMuIod1cxTb5dQPzpFZW9PzbrL0ZBfh/Ga4haiUE0HIUYY2z6RJ9CBehOva2NQqjuddysKQN4dWl+6+AFs=";

    fn key(method: Method, written: &str) -> Result<VerifyingKey, Unfit> {
        VerifyingKey::new(method, &STANDARD.decode(written).unwrap())
    }

    fn secret() -> VerifyingKey {
        VerifyingKey::new(Method::Hmac, &URL_SAFE_NO_PAD.decode(HS256_KEY).unwrap()).unwrap()
    }

    fn header(text: &str) -> String {
        URL_SAFE_NO_PAD.encode(text)
    }

    /// A token with this header and claims, signed with a secret.
    fn signed(algorithm: hmac::Algorithm, secret: &[u8], head: &str, claims: &str) -> String {
        let message = format!("{}.{}", header(head), header(claims));
        let tag = hmac::sign(&hmac::Key::new(algorithm, secret), message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    fn check(token: &str, key: &VerifyingKey, expected: Result<&str, Fault>) {
        let actual = verify(token.as_bytes(), key);
        let actual = actual.map(|claims| {
            let name = claims.text("iss").or(claims.text("sub"));
            name.unwrap_or_default().to_owned()
        });
        assert_eq!(actual, expected.map(str::to_owned), "{token}");
    }

    #[test]
    fn the_tokens_of_the_rfc_are_verified_and_none_that_was_changed() {
        let rs256 = header(r#"{"alg":"RS256"}"#);
        let es256 = header(r#"{"alg":"ES256"}"#);
        for (header, signature, key) in [
            (HS256_HEADER, HS256_SIGNATURE, secret()),
            (
                &*rs256,
                RS256_SIGNATURE,
                key(Method::Rsa, RS256_KEY).unwrap(),
            ),
            (
                &*es256,
                ES256_SIGNATURE,
                key(Method::Ecdsa, ES256_KEY).unwrap(),
            ),
        ] {
            let token = format!("{header}.{PAYLOAD}.{signature}");
            check(&token, &key, Ok("joe"));
            for place in 0..token.len() {
                let mut changed = token.clone().into_bytes();
                changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
                let why = verify(&changed, &key).map(|_| ()).unwrap_err();
                // Where it is the algorithm's name it may become another's.
                assert!(why == Fault::Invalid || place < header.len(), "{place}");
            }
            for end in 0..token.len() {
                assert!(verify(&token.as_bytes()[..end], &key).is_err());
            }
            check(&format!("{token}.{signature}"), &key, Err(Fault::Invalid));
            check(&format!("{token}="), &key, Err(Fault::Invalid));
            check(&format!("{header}.{PAYLOAD}."), &key, Err(Fault::Invalid));
        }
    }

    #[test]
    fn every_algorithm_of_a_keys_kind_is_known() {
        let claims = r#"{"sub":"ada"}"#;
        for (name, algorithm) in [
            ("HS256", hmac::HMAC_SHA256),
            ("HS384", hmac::HMAC_SHA384),
            ("HS512", hmac::HMAC_SHA512),
        ] {
            let head = format!(r#"{{"alg":"{name}"}}"#);
            let key = VerifyingKey::new(Method::Hmac, b"secret").unwrap();
            check(
                &signed(algorithm, b"secret", &head, claims),
                &key,
                Ok("ada"),
            );
            check(
                &signed(algorithm, b"Secret", &head, claims),
                &key,
                Err(Fault::Invalid),
            );
        }
        let rsa = key(Method::Rsa, RSA_KEY).unwrap();
        let other = key(Method::Rsa, RS256_KEY).unwrap();
        for token in RSA_TOKENS {
            check(token, &rsa, Ok("ada"));
            check(token, &other, Err(Fault::Invalid));
        }
        for written in [P384_KEY, P384_CERTIFICATE] {
            check(
                ES384_TOKEN,
                &key(Method::Ecdsa, written).unwrap(),
                Ok("ada"),
            );
        }
        let p256 = key(Method::Ecdsa, ES256_KEY).unwrap();
        check(ES384_TOKEN, &p256, Err(Fault::Invalid));
    }

    #[test]
    fn a_token_does_not_choose_another_kind_of_algorithm() {
        let claims = r#"{"sub":"ada"}"#;
        let public = STANDARD.decode(RS256_KEY).unwrap();
        let rsa = key(Method::Rsa, RS256_KEY).unwrap();
        let confused = signed(hmac::HMAC_SHA256, &public, r#"{"alg":"HS256"}"#, claims);
        check(&confused, &rsa, Err(Fault::Algorithm));
        for alg in ["none", "EdDSA", "RS256", "ES256"] {
            let head = header(&format!(r#"{{"alg":"{alg}"}}"#));
            for signature in ["", HS256_SIGNATURE] {
                let token = format!("{head}.{PAYLOAD}.{signature}");
                check(&token, &secret(), Err(Fault::Algorithm));
            }
        }
        for head in [
            r#"{"alg":"None"}"#,
            r#"{"alg":"hs256"}"#,
            r#"{"alg":""}"#,
            r#"{"alg":256}"#,
            r#"{"typ":"JWT"}"#,
            r#"{"alg":"HS256","crit":["b64"]}"#,
            r#"["alg"]"#,
        ] {
            let token = signed(hmac::HMAC_SHA256, b"s", head, claims);
            let key = VerifyingKey::new(Method::Hmac, b"s").unwrap();
            check(&token, &key, Err(Fault::Invalid));
        }
        let nobodys = VerifyingKey::nobodys(Method::Hmac);
        let empty = signed(hmac::HMAC_SHA256, b"", r#"{"alg":"HS256"}"#, claims);
        check(&empty, &nobodys, Err(Fault::Invalid));
    }

    #[test]
    fn claims_are_one_object_that_is_not_too_deep_or_long() {
        let key = VerifyingKey::new(Method::Hmac, b"s").unwrap();
        let token = |claims: &str| signed(hmac::HMAC_SHA256, b"s", r#"{"alg":"HS256"}"#, claims);
        for claims in ["", "[]", "null", "{} {}", "{", r#"{"a":1e999}"#] {
            check(&token(claims), &key, Err(Fault::Invalid));
        }
        let deep = |depth| {
            format!(
                r#"{{"sub":"ada","a":{}{}}}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            )
        };
        check(&token(&deep(100)), &key, Ok("ada"));
        check(&token(&deep(200)), &key, Err(Fault::Invalid));
        let long = |length| format!(r#"{{"sub":"ada","a":"{}"}}"#, "a".repeat(length));
        check(&token(&long(MOST_BYTES / 2)), &key, Ok("ada"));
        check(&token(&long(MOST_BYTES)), &key, Err(Fault::Invalid));
        check("a.b", &key, Err(Fault::Invalid));
        assert!(verify(b"\xff.\xff.\xff", &key).is_err());
    }

    #[test]
    fn keys_that_cannot_be_relied_on_are_none() {
        let check = |method, written: &str, expected: Unfit| {
            assert_eq!(key(method, written).map(|_| ()), Err(expected), "{written}");
        };
        check(Method::Rsa, RSA_1024, Unfit::Size);
        check(Method::Ecdsa, P521_KEY, Unfit::Curve);
        check(Method::Rsa, ES256_KEY, Unfit::OtherKind);
        check(Method::Ecdsa, RS256_KEY, Unfit::OtherKind);
        check(Method::Rsa, "c2VjcmV0", Unfit::NoKey);
        check(Method::Hmac, "", Unfit::Empty);
        for set in [r#"{"keys":[]}"#, r#"{"kty":"RSA"}"#] {
            check(Method::Hmac, &STANDARD.encode(set), Unfit::Public);
        }
        for public in [RS256_KEY, ES256_KEY, P384_CERTIFICATE] {
            check(Method::Hmac, public, Unfit::Public);
        }
        let lines = RS256_KEY.as_bytes().chunks(64);
        let lines: Vec<&str> = lines
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let pem = |label: &str| {
            let lines = lines.join("\n");
            format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
        };
        let public = pem("PUBLIC KEY");
        assert!(VerifyingKey::new(Method::Rsa, public.as_bytes()).is_ok());
        let as_secret = VerifyingKey::new(Method::Hmac, public.as_bytes());
        assert_eq!(as_secret.map(|_| ()), Err(Unfit::Public));
        assert_eq!(format!("{:?}", secret()), "VerifyingKey(Hmac, …)");
    }

    #[test]
    fn a_key_is_written_in_base64_as_go_reads_it() {
        for (text, expected) in [
            ("c2VjcmV0", Written::Bytes(b"secret".to_vec())),
            ("c2Vj\r\ncmV0\n", Written::Bytes(b"secret".to_vec())),
            ("YR==", Written::Bytes(b"a".to_vec())),
            ("header", Written::Unreadable),
            ("YQ", Written::Unreadable),
            ("a_-b", Written::Unreadable),
            ("HTTPS://a/jwks", Written::Url),
            ("aHR0cDovL2E=", Written::Url),
        ] {
            assert_eq!(Written::read(text), expected, "{text}");
        }
    }
}
