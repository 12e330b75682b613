//! Message to the operator on one file's fields: how many of them count, and which ones are ignored.

use std::fmt;

/// Fields of one file by their effect. A file of which something is refused is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    /// Fields that mean here what they mean to Tyk.
    pub(crate) supported: usize,
    /// Fields that are ignored.
    pub(crate) ignored: Ignored,
}

/// Bytes of the paths that are named of one file: far more than all fields that Tyk has, and less than a file can make of long names.
const MOST_NAMED: usize = 64 * 1024;

/// Fields that say something and are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ignored {
    /// Their paths, as many as [`MOST_NAMED`] has room for.
    pub(crate) named: Vec<String>,
    /// Bytes of those.
    bytes: usize,
    /// How many there are beyond them.
    further: usize,
}

impl Ignored {
    /// One more, whose path has at least so many bytes and is made only where there is room for it.
    pub(crate) fn note(&mut self, bytes: usize, path: impl FnOnce() -> String) {
        if self.further > 0 || bytes > MOST_NAMED - self.bytes {
            self.further += 1;
            return;
        }
        let path = path();
        self.bytes = MOST_NAMED.min(self.bytes + path.len().max(1));
        self.named.push(path);
    }

    /// Those of another part of the file, each below `name`.
    pub(crate) fn note_below(&mut self, name: &str, other: &Self) {
        for path in &other.named {
            let bytes = name.len() + path.len();
            self.note(bytes, || format!("{name}.{path}"));
        }
        self.further += other.further;
    }

    pub(crate) fn count(&self) -> usize {
        self.named.len() + self.further
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            supported,
            ignored,
        } = self;
        write!(f, "{name}: fields: {supported} supported, ")?;
        let names = ignored.named.join(", ");
        match (ignored.count(), ignored.further) {
            (0, _) => f.write_str("0 ignored, 0 refused"),
            (count, 0) => write!(f, "{count} ignored ({names}), 0 refused"),
            (count, further) => write!(
                f,
                "{count} ignored ({names} and {further} others), 0 refused"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_named_as_far_as_there_is_room() {
        let mut ignored = Ignored::default();
        ignored.note(1, || "a".to_owned());
        ignored.note(MOST_NAMED, || unreachable!("there is no room"));
        ignored.note(1, || unreachable!("what follows is counted"));
        let account = Account {
            name: "f".to_owned(),
            supported: 2,
            ignored,
        };
        assert_eq!(
            account.to_string(),
            "f: fields: 2 supported, 3 ignored (a and 2 others), 0 refused"
        );
        let mut all = Ignored::default();
        all.note_below("p", &account.ignored);
        assert_eq!((&all.named[..], all.count()), (&["p.a".to_owned()][..], 3));
    }
}
