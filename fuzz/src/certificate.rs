//! Clients' certificates: what the gateway reads of one, held against what the crate `x509-cert` reads, which shares no code with the reader that
//! the gateway uses.

mod der;

pub use der::der;

use plimsoll_gateway::fuzzing::{Names, Who, certificate, identity};
use x509_cert::Certificate;
use x509_cert::der::asn1::{Any, BitString, ObjectIdentifier};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::name::Name;

/// A certificate as the other library reads it.
#[derive(Debug)]
struct Reading {
    subject: Vec<Vec<Attribute>>,
    issuer: Vec<Vec<Attribute>>,
    /// Octets of tag and content; `None` if there are several lists, or one that is no list.
    names: Option<Vec<(u8, Vec<u8>)>>,
    not_after: i64,
    fingerprint: String,
    /// The signature, or the key, has unused bits that are not zero, which DER does not allow (X.690, section 11.2.1).
    has_stray_bits: bool,
}

/// A part of a name: its type, and its value as text where it has one.
#[derive(Debug, PartialEq)]
struct Attribute {
    kind: ObjectIdentifier,
    value: Value,
}

#[derive(Debug, PartialEq)]
enum Value {
    Text(String),
    /// As encoded.
    Other(Vec<u8>),
}

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
/// Types whose values are text (RFC 4514 §3, and addresses for mail).
const TEXTUAL: [&str; 10] = [
    "2.5.4.3",
    "2.5.4.6",
    "2.5.4.7",
    "2.5.4.8",
    "2.5.4.9",
    "2.5.4.10",
    "2.5.4.11",
    "0.9.2342.19200300.100.1.1",
    "0.9.2342.19200300.100.1.25",
    "1.2.840.113549.1.9.1",
];
const URI: u8 = 0x86;
const HOST: u8 = 0x82;
/// Every order of kinds that a configuration can give, as far as it matters which of two comes first.
const ORDERS: [[&str; 4]; 4] = [
    ["uri", "dns", "issuer_cn", "sha256"],
    ["dns", "issuer_cn", "uri", "sha256"],
    ["issuer_cn", "uri", "dns", "sha256"],
    ["sha256", "issuer_cn", "dns", "uri"],
];

fn read(der: &[u8]) -> Option<Reading> {
    let certificate = Certificate::from_der(der).ok()?;
    let read = certificate.tbs_certificate();
    let lists: Vec<_> = (read.extensions().into_iter().flatten())
        .filter(|extension| extension.extn_id == ALTERNATIVE_NAMES)
        .collect();
    let names = match &lists[..] {
        [] => Some(Vec::new()),
        [one] => Vec::<Any>::from_der(one.extn_value.as_bytes())
            .ok()
            .and_then(|names| names.iter().map(octets).collect()),
        _ => None,
    };
    let digest = ring::digest::digest(&ring::digest::SHA256, der);
    Some(Reading {
        subject: attributes(read.subject())?,
        issuer: attributes(read.issuer())?,
        names,
        not_after: i64::try_from(read.validity().not_after.to_unix_duration().as_secs()).ok()?,
        fingerprint: digest.as_ref().iter().map(|b| format!("{b:02x}")).collect(),
        has_stray_bits: [
            certificate.signature(),
            &read.subject_public_key_info().subject_public_key,
        ]
        .into_iter()
        .any(has_stray_bits),
    })
}

fn has_stray_bits(bits: &BitString) -> bool {
    let zeros = bits
        .raw_bytes()
        .last()
        .map_or(8, |last| last.trailing_zeros());
    zeros < u32::from(bits.unused_bits())
}

fn octets(name: &Any) -> Option<(u8, Vec<u8>)> {
    Some((*name.to_der().ok()?.first()?, name.value().to_vec()))
}

fn attributes(name: &Name) -> Option<Vec<Vec<Attribute>>> {
    let parts = name.iter_rdn().map(|part| {
        let attribute = |attribute: &x509_cert::attr::AttributeTypeAndValue| {
            let encoded = attribute.value.to_der().ok()?;
            let textual = TEXTUAL.contains(&&*attribute.oid.to_string());
            let text = textual.then(|| text(encoded[0], attribute.value.value()));
            let value = match text.flatten() {
                Some(text) => Value::Text(text),
                None => Value::Other(encoded),
            };
            Some(Attribute {
                kind: attribute.oid,
                value,
            })
        };
        part.iter().map(attribute).collect()
    });
    parts.collect()
}

