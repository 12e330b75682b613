//! One of a request pattern's `multipartPatterns`: which parts of a multipart body it wants. Its `name` and `fileName` only describe it, as in
//! WireMock: users match the part's `Content-Disposition`.

use super::{read_bodies, read_named};
use crate::budget::TooCostly;
use crate::matcher::Matcher;
use crate::matcher::several::Several;
use crate::reader::{Node, Problems};
use crate::request::Request;
use crate::request::multipart::MultipartPart;

/// A pattern on the parts of a body.
#[derive(Debug, Clone)]
pub struct MultipartPattern {
    wants: Wants,
    headers: Vec<(String, Several)>,
    bodies: Vec<Matcher>,
}

/// How many of the parts must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Any,
    All,
}

impl MultipartPattern {
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        object.ignore(&["name", "fileName"]);
        let wants = object.get("matchingType");
        let wants = match wants.as_ref().map(|node| (node, node.value.as_str())) {
            None | Some((_, Some("ANY"))) => Wants::Any,
            Some((_, Some("ALL"))) => Wants::All,
            Some((node, _)) => node.wrong("\"ANY\" or \"ALL\"", problems)?,
        };
        let headers = read_named(object.get("headers"), problems);
        let bodies = read_bodies(object.get("bodyPatterns"), problems);
        object.finish(&[], problems);
        Some(Self {
            wants,
            headers,
            bodies,
        })
    }

    pub fn holds(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        let parts = request.parts();
        let until = self.wants == Wants::Any;
        for part in parts {
            if self.holds_on(part)? == until {
                return Ok(until);
            }
        }
        Ok(!until && !parts.is_empty())
    }

    fn holds_on(&self, part: &MultipartPart) -> Result<bool, TooCostly> {
        for (name, pattern) in &self.headers {
            if !pattern.holds(part.values(name))? {
                return Ok(false);
            }
        }
        for pattern in &self.bodies {
            if !pattern.holds(Some(&part.body))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
