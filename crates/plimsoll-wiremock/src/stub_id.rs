//! The identity of a stub mapping: a UUID.

use plimsoll_base::random::{Draw, Stream};
use std::fmt;

/// A UUID, shown in its lower-case form of five groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StubId(u128);

impl StubId {
    /// Parses the form of five groups, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let groups: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let digits = groups.concat();
        if lengths != [8, 4, 4, 4, 12] || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        u128::from_str_radix(&digits, 16).ok().map(Self)
    }

    /// The ids that a text has in it, as names of files have.
    pub fn all_in(text: &str) -> impl Iterator<Item = Self> {
        /// Bytes of an id's form.
        const LENGTH: usize = 36;
        let starts = 0..(text.len() + 1).saturating_sub(LENGTH);
        starts.filter_map(|start| Self::parse(text.get(start..start + LENGTH)?))
    }

    /// The id of the `index`th stub that came without one: version 4, the same for the same seed.
    pub fn minted(seed: u64, index: u64) -> Self {
        /// Keeps these draws apart from those of scenarios' data under the same seed.
        const DOMAIN: u64 = 0x7374_7562_2069_6473;
        let mut draw = Draw::new(seed ^ DOMAIN, Stream::Data, index);
        let bits = (u128::from(draw.bits()) << 64) | u128::from(draw.bits());
        Self::from_bits(bits)
    }

    /// A random one (version 4) of these bits.
    pub fn from_bits(bits: u128) -> Self {
        let version = (bits & !(0xf << 76)) | (0x4 << 76);
        Self((version & !(0x3 << 62)) | (0x2 << 62))
    }
}

impl fmt::Display for StubId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.0);
        let (a, b, c, d, e) = (
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        );
        write!(f, "{a}-{b}-{c}-{d}-{e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_and_shown() {
        let text = "5C3AB2A8-1f07-4d6e-9b9c-0123456789ab";
        assert_eq!(
            StubId::parse(text).unwrap().to_string(),
            text.to_lowercase()
        );
        for bad in [
            "",
            "5c3ab2a8",
            "5c3ab2a81f074d6e9b9c0123456789ab",
            "5c3ab2a8-1f07-4d6e-9b9c-0123456789ag",
            "+c3ab2a8-1f07-4d6e-9b9c-0123456789ab",
        ] {
            assert_eq!(StubId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ids_are_found_in_names() {
        let id = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";
        let check = |text: &str, expected: usize| {
            let found: Vec<String> = StubId::all_in(text).map(|id| id.to_string()).collect();
            assert_eq!(found, vec![id; expected], "{text}");
        };
        check("", 0);
        check(&id[1..], 0);
        check(id, 1);
        check(&format!("é/a-b-{id}.json"), 1);
        check(&format!("{id}.{id}"), 2);
    }

    #[test]
    fn minted_ids_are_version_4_and_reproducible() {
        let text = StubId::minted(1, 0).to_string();
        assert_eq!(
            (&text[14..15], StubId::minted(1, 0).to_string()),
            ("4", text.clone())
        );
        assert!("89ab".contains(&text[19..20]));
        assert_ne!(StubId::minted(1, 0), StubId::minted(1, 1));
    }
}
