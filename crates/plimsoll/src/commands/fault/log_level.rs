//! `LOG_LEVEL` as Toxiproxy 2.12 reads it: a level of zerolog by name or by number, from which on lines are told.

/// A line's weight, by zerolog's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(i8);

/// Zerolog's names. The empty one is above all that is told, `disabled` above that.
const NAMES: [(&str, Level); 9] = [
    ("trace", Level(-1)),
    ("debug", Level(0)),
    ("info", Level::INFO),
    ("warn", Level::WARN),
    ("error", Level(3)),
    ("fatal", Level(4)),
    ("panic", Level(5)),
    ("", Level(6)),
    ("disabled", Level(7)),
];

impl Level {
    /// Where it listens, and its seed.
    pub const INFO: Self = Self(1);
    /// Something was asked for that is not done.
    pub const WARN: Self = Self(2);
    /// The least: everything is told from here on.
    pub const ALL: Self = Self(i8::MIN);

    /// The level of this name, in any case, or number.
    pub fn parse(text: &str) -> Option<Self> {
        let named = NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        match named {
            Some((_, level)) => Some(*level),
            None => text.parse().ok().map(Self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `toxiproxy-server` 2.12.0 does with its own lines of level `info`.
    #[test]
    fn levels_are_those_of_zerolog() {
        for (text, tells_info) in [
            ("trace", true),
            ("Debug", true),
            ("INFO", true),
            ("warn", false),
            ("error", false),
            ("", false),
            ("disabled", false),
            ("1", true),
            ("+2", false),
            ("-128", true),
            ("127", false),
        ] {
            let level = Level::parse(text).unwrap();
            assert_eq!(level <= Level::INFO, tells_info, "{text}");
        }
        for unknown in ["verbose", "warning", " info", "500", "1.0"] {
            assert_eq!(Level::parse(unknown), None, "{unknown}");
        }
    }
}
