//! Certificates with names that no library writes, in DER.

const SEQUENCE: u8 = 0x30;
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x11];
/// ECDSA with SHA-256.
const SIGNATURE: [u8; 10] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// A key on the curve P-256.
const KEY: [u8; 19] = [
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
    0x03, 0x01, 0x07,
];

fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    let length: &[u8] = match (high, low) {
        (0, ..0x80) => &[low],
        (0, _) => &[0x81, low],
        _ => &[0x82, high, low],
    };
    [&[tag], length, &content].concat()
}

fn name(common_names: &[impl AsRef<str>]) -> Vec<u8> {
    let part = |name: &dyn AsRef<str>| {
        let text = value(0x0c, &[name.as_ref().as_bytes()]);
        value(0x31, &[&value(SEQUENCE, &[&COMMON_NAME, &text])])
    };
    let parts: Vec<Vec<u8>> = common_names.iter().map(|name| part(name)).collect();
    value(SEQUENCE, &[&parts.concat()])
}

pub(super) fn certificate(
    serial: &[u8],
    issuer: &str,
    common_names: &[String],
    uris: &[String],
    hosts: &[String],
) -> Vec<u8> {
    let uris = uris.iter().map(|uri| value(0x86, &[uri.as_bytes()]));
    let hosts = hosts.iter().map(|host| value(0x82, &[host.as_bytes()]));
    let names: Vec<Vec<u8>> = uris.chain(hosts).collect();
    let extensions = match names.is_empty() {
        true => Vec::new(),
        false => {
            let names = value(0x04, &[&value(SEQUENCE, &[&names.concat()])]);
            let extension = value(SEQUENCE, &[&ALTERNATIVE_NAMES, &names]);
            value(0xa3, &[&value(SEQUENCE, &[&extension])])
        }
    };
    let signature = value(SEQUENCE, &[&SIGNATURE]);
    let (since, until) = (
        value(0x17, &[b"250101000000Z"]),
        value(0x17, &[b"491231235959Z"]),
    );
    let key = value(0x03, &[&[0, 4], &[7; 64]]);
    let signed = value(
        SEQUENCE,
        &[
            &value(0xa0, &[&[0x02, 0x01, 0x02]]),
            // Positive.
            &value(0x02, &[&[0x01], serial]),
            &signature,
            &name(&[issuer]),
            &value(SEQUENCE, &[&since, &until]),
            &name(common_names),
            &value(SEQUENCE, &[&value(SEQUENCE, &[&KEY]), &key]),
            &extensions,
        ],
    );
    value(SEQUENCE, &[&signed, &signature, &value(0x03, &[&[0, 1]])])
}
