//! `formData text 'name' urlDecode=`: the fields of a form under a name.

use super::{Helper, Invocation, Outcome};
use crate::request::parameters;
use crate::template::value::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Bytes that a field takes beside its name and value.
const BYTES_OF_A_FIELD: usize = 64;

pub(super) const HELPERS: &[Helper] = &[Helper::new("formData", form_data)];

fn form_data<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    let decodes = invocation.option("urlDecode").is_some_and(Value::is_truthy);
    let named = invocation.text(usize::from(!invocation.arguments.is_empty()), "the name");
    let mut fields: Vec<(Cow<'a, str>, Vec<Cow<'a, str>>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for pair in subject.print().split('&') {
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };
        invocation.renderer.make(BYTES_OF_A_FIELD)?;
        let value = if decodes {
            parameters::decode(value).into_owned()
        } else {
            value.to_owned()
        };
        match places.entry(name.to_owned()) {
            Entry::Occupied(place) => fields[*place.get()].1.push(value.into()),
            Entry::Vacant(place) => {
                place.insert(fields.len());
                fields.push((name.to_owned().into(), vec![value.into()]));
            }
        }
    }
    let fields = fields
        .into_iter()
        .map(|(name, values)| (name, Value::Several(Rc::from(values))));
    let form = Value::Map(fields.collect());
    match named {
        Ok(name) => {
            invocation.renderer.scopes.assign(&name, form);
            Ok(Value::Nothing)
        }
        Err(_) => Ok(form),
    }
}
