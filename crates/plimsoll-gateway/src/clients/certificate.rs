//! Content of a client's certificate, decoded: names, issuer, fingerprint, end. Pure.
//!
//! Whether it is to be believed has been judged by TLS before; which of its names identifies the client is [`crate::clients::identity`]'s.

use plimsoll_base::digest::Digest;
use std::fmt::Write as _;
use x509_parser::asn1_rs::{Any, Class, FromDer as _, Sequence, Tag, ToDer as _};
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::OID_X509_EXT_SUBJECT_ALT_NAME;
use x509_parser::prelude::X509Certificate;
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

/// A certificate that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Certificate {
    /// Whom it is for, as RFC 4514 writes it.
    pub(crate) subject: String,
    /// Who issued it, written in the same way.
    pub(crate) issuer: String,
    /// The subject's common names.
    pub(crate) common_names: Vec<String>,
    /// Subject alternative names that are URIs.
    pub(crate) uris: Vec<String>,
    /// Those that are host names, lower case.
    pub(crate) hosts: Vec<String>,
    /// SHA-256 of the whole certificate.
    pub(crate) fingerprint: Digest,
    /// Who issued it and under which number: what a list of revoked certificates calls it by.
    pub(crate) number: Number,
    /// The last second in which it is valid, since 1970.
    pub(crate) not_after: i64,
}

/// Number of a certificate in a list of revoked ones, as encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    pub(crate) issuer: Box<[u8]>,
    pub(crate) serial: Box<[u8]>,
}

/// Why a certificate cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no certificate.
    #[error("is no X.509 certificate")]
    Encoding,
    /// Its alternative names are twice there, or broken.
    #[error("has alternative names that cannot be read")]
    Names,
    /// Its subject or issuer is broken.
    #[error("has a subject or an issuer that cannot be read")]
    Subject,
}

impl Certificate {
    /// Reads a certificate in DER.
    pub(crate) fn read(der: &[u8]) -> Result<Self, Unreadable> {
        let (rest, read) = X509Certificate::from_der(der).map_err(|_| Unreadable::Encoding)?;
        if !rest.is_empty() {
            return Err(Unreadable::Encoding);
        }
        let (uris, hosts) = alternative_names(&read)?;
        let common_names = read.subject().iter_common_name().map(text);
        Ok(Self {
            subject: written(read.subject())?,
            issuer: written(read.issuer())?,
            common_names: common_names.collect::<Result<_, _>>()?,
            uris,
            hosts,
            fingerprint: Digest::of(der),
            number: Number {
                issuer: read.issuer().as_raw().into(),
                serial: read.raw_serial().into(),
            },
            not_after: read.validity().not_after.timestamp(),
        })
    }

    /// A certificate's number and the last second in which it is valid, and nothing else of it.
    pub(crate) fn read_number(der: &[u8]) -> Result<(Number, i64), Unreadable> {
        let (_, read) = X509Certificate::from_der(der).map_err(|_| Unreadable::Encoding)?;
        let number = Number {
            issuer: read.issuer().as_raw().into(),
            serial: read.raw_serial().into(),
        };
        Ok((number, read.validity().not_after.timestamp()))
    }
}

/// Its URIs and host names. A name that holds what no URI and no host name can is a defect or an attack, and no certificate of its kind
/// has it by accident, so it makes the whole certificate unreadable.
fn alternative_names(read: &X509Certificate<'_>) -> Result<(Vec<String>, Vec<String>), Unreadable> {
    let (mut uris, mut hosts) = (Vec::new(), Vec::new());
    let names = read.subject_alternative_name();
    let Some(names) = names.map_err(|_| Unreadable::Names)? else {
        return Ok((uris, hosts));
    };
    let mut extensions = read.extensions().iter();
    let encoded = extensions.find(|extension| extension.oid == OID_X509_EXT_SUBJECT_ALT_NAME);
    if !encoded.is_some_and(|extension| are_names(extension.value)) {
        return Err(Unreadable::Names);
    }
    let printable = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
    for name in &names.value.general_names {
        match name {
            GeneralName::URI(uri) if printable(uri) => uris.push((*uri).to_owned()),
            GeneralName::DNSName(host) if printable(host) => hosts.push(host.to_ascii_lowercase()),
            GeneralName::URI(_) | GeneralName::DNSName(_) | GeneralName::Invalid(..) => {
                return Err(Unreadable::Names);
            }
            _ => {}
        }
    }
    Ok((uris, hosts))
}