/// The text of a string type that has one reading: UTF8String, or one of those of ASCII.
fn text(tag: u8, content: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(content).ok()?;
    let readable = match tag {
        0x0c => true,
        0x12 | 0x13 | 0x16 => text.is_ascii(),
        _ => false,
    };
    readable.then(|| text.to_owned())
}

/// The names of a kind: themselves, or nothing if one of them is no such name.
fn graphic(names: &[(u8, Vec<u8>)], tag: u8) -> Option<Vec<String>> {
    let name = |content: &Vec<u8>| {
        let fine = !content.is_empty() && content.iter().all(u8::is_ascii_graphic);
        fine.then(|| String::from_utf8_lossy(content).into_owned())
    };
    let of_kind = names.iter().filter(|(own, _)| *own == tag);
    of_kind.map(|(_, content)| name(content)).collect()
}

/// The common names of a subject, or nothing if one of them is no plain text.
fn common_names(subject: &[Vec<Attribute>]) -> Option<Vec<String>> {
    let attributes = subject.iter().flatten();
    let own = attributes.filter(|attribute| attribute.kind == COMMON_NAME);
    own.map(|attribute| match &attribute.value {
        Value::Text(text) if !text.chars().any(char::is_control) => Some(text.clone()),
        _ => None,
    })
    .collect()
}

/// Reads a certificate in both ways.
///
/// # Panics
/// With a finding.
pub fn check(der: &[u8]) {
    let ours = certificate(der);
    let Some(theirs) = read(der) else {
        return;
    };
    let orders = ORDERS.map(|order| identity(der, &order));
    if let Err(finding) = agree(&ours, &orders, &theirs) {
        panic!("{finding}\nours: {ours:#?}\ntheirs: {theirs:#?}");
    }
}

fn agree(
    ours: &Result<Names, String>,
    orders: &[Result<Who, String>],
    theirs: &Reading,
) -> Result<(), String> {
    let expected = expected(theirs);
    let (ours, expected) = match (ours, expected) {
        (Err(_), None) => return Ok(()),
        // Whatever else is in its list, or about it, may be broken.
        (Err(_), Some(_)) if is_broken_elsewhere(theirs) => return Ok(()),
        (Err(error), Some(_)) => return Err(format!("refused, and nothing is wrong: {error}")),
        (Ok(_), None) => return Err("read, and its names cannot be".to_owned()),
        (Ok(ours), Some(expected)) => (ours, expected),
    };
    let Expected {
        uris,
        hosts,
        common_names,
    } = &expected;
    if (&ours.uris, &ours.hosts, &ours.common_names) != (uris, hosts, common_names) {
        return Err(format!("other names: {expected:?}"));
    }
    if (ours.not_after, &ours.fingerprint) != (theirs.not_after, &theirs.fingerprint) {
        return Err("another end, or another fingerprint".to_owned());
    }
    // Written names are the same where what they say is, and only there.
    if (ours.subject == ours.issuer) != (theirs.subject == theirs.issuer) {
        return Err("two names are written alike that differ, or the other way round".to_owned());
    }
    for (order, who) in ORDERS.iter().zip(orders) {
        let expected = expected.who(order, ours);
        if who.as_ref().ok() != expected.as_ref() {
            return Err(format!("by {order:?} it is {who:?}, and not {expected:?}"));
        }
    }
    Ok(())
}

/// The names of a certificate by the other library.
#[derive(Debug)]
struct Expected {
    uris: Vec<String>,
    hosts: Vec<String>,
    common_names: Vec<String>,
}

