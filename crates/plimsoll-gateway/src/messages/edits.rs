//! Fields of a message that are removed or set on its way through.

use crate::messages::fields;
use plimsoll_http::decode::is_token;
use plimsoll_http::encode;
use plimsoll_secrets::Purpose;
use plimsoll_secrets::Secret;

/// Which fields. Names are distinct without regard to case, and none is one that the proxy itself makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldEdits {
    pub(crate) remove: Vec<String>,
    pub(crate) set: Vec<(String, Secret)>,
}

/// Why a field cannot be edited, if it cannot.
pub(crate) fn refusal(name: &str, value: &str) -> Option<String> {
    if !is_token(name.as_bytes()) {
        return Some(format!("`{name}` is not the name of a field"));
    }
    if fields::is_made_here(name) {
        return Some(format!("`{name}` is made by the gateway itself"));
    }
    (Purpose::Field.objection(value).is_some())
        .then(|| format!("the value of `{name}` has a control character, or space at an end"))
}

impl FieldEdits {
    /// Whether a field of the message as it came is left out, or one that servers may take for it.
    pub(crate) fn drops(&self, name: &str) -> bool {
        let is = |own: &String| fields::are_twins(own, name);
        self.remove.iter().any(is) || self.set.iter().any(|(own, _)| is(own))
    }

    /// Whether the value of a field that is set is withheld.
    pub(crate) fn lack_a_value(&self) -> bool {
        self.set.iter().any(|(_, value)| value.is_withheld())
    }

    /// Writes the fields that are set, but for one whose value has been withheld this very moment.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (name, value) in &self.set {
            value.show(|value| encode::field(out, name, value));
        }
    }

    /// These after `before`: where both speak of a field, these have the last word.
    pub(crate) fn after(&self, before: &Self) -> Self {
        let kept = |name: &str| !self.drops(name);
        let remove = before.remove.iter().filter(|name| kept(name));
        let set = before.set.iter().filter(|(name, _)| kept(name));
        Self {
            remove: remove.chain(&self.remove).cloned().collect(),
            set: set.chain(&self.set).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_word_counts() {
        let edits = |remove: &[&str], set: &[(&str, &str)]| FieldEdits {
            remove: remove.iter().map(|&name| name.to_owned()).collect(),
            set: (set.iter().map(|&(n, v)| (n.to_owned(), v.into()))).collect(),
        };
        let global = edits(&["a"], &[("b", "1"), ("c", "1")]);
        let own = edits(&["B"], &[("A", "2")]);
        let both = own.after(&global);
        assert_eq!(both, edits(&["B"], &[("c", "1"), ("A", "2")]));
        assert!(both.drops("a") && both.drops("b") && both.drops("C") && !both.drops("d"));
    }

    #[test]
    fn what_the_proxy_makes_is_not_edited() {
        for (name, value) in [
            ("Host", "x"),
            ("X-Forwarded-For", "x"),
            ("transfer-encoding", "x"),
            ("a b", "x"),
            ("", "x"),
            ("X-A", "a\r\nb"),
            ("X-A", " a"),
        ] {
            assert!(refusal(name, value).is_some(), "{name:?} {value:?}");
        }
        assert_eq!(refusal("X-A", "ä b"), None);
    }
}
