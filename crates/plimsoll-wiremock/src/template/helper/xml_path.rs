//! `xPath xml 'path'`, `soapXPath xml 'path'`: what an XPath finds; `soapXPath` begins within the body of an envelope.

use super::{Helper, Invocation, Outcome, Prepare, Prepared, error_text};
use crate::document::xml::Document;
use crate::document::xml::naming::Naming;
use crate::document::xml::path::{self, XPath, XPathResult};
use crate::template::value::Value;
use crate::template::xml_node::XmlNode;
use std::rc::Rc;

/// Bytes that a node takes beside its texts.
const BYTES_OF_A_NODE: usize = 128;

/// Prefix that `soapXPath` puts before a path.
pub(super) const SOAP: &str = "/Envelope/Body/";

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("xPath", |invocation| find(invocation, "")).preparing(Prepare::XPath),
    Helper::new("soapXPath", |invocation| find(invocation, SOAP)).preparing(Prepare::SoapXPath),
];

fn find<'a>(invocation: Invocation<'_, 'a>, prefix: &str) -> Outcome<'a> {
    let subject = invocation.argument(0);
    if invocation.argument(1).is_nothing() {
        return Ok(error_text("The XPath expression cannot be empty"));
    }
    let text = invocation.text(1, "the path")?;
    let wrong = || error_text(&format!("{text} is not a valid XPath expression"));
    let given;
    let compiled = match invocation.prepared {
        Prepared::XPath(path) => path,
        _ => {
            let Ok(compiled) = XPath::compile(&format!("{prefix}{text}"), Naming::Local) else {
                return Ok(wrong());
            };
            given = compiled;
            &given
        }
    };
    let owned;
    let document = match &subject {
        Value::Body(request) => request.body.xml()?,
        subject => {
            owned = Document::parse(&subject.print()).ok();
            owned.as_ref()
        }
    };
    let Some(document) = document else {
        let shown = match &subject {
            Value::Nothing => "null".into(),
            subject => subject.print(),
        };
        return Ok(error_text(&format!("{shown} is not valid XML")));
    };
    Ok(match compiled.find(document) {
        Ok(XPathResult::Text(text)) => Value::text(text),
        Ok(XPathResult::Nodes(places)) => {
            if places.is_empty() {
                return Ok(Value::text(""));
            }
            // What was found may stand within each other.
            let mut nodes = Vec::with_capacity(places.len());
            for place in places {
                let node = XmlNode::at(document, place);
                // Texts that grow have twice the room that they need.
                let bytes = 2 * (node.shown.len() + node.text.len()) + BYTES_OF_A_NODE;
                invocation.renderer.make(bytes)?;
                nodes.push(Rc::new(node));
            }
            Value::Nodes(nodes.into())
        }
        Err(path::Failure::Invalid(_)) => wrong(),
        Err(path::Failure::TooCostly(costly)) => return Err(costly.into()),
    })
}
