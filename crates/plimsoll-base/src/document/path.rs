//! The path of a node: `components.upstream.mock`, `routes[0].path`, `headers["a.b"]`.

use std::fmt;

/// One step from a node to a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Into a mapping, by key.
    Key(String),
    /// Into a list, by index from 0.
    Index(usize),
}

/// The way from the root of a document to a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The child of a mapping.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.push(Segment::Key(key.to_owned()))
    }

    /// The child of a list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.push(Segment::Index(index))
    }

    /// Result of `inside` for the child at `segment`: for walks, in which a path of its own for each node would be copied as often.
    pub fn within<T>(&mut self, segment: Segment, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.0.push(segment);
        let made = inside(self);
        self.0.pop();
        made
    }

    /// The steps from the root.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether `other` is this node or below it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Parses the displayed form. `None` when it is not well formed: an empty key, an unclosed bracket.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (segment, after) = if let Some(quoted) = rest.strip_prefix("[\"") {
                let (key, after) = quoted.split_once("\"]")?;
                (Segment::Key(key.to_owned()), after)
            } else if let Some(bracketed) = rest.strip_prefix('[') {
                let (index, after) = bracketed.split_once(']')?;
                (Segment::Index(index.parse().ok()?), after)
            } else {
                let named = match rest.strip_prefix('.') {
                    Some(_) if segments.is_empty() => return None,
                    Some(named) => named,
                    None if segments.is_empty() => rest,
                    None => return None,
                };
                let end = named.find(['.', '[']).unwrap_or(named.len());
                let (key, after) = named.split_at(end);
                if key.is_empty() {
                    return None;
                }
                (Segment::Key(key.to_owned()), after)
            };
            segments.push(segment);
            rest = after;
        }
        Some(Self(segments))
    }

    fn push(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }
}

impl From<&Path> for Path {
    fn from(path: &Path) -> Self {
        path.clone()
    }
}

impl From<&str> for Path {
    /// Like [`Path::parse`]; text that is not a well-formed path names the whole document.
    fn from(text: &str) -> Self {
        Self::parse(text).unwrap_or_default()
    }
}

impl From<String> for Path {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<deserr::ValuePointerRef<'_>> for Path {
    fn from(pointer: deserr::ValuePointerRef<'_>) -> Self {
        let mut segments = Vec::new();
        let mut current = pointer;
        loop {
            match current {
                deserr::ValuePointerRef::Origin => break,
                deserr::ValuePointerRef::Key { key, prev } => {
                    segments.push(Segment::Key(key.to_owned()));
                    current = *prev;
                }
                deserr::ValuePointerRef::Index { index, prev } => {
                    segments.push(Segment::Index(index));
                    current = *prev;
                }
            }
        }
        segments.reverse();
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"']) => {
                    write!(f, "[\"{key}\"]")?;
                }
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_paths_parse_back() {
        for text in [
            "",
            "load.rate",
            "routes[0].path",
            "headers[\"a.b\"].c",
            "[3][0]",
        ] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
        for bad in [".a", "a..b", "a[", "a[x]", "a[0]b", "a."] {
            assert_eq!(Path::parse(bad), None, "{bad}");
        }
    }
}
