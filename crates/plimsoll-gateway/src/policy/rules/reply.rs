//! A fixed answer in the upstream's place.

use crate::answering::answer::Answer;

/// A fixed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// 200 to 599.
    pub(crate) status: u16,
    /// None of those that frame a message.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(super) fn answer(&self) -> Answer {
        let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
        let content_type = self.fields.iter().find(|(name, _)| is_type(name));
        let content_type = content_type.map_or_else(String::new, |(_, value)| value.clone());
        let fields = self.fields.iter().filter(|(name, _)| !is_type(name));
        let answer = fields.fold(Answer::new(self.status, ""), |answer, (name, value)| {
            answer.with_field(name.clone(), value.clone())
        });
        answer.with_body(content_type, self.body.clone())
    }
}
