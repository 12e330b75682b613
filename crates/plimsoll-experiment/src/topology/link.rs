//! Links: connections between components, which are there because one refers to the other.

use plimsoll_base::document::suggestion;

use crate::loader::Use;
use crate::template::Reference;

/// A connection between two components: one that refers to the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Who refers.
    pub from: String,
    /// Whom it refers to.
    pub to: String,
    /// The listener that it refers to; `None`: the main one.
    pub listener: Option<String>,
}

impl Link {
    /// As the file has it: `a -> b`, or `a -> b/listener`.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} -> {}", self.from, self.name())
    }

    /// Its name among the links of one component: whom it leads to.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.listener {
            Some(listener) => format!("{}/{listener}", self.to),
            None => self.to.clone(),
        }
    }
}

/// The links that the components of a file have: whatever one refers to.
pub(crate) fn all(uses: &[Use]) -> Vec<Link> {
    let links = uses.iter().filter_map(|used| match &used.reference {
        Reference::Component {
            component,
            listener,
            ..
        } => Some(Link {
            from: used.component.clone()?,
            to: component.clone(),
            listener: listener.clone(),
        }),
        _ => None,
    });
    let mut links: Vec<Link> = links.collect();
    links.sort();
    links.dedup();
    links
}

/// The link of this text among those that are known; the error says what to write instead.
pub(crate) fn find<'a>(text: &str, known: &'a [Link]) -> Result<&'a Link, String> {
    let spaced = text.split("->").map(str::trim).collect::<Vec<_>>();
    let text = spaced.join(" -> ");
    let found = known.iter().find(|link| link.text() == text);
    found.ok_or_else(|| {
        let texts: Vec<String> = known.iter().map(Link::text).collect();
        let instead = match texts.is_empty() {
            true => "no component refers to another".to_owned(),
            false => suggestion(&text, &texts),
        };
        format!(
            "there is no link `{text}`: a link is there where the first refers to the second; {instead}"
        )
    })
}