/// Nothing, if no identity may be read of it.
fn expected(theirs: &Reading) -> Option<Expected> {
    let names = theirs.names.as_ref()?;
    // Every tag of such a list is its own, and text is in one piece.
    let odd = |(tag, _): &(u8, Vec<u8>)| tag & 0xc0 != 0x80 || matches!(tag, 0xa1 | 0xa2 | 0xa6);
    if names.iter().any(odd) {
        return None;
    }
    let hosts = graphic(names, HOST)?;
    Some(Expected {
        uris: graphic(names, URI)?,
        hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        common_names: common_names(&theirs.subject)?,
    })
}

/// Whether a reader may refuse it for something that the other does not look at.
fn is_broken_elsewhere(theirs: &Reading) -> bool {
    theirs.has_stray_bits || has_broken_text(theirs) || !has_plain_names_only(theirs)
}

/// Whether a part of a name is no text of the string type that it says it is.
fn has_broken_text(theirs: &Reading) -> bool {
    let parts = [&theirs.subject, &theirs.issuer].into_iter().flatten();
    let mut values = parts.flatten().map(|attribute| &attribute.value);
    values.any(|value| match value {
        Value::Text(_) => false,
        Value::Other(encoded) => Any::from_der(encoded).is_ok_and(|any| {
            let is_string = matches!(encoded[0], 0x0c | 0x12 | 0x13 | 0x16);
            is_string && text(encoded[0], any.value()).is_none()
        }),
    })
}

fn has_plain_names_only(theirs: &Reading) -> bool {
    let names = theirs.names.iter().flatten();
    let mut tags = names.map(|(tag, _)| *tag);
    tags.all(|tag| tag == URI || tag == HOST)
}

