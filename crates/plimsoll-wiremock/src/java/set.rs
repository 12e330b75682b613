//! The order in which a set of Java's goes over texts: `java.util.HashSet`, as OpenJDK 17 has it.

use std::collections::HashSet;

/// Orders texts, each once, as a set that they are put into goes over them: by their buckets, and in one as they came.
pub fn in_order(all: impl IntoIterator<Item = String>) -> Vec<String> {
    /// Buckets of a set that has been asked for nothing else.
    const FEWEST: usize = 16;
    let mut seen = HashSet::new();
    let mut texts: Vec<String> = all
        .into_iter()
        .filter(|text| seen.insert(text.clone()))
        .collect();
    let mut buckets = FEWEST;
    // A table doubles when more than three of four buckets could be taken.
    while texts.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    texts.sort_by_key(|text| bucket(text, buckets));
    texts
}

/// `HashMap.hash` of a text, in a table with a power of two of buckets.
fn bucket(text: &str, buckets: usize) -> usize {
    let hash = text.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    });
    (hash ^ (hash >> 16)) as usize & (buckets - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which `Stream.of(…).collect(Collectors.toSet())` prints.
    #[test]
    fn texts_are_ordered_as_a_java_set_orders_them() {
        let check = |texts: &[&str], expected: &[&str]| {
            assert_eq!(
                in_order(texts.iter().map(|text| (*text).to_owned())),
                expected
            );
        };
        check(&["2", "3", "Started"], &["2", "Started", "3"]);
        check(&["Started", "2", "3", "2"], &["Started", "2", "3"]);
        check(&["é", "a"], &["a", "é"]);
        check(&[], &[]);
    }

    #[test]
    fn a_set_of_many_has_more_buckets() {
        let states = [0, 1, 10, 11, 12, 13, 2, 3, 4, 5, 6, 7, 8, 9];
        let ordered = in_order(states.iter().map(|number| format!("state {number}")));
        let expected = [13, 12, 9, 8, 7, 2, 1, 0, 6, 5, 4, 3, 11, 10];
        assert_eq!(ordered, expected.map(|number| format!("state {number}")));
    }
}