/// Whether alternative names are encoded as such: the parser looks at the number of a tag alone, so that any other value with that number would
/// pass for a name, too, and passes over what is behind them.
fn are_names(encoded: &[u8]) -> bool {
    let Ok(([], sequence)) = Sequence::from_der(encoded) else {
        return false;
    };
    let mut rest = &*sequence.content;
    while !rest.is_empty() {
        let Ok((behind, name)) = Any::from_der(rest) else {
            return false;
        };
        let is_text = matches!(name.tag().0, 1 | 2 | 6);
        if name.class() != Class::ContextSpecific || (is_text && name.header.is_constructed()) {
            return false;
        }
        rest = behind;
    }
    true
}

fn text(attribute: &AttributeTypeAndValue<'_>) -> Result<String, Unreadable> {
    match decoded(attribute) {
        Some(text) if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        _ => Err(Unreadable::Subject),
    }
}

/// The text of an attribute, if it is text in an encoding of which there is one reading.
fn decoded<'a>(attribute: &AttributeTypeAndValue<'a>) -> Option<&'a str> {
    let value = attribute.attr_value();
    if value.class() != Class::Universal || value.header.is_constructed() {
        return None;
    }
    let text = std::str::from_utf8(value.data).ok()?;
    match value.tag() {
        Tag::Utf8String => Some(text),
        Tag::PrintableString | Tag::NumericString | Tag::Ia5String => {
            text.is_ascii().then_some(text)
        }
        _ => None,
    }
}

/// Short names of attribute types: RFC 4514 §3, and the one of mail addresses that OpenSSL writes.
const TYPES: [(&str, &str); 10] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.6", "C"),
    ("2.5.4.9", "STREET"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
];

/// A distinguished name as RFC 4514 writes it, the last part first: two names that differ in a decoded value are written differently.
pub(crate) fn written(name: &X509Name<'_>) -> Result<String, Unreadable> {
    let mut out = String::new();
    let parts: Vec<_> = name.iter().collect();
    for part in parts.into_iter().rev() {
        if !out.is_empty() {
            out.push(',');
        }
        for (index, attribute) in part.iter().enumerate() {
            if index > 0 {
                out.push('+');
            }
            write_attribute(&mut out, attribute)?;
        }
    }
    Ok(out)
}

fn write_attribute(
    out: &mut String,
    attribute: &AttributeTypeAndValue<'_>,
) -> Result<(), Unreadable> {
    let id = attribute.attr_type().to_id_string();
    let short = TYPES.iter().find(|(known, _)| *known == id);
    out.push_str(short.map_or(id.as_str(), |(_, short)| *short));
    out.push('=');
    match decoded(attribute) {
        Some(text) if short.is_some() => escape(out, text),
        _ => {
            // An unknown type or an old encoding: the bytes as encoded, with their tag (RFC 4514 §2.4).
            let value = attribute.attr_value().to_der_vec();
            out.push('#');
            for byte in value.map_err(|_| Unreadable::Subject)? {
                write!(out, "{byte:02X}").map_err(|_| Unreadable::Subject)?;
            }
        }
    }
    Ok(())
}

/// RFC 4514 §2.4.
fn escape(out: &mut String, text: &str) {
    let last = text.chars().count().saturating_sub(1);
    for (at, character) in text.chars().enumerate() {
        match character {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' => out.extend(['\\', character]),
            '#' if at == 0 => out.push_str("\\#"),
            ' ' if at == 0 || at == last => out.push_str("\\ "),
            control if control.is_control() => {
                let mut bytes = [0; 4];
                for byte in control.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!("\\{byte:02X}"));
                }
            }
            other => out.push(other),
        }
    }
}