impl Expected {
    /// Whom they identify; nobody, if several names of the kind that decides do.
    fn who(&self, order: &[&str], ours: &Names) -> Option<Who> {
        let only = |names: &[String]| (names.len() == 1).then(|| names[0].clone());
        let has = |kind: &&&str| match **kind {
            "uri" => !self.uris.is_empty(),
            "dns" => !self.hosts.is_empty(),
            "issuer_cn" => !self.common_names.is_empty(),
            _ => true,
        };
        match *order.iter().find(has)? {
            "uri" => only(&self.uris).map(Who::Uri),
            "dns" => only(&self.hosts).map(Who::Dns),
            "issuer_cn" => {
                only(&self.common_names).map(|name| Who::IssuerCn(ours.issuer.clone(), name))
            }
            _ => Some(Who::Sha256(ours.fingerprint.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::der::{TYPES, build, tlv};
    use super::*;

    fn orders(der: &[u8]) -> Vec<Result<Who, String>> {
        ORDERS.map(|order| identity(der, &order)).to_vec()
    }

    fn attribute(kind: usize, tag: u8, text: &[u8]) -> Vec<u8> {
        tlv(0x30, &[&tlv(0x06, &[TYPES[kind]]), &tlv(tag, &[text])])
    }

    /// A certificate for `ann`, with a URI and a host name.
    fn ann() -> Vec<u8> {
        let subject = [
            vec![attribute(1, 0x13, b"Example, Inc.")],
            vec![attribute(0, 0x0c, b"ann")],
        ];
        let issuer = [vec![attribute(0, 0x0c, b"authority")]];
        let names = [tlv(URI, &[b"urn:x:ann"]), tlv(HOST, &[b"Ann.example"])];
        build(&subject, &issuer, &names, 1)
    }

    #[test]
    fn a_text_is_broken_that_its_type_cannot_be() {
        let check = |kind, tag, content: &[u8], expected| {
            let subject = [vec![attribute(kind, tag, content)]];
            let der = build(&subject, &[], &[], 1);
            assert_eq!(has_broken_text(&read(&der).unwrap()), expected, "{tag}");
        };
        for kind in 0..TYPES.len() {
            check(kind, 0x13, "é".as_bytes(), true);
            check(kind, 0x16, "é".as_bytes(), true);
            check(kind, 0x0c, b"\xff", true);
            check(kind, 0x0c, "é".as_bytes(), false);
            check(kind, 0x13, b"e", false);
            check(kind, 0x1e, b"\x00e", false);
        }
    }

    #[test]
    fn bits_are_stray_behind_those_that_count() {
        let check = |unused, bytes: &[u8], expected| {
            let bits = BitString::new(unused, bytes).unwrap();
            assert_eq!(has_stray_bits(&bits), expected, "{unused} {bytes:?}");
        };
        check(0, &[1], false);
        check(2, &[0x30, 1], true);
        check(2, &[0x31, 4], false);
        check(3, &[4], true);
        check(0, &[], false);
        check(7, &[0], false);
    }

    #[test]
    fn both_read_a_sound_certificate_and_agree() {
        let der = ann();
        let ours = certificate(&der).unwrap();
        assert_eq!(ours.subject, "CN=ann,O=Example\\, Inc.");
        assert_eq!(ours.hosts, ["ann.example"]);
        assert_eq!(
            agree(&Ok(ours), &orders(&der), &read(&der).unwrap()),
            Ok(())
        );
        assert_eq!(
            identity(&der, &ORDERS[0]),
            Ok(Who::Uri("urn:x:ann".to_owned()))
        );
    }

    /// The oracle is worth nothing if it agrees with everything.
    #[test]
    fn what_is_read_otherwise_is_a_finding() {
        let der = ann();
        let (ours, theirs) = (certificate(&der).unwrap(), read(&der).unwrap());
        let changes: [fn(&mut Names); 7] = [
            |ours| ours.uris.push("urn:x:other".to_owned()),
            |ours| ours.uris[0].push('x'),
            |ours| ours.hosts.clear(),
            |ours| ours.common_names[0] = "bob".to_owned(),
            |ours| ours.not_after += 1,
            |ours| ours.fingerprint.clear(),
            |ours| ours.issuer.clone_from(&ours.subject),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = ours.clone();
            change(&mut changed);
            let found = agree(&Ok(changed), &orders(&der), &theirs);
            assert!(found.is_err(), "change {index} went unnoticed");
        }
        let refused = agree(&Err("no".to_owned()), &orders(&der), &theirs);
        assert!(refused.is_err());
        let mut other = orders(&der);
        other[1] = Ok(Who::Dns("bob.example".to_owned()));
        assert!(agree(&Ok(ours), &other, &theirs).is_err());
    }

    /// Names in which a tag of another class, or a wrapped value, stands where a name should be.
    #[test]
    fn what_only_looks_like_a_name_is_none() {
        let subject = [vec![attribute(0, 0x0c, b"ann")]];
        for (tag, content) in [
            (0x06, &b"urn:x"[..]),
            (0x02, b"a.example"),
            (0xa6, b"urn:x"),
        ] {
            let der = build(&subject, &subject, &[tlv(tag, &[content])], 1);
            assert!(read(&der).is_some(), "{tag:#x}");
            assert!(certificate(&der).is_err(), "{tag:#x}");
        }
        // Names behind the list: the list of this one is empty, and its length is made to end before them.
        let mut behind = build(&subject, &subject, &[tlv(URI, &[b"urn:x"])], 1);
        let list = [0x30, 7, URI, 5];
        let at = behind.windows(4).position(|window| window == list);
        behind[at.expect("a list") + 1] = 0;
        assert!(read(&behind).is_some_and(|read| read.names.is_none()));
        assert!(certificate(&behind).is_err());
        let twice = build(&subject, &subject, &[tlv(URI, &[b"urn:x"])], 2);
        assert!(certificate(&twice).is_err());
        for tag in [0x8c, 0x2c, 0x1e, 0x04] {
            let subject = [vec![attribute(0, tag, b"ann")]];
            let der = build(&subject, &subject, &[], 1);
            assert!(certificate(&der).is_err(), "{tag:#x}");
        }
        // Issuers that differ in the tag of a value, whatever its type, are two.
        let issuers = [0x0c, 0x13, 0x8c, 0x2c, 0x04].map(|tag| {
            let issuer = [vec![attribute(5, tag, b"x")]];
            certificate(&build(&subject, &issuer, &[], 1)).map(|read| read.issuer)
        });
        let unlike: std::collections::BTreeSet<_> = issuers.iter().flatten().collect();
        assert_eq!(
            unlike.len(),
            issuers.iter().flatten().count(),
            "{issuers:?}"
        );
        assert_eq!(issuers[0], Ok("1.2.3.4=#0C0178".to_owned()));
    }
}
