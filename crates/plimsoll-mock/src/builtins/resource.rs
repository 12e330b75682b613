//! `/resource/{id}`: one of a hundred resources, 404 for others. Their names are the same in every mock.

use super::{Call, Reply};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::{Value, json};

/// How many there are.
pub(super) const COUNT: u64 = 100;

pub(super) fn reply(call: &Call<'_, '_>) -> Reply {
    let answer = match call.rest.parse() {
        Ok(id) if id < COUNT => Answer::json(200, &resource(id)),
        _ => Answer::text(404, "Not Found"),
    };
    answer.into()
}

/// The resource with this id: a name of ten letters.
pub(super) fn resource(id: u64) -> Value {
    let mut draw = Draw::new(0, Stream::Data, id);
    let name: String = (0..10).map(|_| letter(draw.below(52))).collect();
    json!({"Id": id, "Name": name})
}

/// One of the 52 letters.
fn letter(index: u64) -> char {
    let index = u8::try_from(index).expect("invariant: below 52");
    char::from(match index {
        0..26 => b'a' + index,
        _ => b'A' + index - 26,
    })
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn a_hundred_resources() {
        for (path, status) in [
            ("/resource/0", "200"),
            ("/resource/99", "200"),
            ("/resource/100", "404"),
            ("/resource/x", "404"),
        ] {
            let (answer, _) = get(path);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{path}: {answer}"
            );
        }
        assert_eq!(get("/resource/7"), get("/resource/7"));
    }
}
