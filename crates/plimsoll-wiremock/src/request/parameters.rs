//! Lists of names and values in a request: query, form, cookies. Decoding is Java's `URLDecoder`: `+` is a space, `%XX` bytes of UTF-8.

use crate::budget::TooCostly;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Deref;

/// Names with their values, in the order in which they came.
#[derive(Debug, Default)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
    /// Their places by name, and those of one name as they came; made for whoever asks for a name among many.
    by_name: OnceCell<Vec<u32>>,
}

/// Up to so many are looked through one by one.
const FEW: usize = 16;

/// Parameters of any form's body, and for how many bytes there may be one more.
const FIELDS: usize = 20_000;
const BYTES_A_FIELD: usize = 12;

impl Parameters {
    /// The values of a name, in their order.
    pub fn values<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let (all, places) = if self.pairs.len() <= FEW {
            (&self.pairs[..], &[][..])
        } else {
            (&[][..], self.places(name))
        };
        let found = places.iter().map(|place| &self.pairs[*place as usize]);
        let own = all.iter().filter(move |(own, _)| own == name).chain(found);
        own.map(|(_, value)| value.as_str())
    }

    fn places(&self, name: &str) -> &[u32] {
        let name_at = |place: &u32| self.pairs[*place as usize].0.as_str();
        let all = self.by_name.get_or_init(|| {
            let count = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
            let mut places: Vec<u32> = (0..count).collect();
            places.sort_by(|one, other| name_at(one).cmp(name_at(other)));
            places
        });
        let start = all.partition_point(|place| name_at(place) < name);
        let length = all[start..].partition_point(|place| name_at(place) == name);
        &all[start..start + length]
    }
}

impl Deref for Parameters {
    type Target = [(String, String)];

    fn deref(&self) -> &Self::Target {
        &self.pairs
    }
}

impl FromIterator<(String, String)> for Parameters {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self {
            pairs: pairs.into_iter().collect(),
            by_name: OnceCell::new(),
        }
    }
}

impl IntoIterator for Parameters {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<(String, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}

/// The parameters of a form's body, if there are not more than its length allows.
pub fn of_form(body: &str) -> Result<Parameters, TooCostly> {
    let fields = memchr::memchr_iter(b'&', body.as_bytes()).count();
    if fields > FIELDS + body.len() / BYTES_A_FIELD {
        return Err(TooCostly::Parts);
    }
    Ok(of_query(body))
}

/// The parameters of a query or of a form's body.
pub fn of_query(query: &str) -> Parameters {
    query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(name).into_owned(), decode(value).into_owned())
        })
        .collect()
}

/// The values of each name, in the order in which names came first.
pub fn by_name(parameters: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (name, value) in parameters {
        let place = *places.entry(name).or_insert(names.len());
        if place == names.len() {
            names.push((name, Vec::new()));
        }
        names[place].1.push(value);
    }
    names
}

/// The cookies of one `Cookie` field (RFC 6265 §4.2.1); quotes around a value are not part of it.
pub fn of_cookies(field: &str) -> Parameters {
    field
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| {
            let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            (name.trim().to_owned(), inner.unwrap_or(value).to_owned())
        })
        .collect()
}

/// Undoes percent-encoding; a `%` that two hex digits do not follow stays.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'+', _) => out.push(b' '),
            (b'%', [high, low, after @ ..]) if let Some(byte) = hex(*high, *low) => {
                out.push(byte);
                rest = after;
            }
            (byte, _) => out.push(*byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let check = |query: &str, expected: &[(&str, &str)]| {
            let actual = of_query(query);
            let actual: Vec<(&str, &str)> = actual.iter().map(|(n, v)| (&**n, &**v)).collect();
            assert_eq!(actual, expected, "{query}");
        };
        check("", &[]);
        check("a=1&b=2&a=3", &[("a", "1"), ("b", "2"), ("a", "3")]);
        check("a=x+y%20z&b", &[("a", "x y z"), ("b", "")]);
        check("gr%C3%BCn=%zz%2", &[("grün", "%zz%2")]);
    }

    #[test]
    fn a_form_has_so_many_fields() {
        let check = |count: usize, expected: Result<usize, TooCostly>| {
            let fields = of_form(&"a=&".repeat(count)).map(|fields| fields.len());
            assert_eq!(fields, expected);
        };
        check(3, Ok(3));
        check(20_000, Ok(20_000));
        check(30_000, Err(TooCostly::Parts));
    }

    #[test]
    fn values_of_a_name_are_found_among_few_and_many() {
        for others in [0, 1, FEW, 5_000] {
            let query: String = (0..others).map(|n| format!("x{n}=&b={n}&")).collect();
            let parameters = of_query(&format!("{query}a=1&a=2&"));
            let check = |name: &str, expected: Vec<String>| {
                assert_eq!(parameters.values(name).collect::<Vec<_>>(), expected);
            };
            check("a", vec!["1".to_owned(), "2".to_owned()]);
            check("b", (0..others).map(|n| n.to_string()).collect());
            check("c", Vec::new());
        }
    }

    #[test]
    fn values_are_found_by_name() {
        let parameters = of_query("b=1&a=2&b=3&a=4&c");
        let expected = [
            ("b", vec!["1", "3"]),
            ("a", vec!["2", "4"]),
            ("c", vec![""]),
        ];
        assert_eq!(by_name(&parameters), expected);
    }

    #[test]
    fn cookies_are_split() {
        let expected = [("a", "1"), ("b", "x y"), ("c", "=")];
        let actual = of_cookies("a=1; b=\"x y\";c==; broken");
        let actual: Vec<(&str, &str)> = actual.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(actual, expected);
    }
}
